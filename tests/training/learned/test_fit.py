"""Training: one seed gives the same bits, a law in the rows is learned, an interrupted run goes on where it was."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

from synperf import hardware
from synperf.errors import FileFormatError
from synperf.training.learned.data import HELD_OUT, some_of_each, table
from synperf.training.learned.fit import fit
from synperf.training.learned.judged import errors
from synperf.training.learned.seen import origins
from synperf.training.learned.settings import Settings
from synperf.training.learned.stages import left_out
from synperf.training.shapes import numbered

from .toy_rows import rows

DEVICES = {key: hardware.gpu(key) for key in ("h100_sxm", "l40s")}
FEW = Settings(hidden=(16, 8), pieces=3, epochs=6, batch=64)


@pytest.fixture(scope="module")
def data():
    return table(rows(), DEVICES)


def same(a, b):
    pairs = zip((*a.weights, *a.biases, a.shift), (*b.weights, *b.biases, b.shift), strict=True)
    return all(np.array_equal(x, y) for x, y in pairs)


def test_the_same_seed_gives_the_same_bits_and_another_does_not(data):
    first = fit(data, FEW, 1, known=True)
    assert same(first, fit(data, FEW, 1, known=True))
    assert not same(first, fit(data, FEW, 2, known=True))


def test_what_is_hidden_changes_no_answer_and_is_still_outside_where_it_was_not_measured(data):
    m, larger = data.names.index("m"), data.logs.copy()
    larger[:, m] += 10
    blind, seeing = (fit(replace(data, sizes=sizes), FEW, 1, known=True) for sizes in (("m",), ()))
    assert np.array_equal(blind.see(larger, 0)[0], blind.see(data.logs, 0)[0])
    assert not np.array_equal(seeing.see(larger, 0)[0], seeing.see(data.logs, 0)[0])
    assert blind.outside(larger, 0)[:, m].all()


def test_a_factor_by_gpu_and_engine_is_learned(data):
    network = fit(data, Settings(hidden=(16, 8), pieces=3, epochs=150, batch=64), 0, known=True)
    _, apart = errors(network, data, known=True)
    assert np.abs(apart).mean() < 0.03 < np.abs(data.target).mean() / 5


def test_an_interrupted_training_goes_on_to_the_same_weights(data, tmp_path):
    whole, state = fit(data, FEW, 1, known=True), tmp_path / "x.state"

    def stop(done, _):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(data, FEW, 1, known=True, state=state, progress=stop)
    epochs = []
    again = fit(data, FEW, 1, known=True, state=state, progress=lambda done, _: epochs.append(done))
    assert epochs == [4, 5, 6]
    assert same(whole, again)


def test_a_state_of_other_rows_seed_or_settings_is_refused_and_stays(data, tmp_path):
    state = tmp_path / "x.state"
    fit(data, FEW, 1, known=True, state=state)
    kept = state.read_bytes()
    fewer, longer = data.take(np.arange(len(data) - 1)), replace(FEW, epochs=7)
    for rows_, settings, seed, what in (
        (data, FEW, 2, "seed"), (fewer, FEW, 1, "rows"), (data, longer, 1, "settings"), (fewer, FEW, 2, "seed, rows"),
    ):  # fmt: skip
        said = (
            rf"x\.state: the state of a training with other {what}; right would be the command that it was begun with"
        )
        with pytest.raises(FileFormatError, match=said):
            fit(rows_, settings, seed, known=True, state=state)
    assert state.read_bytes() == kept


def test_a_damaged_state_is_told(data, tmp_path):
    state = tmp_path / "x.state"
    state.write_bytes(b"no state at all")
    with pytest.raises(FileFormatError, match="not a state of training"):
        fit(data, FEW, 1, known=True, state=state)


def test_groups_hold_every_row_once_and_the_middle_of_several(data):
    found = origins(data, known=True)
    own = [rows for name, rows in found.rows_of.items() if "*" not in name]
    assert sorted(np.concatenate(own).tolist()) == list(range(len(data)))
    middle = found.groups["h100_sxm.*.cublas"]
    pair = (found.groups["h100_sxm.vllm.cublas"] + found.groups["h100_sxm.sglang.cublas"]) / 2
    assert np.allclose(middle, pair)
    general = origins(data, known=False)
    assert set(general.groups) == {"vllm.cublas", "sglang.cublas", "*.cublas", "*"}


def test_inputs_that_are_left_out_are_not_there():
    full, no_math, no_memory = (table(rows(), DEVICES, without) for without in ((), ("math",), ("memory",)))
    assert {"math", "time_128x128", "fill"} <= set(full.names) - set(no_math.names)
    assert {"dram", "working_set", "l2_sm_max"} <= set(full.names) - set(no_memory.names)
    assert "m" in no_math.names
    assert "m" in no_memory.names


def test_held_out_shapes_are_whole_and_few():
    kept = numbered(rows()) % HELD_OUT == 0
    n, k = rows().fields["n"], rows().fields["k"]
    shapes = {}
    for shape, out in zip(zip(n.tolist(), k.tolist(), strict=True), kept.tolist(), strict=True):
        assert shapes.setdefault(shape, out) == out
    assert 0 < sum(shapes.values()) < len(shapes) / 3


def test_some_of_each_takes_no_more_than_asked():
    chosen = rows().take(some_of_each(rows(), 50, 0))
    for _, part in chosen.groups("gpu", "engine", "kernel", "dtype"):
        assert len(part) == 50


def test_twins_are_left_out_together_and_never_all():
    assert left_out({"h100_sxm", "h200_sxm", "l40s"}) == [("h100_sxm", "h200_sxm"), ("l40s",)]
    assert left_out({"h100_sxm", "h200_sxm"}) == [("h100_sxm",), ("h200_sxm",)]
