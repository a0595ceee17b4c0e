"""What holds for all tests: how long an example takes says nothing."""

from hypothesis import settings

settings.register_profile("synperf", deadline=None)
settings.load_profile("synperf")
