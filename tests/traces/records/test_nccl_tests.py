"""Logs of nccl-tests and rccl-tests, older and newer."""

import pytest

from synperf.errors import FileFormatError
from synperf.traces.records.nccl_tests import read
from tests.traces.shared_files import real, reference

HEADER = """#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw {last}     time   algbw   busbw {last}
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
NEW = f"""# nccl-tests version 2.17.1 nccl-headers=22703 nccl-library=22703
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 2 minBytes 1048576 maxBytes 2097152 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1
# Using devices
#  Rank  0 Group  0 Pid  41 on    host1 device  0 [0000:0f:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid  42 on    host1 device  1 [0000:2d:00] NVIDIA H100 80GB HBM3
{HEADER.format(last="#wrong")} 1048576  262144  float  sum  -1    50.00   20.97   20.97   0    51.00   20.56   20.56   0
     2097152        524288     float     sum      -1    80.00   26.21   26.21      0    81.00   25.89   25.89    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 23.4075
"""


def written(tmp_path, text):
    (tmp_path / "a").write_text(text)
    return read(tmp_path / "a")


def test_a_new_log_has_its_version_collective_devices_and_rows(tmp_path):
    found = written(tmp_path, NEW)
    assert (found.library, found.version, found.collective) == ("nccl-tests", "2.17.1", "all_reduce")
    assert found.devices == ("NVIDIA H100 80GB HBM3",) * 2
    first, second = found.rows
    assert (first.size_bytes, first.count, first.type, first.redop) == (1048576, 262144, "float", "sum")
    assert first.out_of_place.time_s == pytest.approx(50e-6)
    assert first.in_place.busbw_bytes_per_s == pytest.approx(20.56e9)
    assert (second.out_of_place.wrong, second.in_place.wrong) == (0, None)
    assert found.avg_busbw_bytes_per_s == pytest.approx(23.4075e9)
    assert found.max_busbw_bytes_per_s == pytest.approx(26.21e9)
    assert (found.out_of_bounds, found.cautions) == (0, ())


def test_prefixes_of_mpirun_are_ignored(tmp_path):
    found = written(tmp_path, "".join(f"[1,0]<stdout>:{line}\n" for line in NEW.splitlines()))
    assert [row.size_bytes for row in found.rows] == [1048576, 2097152]
    assert len(found.devices) == 2


def test_rccl_is_told_apart(tmp_path):
    assert written(tmp_path, "rccl-tests: Version develop:0c9dc7a\n" + NEW.split("\n", 1)[1]).library == "rccl-tests"


def test_a_run_that_hung_is_a_header_alone(tmp_path):
    found = written(tmp_path, HEADER.format(last="error"))
    assert (found.rows, [caution.text for caution in found.cautions]) == (
        (), ["there is a header and no row: the run hung or was stopped"]
    )  # fmt: skip


def test_a_run_that_stopped_half_way_says_so(tmp_path):
    found = written(tmp_path, NEW[: NEW.index("     2097152")])
    assert len(found.rows) == 1
    assert "ends before its average" in found.cautions[0].text


def test_wrong_values_are_warned_of(tmp_path):
    found = written(tmp_path, NEW.replace("values : 0 OK", "values : 3 FAILED"))
    assert (found.cautions[0].count, found.out_of_bounds) == (3, 3)


def test_rows_that_cannot_be_read_are_counted(tmp_path):
    found = written(tmp_path, NEW.replace("50.00   20.97", "50.00 broken"))
    assert (found.cautions[0].text, found.cautions[0].count, found.cautions[0].share) == ("rows cannot be read", 1, 0.5)


@pytest.mark.parametrize(
    ("old", "new"), [("1048576  ", "10485x6  "), ("  float  sum", "  flo*t  sum"), ("sum  -1", "s~m  -1")]
)
def test_a_row_with_one_wrong_letter_is_read_or_told(tmp_path, old, new):
    found = written(tmp_path, NEW.replace(old, new, 1))
    assert len(found.rows) + sum(one.count for one in found.cautions if "rows" in one.text) == 2


def test_decimals_outside_of_a_table_are_no_rows(tmp_path):
    assert written(tmp_path, "load average: 0.10 0.20 0.30\n" + NEW).cautions == ()


def test_a_log_of_broken_rows_alone_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="no row of this log of nccl-tests"):
        written(tmp_path, HEADER.format(last="error") + "  8 2 float sum 1.0 broken\n")


@pytest.mark.parametrize("name", ["allreduce", "alltoall", "reducescatter"])
def test_a_real_log_equals_its_text(name):
    wanted, found = reference("nccl_tests")[f"{name}.log"], read(real(f"nccl_tests/{name}.log"))
    assert list(found.devices) == wanted["devices"]
    assert len(found.rows) == wanted["rows"]
    assert found.avg_busbw_bytes_per_s == pytest.approx(wanted["avg_busbw_reported"] * 1e9)
    assert found.max_busbw_bytes_per_s == pytest.approx(wanted["max_busbw_out_of_place"] * 1e9)
    assert max(row.in_place.busbw_bytes_per_s for row in found.rows) == pytest.approx(
        wanted["max_busbw_in_place"] * 1e9
    )
    largest = max(found.rows, key=lambda row: row.size_bytes)
    smallest = min((row for row in found.rows if row.size_bytes), key=lambda row: row.size_bytes)
    for row, want in ((largest, wanted["largest"]), (smallest, wanted["smallest_nonzero"])):
        assert (row.size_bytes, row.count, row.type) == (want["size"], want["count"], want["type"])
        for timed, text in ((row.out_of_place, want["oop"]), (row.in_place, want["ip"])):
            assert timed.time_s == pytest.approx(float(text["time_us"]) * 1e-6)
            assert timed.algbw_bytes_per_s == pytest.approx(float(text["algbw"]) * 1e9)
            assert timed.busbw_bytes_per_s == pytest.approx(float(text["busbw"]) * 1e9)
    assert found.cautions == ()
