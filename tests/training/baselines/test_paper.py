"""The paper's network, trained as the paper trains it."""

import numpy as np
import pytest

from synperf import paper as vectors
from synperf.errors import FieldError
from synperf.training.baselines.nets.schedule import Schedule
from synperf.training.baselines.paper import RECIPE, recipe

from .toy_rows import DEVICES, EXTENTS, TWIN, rows

torch = pytest.importorskip("torch", reason="the paper's network is of the extra [train]")
nets = pytest.importorskip("synperf.training.baselines.nets.efficiency")
training = pytest.importorskip("synperf.training.baselines.nets.training")

VECTORS = np.random.default_rng(0).uniform(1, 1e6, (60, 11))
EFFICIENCY = np.linspace(0.1, 0.9, 60)


def quarter(call, gpu):
    return vectors.vector(call, gpu)["tensor_cycles"] / gpu.clock_hz / 0.25


def weights(net):
    return torch.cat([value.flatten().double() for value in net.state_dict().values()])


def test_the_network_of_11_features_has_45185_weights_and_that_of_15_has_46209():
    sizes = [sum(p.numel() for p in nets.network(inputs).parameters()) for inputs in (len(vectors.NAMES), 15)]
    assert sizes == [45185, 46209]


def test_the_network_ends_in_one_number_between_0_and_1():
    found = nets.network(11).eval()(torch.randn(7, 11))
    assert found.shape == (7, 1)
    assert ((found > 0) & (found < 1)).all()


def test_the_schedule_is_that_of_the_artifact():
    assert Schedule() == Schedule(
        max_epochs=2500, minutes=None, batch=1024, learning_rate=1e-3, least_learning_rate=1e-6, weight_decay=1e-4,
        gradient_norm=1.0, decay=0.6, decay_patience=45, stop_patience=85, validation_share=0.2,
    )  # fmt: skip


def test_the_same_seed_gives_the_same_weights_to_the_bit_and_another_seed_others():
    found = [weights(nets.fit(VECTORS, EFFICIENCY, Schedule(max_epochs=5), seed)) for seed in (42, 42, 43)]
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_a_fit_leaves_the_random_numbers_of_torch_as_they_were():
    before = torch.random.get_rng_state()
    nets.fit(VECTORS, EFFICIENCY, Schedule(max_epochs=1), 0)
    assert torch.equal(before, torch.random.get_rng_state())


def test_the_epoch_of_least_validation_loss_is_kept():
    scripted, seen = iter([3.0, 1.0, 2.0]), []

    def loss(net, *columns):
        if net.training:
            return nets.mape(net, *columns)
        seen.append(weights(net))
        return next(scripted)

    columns = [np.log1p(VECTORS), EFFICIENCY]
    net = training.train(lambda: nets.network(11), loss, columns, Schedule(max_epochs=3), 0)
    assert [torch.equal(weights(net), one) for one in seen] == [False, True, False]


def test_the_validation_loss_falls():
    losses = []

    def watched(net, *columns):
        found = nets.mape(net, *columns)
        if not net.training:
            losses.append(float(found))
        return found

    columns = [np.log1p(VECTORS), np.full(60, 0.25)]
    training.train(lambda: nets.network(11), watched, columns, Schedule(max_epochs=40), 0)
    assert losses[-1] < losses[0] / 2


def test_training_stops_when_the_loss_has_not_fallen_for_long():
    epochs = []

    def constant(net, *columns):
        epochs.append(net.training)
        return 1.0 + 0.0 * nets.mape(net, *columns)

    columns = [np.log1p(VECTORS), EFFICIENCY]
    training.train(lambda: nets.network(11), constant, columns, Schedule(stop_patience=4), 0)
    assert sum(not is_training for is_training in epochs) == 5  # the first, and 4 that were no better


def test_a_budget_of_no_time_trains_nothing():
    found = [weights(nets.fit(VECTORS, EFFICIENCY, Schedule(minutes=m, max_epochs=e), 0)) for m, e in [(0, 9), (9, 0)]]
    assert torch.equal(*found)


def test_a_constant_efficiency_comes_out_on_another_gpu_too():
    predict = recipe(max_epochs=150).fit(rows(quarter), DEVICES, 42)
    other = rows(quarter, gpu=TWIN)
    assert np.median(np.abs(predict(other, DEVICES) / other.time_s - 1)) < 0.1


def test_a_sigmoid_that_saturates_still_has_a_time(monkeypatch):
    predict = recipe(max_epochs=1).fit(rows(quarter), DEVICES, 42)
    monkeypatch.setattr(nets, "predict", lambda _, table: np.zeros(len(table)))
    found = predict(rows(quarter), DEVICES)
    assert (np.isfinite(found) & (found > 0)).all()


def test_too_few_rows_for_a_network_are_refused():
    with pytest.raises(FieldError, match="needs 5 of a kernel and format, got 4"):
        RECIPE.fit(rows(quarter, extents=EXTENTS[:4]), DEVICES, 42)
