"""Which network tells how far errors go on a row: never one that was fitted to the shape of the row."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

from synperf import hardware
from synperf.training.learned.cards import Judged
from synperf.training.learned.data import table
from synperf.training.learned.stages import stages

from .toy_rows import rows

DATA = table(rows(), {key: hardware.gpu(key) for key in ("h100_sxm", "l40s")})


def made(*, few_shapes, tables=True):
    found = stages("gemm", "bf16", DATA, 0, few_shapes=few_shapes, tables=tables)
    return {stage.name: stage.rows for stage in found}


def test_where_shapes_are_few_every_row_is_new_to_the_network_that_judges_it():
    found = made(few_shapes=True)
    assert len(found["bf16.known"]) == len(DATA)
    judged = Judged.of("bf16", DATA, found)
    assert len(judged.networks) == 4
    assert judged.is_new.all()
    for fitted, mask in judged.by_network():
        assert mask.any()
        assert not set(fitted.shape) & set(DATA.shape[mask])
        assert set(fitted.shape) | set(DATA.shape[mask]) == set(DATA.shape)


def test_else_the_network_that_answers_is_judged_by_the_rows_that_are_held_out():
    found = made(few_shapes=False)
    judged = Judged.of("bf16", DATA, found)
    assert judged.networks == (found["bf16.known"],)
    assert np.array_equal(judged.is_new, DATA.held_out)
    assert not set(found["bf16.known"].shape) & set(DATA.shape[judged.is_new])


def test_networks_beside_the_known_one_are_fitted_to_no_held_out_shape():
    for name in ("bf16.tables", "bf16.general"):
        assert not made(few_shapes=True)[name].held_out.any()


def test_the_network_of_measured_tables_is_there_only_where_it_is_asked_for():
    assert set(made(few_shapes=False)) - set(made(few_shapes=False, tables=False)) == {"bf16.tables"}


def test_one_shape_makes_no_folds():
    one = DATA.take(DATA.shape == DATA.shape[0])
    assert one.folds(4) == []
    assert [i for i, _ in DATA.take(np.isin(DATA.shape, np.unique(DATA.shape)[:3])).folds(4)] == [0, 1, 2]


def test_where_larger_calls_are_asked_than_measured_a_network_misses_the_largest():
    data = replace(DATA, sizes=("m",))
    found = {stage.name: stage for stage in stages("gemm", "bf16", data, 0, few_shapes=False, tables=False)}
    for gpu in set(data.gpu):
        own = data.gpu == gpu
        assert data.largest[own].sum() == own.sum() // 2
        assert data.base_s[own & data.largest].min() > data.base_s[own & ~data.largest].max()
    fitted, misses = found["bf16.without_largest"].rows, ~(data.held_out | data.largest)
    assert len(fitted) == misses.sum()
    assert fitted.base_s.max() == data.base_s[misses].max()
    assert not DATA.largest.any()


def test_a_network_for_gpus_that_nobody_measured_is_there_only_where_it_is_asked_for():
    names = {stage.name for stage in stages("gemm", "bf16", DATA, 0, few_shapes=False, tables=False, general=False)}
    assert names == {"bf16.known"}
