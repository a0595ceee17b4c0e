"""Which network tells how far errors go on a row: never one that was fitted to the shape of the row."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

from synperf import hardware
from synperf.estimators.weights import MoreShapes
from synperf.training.learned import regimes
from synperf.training.learned.cards import Spreads
from synperf.training.learned.data import table
from synperf.training.learned.judged import Judged
from synperf.training.learned.stages import stages

from .toy_rows import FACTORS, rows

DATA = table(rows(), {key: hardware.gpu(key) for key in ("h100_sxm", "l40s")})


FEW, SOME, MANY = 50, 150, 300


@dataclass(frozen=True, kw_only=True, eq=False)
class Off:
    """A network that is off by one factor on every row, and by a greater one where m is beyond a limit."""

    apart: float  # log(measured / predicted)
    beyond: float = 0.0
    limit: float = np.inf
    groups = tuple(f"{gpu}.{engine}.cublas" for gpu, engine in FACTORS)

    def correction(self, logs, group):
        factor = tuple(FACTORS.values())[group]
        return np.log(factor) - np.where(self.outside(logs, group)[:, 0], self.beyond, self.apart)

    def outside(self, logs, _):
        return logs[:, [DATA.names.index("m")]] > np.log(self.limit)


def made(num_shapes, *, tables=True):
    found = stages("gemm", "bf16", DATA, 0, num_shapes=num_shapes, tables=tables)
    return {stage.name: stage.rows for stage in found}


@pytest.mark.parametrize(("num_shapes", "parts"), [(FEW, 8), (SOME, 4)])
def test_unless_shapes_are_many_every_row_is_new_to_the_network_that_judges_it(num_shapes, parts):
    judged = Judged.of("bf16", DATA, made(num_shapes), num_shapes)
    assert len(judged.networks) == parts
    assert judged.is_new.all()
    for fitted, mask in judged.by_network():
        assert mask.any()
        assert not set(fitted.shape) & set(DATA.shape[mask])
        assert set(fitted.shape) | set(DATA.shape[mask]) == set(DATA.shape)


@pytest.mark.parametrize("num_shapes", [FEW, SOME, MANY])
def test_the_network_that_answers_is_fitted_to_all_shapes_where_they_are_few(num_shapes):
    fitted = made(num_shapes)["bf16.known"]
    assert set(fitted.shape) == set(DATA.shape if num_shapes == FEW else DATA.shape[~DATA.held_out])


def test_of_each_row_the_distance_is_told_to_the_nearest_shape_that_its_network_has_seen():
    judged = Judged.of("bf16", DATA, made(SOME), SOME)
    for fitted, mask in judged.by_network():
        gaps = np.log2(DATA.extents[mask])[:, None] - np.log2(np.unique(fitted.extents, axis=0))
        assert judged.octaves[mask] == pytest.approx(np.sqrt((gaps**2).sum(axis=2)).min(axis=1))


def test_networks_with_fewer_rows_than_the_one_that_answers_err_as_much_further_as_fewer_rows_cost():
    found = made(SOME)
    folds = np.mean([len(found[f"bf16.fold{i}"]) for i in range(4)])
    share = folds / len(found["bf16.known"])
    assert share < 1
    for fall in (0.0, 0.5):
        assert Judged.of("bf16", DATA, found, SOME, fall).share == pytest.approx(share**fall)
    assert Judged.of("bf16", DATA, made(MANY), MANY, 0.5).share == 1


def test_one_network_has_half_of_the_rows_of_another_and_misses_the_same_shapes():
    found = made(SOME)
    half, whole = found["bf16.half_of_fold0"], found["bf16.fold0"]
    assert len(half) == (len(whole) + 1) // 2
    assert set(half.place) < set(whole.place)


def test_no_network_has_half_of_the_rows_of_one_that_takes_long(monkeypatch):
    all_of_them = made(SOME)
    monkeypatch.setattr("synperf.training.learned.stages.ROWS_HALVED", len(all_of_them["bf16.fold0"]) - 1)
    assert set(all_of_them) - set(made(SOME)) == {"bf16.half_of_fold0"}


def test_where_shapes_are_many_the_network_that_answers_is_judged_by_the_rows_that_are_held_out():
    found = made(MANY)
    judged = Judged.of("bf16", DATA, found, MANY)
    assert judged.networks == (found["bf16.known"],)
    assert np.array_equal(judged.is_new, DATA.held_out)


def spreads(num_shapes, network, share=None):
    told = {} if share is None else {"bf16": MoreShapes(power=0.2, error=0.01, shapes=30, share=share)}
    names = ["bf16.known", *(f"bf16.fold{i}" for i in range(8))] if num_shapes < MANY else ["bf16.known"]
    judged = Judged.of("bf16", DATA, dict.fromkeys(names, network), num_shapes)
    return Spreads.of({"bf16": [judged]}, {"bf16": np.unique(DATA.extents, axis=0)}, lambda _: told)


def test_calls_beyond_the_measured_range_stand_apart_and_move_the_ends_of_the_interval_there(monkeypatch):
    monkeypatch.setattr(regimes, "LEAST_ROWS", 100)
    found = spreads(SOME, Off(apart=0.02, beyond=0.05, limit=2.0**9))
    for group in Off.groups:
        assert found.by_part["bf16"][group].apart == pytest.approx(0.02)
    assert found.beyond == {"bf16": pytest.approx(0.03)}


def test_errors_count_the_share_that_one_more_shape_leaves_of_them(monkeypatch):
    monkeypatch.setattr(regimes, "LEAST_ROWS", 100)
    whole, part = (spreads(SOME, Off(apart=0.02, beyond=0.05, limit=2.0**9), share) for share in (None, 0.8))
    for group in Off.groups:
        assert part.by_part["bf16"][group].apart == pytest.approx(0.8 * whole.by_part["bf16"][group].apart)
        assert part.regimes("bf16")[group][0].high == pytest.approx(0.8 * whole.regimes("bf16")[group][0].high)
    assert part.beyond["bf16"] == pytest.approx(0.8 * whole.beyond["bf16"])
    assert (whole.more_shapes, part.more_shapes["bf16"].share) == ({}, 0.8)


def test_where_shapes_are_many_no_call_stands_apart():
    found = spreads(MANY, Off(apart=0.02, beyond=0.05, limit=2.0**9))
    assert {round(float(e), 6) for e in found.by_part["bf16"]["l40s.vllm.cublas"].apart} == {0.02, 0.05}
    assert found.beyond == {"bf16": 0.0}


def test_errors_that_go_no_further_outside_move_nothing(monkeypatch):
    monkeypatch.setattr(regimes, "LEAST_ROWS", 100)
    assert spreads(SOME, Off(apart=0.05, beyond=0.02, limit=2.0**9)).beyond == {"bf16": 0.0}


def test_networks_beside_the_known_one_are_fitted_to_no_held_out_shape():
    for name in ("bf16.tables", "bf16.general"):
        assert not made(FEW)[name].held_out.any()


def test_the_network_of_measured_tables_is_there_only_where_it_is_asked_for():
    assert set(made(MANY)) - set(made(MANY, tables=False)) == {"bf16.tables"}


def test_one_shape_makes_no_folds():
    one = DATA.take(DATA.shape == DATA.shape[0])
    assert one.folds(4) == []
    assert [i for i, _ in DATA.take(np.isin(DATA.shape, np.unique(DATA.shape)[:3])).folds(4)] == [0, 1, 2]


def test_where_larger_calls_are_asked_than_measured_a_network_misses_the_largest():
    data = replace(DATA, sizes=("m",))
    found = {stage.name: stage for stage in stages("gemm", "bf16", data, 0, num_shapes=MANY, tables=False)}
    for gpu in set(data.gpu):
        own = data.gpu == gpu
        assert data.largest[own].sum() == own.sum() // 2
        assert data.base_s[own & data.largest].min() > data.base_s[own & ~data.largest].max()
    fitted, misses = found["bf16.without_largest"].rows, ~(data.held_out | data.largest)
    assert len(fitted) == misses.sum()
    assert fitted.base_s.max() == data.base_s[misses].max()
    assert not DATA.largest.any()


def test_a_network_for_gpus_that_nobody_measured_is_there_only_where_it_is_asked_for():
    names = {stage.name for stage in stages("gemm", "bf16", DATA, 0, num_shapes=MANY, tables=False, general=False)}
    assert names == {"bf16.known"}
