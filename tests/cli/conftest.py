"""What tests of several commands share."""

import errno
import os
from pathlib import Path

import pytest


@pytest.fixture
def full_disk(monkeypatch):
    """No file can be made; gives what the system says of it."""

    def touch(path, *_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(Path, "touch", touch)
    return os.strerror(errno.ENOSPC).lower()
