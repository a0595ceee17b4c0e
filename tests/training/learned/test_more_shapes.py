"""How errors fall with shapes: as a power, measured on networks that have few and more of the shapes of a format."""

from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

from synperf import hardware
from synperf.estimators.nearness import Nearness
from synperf.training.learned import more_shapes as module
from synperf.training.learned.data import table
from synperf.training.learned.more_shapes import DRAWS, FEWER, MORE, ROWS, more_shapes, stages_of_shapes, told_by

from .toy_rows import FACTORS, rows

DATA = table(rows(), {key: hardware.gpu(key) for key in ("h100_sxm", "l40s")})
NUM_SHAPES = {"bf16": 20, "int4": 2, "mxfp4": 5, "fp8": 9}


@dataclass(frozen=True, kw_only=True, eq=False)
class Off:
    """A network that is off by one factor on every row."""

    apart: float
    groups = tuple(f"{gpu}.{engine}.cublas" for gpu, engine in FACTORS)

    def correction(self, logs, group):
        return np.full(len(logs), np.log(tuple(FACTORS.values())[group]) - self.apart)


def networks(fewer, more):
    sizes = {FEWER: fewer, MORE: more}
    return {f"bf16.of_{num}_shapes{draw}": Off(apart=sizes[num]) for num in sizes for draw in range(DRAWS)}


def test_formats_of_a_dozen_shapes_tell_where_others_have_very_few():
    assert told_by(NUM_SHAPES) == ("bf16",)
    assert told_by({"bf16": 20, "fp8": 9}) == ()  # none has so few that one more matters
    assert told_by({"int4": 2, "mxfp4": 5, "gemm": 2000}) == ()  # many are not left out one by one


def test_a_pair_of_networks_has_few_and_more_shapes_and_as_many_rows_of_a_group_at_most(monkeypatch):
    monkeypatch.setattr(module, "LEAST_OF_GROUP", 4)
    found = {stage.name: stage.rows for stage in stages_of_shapes("gemm", "bf16", DATA, 42)}
    assert found.keys() == networks(0, 0).keys()
    for draw in range(DRAWS):
        few, more = (set(found[f"bf16.of_{num}_shapes{draw}"].shape) for num in (FEWER, MORE))
        assert (len(few), len(more)) == (FEWER, MORE)
        assert few < more
    assert max(len(one) for one in found.values()) <= ROWS * len(FACTORS)


@pytest.mark.parametrize(("fewer", "more", "power"), [(0.2, 0.1, 0.5), (0.4, 0.1, 1.0)])
def test_formats_of_very_few_shapes_have_the_share_of_one_more_shape(monkeypatch, fewer, more, power):
    monkeypatch.setattr(module, "LEAST_OF_GROUP", 4)
    found = more_shapes({"bf16": DATA}, networks(fewer, more), NUM_SHAPES, {}, 42)
    assert found.keys() == {"int4", "mxfp4"}
    assert found["int4"].power == found["mxfp4"].power == pytest.approx(power)
    assert found["int4"].share == pytest.approx(0.5**power, abs=1e-5)  # of one shape, and of both
    assert found["mxfp4"].share == pytest.approx(0.8**power, abs=1e-5)
    assert found["int4"].shapes > 50


def test_errors_that_do_not_fall_count_whole(monkeypatch):
    monkeypatch.setattr(module, "LEAST_OF_GROUP", 4)
    assert more_shapes({"bf16": DATA}, networks(0.1, 0.1), NUM_SHAPES, {}, 42) == {}
    assert more_shapes({"bf16": DATA}, networks(0.1, 0.2), NUM_SHAPES, {}, 42) == {}


def test_what_the_distance_to_seen_shapes_explains_is_not_counted_twice(monkeypatch):
    monkeypatch.setattr(module, "LEAST_OF_GROUP", 4)
    near = Nearness(shapes=((1, 1),), growth=0.2, least=0.0, usual=1.0, most=30.0)
    found = more_shapes({"bf16": DATA}, networks(0.2, 0.1), NUM_SHAPES, {"bf16": near}, 42)
    assert 0 < found["int4"].power < 0.5


def test_without_a_format_that_tells_there_is_none():
    assert more_shapes({}, {}, {"int4": 2}, {}, 42) == {}
