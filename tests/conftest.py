"""What holds for all tests: how long an example takes says nothing; and families of one's own that a test names."""

import pytest
from hypothesis import settings

from synperf import kernels
from synperf.kernels import own

settings.register_profile("synperf", deadline=None)
settings.load_profile("synperf")


@pytest.fixture
def own_families():
    """No family of one's own is known before the test, nor after it."""
    forget()
    yield
    forget()


def forget():
    own.LOADED.clear()
    own.FILES.clear()
    kernels._of_type.cache_clear()
