"""JSON: SI numbers, stable keys, nothing that JSON does not have."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from synperf.errors import FieldError
from synperf.hardware import DType
from synperf.report.jsonout import plain, to_json


@dataclass
class Part:
    dtype: DType
    sizes: tuple[int, ...]


def test_numpy_enums_and_dataclasses_become_plain():
    given = {DType.FP8: np.float64(1.5), "a": np.array([1, 2]), "b": np.bool_(True), "c": Part(DType.BF16, (1, 2))}
    assert json.loads(to_json(given)) == {"fp8": 1.5, "a": [1, 2], "b": True, "c": {"dtype": "bf16", "sizes": [1, 2]}}


def test_numbers_come_back_to_the_last_bit():
    assert json.loads(to_json({"time_s": 0.1 + 0.2}))["time_s"] == 0.1 + 0.2


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -np.inf, np.array([1.0, np.nan])])
def test_a_number_that_is_none_is_refused_by_key(value):
    with pytest.raises(FieldError, match=r"^result.pipes.l2 is -?(nan|inf), not a number"):
        plain({"pipes": {"l2": value}})
