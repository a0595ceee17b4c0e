"""Raw memory timelines of torch."""

import pytest

from synperf.errors import FileFormatError
from synperf.traces.records.memory_timeline import read
from tests.traces.shared_files import real, reference

ROWS = "[[-1, 1, 100, 0], [5, 2, 50, 4], [6, 3, -50, 4], [6, 3, 50, 5], [7, 2, 20, 3], [9, 4, -50, 5]]"


def written(tmp_path, text):
    (tmp_path / "a").write_text(text)
    return read(tmp_path / "a")


def test_the_running_sum_gives_the_peak_its_time_and_its_holders(tmp_path):
    found = written(tmp_path, ROWS)
    assert (found.peak_bytes, found.peak_ns, found.end_bytes) == (170, 7, 120)
    assert found.actions == {"existing": 1, "create": 2, "new version": 2, "destroy": 1}
    assert [(one.name, one.at_peak_bytes, one.peak_bytes) for one in found.categories] == [
        ("parameter", 100, 100), ("gradient", 50, 50), ("temporary", 20, 20), ("activation", 0, 50)
    ]  # fmt: skip
    assert found.cautions == ()


def test_holders_add_up_to_the_peak(tmp_path):
    found = written(tmp_path, ROWS)
    assert sum(one.at_peak_bytes for one in found.categories) == found.peak_bytes


def test_rows_that_are_none_are_counted_with_their_share(tmp_path):
    found = written(tmp_path, ROWS[:-1] + ', [10, 9, 5, 5], [11, 2, "x", 5]]')
    (caution,) = found.cautions
    assert (caution.text, caution.count, caution.share) == ("rows cannot be read", 2, 2 / 8)
    assert found.peak_bytes == 170


def test_a_timeline_cut_within_a_row_says_so(tmp_path):
    found = written(tmp_path, ROWS[: ROWS.index("[9") + 4])
    assert (found.end_bytes, found.cautions[0].count) == (170, 1)


def test_a_number_that_64_bits_do_not_hold_is_no_row(tmp_path):
    found = written(tmp_path, ROWS[:-1] + ", [9999999999999999999, 2, 5, 5], [10, 2, 9999999999999999999, 5]]")
    assert (found.peak_bytes, found.cautions[0].count) == (170, 2)


def test_a_timeline_without_rows_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="no row of this memory timeline"):
        written(tmp_path, "[[1, 2]]")


def test_a_real_timeline_equals_the_plain_sum():
    wanted, found = reference("memory_timeline_raw.json.gz"), read(real("memory_timeline_raw.json.gz"))
    assert found.entries == wanted["entries"]
    assert (found.peak_bytes, found.end_bytes) == (wanted["peak_bytes_running_sum"], wanted["end_bytes"])
    assert (found.first_ns, found.last_ns) == (wanted["first_ts"], wanted["last_ts"])
    numbers = {"existing": "1", "create": "2", "new version": "3", "destroy": "4"}
    assert {numbers[name]: count for name, count in found.actions.items()} == wanted["actions"]
    assert sorted(one.entries for one in found.categories) == sorted(wanted["categories"].values())
    assert found.cautions == ()
