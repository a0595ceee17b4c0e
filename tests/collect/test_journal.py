"""The journal: a line cut short is taken off, any other damage is named."""

import pytest

from synperf.collect.journal import Entry, Journal
from synperf.collect.plan import Case, Plan
from synperf.errors import FileFormatError

from .small import request

CASES = [Case(family="copy", fields={"rows": n, "dim": 1, "dtype": "fp32"}, call_s=1e-6, timing_s=0.1) for n in (1, 2)]
PLAN = Plan(request=request("copy"), device="toy", cases=CASES, skipped={})


@pytest.fixture
def journal(tmp_path):
    made = Journal.begin(tmp_path / "rows.parquet.journal", PLAN)
    for unit in (2, 0):
        made.add(Entry(unit=unit, skipped=f"reason {unit}"))
    return made


def test_what_was_written_is_read(journal):
    found = Journal.read(journal.path)
    assert (found.plan, found.entries, found.left()) == (PLAN, journal.entries, [1, 3])


def test_a_last_line_that_was_cut_short_is_taken_off(journal):
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + b'{"unit":1,"row":{"fam')
    found = Journal.read(journal.path)
    assert found.left() == [1, 3]
    found.add(Entry(unit=1))
    assert Journal.read(journal.path).left() == [3]


@pytest.mark.parametrize(
    ("line", "text", "why"),
    [
        (1, b'{"collection":1}', "missing required field"),
        (1, b"PAR1", "malformed"),
        (1, b'{"x":' + b"[" * 100_000, "recursion"),
        (2, b'{"unit":2,', "truncated"),
        (2, b'{"row":' * 100_000, "recursion"),
        (2, b'{"x":' + b"[" * 100_000, "recursion"),
        (2, b'{"unit":2,"row":{"family":"copy"}}', "missing required field"),
        (3, b'{"unit":2}', "a unit that comes twice or is none of the plan"),
        (3, b'{"unit":4}', "a unit that comes twice or is none of the plan"),
    ],
)
def test_any_other_damage_is_one_sentence_with_its_line(journal, line, text, why):
    lines = journal.path.read_bytes().splitlines()
    lines[line - 1] = text
    journal.path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(FileFormatError) as error:
        Journal.read(journal.path)
    assert str(error.value).startswith(f"rows.parquet.journal line {line}: damaged (")
    assert why in str(error.value)
    assert str(error.value).endswith("mend it, or remove the file to begin anew")
