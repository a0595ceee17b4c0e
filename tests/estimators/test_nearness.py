"""How far a shape is from the nearest measured one, and how much wider intervals are there."""

import numpy as np
import pytest

from synperf.estimators.nearness import Near, Nearness

# One factor of e for each octave, intervals as their regimes say at two octaves.
NEAR = Near.of(Nearness(shapes=((8, 16), (64, 1024)), growth=1.0, least=1.0, usual=2.0, most=3.0))


@pytest.mark.parametrize(
    ("shape", "away"), [((8, 16), 0.0), ((8, 64), 2.0), ((64, 128), 3.0), ((1, 1), 5.0), ((64, 16384), 4.0)]
)
def test_distances_are_in_octaves_to_the_nearest_shape(shape, away):
    assert NEAR.places.octaves(np.array(shape)) == pytest.approx(away, abs=1e-6)


def test_errors_grow_by_one_factor_per_octave_within_the_distances_that_were_measured():
    assert NEAR.wider(np.array([8, 64])) == pytest.approx(1.0)
    assert NEAR.wider(np.array([64, 128])) == pytest.approx(np.e)
    assert NEAR.wider(np.array([64, 2**20])) == pytest.approx(np.e)
    assert NEAR.wider(np.array([8, 16])) == pytest.approx(1 / np.e)


def test_columns_are_the_shapes_one_by_one():
    extents = np.random.default_rng(0).integers(1, 2**14, (3000, 2))
    assert NEAR.wider(extents) == pytest.approx([NEAR.wider(shape) for shape in extents], rel=1e-6)
    assert NEAR.wider(extents[:0]).tolist() == []
