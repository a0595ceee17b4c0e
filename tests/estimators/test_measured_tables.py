"""The measured estimator on the installed aiconfigurator-core: new shapes are near what was measured of them."""

from importlib.util import find_spec
from zlib import crc32

import numpy as np
import pytest

from synperf import hardware
from synperf.errors import MissingExtraError
from synperf.estimators import analytical
from synperf.estimators.measured import Measured
from synperf.kernels.gemm import FAMILY as GEMM
from synperf.kernels.gemm import Gemm
from synperf.measurements import aiconfigurator
from synperf.measurements.source import Key, Source

needs_tables = pytest.mark.skipif(
    find_spec("aiconfigurator_core") is None or find_spec("polars") is None, reason="needs the extra [data]"
)
CUBLAS = Key(gpu="h200_sxm", family="gemm", engine="torch", kernel="cublas", dtype="bf16")


def test_without_the_package_nothing_is_covered(monkeypatch):
    def missing(*_):
        raise MissingExtraError("no package")

    monkeypatch.setattr(aiconfigurator, "read", missing)
    monkeypatch.setattr(aiconfigurator, "read_torch", missing)
    estimator, gpu = Measured(analytical.estimate, Source.installed()), hardware.gpu("h200_sxm")
    for call in (Gemm(m=128, n=4096, k=4096), Gemm(m=128, n=4096, k=4096, dtype="fp8")):
        assert estimator.estimate(GEMM, call, gpu) == analytical.estimate(GEMM, call, gpu)


@needs_tables
def test_a_gpu_is_read_once_and_one_that_nobody_measured_has_no_rows(monkeypatch):
    asked = []
    read = aiconfigurator.read_torch
    monkeypatch.setattr(aiconfigurator, "read_torch", lambda gpu: asked.append(gpu) or read(gpu))
    source = Source.installed()
    assert source.columns(CUBLAS) is source.columns(CUBLAS)
    assert asked == ["h200_sxm"]
    assert source.columns(Key(gpu="a40", family="gemm", engine="torch", kernel="cublas", dtype="bf16")) is None
    assert source.columns(Key(gpu="h200_sxm", family="gemm", engine="torch", kernel="cublas", dtype="fp16")) is None


@needs_tables
def test_test_rows_can_be_left_out():
    whole, left = Source.installed().columns(CUBLAS), Source.installed(with_test=False).columns(CUBLAS)
    shapes = {(int(n), int(k)) for n, k in zip(left.numbers["n"], left.numbers["k"], strict=True)}
    assert not any(crc32(f"{n}x{k}".encode()) % 5 == 0 for n, k in shapes)
    assert len(left) < len(whole)


@needs_tables
def test_new_shapes_of_a_table_are_off_by_five_percent_and_four_of_five_are_within_the_interval():
    """Shapes of the fit half, by a hash of their own. The trend alone is off by 15 %."""
    rows = aiconfigurator.read_torch("h200_sxm")
    rows = rows.take(~rows.is_test)
    shape = [f"own{n}x{k}" for n, k in zip(rows.fields["n"], rows.fields["k"], strict=True)]
    held_out = np.array([crc32(text.encode()) % 5 == 0 for text in shape])
    held = rows.take(held_out)
    estimator = Measured(analytical.estimate, Source.of(rows.take(~held_out)))
    e = estimator.estimate(GEMM, held.call(), hardware.gpu("h200_sxm"))
    is_measured = (e.origin == "measured").astype(bool)
    assert is_measured.mean() > 0.9
    error = np.abs(e.time_s / held.time_s - 1)[is_measured]
    inside = ((e.low_s <= held.time_s) & (held.time_s <= e.high_s))[is_measured]
    assert error.mean() < 0.055
    assert 0.75 < inside.mean() < 0.85
