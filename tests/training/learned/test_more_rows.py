"""How errors fall with rows: as a power, measured on a network that has half of the rows of another."""

from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

from synperf import hardware
from synperf.training.learned import more_rows
from synperf.training.learned.data import table
from synperf.training.learned.more_rows import fall

from .toy_rows import FACTORS, rows

DATA = table(rows(), {key: hardware.gpu(key) for key in ("h100_sxm", "l40s")})
SOME = 150


@dataclass(frozen=True, kw_only=True, eq=False)
class Off:
    """A network that is off by one factor on every row."""

    apart: float
    groups = tuple(f"{gpu}.{engine}.cublas" for gpu, engine in FACTORS)

    def correction(self, logs, group):
        return np.full(len(logs), np.log(tuple(FACTORS.values())[group]) - self.apart)


@pytest.mark.parametrize(("half", "power"), [(0.2, 1.0), (0.1 * 2**0.25, 0.25), (0.1, 0.0), (0.05, 0.0)])
def test_the_power_is_what_half_of_the_rows_cost_and_never_below_none(monkeypatch, half, power):
    monkeypatch.setattr(more_rows, "LEAST_OF_GROUP", 4)
    networks = {"bf16.half_of_fold0": Off(apart=half), "bf16.fold0": Off(apart=0.1)}
    assert fall([("bf16", DATA, networks, SOME)]) == pytest.approx(power)


def test_without_such_networks_there_is_none():
    assert fall([("bf16", DATA, {}, SOME)]) == 0.0
    assert fall([]) == 0.0
