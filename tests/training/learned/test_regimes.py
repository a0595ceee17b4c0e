"""Regimes of intervals: each group has its own size, all share the shape of the errors, and few rows are joined."""

from dataclasses import fields, replace

import numpy as np
import pytest

from synperf.numeric import concatenated
from synperf.training.learned.regimes import (
    LEAST_OF_GROUP,
    LEAST_ROWS,
    Spread,
    regimes,
    regimes_of_all,
    scaled_by_band,
    widening,
)


def spread(size, time_s, rows=4000, seed=0):
    draw = np.random.default_rng(seed)
    held, shape = np.arange(rows) % 2 == 0, np.arange(rows) // 2 % 60
    times, apart = np.full(rows, time_s), size * draw.normal(0, 1, rows)
    return Spread(
        time_s=times, apart=apart, held_out=held, shape=shape, outside=np.zeros(rows, dtype=bool),
        octaves=np.zeros(rows), wider=np.ones(rows),
    )  # fmt: skip


def inside(regime, s):
    return ((regime.low <= s.apart) & (s.apart <= regime.high)).mean()


def test_every_group_has_an_interval_of_its_own_size_that_holds_80_percent():
    groups = {"a.x.k": spread(0.02, 5e-6), "b.x.k": spread(0.2, 5e-6, seed=1)}
    found = regimes("bf16", groups)
    for name, s in groups.items():
        (one,) = found[name]
        assert 0.78 < inside(one, s) < 0.82
    narrow, wide = found["a.x.k"][0], found["b.x.k"][0]
    assert 9 < (wide.high - wide.low) / (narrow.high - narrow.low) < 11
    assert narrow.low > found[""][0].low > wide.low


def test_bands_are_named_and_end_where_they_say():
    parts = [spread(0.1, t, seed=i) for i, t in enumerate((5e-6, 5e-5, 5e-4))]
    names = [(r.name, r.up_to_s) for r in regimes("fp8", {"a.x.k": Spread(**concatenated(parts))})["a.x.k"]]
    assert names == [("fp8: up to 10 us", 1e-5), ("fp8: up to 100 us", 1e-4), ("fp8: above 100 us", 1e30)]


def test_bands_of_few_rows_are_joined_and_all_rows_are_one_regime_at_worst():
    many, few = spread(0.1, 5e-6), spread(0.1, 5e-4, rows=LEAST_ROWS)
    found = regimes("fp8", {"a.x.k": Spread(**concatenated([many, few]))})["a.x.k"]
    assert [r.rows for r in found] == [2000 + LEAST_ROWS // 2] * 2
    assert [r.up_to_s for r in found] == [1e-5, 1e30]
    (one,) = regimes("fp8", {"a.x.k": few})["a.x.k"]
    assert (one.name, one.rows) == ("fp8: above 100 us", LEAST_ROWS // 2)
    (one,) = regimes("fp8", {"a.x.k": spread(0.1, 5e-4, rows=LEAST_OF_GROUP - 2)})["a.x.k"]
    assert (one.name, one.rows) == ("fp8: all times", LEAST_OF_GROUP // 2 - 1)


def test_joined_bands_share_their_quantiles_and_keep_sizes_of_their_own():
    short, long = spread(0.2, 5e-5, rows=1200), spread(0.02, 5e-4, rows=1200, seed=1)  # 600 held-out rows of each
    first, second = regimes("bf16", {"a.x.k": Spread(**concatenated([short, long]))})["a.x.k"]
    assert (first.rows, second.rows) == (1200, 1200)
    assert 9 < (first.high - first.low) / (second.high - second.low) < 11
    assert first.high / first.low == pytest.approx(second.high / second.low, rel=1e-2)
    assert 0.77 < inside(first, short) < 0.83
    assert 0.77 < inside(second, long) < 0.83


def test_a_group_without_rows_enough_in_a_band_has_its_size_of_all_that_are_joined():
    short, long = spread(0.2, 5e-5, rows=1200), spread(0.02, 5e-4, rows=1200, seed=1)
    some = long.take(np.arange(LEAST_OF_GROUP - 1))
    found = regimes("bf16", {"a.x.k": Spread(**concatenated([short, long])), "b.x.k": some})
    first, second = found["b.x.k"]
    assert (first.low, first.high) == (second.low, second.high)
    assert second.high < found["a.x.k"][0].high / 5


def test_rows_whose_groups_are_not_told_apart_have_the_quantiles_of_each_band():
    short, long = spread(0.2, 5e-6), spread(0.02, 5e-4, seed=1)
    first, second = regimes_of_all("bf16", Spread(**concatenated([short, long])), 0.05)
    assert 0.88 < inside(first, short) < 0.92
    assert 0.88 < inside(second, long) < 0.92


def test_the_middle_of_engines_counts_no_row_twice():
    own, middle = spread(0.1, 5e-6), spread(0.3, 5e-6, seed=2)
    found = regimes("bf16", {"a.x.k": own, "a.*.k": middle})
    assert found["a.x.k"][0].rows == found["a.*.k"][0].rows == 2000
    assert 0.75 < inside(found["a.*.k"][0], middle) < 0.85


def test_ends_are_drawn_towards_those_of_all_by_the_number_of_shapes_not_of_rows():
    own, elsewhere = spread(0.02, 5e-6), np.linspace(-4, 4, 5000)
    (alone,), (one,) = regimes("int8", {"a.x.k": own})["a.x.k"], regimes("int8", {"a.x.k": own}, elsewhere)["a.x.k"]
    others = 3.2 * np.quantile(np.abs(own.apart), 0.8)  # 90 % of -4 to 4
    assert one.high == pytest.approx((2 * alone.high + others) / 3, rel=1e-3)  # 60 shapes of its own against 30
    assert one.low == pytest.approx((2 * alone.low - others) / 3, rel=1e-3)
    fewer = replace(own, shape=own.shape % 30)
    (one,) = regimes("int8", {"a.x.k": fewer}, elsewhere)["a.x.k"]
    assert one.high == pytest.approx((alone.high + others) / 2, rel=1e-3)


def test_ends_that_are_as_everywhere_stay():
    own = {"a.x.k": spread(0.02, 5e-6)}
    (alone,), (one,) = regimes("bf16", own)["a.x.k"], regimes("bf16", own, scaled_by_band(own))["a.x.k"]
    assert (one.low, one.high) == pytest.approx((alone.low, alone.high), abs=1e-5)


def test_widening_is_how_much_further_held_out_rows_are_off():
    own = spread(0.1, 5e-6)
    wide = replace(own, apart=np.where(own.held_out, 1.5, 1.0) * own.apart)
    few = Spread(**{f.name: getattr(own, f.name)[:20] for f in fields(own)})
    found = widening({"a.x.k": own, "b.x.k": wide, "c.x.k": few})
    assert found["a.x.k"] == pytest.approx(1.0, abs=0.05)
    assert found["b.x.k"] == pytest.approx(1.5, rel=0.05)
    assert 1.1 < found["c.x.k"] < 1.4  # that of all rows
    assert min(found.values()) >= 1.0
