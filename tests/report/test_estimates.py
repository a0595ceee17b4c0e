"""An estimate as the user sees it."""

from dataclasses import replace

from synperf import Estimate, Gemm
from synperf.report import estimates
from synperf.report.jsonout import plain

from ..toys import TOY

CALL = Gemm(m=4096, n=4096, k=64, engine="vllm")
ESTIMATE = Estimate(
    family="gemm", gpu="toy", engine="vllm", kernel="cublas", time_s=171.24e-6, low_s=155e-6, high_s=330e-6,
    floor_s=139e-6, efficiency=0.8142, limiter="tensor", origin="analytical",
    assumptions=("launch floor: measured on h100_sxm", "a second"), versions={"synperf": "0.1.0", "analytical": "1"},
)  # fmt: skip

TEXT = """\
171 µs (155 to 330 µs), 81 % of the bf16 roofline; limited by tensor; analytical

call      gemm m=4096 n=4096 k=64 batch=1 dtype=bf16 out_dtype=bf16
gpu       toy (toy)
kernel    cublas of vllm
floor     139 µs, below which no kernel can be
assumes   launch floor: measured on h100_sxm
          a second
versions  synperf 0.1.0, analytical 1"""


def test_the_time_comes_first_then_what_it_rests_on():
    assert estimates.to_text(CALL, TOY, ESTIMATE) == TEXT


def test_an_extrapolation_says_in_what():
    beyond = replace(ESTIMATE, extrapolating=True, outside=("waves", "intensity"))
    assert "\nbeyond    extrapolates in waves, intensity\n" in estimates.to_text(CALL, TOY, beyond)


def test_a_span_names_the_unit_once_where_it_can():
    assert estimates.span(155e-6, 330e-6) == "155 to 330 µs"
    assert estimates.span(155e-6, 1.33e-3) == "155 µs to 1.33 ms"


def test_the_keys_are_those_of_the_contract():
    assert plain(estimates.to_dict(CALL, ESTIMATE)) == {
        "family": "gemm",
        "gpu": "toy",
        "engine": "vllm",
        "kernel": "cublas",
        "params": {
            "m": 4096, "n": 4096, "k": 64, "batch": 1, "dtype": "bf16", "out_dtype": "bf16", "engine": "vllm",
            "kernel": None, "tile_m": None, "tile_n": None, "tile_k": None, "split_k": None,
        },
        "time_s": 171.24e-6,
        "low_s": 155e-6,
        "high_s": 330e-6,
        "floor_s": 139e-6,
        "efficiency": 0.8142,
        "limiter": "tensor",
        "origin": "analytical",
        "extrapolating": False,
        "outside": [],
        "assumptions": ["launch floor: measured on h100_sxm", "a second"],
        "versions": {"synperf": "0.1.0", "analytical": "1"},
    }  # fmt: skip
