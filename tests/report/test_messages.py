"""Scores of collectives, as text and from rows whose curve is shipped."""

import numpy as np

from synperf.collectives import records
from synperf.evaluation.collectives import NEW_SIZE, curve_of, report
from synperf.measurements import Rows
from synperf.report.messages import to_text

GPU = "h100_sxm"
CURVE = next(c for c in records.curves(GPU) if (c.kernel, c.operation, c.dtype) == ("nccl", "all_gather", "bf16"))


def rows(sizes, factor=1.0, version=CURVE.version):
    count = len(sizes)
    size = np.array(sizes, dtype=float)
    text = {
        "gpu": GPU, "family": CURVE.operation, "engine": CURVE.engine, "version": version, "kernel": CURVE.kernel,
        "kernel_source": "NCCL", "source": CURVE.source,
    }  # fmt: skip
    labels = {"dtype": CURVE.dtype, "link": CURVE.link, "network": CURVE.network}
    numbers = {"bytes": size, "ranks": np.full(count, 8), "nodes": np.ones(count, dtype=int), "topk": np.zeros(count)}
    return Rows(
        fields=numbers | {name: np.full(count, value, dtype=object) for name, value in labels.items()},
        time_s=CURVE.time_s(size, 8, 1) * factor, spread=np.zeros(count), samples=np.ones(count, dtype=int),
        is_test=np.arange(count) % 2 == 0,
        **{name: np.full(count, value, dtype=object) for name, value in text.items()},
    )  # fmt: skip


def test_the_curve_of_rows_is_that_of_their_version():
    assert curve_of(rows([1024])) is CURVE
    assert curve_of(rows([1024], version="1.0")) is None


def test_test_rows_alone_are_scored_and_all_are_held_against_the_floor():
    found = report(NEW_SIZE, [rows([1e3, 1e6, 1e9, 1e4], factor=1.25)], {"too old": 3})
    (score,) = found.scores["all"]
    assert (score.rows, found.rows, found.below_floor) == (2, 4, 0)
    assert round(score.estimate.mape, 6) == 0.2
    assert (found.scores["kernel"][0].group, found.scores["gpu"][0].group) == ("nccl of nccl", GPU)


def test_messages_that_are_too_fast_are_counted():
    assert report(NEW_SIZE, [rows([1e9, 1e9], factor=1e-3)], {}).below_floor == 2


def test_the_text_shows_every_table_and_what_is_set_aside():
    text = to_text(report(NEW_SIZE, [rows([1e3, 1e6], factor=1.25)], {"too old": 3}))
    assert text.startswith("collectives, sizes that nothing was fitted to")
    assert "measured below the floor: 0 of 2 messages" in text
    assert "rows set aside\n  3: too old" in text
    assert [line.split()[0] for line in text.splitlines() if line.endswith("NCCL's model, median")] == [
        "all", "kernel", "gpu", "operation",
    ]  # fmt: skip
