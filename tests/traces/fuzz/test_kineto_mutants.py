"""Thousands of damaged traces of torch: no traceback, no law broken, no total wrong in silence.

`python -m tests.traces.fuzz 50000` tries as many others as it is asked for.
"""

import gzip
import json
from random import Random

import pytest

from synperf.traces.kineto import recognises

from ...analysis.references import KINETO, path
from . import mutants
from .ages import AGES
from .judged import broken, in_full, in_short, shown, silent

_EACH = 100  # mutants of a test
_IN_FULL = 20  # one in so many is analysed in full


def judge(folder, name, how, text, look):
    """Fails where the answer about such a file is not what it must be."""
    file = folder / "mutant.json"
    file.write_bytes(text)
    said = look(file)
    wrong = [*broken(said), *silent(text, said)]
    assert wrong == [], f"{name}, {how}: {shown(said)}"


@pytest.mark.parametrize("seed", range(14))
def test_no_mutant_of_any_age_is_told_wrong(tmp_path, seed):
    documents = [mutants.made(age) for age in AGES]
    for number in range(_EACH):
        how, text = mutants.of_kineto(Random(f"{seed} {number}"), documents)
        judge(tmp_path, number, how, text, in_short if number % _IN_FULL else in_full)


@pytest.mark.parametrize("name", KINETO)
def test_no_mutant_of_a_real_trace_is_told_wrong(tmp_path, name):
    whole = json.loads(gzip.decompress(path(name).read_bytes()))
    random = Random(name)
    pieces = [mutants.piece_of(whole, random) for _ in range(5)]
    for number in range(_EACH // 4):
        how, text = mutants.of_kineto(random, pieces)
        judge(tmp_path, number, how, text, in_short if number % _IN_FULL else in_full)


@pytest.mark.parametrize("age", AGES)
def test_the_plain_count_agrees_on_what_is_not_damaged(tmp_path, age):
    text = mutants.made(age).encode()
    assert recognises(text, tmp_path)
    judge(tmp_path, age, "not damaged", text, in_full)
