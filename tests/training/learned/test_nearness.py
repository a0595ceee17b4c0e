"""How errors grow with the distance to the nearest shape: what is surely there, and no more."""

import numpy as np
import pytest

from synperf.training.learned.nearness import leveled, nearness
from synperf.training.learned.regimes import Spread

ROWS, SHAPES = 200, 40
AWAY = np.linspace(0.5, 2.5, SHAPES)  # octaves of each shape


def spread(growth, level=0.05, seed=0, noise=0.1):
    """Shapes of 200 rows each, whose errors grow with the distance and differ by chance."""
    draw = np.random.default_rng(seed)
    size = level * np.exp(growth * AWAY + noise * draw.normal(0, 1, SHAPES))
    shape = np.repeat(np.arange(SHAPES), ROWS)
    every = np.ones(len(shape), dtype=bool)
    return Spread(
        time_s=np.full(len(shape), 5e-6), apart=size[shape] * draw.normal(0, 1, len(shape)), held_out=every,
        shape=shape, outside=~every, octaves=AWAY[shape], wider=np.ones(len(shape)),
    )  # fmt: skip


def found(**growths):
    every = {part: {"a.x.k": spread(growth, seed=i)} for i, (part, growth) in enumerate(growths.items())}
    return nearness(every, dict.fromkeys(every, np.array([[8.0, 16.0]])))


def test_growth_is_that_of_errors_over_the_shapes_of_all_formats():
    near = found(bf16=0.4, fp8=0.4)
    assert near["bf16"].growth == near["fp8"].growth == pytest.approx(0.4, abs=0.05)
    assert (near["bf16"].least, near["bf16"].usual, near["bf16"].most) == pytest.approx((0.5, 1.5, 2.5), abs=0.03)
    assert near["bf16"].shapes == ((8, 16),)


def test_what_may_be_chance_and_what_falls_is_none():
    assert found(bf16=0.0) == {}
    assert found(bf16=-0.4) == {}


def test_the_levels_of_formats_tell_nothing():
    near = nearness({"bf16": {"a.x.k": spread(0.0)}, "fp8": {"a.x.k": spread(0.0, level=0.5, seed=1)}}, {})
    assert near == {}


def test_a_format_whose_shapes_are_not_told_apart_has_none():
    own, other = spread(0.4), spread(0.4, seed=1)
    flat = Spread(**{name: getattr(other, name) for name in Spread.__slots__} | {"octaves": np.zeros(len(other.apart))})
    assert list(nearness({"bf16": {"a.x.k": own}, "fp8": {"a.x.k": flat}}, {"bf16": np.ones((1, 2))})) == ["bf16"]


def test_leveled_errors_are_as_large_on_far_shapes_as_on_near_ones():
    groups = {"a.x.k": spread(0.4, noise=0.0)}
    near = nearness({"bf16": groups}, {"bf16": np.array([[8.0, 16.0]])})["bf16"]
    own = leveled(groups, near)["a.x.k"]
    far = own.octaves > 1.5
    assert np.std(own.apart[far]) == pytest.approx(np.std(own.apart[~far]), rel=0.05)
    assert own.apart * own.wider == pytest.approx(groups["a.x.k"].apart)
    assert leveled(groups, None) == groups
