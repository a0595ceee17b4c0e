"""Damaged files of all formats but Kineto's: an answer that keeps its laws, or one sentence; no loss in silence."""

import json
from random import Random

import pytest

from synperf.errors import PerfError
from synperf.traces import read_trace, recognised
from synperf.traces.records import read_records

from ...cli.runner import assert_refused, invoke
from . import mutants, others
from .judged import broken

_EACH = 40  # mutants of a file
_BYTES = 60  # of a file that are wrong, one at a time
NAMES = [*others.TEXTS, "nsys 2.x", "nsys 3.x", "xplane"]


@pytest.fixture
def files(tmp_path):
    return dict(others.files(tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_a_mutant_is_answered_or_refused_in_one_sentence(tmp_path, files, name):
    path = tmp_path / "mutant"
    for number in range(_EACH):
        random = Random(f"{name} {number}")
        how, data = mutants.of_bytes(random, [files[name]] * 4 + [random.choice(list(files.values()))])
        path.write_bytes(data)
        seen = invoke("analyze", str(path), *(["--json"] if number % 2 else []))
        if seen.code:
            assert_refused(seen)
            assert list(broken(seen.err.strip())) == [], how
        elif number % 2:
            said = json.loads(seen.out)
            assert "ranks" not in said or list(broken(said)) == [], how


def held(path):
    """How many events or records a file holds, and the warnings."""
    if recognised(path):
        traces = read_trace(path)
        return sum(len(one.events) for one in traces), [str(one) for trace in traces for one in trace.cautions]
    found = read_records(path)
    return sum(map(_records, found)), [str(caution) for one in found for caution in one.cautions]


def _records(one):
    parts = ("rows", "iterations", "kernels", "choices")
    count = sum(len(getattr(one, part)) for part in parts if isinstance(getattr(one, part, None), tuple))
    return count + sum(len(kernel.metrics) + len(kernel.rules) for kernel in getattr(one, "kernels", ()))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "nccl_debug"])  # whose lines are free text
def test_one_wrong_byte_loses_nothing_in_silence(tmp_path, files, name):
    path, data = tmp_path / "mutant", files[name]
    path.write_bytes(data)
    whole, before = held(path)
    random = Random(name)
    places = [place for place, byte in enumerate(data) if byte != ord("\n")]
    for _ in range(_BYTES):
        place, byte = random.choice(places), random.choice((random.randrange(32, 127), random.randrange(256)))
        path.write_bytes(data[:place] + bytes([byte]) + data[place + 1 :])
        try:
            left, after = held(path)
        except PerfError:
            continue
        assert left >= whole or after != before, f"byte {place} is {byte}: {data[max(0, place - 30) : place + 30]!r}"
