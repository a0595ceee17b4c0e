"""Claims in print: all 32 errata and the worked examples are there, each with numbers that are computed."""

import json

import pytest

from synperf.calculators.textbook import VERDICTS, names, textbook
from synperf.errors import UnknownNameError

from ..cli.runner import assert_refused, invoke

WORKED = ("W-70", "W-71", "W-72", "W-74", "W-75", "W-76", "W-78", "S-27", "S-30", "S-33", "S-34", "S-35", "S-40")
EXACT = {
    "E1": [45185, 46209],
    "E3": [1],
    "E4": [2048, 221_184],
    "E5": [0.4717, 0.5833],
    "E11": [0.000121, 0.000152, 0.000183],
    "E13": [6, 0.75, 5, 0.625],
    "E14": [0.125, 0.03125],
    "E15": [4],
    "E16": [32, 1, 32],
    "E17": [2, 2],
    "E21": [4, 16],
    "E22": [9, 576],
    "E23": [640, 448],
    "E24": [0.45, 0.1791, 0.0833],
    "E25": [2, 4, 32],
    "E26": [12_582_912, 13.98e-6, 8.594e9, 9.549e-3, 137e-6],
    "E27": [14, 6, 1.75, 0.875, 941_176, 16e6],
    "E28": [16, 15e9, 21e9, 144e9, 8, 0.857, 0.1795, 0.21875],
    "E29": [15.75e9, 31.5e9, 63e9, 8.75],
    "E30": [134_217_728, 233_472],
    "E32": [0.8689, 0.2590],
    "W-71": [110, 0.5, 2],
    "S-27": [6.2375, 0.0006],
    "S-33": [0.0234, -0.0449, 0.0395],
    "S-34": [8.19, 6.63, 9.44],
}


def test_all_errata_and_worked_examples_are_there_once():
    assert {f"E{n}" for n in range(1, 33)} <= set(names())
    assert set(WORKED) <= set(names())
    assert len(set(names())) == len(names())


@pytest.mark.parametrize(("key", "values"), EXACT.items(), ids=list(EXACT))
def test_exact_numbers(key, values):
    (claim,) = textbook([key]).claims
    assert [figure.exact for figure in claim.figures] == pytest.approx(
        values, rel=2e-3, abs=5e-7 if key == "E11" else 5e-5
    )


def test_layouts_are_names():
    (claim,) = textbook(["E20"]).claims
    assert [(figure.name, figure.printed, figure.exact) for figure in claim.figures] == [
        ("tensor cores", "nchw", "nhwc"),
        ("AVX-512", None, "nchwc"),
    ]


@pytest.mark.parametrize("claim", textbook().claims, ids=lambda one: one.keys[0])
def test_a_claim_is_judged_by_its_numbers(claim):
    assert claim.verdict in VERDICTS
    assert claim.reason
    known = {figure.name: figure for figure in claim.figures}
    printed = [one for one in known.values() if one.printed is not None]
    if claim.verdict == "right":
        assert all(one.exact == pytest.approx(one.printed, rel=5e-3) for one in printed)
    if claim.verdict == "wrong" and printed:
        assert any(one.exact != pytest.approx(one.printed, rel=5e-3) if isinstance(one.exact, float) else
                   one.exact != one.printed for one in printed)  # fmt: skip


def test_printed_numbers_are_those_of_exact_ones():
    from synperf.calculators.textbook import _rows

    for row in _rows():
        (claim,) = textbook([row["keys"][0]]).claims
        assert set(row.get("printed", {})) <= {figure.name for figure in claim.figures}


def test_topics_and_keys_are_asked_for_in_any_case():
    assert {one.topic for one in textbook(["Training"]).claims} == {"training"}
    assert textbook(["e26"]) == textbook(["W-70"])
    assert sum(textbook().counts.values()) == len(textbook().claims)


def test_an_unknown_key_is_named():
    with pytest.raises(UnknownNameError, match="no claim named 'E33'"):
        textbook(["E33"])
    assert_refused(invoke("textbook", "E33"))


def test_the_command_lists_all():
    seen = invoke("textbook")
    assert seen.code == 0
    assert all(key in seen.out for key in names())
    assert len(json.loads(invoke("textbook", "--json").out)["claims"]) == len(textbook().claims)
