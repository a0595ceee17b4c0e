"""Points served in the model: features by policy, and whether the cache has room."""

import numpy as np
import pytest

from synperf.hardware import DType
from synperf.models import Plan, model
from synperf.models.formats import main_format
from synperf.serving.factors import Factors
from synperf.serving.fitting.simulated import CHOICES, simulated
from synperf.serving.fitting.solve import general

from .points import points

FEW = points(2, gpus=("h100_sxm", "h100_sxm"))


def test_features_are_those_of_mean_times_with_a_column_for_every_factor():
    found = simulated(FEW)
    assert len(found.features) == len(CHOICES)
    for features in found.features:
        ttft, tpot = features.times(general().center)
        assert (tpot > 0.002).all()  # 66 GB over 2 GPUs at 3.35 TB/s are 9.8 ms, shared by factors near 1
        assert (ttft > tpot).all()
    assert found.formats.tolist() == ["bf16", "bf16"]
    assert not found.limited.any()


def test_more_requests_than_the_cache_has_room_for_are_limited():
    many = points(1, gpus=("h100_sxm", "h100_sxm"))
    many.concurrency[:], many.isl[:], many.osl[:] = 64, 16_000, 64
    assert simulated(many, CHOICES[:1]).limited.tolist() == [True]


def test_the_mean_time_to_the_first_token_rises_with_concurrency():
    rising = points(3, gpus=("h100_sxm", "h100_sxm"))
    rising.concurrency[:], rising.isl[:] = (4, 16, 64), 1024
    ttft, tpot = simulated(rising, CHOICES[:1]).features[0].times(general().center)
    assert (np.diff(ttft) > 0).all()
    assert (np.diff(tpot) > 0).all()


@pytest.mark.parametrize(
    ("name", "dtype", "found"),
    [
        ("Qwen/Qwen3-32B", None, "bf16"),
        ("Qwen/Qwen3-32B", DType.FP8, "fp8"),
        ("openai/gpt-oss-120b", None, "mxfp4"),
        ("openai/gpt-oss-120b", DType.MXFP4_FP8, "mxfp4_fp8"),
    ],
)
def test_the_format_is_that_of_most_products(name, dtype, found):
    assert main_format(model(name), Plan(dtype=dtype)) == found


def test_a_prior_is_of_factors_that_an_engine_can_have():
    assert isinstance(Factors(**dict(zip(Factors.__dataclass_fields__, general().center, strict=True))), Factors)
