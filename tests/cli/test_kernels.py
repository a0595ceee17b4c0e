"""`synperf kernels`."""

import json
import re

from synperf.kernels import families

from .runner import invoke


def test_every_family_is_listed_with_what_it_needs():
    seen = invoke("kernels")
    assert (seen.code, seen.err) == (0, "")
    for kind in families().values():
        assert f"{kind.name}: {kind.summary}\n" in seen.out
        assert re.search(rf"^required +{' '.join(kind.required())}$", seen.out, re.MULTILINE)


def test_json_has_fields_defaults_and_the_kernels_of_each_engine():
    (gemm,) = (kind for kind in json.loads(invoke("kernels", "--json").out) if kind["family"] == "gemm")
    assert gemm["required"] == ["m", "n", "k"]
    assert gemm["defaults"]["batch"] == 1
    assert gemm["defaults"]["tile_m"] is None
    assert "bf16" in gemm["engines"]["torch"]["cublas"]
    assert gemm["engines"]["vllm"]["cutlass_fp8"] == ["fp8"]
