"""Errors on static batches that fits did not see."""

import json

import numpy as np
import pytest

from synperf.errors import FieldError, UnknownNameError
from synperf.evaluation.e2e.static import CONFIGURATION, GPU, LEFT_OUT, StaticReport, evaluate
from synperf.hardware.power import power
from synperf.report import static_scores
from synperf.report.jsonout import to_json
from synperf.serving.fitting import static_fit

from ...measurements.shared import shared
from ...measurements.static_files import write

CHANGES = [
    {
        "config_id": f"{gpu}{at}",
        "gpu": gpu,
        "workload": str(at),
        "prompt_lens": [100 * (at + 1)] * 4,
        "repeat": 1,
        "prefill_ms": 20.0 * (at + 1),
        "total_ms": 20.0 * (at + 1) + 10 * 15.0,
    }
    for gpu in ("H100", "A100", "L40")
    for at in range(2)
]
WHOLE = {"config_id": "whole", "framework": "vllm", "prefill_ms": None, "median_decode_ms": None, "total_ms": 190.0}


@pytest.fixture(autouse=True)
def one_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ships of boards' power in the place of the grid, for time's sake."""
    monkeypatch.setattr(static_fit, "grid", lambda: [power()])


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> StaticReport:
    """A report of few batches."""
    path = write(tmp_path_factory.mktemp("rows") / "rows.parquet", *CHANGES, WHOLE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(static_fit, "grid", lambda: [power()])
        return evaluate(path)


def test_every_batch_is_scored_by_everything_that_is_left_out(small: StaticReport) -> None:
    assert tuple(small.scores) == LEFT_OUT
    assert small.scores[GPU]["all"][0].rows == 6
    assert [one.group for one in small.scores[GPU]["gpu"]] == ["h100_sxm", "a100_sxm", "l40"]
    assert len(small.rows) == len(LEFT_OUT) * 6


def test_batches_of_which_the_whole_alone_was_timed_are_counted_and_shown_apart(small: StaticReport) -> None:
    assert list(small.set_aside.values()) == [1]
    (row,) = small.apart
    assert row.measured_s == (pytest.approx(0.19),)
    assert row.predicted_s[0] > row.floor_s[0]


def test_others_answer_where_they_can_and_are_no_zeros(small: StaticReport) -> None:
    rows = {one.group: one.rows for one in small.others}
    assert rows == {"pipeweave": 6, "roofline": 6, "linear": 6, "wave scaling": 6}
    assert all(one.prefill.bias > -1 for one in small.others)


def test_totals_are_the_prefill_and_all_steps(small: StaticReport) -> None:
    for row in small.rows:
        assert row.predicted_s[2] == pytest.approx(row.predicted_s[0] + 10 * row.predicted_s[1])


def test_text_and_json_have_every_gpu(small: StaticReport) -> None:
    text = static_scores.to_text(small)
    assert all(name in text for name in ("h100_sxm", "a100_sxm", "l40", "wave scaling", "whole:", "rows set aside"))
    assert json.loads(to_json(small))["below_floor"] == small.below_floor


def test_a_gpu_or_split_that_is_not_there_is_named(tmp_path) -> None:
    path = write(tmp_path / "rows.parquet", *CHANGES)
    with pytest.raises(FieldError, match=r"gpu: rows\.parquet has no batch of b200_sxm"):
        evaluate(path, ["b200"])
    with pytest.raises(UnknownNameError, match="new-shape"):
        evaluate(path, split="new-shape")


@pytest.fixture(scope="module")
def published() -> StaticReport:
    """The report of the published batches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(static_fit, "grid", lambda: [power()])
        return evaluate(shared("pipeweave_e2e_real.parquet"))


@pytest.mark.parametrize(
    ("left_out", "prefill", "decode", "total"), [(CONFIGURATION, 0.08, 0.09, 0.06), (GPU, 0.10, 0.11, 0.075)]
)
def test_published_batches_are_within_the_gates(
    published: StaticReport, left_out: str, prefill: float, decode: float, total: float
) -> None:
    (found,) = published.scores[left_out]["all"]
    assert found.rows == 37
    assert (found.prefill.mape < prefill, found.decode.mape < decode, found.total.mape < total) == (True, True, True)


def test_no_published_batch_is_faster_than_its_floor(published: StaticReport) -> None:
    assert published.below_floor == 0
    for row in (*published.rows, *published.apart):
        assert (np.array(row.measured_s) >= np.array(row.floor_s)).all()
        assert (np.array(row.predicted_s) >= np.array(row.floor_s)).all()


def test_published_totals_are_the_prefill_and_all_steps(published: StaticReport) -> None:
    """That steps and prefills are all there is: the median of the repeats, within half a percent in the middle."""
    steps = {row.name: round((row.predicted_s[2] - row.predicted_s[0]) / row.predicted_s[1]) for row in published.rows}
    off = [
        abs((row.measured_s[0] + steps[row.name] * row.measured_s[1]) / row.measured_s[2] - 1) for row in published.rows
    ]
    assert np.median(off) < 0.005
