"""Fits of collectives find the law that made the messages, at sizes and numbers of ranks that they did not see."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra [train]")

from synperf.collectives.measured import Messages
from synperf.hardware.links import link
from synperf.measurements import Rows
from synperf.training.collective_fits import curve, fitted
from synperf.training.collective_records import interval, logs

RATE = 400e9
SIZES = np.exp2(np.arange(9, 31))
WAYS = (("ring", "ll"), ("ring", "ll128"), ("ring", "simple"))
LAW = ((4e-6, 0.5e-6, 4 / RATE), (7e-6, 0.7e-6, 1.5 / RATE), (15e-6, 1e-6, 1.2 / RATE))  # base, step, byte


def time_s(size, ranks, shift=0.0):
    ways = [base + (ranks - 1) * hop + (ranks - 1) / ranks * slope * size for base, hop, slope in LAW]
    return np.exp(shift) * np.min(ways, axis=0)


def messages(ranks, sizes=SIZES, noise=0.0):
    rng = np.random.default_rng(1)
    size, n = (column.ravel() for column in np.meshgrid(sizes, ranks))
    times = np.array([time_s(s, k) for s, k in zip(size, n, strict=True)]) * np.exp(noise * rng.normal(size=len(size)))
    return Messages(volume=size, ranks=n.astype(int), nodes=np.ones(len(n), dtype=int), time_s=times)


def error(made, seen):
    return np.abs(np.expm1(-logs(seen, made)))


def test_sizes_between_those_it_saw_are_met():
    made = fitted(messages([2, 4, 8], SIZES[::2]), "all_gather", WAYS, RATE)
    assert np.median(error(made, messages([2, 4, 8], SIZES[1::2]))) < 0.04


def test_a_number_of_ranks_that_it_did_not_see_is_met():
    for out in (2, 4, 8):
        made = fitted(messages([n for n in (2, 4, 8) if n != out]), "all_gather", WAYS, RATE)
        assert np.median(error(made, messages([out]))) < 0.12


def test_messages_beyond_a_gigabyte_are_met():
    made = fitted(messages([2, 8]), "all_gather", WAYS, RATE)
    assert error(made, messages([8], np.array([2.0**36]))).max() < 0.05


def test_one_message_in_ten_that_is_ten_times_too_slow_changes_little():
    seen = messages([2, 4, 8])
    times = seen.time_s.copy()
    times[::10] *= 10
    wrong = Messages(volume=seen.volume, ranks=seen.ranks, nodes=seen.nodes, time_s=times)
    assert np.median(error(fitted(wrong, "all_gather", WAYS, RATE), seen)) < 0.05


def test_intervals_hold_the_central_part_and_the_estimate():
    found = interval(np.log(np.linspace(0.5, 1.5, 100_001)))
    assert (found.low, found.high) == (pytest.approx(0.6, rel=0.01), pytest.approx(1.4, rel=0.01))
    assert interval(np.zeros(9)).low < 1 < interval(np.zeros(9)).high


def test_few_messages_give_a_wider_interval_than_many():
    few, many = (interval(np.log(np.linspace(0.5, 1.5, count))) for count in (25, 2500))
    assert few.low < many.low
    assert few.high > many.high


def test_a_curve_carries_the_names_of_its_rows():
    seen = messages([2, 8])
    count = len(seen)
    text = {name: np.full(count, name, dtype=object) for name in ("engine", "version", "kernel_source", "source")}
    named = text | {"gpu": np.full(count, "h100_sxm", dtype=object), "kernel": np.full(count, "nccl", dtype=object)}
    fields = {"bytes": seen.volume, "ranks": seen.ranks, "nodes": seen.nodes, "topk": np.zeros(count, dtype=int)}
    labels = {"dtype": "bf16", "link": "nvlink4", "network": ""}
    rows = Rows(
        family=np.full(count, "all_gather", dtype=object), time_s=seen.time_s, spread=np.zeros(count),
        samples=np.ones(count, dtype=int), is_test=np.zeros(count, dtype=bool),
        fields=fields | {name: np.full(count, value, dtype=object) for name, value in labels.items()}, **named,
    )  # fmt: skip
    made = curve(rows, link("nvlink4"), RATE)
    assert (made.kernel, made.operation, made.link, made.copies) == ("nccl", "all_gather", "nvlink4", "rank")
    assert [(one.ranks, one.nodes) for one in made.corrections] == [(2, 1), (8, 1)]
