"""CSV of Nsight Compute in its three shapes."""

import pytest

from synperf.errors import FileFormatError
from synperf.traces.records.ncu_csv import read
from synperf.traces.records.ncu_units import scaled
from tests.traces.records.samples import LONG, SUMMARY, WIDE
from tests.traces.shared_files import real, reference


def written(tmp_path, text):
    (tmp_path / "a").write_text(text)
    return read(tmp_path / "a")


def test_the_long_shape_has_a_row_for_each_metric_and_rule(tmp_path):
    found = written(tmp_path, LONG)
    gemm, copy = found.kernels
    assert (found.shape, gemm.kernel, gemm.block, gemm.grid, gemm.compute_capability) == (
        "long", "gemm", "(128, 1, 1)", "(10, 2, 1)", "9.0"
    )  # fmt: skip
    assert gemm.metric("Duration").value == pytest.approx(1234.5e-6)
    assert (gemm.rules[0].name, gemm.rules[0].text, gemm.rules[0].speedup) == (
        "Limits",
        "It is limited, by registers.",
        0.125,
    )
    assert copy.metric("Registers Per Thread").value == 32
    assert found.cautions == ()


def test_a_name_that_comes_with_two_units_is_told_apart(tmp_path):
    gemm = written(tmp_path, LONG).kernels[0]
    assert gemm.metric("Memory Throughput", unit="").value == 0.5
    assert gemm.metric("Memory Throughput", unit="B/s").value == 1.5e9


def test_the_wide_shape_has_a_column_for_each_metric_and_a_row_of_units(tmp_path):
    found = written(tmp_path, WIDE)
    gemm, copy = found.kernels
    assert found.shape == "wide"
    assert gemm.metric("gpu__time_duration.sum").value == pytest.approx(1.5e-3)
    assert copy.metric("gpu__time_duration.sum").value == 2.0
    assert gemm.metric("sm__warps_active.avg.pct_of_peak_sustained_active").value == 0.25
    assert copy.metric("sm__warps_active.avg.pct_of_peak_sustained_active") is None


def test_the_summary_has_the_least_most_and_mean_of_invocations(tmp_path):
    (gemm,) = written(tmp_path, SUMMARY).kernels
    duration = gemm.metric("Duration")
    assert gemm.invocations == 3
    assert (duration.minimum, duration.value, duration.maximum) == pytest.approx((1e-6, 2e-6, 3e-6))
    assert gemm.metric("SM Frequency").value == pytest.approx(1.1e9)


def test_rows_that_do_not_fit_the_header_are_counted(tmp_path):
    found = written(tmp_path, LONG + '"2","12","broken"\n')
    (caution,) = found.cautions
    assert (caution.text, caution.count, caution.share) == ("rows cannot be read", 1, 1 / 6)


def test_a_row_that_lost_its_first_quote_is_counted(tmp_path):
    (caution,) = written(tmp_path, LONG.replace('\n"0",', "\nF0,", 1)).cautions
    assert (caution.text, caution.count) == ("rows cannot be read", 1)


@pytest.mark.parametrize("column", ["Metric Name", "Metric Unit", "Metric Value", "Rule Name"])
def test_a_header_that_lacks_a_column_of_its_shape_is_told(tmp_path, column):
    found = written(tmp_path, LONG.replace(f'"{column}"', '"Metr~c"', 1))
    assert any("damaged header" in one.text for one in found.cautions)


def test_a_header_alone_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="no row of this CSV of Nsight Compute"):
        written(tmp_path, WIDE.splitlines()[0])


@pytest.mark.parametrize(
    ("printed", "unit", "value", "base"),
    [
        ("1,234.5", "usecond", 1234.5e-6, "s"),
        ("7", "nsecond", 7e-9, "s"),
        ("7", "ns", 7e-9, "s"),
        ("7", "ms", 7e-3, "s"),
        ("2", "Gbyte/second", 2e9, "B/s"),
        ("2", "Gbyte/s", 2e9, "B/s"),
        ("3", "Mbyte", 3e6, "B"),
        ("4", "Kbyte/block", 4e3, "B/block"),
        ("5", "byte/block", 5, "B/block"),
        ("1.5", "Ghz", 1.5e9, "Hz"),
        ("1.5", "cycle/nsecond", 1.5e9, "cycle/s"),
        ("9", "hz", 9, "Hz"),
        ("50", "%", 0.5, ""),
        ("0.7", "inst/cycle", 0.7, "inst/cycle"),
        ("2", "Minst", 2e6, "inst"),
        ("3", "register/thread", 3, "register/thread"),
        ("n/a", "%", None, ""),
        ("nan", "s", None, "s"),
        ("(!) nan", "s", None, "s"),
        ("PolicySpread", "", None, ""),
        ("1", "msecond", 1e-3, "s"),
        ("8", "warp", 8, "warp"),
        ("1", "block", 1, "block"),
        ("1", "SM", 1, "SM"),
    ],
)
def test_units_lose_their_prefix(printed, unit, value, base):
    found, kept = scaled(printed, unit)
    assert kept == base
    assert found == (None if value is None else pytest.approx(value))


def test_a_real_file_equals_its_text():
    wanted = reference("ncu")["cublaslt_fp8_gemm_sm100.ncu.log"]
    found = read(real("ncu/cublaslt_fp8_gemm_sm100.ncu.log"))
    (kernel,) = found.kernels
    assert [[m.section, m.name, m.printed_unit, m.printed] for m in kernel.metrics] == wanted["metrics"]
    assert [[r.section, r.name, r.type, r.printed_speedup] for r in kernel.rules] == wanted["rules"]
    assert kernel.metric("Duration").value == pytest.approx(406.24e-6)
    assert found.cautions == ()
