"""A share of an overhead that a call had on every GPU is found, and a network that is to be told nothing of it learns
the time that is off least over all shares."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

from synperf.training.learned.data import Table
from synperf.training.learned.fit import fit
from synperf.training.learned.seen import Seen
from synperf.training.learned.settings import SHARED, Settings
from synperf.training.learned.shared import APART, COPIES, Calls, Shared, resampled
from synperf.training.shared_overhead import least_errors

OVERHEAD_S = {"p100_pcie": 8e-4, "t4": 4e-4, "v100_pcie": 2e-4}
CALLS = 300
SETTINGS = Settings(hidden=(16, 8), pieces=3, epochs=20, batch=128, shared=("batch", "size"))


def timed(*gpus: str, overhead: float = 1.0) -> tuple[Table, np.ndarray]:
    """Rows of as many calls on each GPU, twice their base time and the overhead times the share of each call."""
    draw = np.random.default_rng(3)
    batch, size, share = draw.integers(1, 9, CALLS), 2.0 ** draw.uniform(0, 6, CALLS), draw.uniform(0, 1, CALLS)
    logs = np.log(np.stack([batch, size], axis=1)).astype(np.float32)
    base_s = 1e-5 * batch * size
    parts = [2 * base_s + overhead * OVERHEAD_S[gpu] * share for gpu in gpus]
    num = len(gpus)
    text = {name: np.full(num * CALLS, value, dtype=object) for name, value in (("engine", "torch"), ("kernel", "x"))}
    numbers = np.tile(np.arange(CALLS), num)
    table = Table(
        names=("batch", "size"), stepped=("batch",), sizes=(), of_gpus=(), logs=np.tile(logs, (num, 1)),
        base_s=np.tile(base_s, num), time_s=np.concatenate(parts), gpu=np.repeat(np.array(gpus, dtype=object), CALLS),
        shape=numbers.astype(np.uint32), place=np.arange(num * CALLS),
        extents=np.tile(np.stack([batch, size], axis=1), (num, 1)), **text,
    )  # fmt: skip
    return table, np.tile(share, num)


@pytest.fixture(scope="module")
def measured():
    return timed(*OVERHEAD_S)


def copies(table, settings=SETTINGS):
    """The targets of every copy, and those of the table."""
    x = Seen.of(table, SETTINGS.pieces, known=True).x
    rows, target = resampled(table, x, settings, 1)
    assert np.array_equal(rows, np.tile(x, (COPIES, 1)))
    return target.reshape(COPIES, len(table)), table.target


def test_calls_are_known_again_on_other_gpus_and_those_of_too_few_gpus_are_left_out(measured):
    table, _ = measured
    rows = np.flatnonzero((table.gpu != "t4") | (table.place % CALLS >= 100))
    calls = Calls.of(table.take(rows), SETTINGS.shared)
    assert (len(calls.rows), calls.call.max() + 1, calls.gpu.max() + 1) == (3 * (CALLS - 100), CALLS - 100, 3)
    for call in (0, 7):
        own = rows[calls.rows[calls.call == call]]
        assert len(own) == len(set(own % CALLS)) * 3 == 3


def test_copies_have_other_shares_and_the_same_time_without_any(measured):
    table, share = measured
    found, _ = copies(table)
    own = np.array([OVERHEAD_S[gpu] for gpu in table.gpu])
    drawn = (table.base_s * np.exp(found) - 2 * table.base_s) / own
    assert np.abs(np.corrcoef(drawn.ravel(), np.tile(share, COPIES))[0, 1]) < 0.1
    assert np.median(drawn) == pytest.approx(0.5, abs=0.1)
    assert np.quantile(drawn, [0.1, 0.9]) == pytest.approx([0.1, 0.9], abs=0.15)


def test_times_without_a_share_in_common_stay_as_they_are():
    table, _ = timed(*OVERHEAD_S, overhead=0.0)
    found, target = copies(table)
    assert np.median(np.abs(found - target)) < np.log(APART) / 2


def test_calls_of_too_few_gpus_are_copied_as_they_are():
    table, _ = timed("t4", "v100_pcie")
    found, target = copies(table)
    assert (found == target).all()


def test_rows_of_other_families_are_not_touched(measured):
    table, _ = measured
    x = np.ones((len(table), 2), dtype=np.float32)
    rows, target = resampled(table, x, replace(SETTINGS, shared=()), 1)
    assert rows is x
    assert np.array_equal(target, table.target)


def test_a_network_of_new_calls_is_nearer_than_one_that_learns_shares_by_heart(measured):
    table, _ = measured
    new = table.shape % 5 == 0
    rows, asked = table.take(~new), table.take(new)

    def off(settings):
        network = fit(rows, settings, 0, known=True)
        errors = []
        for gpu in OVERHEAD_S:
            own = asked.take(asked.gpu == gpu)
            correction = network.correction(own.logs, network.groups.index(f"{gpu}.torch.x"))
            errors.append(np.abs(np.exp(correction - own.target) - 1))
        return np.mean(errors)

    assert off(SETTINGS) < 0.95 * off(replace(SETTINGS, shared=(), epochs=COPIES * SETTINGS.epochs))


def test_the_same_seed_gives_the_same_rows(measured):
    few = replace(SETTINGS, epochs=2)
    (first, _), (second, _) = copies(measured[0], few), copies(measured[0], few)
    assert np.array_equal(first, second)


def test_epochs_of_shares_count_among_the_passes_and_only_convolutions_have_any():
    assert set(SHARED) == {"conv"}
    conv, gemm = (Settings.for_rows(20_000, family) for family in ("conv", "gemm"))
    assert (conv.passes, gemm.passes) == (conv.epochs + conv.of_shares.epochs, gemm.epochs)
    assert Settings.that_measure(20_000, "conv").shared == ()


def test_the_least_error_is_that_of_the_weighted_median_of_all_shares():
    """Of times from 1 to 3 in even steps, sqrt(3) has as much of 1 / time below as above."""
    found = Shared(alone_s=np.array([1.0, 100.0]), overhead_s=np.array([2.0, 0.0]), share=np.linspace(0, 1, 1001))
    time_s = np.linspace(1, 3, 100_001)
    assert least_errors(found) == pytest.approx([np.abs(3**0.5 / time_s - 1).mean(), 0.0], abs=0.01)
