"""FLOP and bytes of operators from their shapes: cases by hand, the kernel families, and TraceLens' own tables."""

import json

import pytest

from synperf import Attention, Conv, Gemm
from synperf.analysis.operator_formulas import formula, work
from synperf.kernels import attention, conv, gemm

from .references import document

MIB = 2**20
TORCH = {"bf16": "c10::BFloat16", "fp32": "float"}


def of(name, shapes, values=(), dtype="bf16"):
    """The work of a run whose tensors all have one format."""
    values = [str(one) for one in values] + [""] * (len(shapes) - len(values))
    return work(name, json.dumps(shapes), json.dumps([TORCH[dtype]] * len(shapes)), json.dumps(values))


CASES = [
    ("aten::mm", [[2, 3], [3, 5]], 60, 2 * (6 + 15 + 10)),
    ("aten::bmm", [[7, 2, 3], [7, 3, 5]], 7 * 60, 7 * 62),
    ("aten::addmm", [[5], [2, 3], [3, 5], [], []], 60 + 10, 62 + 10),
    ("aten::baddbmm", [[7, 2, 5], [7, 2, 3], [7, 3, 5]], 7 * 70, 7 * 62 + 140),
    ("aten::linear", [[4, 2, 3], [5, 3], [5]], 4 * 70, 2 * (24 + 15 + 5 + 40)),
    ("aten::linear", [[4, 2, 3], [5, 3], []], 4 * 60, 2 * (24 + 15 + 40)),
    ("aten::matmul", [[4, 2, 3], [3, 5]], 4 * 60, 2 * (24 + 15 + 40)),
    ("aten::matmul", [[2, 3], [4, 3, 5]], 4 * 60, 2 * (6 + 60 + 40)),
    ("aten::add", [[4, 1, 3], [2, 3], []], 24, 2 * (12 + 6 + 24)),
    ("aten::relu_", [[4, 3]], 12, 2 * 24),
    ("aten::copy_", [[4, 3], [3]], 0, 2 * (12 + 3)),
    ("aten::native_layer_norm", [[4, 8], [], [8], [8], []], 8 * 32, 2 * (64 + 16)),
    ("aten::convolution_backward", [[1, 4, 5, 5], [1, 2, 7, 7], [4, 2, 3, 3]], 4 * 100 * 18, 2 * (100 + 4 * 49 + 144)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "shapes", "flop", "moved"), CASES)
def test_work_is_what_a_count_by_hand_gives(name, shapes, flop, moved):
    found = of(name, shapes)
    assert (found.flop, found.bytes) == (flop, moved)


def test_a_matrix_product_is_that_of_the_gemm_family():
    found, call = of("aten::bmm", [[3, 128, 64], [3, 64, 96]]), Gemm(m=128, n=96, k=64, batch=3)
    assert (found.flop, found.bytes) == (gemm.FAMILY.flop(call), gemm.FAMILY.compulsory_bytes(call))
    assert (found.gemm, found.dtype) == ((3, 128, 96, 64), "bf16")


def test_a_convolution_is_that_of_the_conv_family():
    found = of(
        "aten::conv2d", [[8, 6, 19, 17], [10, 3, 3, 3], [], [], [], [], []], ["", "", "", [2], [1, 1], [1, 1], 2]
    )
    call = Conv(
        batch=8, in_channels=6, out_channels=10, height=19, width=17, kernel_h=3, kernel_w=3, stride=2, padding=1,
        groups=2,
    )  # fmt: skip
    assert (found.flop, found.bytes) == (conv.FAMILY.flop(call), conv.FAMILY.compulsory_bytes(call))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("name", ["aten::scaled_dot_product_attention", "aten::_flash_attention_forward"])
def test_an_attention_is_that_of_the_attention_family(name, causal):
    sdpa = name == "aten::scaled_dot_product_attention"
    shape = [2, 4, 96, 64] if sdpa else [2, 96, 4, 64]
    values = ["", "", "", "", "0.", causal] if sdpa else ["", "", "", "", "", "96", "96", "0.", causal]
    found = of(name, [shape] * 3 + [[]] * 6, values)
    call = Attention(batch=2, q_len=96, kv_len=96, heads=4, head_dim=64, causal=causal)
    assert (found.flop, found.bytes) == (attention.FAMILY.flop(call), attention.FAMILY.compulsory_bytes(call))


@pytest.mark.parametrize(
    ("name", "shapes", "values"),
    [
        ("aten::mm", [[2, 3], [4, 5]], ()),  # do not fit
        ("aten::mm", [[2, 3]], ()),
        ("aten::mm", [], ()),
        ("aten::mm", [[2, -3], [-3, 5]], ()),
        ("aten::mm", [[2, 10**15], [10**15, 5]], ()),
        ("aten::mm", [[10**11, 10**11], [10**11, 10**11]], ()),  # more FLOP than any run has
        ("aten::conv2d", [[1, 2, 7, 7], [4, 2, 3, 3], []], ()),  # strides are not recorded
        ("aten::convolution", [[1, 2, 7, 7], [4, 2, 3, 3]] + [[]] * 7, ["", "", "", "[1]", "[0]", "[1]", "True"]),
        ("aten::scaled_dot_product_attention", [[2, 4, 96, 64]] * 3, ()),  # nor is the mask
        ("aten::_flash_attention_forward", [[96, 4, 64]] * 3 + [[3]], [""] * 8 + ["True"]),  # packed requests
        ("aten::relu", [[]], ()),
        ("aten::topk", [[2, 3]], ()),
    ],
)  # fmt: skip
def test_what_is_not_recorded_or_not_known_has_no_work(name, shapes, values):
    assert of(name, shapes, values) is None


@pytest.mark.parametrize("damaged", ["", "[", "{}", "[[1,2]", '["a"]', "[[null]]", "7"])
def test_damaged_arguments_have_no_work(damaged):
    good = '["float","float"]'
    assert work("aten::mm", damaged, good, "") is None
    assert work("aten::mm", "[[2,3],[3,5]]", damaged, "") is None


def test_an_operator_without_a_formula_says_so():
    assert (formula("aten::mm"), formula("aten::topk")) == ("gemm", "")


@pytest.mark.parametrize(
    "name", ["qwen05b_h100_infer", "qwen05b_mi300_infer", "sglang_decode_hipgraph_mi300"]
)  # fmt: skip
def test_flop_and_bytes_of_matrix_products_equal_those_of_tracelens(name):
    """Each shape of its tables, to the last FLOP; its MB are MiB."""
    rows = document("reference_tracelens")["traces"][f"{name}.json.gz"]["GEMM"]
    assert len(rows) >= 5
    for row in rows:
        found = of(row["name"], *_arguments(row))
        assert found.flop == round(1e9 * row["GFLOPS_first"])
        assert found.bytes / MIB == pytest.approx(row["Data Moved (MB)_first"], rel=1e-12)
        assert found.flop / found.bytes == pytest.approx(row["FLOPS/Byte_first"], rel=1e-12)


def _arguments(row):
    """Shapes, values and format of a row."""
    b, m, n, k = (int(row[f"param: {name}"]) for name in "BMNK")
    dtype = "bf16" if "BFloat16" in row["param: dtype_A_B"] else "fp32"
    left, right = [m, k], [n, k] if row["name"].startswith("aiter") else [k, n]
    if row["name"] == "aten::bmm":
        left, right = [b, *left], [b, *right]
    bias = [[n]] if row["param: bias"] in (True, "True") else []
    return [*bias, left, right], (), dtype
