"""The file of fitted stacks: what is in it, and that it reads back as what was fitted."""

import msgspec
import numpy as np
import pytest

from synperf.serving.factors import NAMES
from synperf.serving.stack_file import LEVELS, StackFile
from synperf.training import stacks

from ..serving.fitting.points import served


@pytest.fixture(scope="module")
def written() -> StackFile:
    found = stacks.record(served(96, {"one": 1.3}), {"seats": 2})
    return msgspec.json.decode(msgspec.json.encode(found), type=StackFile)


def test_every_level_has_a_spread_and_the_file_says_where_it_is_from(written):
    assert set(written.spreads) == set(LEVELS)
    assert written.provenance["rows"] == "48 of the fit half, 48 of the test half"
    assert written.provenance["set_aside"] == "2 seats"
    assert written.families == {"64 x 5120, 32762123264": "three"}


def test_factors_and_residuals_read_back_as_they_were_fitted(written):
    every = served(96, {"one": 1.3})
    training = every.take(~every.points.is_test)
    made = training.fitted()
    node = next(one for one in written.levels if one.key == ("vllm",))
    values = [getattr(node.factors, name) for name in NAMES]
    assert values == pytest.approx(made.tree.nodes[("vllm",)].values.tolist(), rel=1e-3)
    ttft, tpot = written.residuals()
    assert tpot.at(every.labels) == pytest.approx(made.tpot.at(every.labels), abs=2e-3)
    assert ttft.at(every.labels) == pytest.approx(made.ttft.at(every.labels), abs=2e-3)


def test_a_file_that_cannot_be_read_is_one_sentence_and_code_2(tmp_path, capsys):
    broken = tmp_path / "points.csv"
    broken.write_text("id\n")
    assert stacks.main(["--data", str(broken)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_intervals_hold_the_middle_of_the_ratios():
    found = stacks.interval_of(np.linspace(0.5, 1.5, 101))
    assert (found.low, found.high) == (0.6, 1.4)
