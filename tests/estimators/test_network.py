"""The network in NumPy: pieces, cuts, groups, and the order of its arithmetic."""

from dataclasses import replace

import numpy as np

from synperf.estimators.network import pieces

from .toy_weights import KNOWN_GROUPS, network


def logs(n, rows=5, seed=3):
    draw = np.random.default_rng(seed)
    return (n.low + (n.high - n.low) * draw.uniform(0, 1, (rows, len(n.low)))).astype(np.float32)


def test_pieces_count_how_far_a_value_has_come():
    knots = np.array([[0.0, 1.0, 3.0], [10.0, 20.0, 30.0]], dtype=np.float32)
    values = np.array([[-1.0, 10.0], [0.5, 15.0], [2.0, 30.0], [9.0, 99.0]], dtype=np.float32)
    expected = [[0, 0, 0, 0], [0.5, 0, 0.5, 0], [1, 0.5, 1, 1], [1, 1, 1, 1]]
    assert np.array_equal(pieces(values, knots), np.array(expected, dtype=np.float32))


def test_correction_is_the_layers_written_out():
    n = network(KNOWN_GROUPS, size=0.05)
    x = logs(n)
    wide = np.concatenate([x, pieces(x[:, n.encoded], n.knots)], axis=1).astype(np.float64)
    first = np.maximum(wide @ n.weights[0] + n.biases[0] + n.shift[1], 0)
    second = np.maximum(first @ n.weights[1] + n.biases[1], 0)
    expected = (second @ n.weights[2] + n.biases[2])[:, 0]
    assert np.abs(expected).max() < 0.5  # so that the cut of the output is not what is compared
    assert np.allclose(n.correction(x, 1), expected, atol=1e-5)


def test_groups_differ_and_output_is_cut_to_its_range():
    n = network(KNOWN_GROUPS, size=0.3)
    x = logs(n, rows=200)
    assert not np.array_equal(n.correction(x, 0), n.correction(x, 1))
    assert n.correction(x, 0).min() >= -0.5
    assert n.correction(x, 0).max() <= 0.5
    assert (np.abs(n.correction(x, 0)) == 0.5).any()


def test_beyond_the_range_the_correction_is_that_of_its_end():
    n = network(KNOWN_GROUPS)
    at_end = np.tile(n.high, (1, 1))
    assert np.array_equal(n.correction(at_end, 0), n.correction(at_end + 5, 0))
    assert n.outside(at_end + 5, 0).all()
    assert not n.outside(at_end, 0).any()


def test_one_row_alone_is_the_same_as_a_batch_of_one():
    n = network(KNOWN_GROUPS)
    x = logs(n, rows=1)
    assert n.correction(x, 0) == n.correction(x.copy(), 0)


def test_encoded_inputs_are_cut_at_the_range_where_knots_go_on_beyond_it():
    n = network(KNOWN_GROUPS)
    constant = n.encoded[0]
    high = n.high.copy()
    high[constant] = n.low[constant]
    knots = n.knots.copy()
    knots[0] = n.low[constant] + np.array([0.0, 0.002, 0.004, 0.006])
    alike = replace(n, high=high, knots=knots)
    x = np.tile(high, (2, 1))
    x[1, constant] += 1.0
    first, second = alike.correction(x, 0)
    assert first == second
    assert abs(alike.see_one(x[1], 0)[1] - first) < 1e-6
