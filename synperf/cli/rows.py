"""The measured rows of files that a command names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import named
from ..measurements import Rows, read_files
from .arguments import one_gpu


def read_rows(files: Sequence[Path], family: str, gpus: Sequence[str]) -> Rows:
    """The rows of the files, one after the other; those that name no GPU are of the one that --gpu names.

    Raises: as `synperf.measurements.read_files`; and FieldError where rows name no GPU, and --gpu none or several.
    """
    one = one_gpu("gpu", gpus[0]) if len(gpus) == 1 else None
    with named("rows"):
        return read_files(files, family, gpu=one)
