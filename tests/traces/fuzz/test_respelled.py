"""A trace that is written in other words gives the same numbers, all of them."""

import json

import pytest

from .ages import AGES, document
from .judged import in_full
from .respelled import BARE, DOCUMENTS, TEXTS

_OF_THE_GPU = ("gpus", "operators", "geometry", "memory", "checks", "diagnosis", "findings", "not_seen")


def said(folder, data):
    """The answer, but for the name of the file."""
    path = folder / "trace"
    path.write_bytes(data)
    found = in_full(path)
    assert not isinstance(found, str), found
    return {key: value for key, value in found.items() if key != "source"}


def without_metadata(found):
    """What does not depend on what stands beside the events."""
    rows = {key: value for key, value in found.items() if key not in _OF_THE_GPU}
    return json.loads(
        json.dumps(rows), object_hook=lambda one: {k: v for k, v in one.items() if k not in ("rank", "gpu", *_TIMES)}
    )


_TIMES = ("start_ns", "edges_ns", "host")  # that are counted from the base time


@pytest.fixture(params=AGES)
def age(request):
    return request.param


def plainly(age):
    return json.dumps(document(AGES[age])).encode()


def test_no_age_gives_a_warning(tmp_path, age):
    assert said(tmp_path, plainly(age))["warnings"] == []


def test_all_ages_tell_the_same_of_the_same_run(tmp_path):
    totals = [
        [{k: one[k] for k in ("span_ns", "busy_ns", "compute_ns", "kernels", "copies")} for one in found["ranks"]]
        for found in (said(tmp_path, plainly(age)) for age in AGES)
    ]
    assert totals[1:] == totals[:-1]
    assert totals[0] == [{"span_ns": 1_682_000, "busy_ns": 714_000, "compute_ns": 380_000, "kernels": 10, "copies": 4}]


@pytest.mark.parametrize("change", DOCUMENTS, ids=lambda one: one.__name__)
def test_events_in_other_words_give_the_same_numbers(tmp_path, age, change):
    if change.__name__ == "older_words" and AGES[age].categories["kernel"] == "Kernel":
        return
    other = json.dumps(change(document(AGES[age]))).encode()
    assert said(tmp_path, other) == said(tmp_path, plainly(age))


@pytest.mark.parametrize("write", TEXTS.values(), ids=TEXTS)
def test_texts_that_are_packed_or_spaced_otherwise_give_the_same_numbers(tmp_path, age, write):
    assert said(tmp_path, write(document(AGES[age]))) == said(tmp_path, plainly(age))


@pytest.mark.parametrize("write", BARE.values(), ids=BARE)
def test_events_alone_give_the_same_numbers_but_for_what_stood_beside_them(tmp_path, age, write):
    bare, whole = (said(tmp_path, data) for data in (write(document(AGES[age])), plainly(age)))
    assert without_metadata(bare) == without_metadata(whole)
