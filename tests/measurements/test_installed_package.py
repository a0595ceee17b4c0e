"""The installed aiconfigurator-core, where it is: what docs/measurements.md says of it."""

from importlib.util import find_spec

import pytest

from synperf.kernels.dispatch import from_source
from synperf.measurements import aiconfigurator
from synperf.measurements.schema import NUMBERS

pytestmark = pytest.mark.skipif(
    find_spec("aiconfigurator_core") is None or find_spec("polars") is None, reason="needs the extra [data]"
)


@pytest.fixture(scope="module")
def files():
    return aiconfigurator.audit()


@pytest.fixture(scope="module")
def h100():
    return aiconfigurator.read("h100_sxm")


def test_nine_nvidia_gpus_have_gemm_rows():
    assert aiconfigurator.gpus() == (
        "a100_sxm", "b200_sxm", "b300_sxm", "gb200", "gb300", "h100_sxm", "h200_sxm", "l40s", "rtx_pro_6000_server",
    )  # fmt: skip


def test_every_row_of_the_package_is_kept_or_dropped_for_a_reason(files):
    assert sum(file.rows for file in files) == 2_999_083
    assert sum(file.kept for file in files) == 2_689_802
    assert all(file.rows == file.kept + sum(file.dropped.values()) for file in files)


def test_no_row_is_dropped_for_want_of_a_rule(files):
    reasons = {reason for file in files for reason in file.dropped}
    assert not reasons & {"unknown kernel source", "no such format in calls", "the time is zero, negative or missing"}


def test_rows_of_one_key_have_one_kernel_source(h100):
    for (engine, version, kernel, dtype), part in h100.groups("engine", "version", "kernel", "dtype"):
        assert len(set(part.kernel_source)) == 1, (engine, version, kernel, dtype)
        assert from_source("gemm", part.kernel_source[0], part.call().dtype) == kernel


def test_a_fifth_of_the_shapes_is_held_out(h100):
    assert 0.18 < h100.is_test.mean() < 0.24


def test_times_are_those_of_kernels(h100):
    assert 2e-6 < h100.time_s.min() < h100.time_s.max() < 1.0


def test_most_torch_rows_are_the_median_of_three_frameworks():
    torch = aiconfigurator.read_torch("h200_sxm")
    assert set(torch.engine) == {"torch"}
    assert (torch.samples == 3).mean() > 0.95
    assert 0 < torch.spread.max() < 2


KEPT = {  # family: files, rows, kept
    "attention": (84, 2_929_695, 2_833_342),
    "mla": (66, 338_446, 247_236),
    "fused_moe": (43, 3_592_729, 2_990_103),
    "linear_attention": (50, 182_391, 167_509),
    "sparse_attention": (46, 926_838, 260_522),
}


@pytest.mark.parametrize("family", KEPT)
def test_every_row_of_a_family_is_kept_or_dropped_for_a_reason(family):
    files = aiconfigurator.audit(family)
    assert (len(files), sum(file.rows for file in files), sum(file.kept for file in files)) == KEPT[family]
    assert all(file.rows == file.kept + sum(file.dropped.values()) for file in files)
    reasons = {reason for file in files for reason in file.dropped}
    assert not reasons & {"unknown kernel source", "no such format in calls", "the time is zero, negative or missing"}


@pytest.mark.parametrize(
    ("family", "share"), [("attention", (0.18, 0.26)), ("mla", (0.17, 0.23)), ("fused_moe", (0.2, 0.35))]
)
def test_part_of_a_family_is_held_out(family, share):
    rows = aiconfigurator.read("h200_sxm", family)
    assert share[0] < rows.is_test.mean() < share[1]
    assert 1e-6 < rows.time_s.min() < rows.time_s.max() < 30.0


@pytest.mark.parametrize("family", KEPT)
def test_no_two_kernel_sources_answer_one_call(family):
    rows = aiconfigurator.read("h200_sxm", family)
    columns = [rows.version, *(rows.column(name) for name in rows.labels()), *(rows.fields[n] for n in NUMBERS[family])]
    calls = set(zip(*(column.tolist() for column in columns), strict=True))
    assert len(calls) == len(rows)
