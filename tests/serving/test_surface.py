"""Surfaces pass through their points and keep straight lines straight."""

import numpy as np
import pytest

from synperf.serving.surface import Surface


def test_points_of_the_grid_are_kept() -> None:
    x, y = np.array([1.0, 4.0, 9.0]), np.array([2.0, 3.0])
    values = np.arange(1.0, 7.0).reshape(3, 2)
    found = Surface([x, y], values).at(*(axis.ravel() for axis in np.meshgrid(x, y, indexing="ij")))
    np.testing.assert_allclose(found, values.ravel(), rtol=1e-12)


def test_a_product_of_powers_is_exact_within_and_beyond() -> None:
    x, y, z = np.array([1.0, 10.0, 100.0]), np.array([2.0, 64.0]), np.array([1.0, 3.0])
    grid = np.meshgrid(x, y, z, indexing="ij")
    surface = Surface([x, y, z], grid[0] ** 1.5 * grid[1] ** 0.25 * grid[2])
    at = np.array([3.0, 55.0, 400.0]), np.array([2.5, 64.0, 128.0]), np.array([1.0, 2.0, 6.0])
    np.testing.assert_allclose(surface.at(*at), at[0] ** 1.5 * at[1] ** 0.25 * at[2], rtol=1e-9)


def test_below_the_least_size_stands_its_value() -> None:
    assert Surface([np.array([2.0, 4.0])], np.array([5.0, 7.0])).at(np.array([1.0]))[0] == pytest.approx(5.0)


def test_a_size_of_one_point_does_not_matter() -> None:
    assert Surface([np.array([2.0])], np.array([5.0])).at(np.array([1.0, 99.0])).tolist() == pytest.approx([5.0, 5.0])


def test_one_point_is_that_of_a_column() -> None:
    x, y, z = np.array([1.0, 3.0, 10.0]), np.array([2.0, 64.0]), np.array([1.0, 2.0, 5.0])
    surface = Surface([x, y, z], np.random.default_rng(1).uniform(1, 9, (3, 2, 3)))
    at = np.random.default_rng(2).uniform(0.5, 100, (3, 50))
    np.testing.assert_allclose([surface.at(*one) for one in at.T.tolist()], surface.at(*at), rtol=1e-12)
