"""Lists of numbers: typed of any length, or in a file."""

import pytest

from synperf import FieldError
from synperf.cli.number_lists import numbers

from .runner import invoke


@pytest.mark.parametrize("count", [1, 100, 10_000])
def test_a_list_may_be_longer_than_the_name_of_a_file(count):
    assert numbers("lengths", ",".join(map(str, range(1, count + 1)))) == list(range(1, count + 1))


def test_spaces_and_commas_part_numbers_and_some_are_not_whole():
    assert numbers("lengths", " 1, 2 3.5\n4 ") == [1, 2, 3.5, 4]


def test_a_file_of_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lengths.txt").write_text("10\n20 30,40\n")
    assert numbers("lengths", "lengths.txt") == [10, 20, 30, 40]


@pytest.mark.parametrize("text", ["", " ", ",", "1,x", "1_000", "٣", "1\0", ".", "none.txt"])
def test_what_is_no_list_is_refused_by_the_option(text):
    with pytest.raises(FieldError, match=r"^lengths: "):
        numbers("lengths", text)


def test_a_file_that_is_no_text_or_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "junk").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FieldError, match=r"^lengths: .*junk' is not text"):
        numbers("lengths", str(tmp_path / "junk"))


def test_a_thousand_lengths_are_padded():
    lengths = ",".join(["128"] * 1000)
    assert invoke("padding", "--lengths", lengths).code == 0
    assert invoke("packing", "--lengths", lengths, "--capacity", "512").code == 0
