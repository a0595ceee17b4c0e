"""Eager passes of PyTorch, operator by operator."""

import json

import pytest

from synperf.evaluation.e2e import eager
from synperf.evaluation.e2e.eager import Operator, backward, forward, operators
from synperf.kernels.elementwise import Elementwise
from synperf.kernels.gemm_call import Gemm
from synperf.kernels.layernorm import LayerNorm
from synperf.kernels.softmax import Softmax
from synperf.measurements.eager_passes import INFERENCE, TRAINING, EagerPass
from synperf.models import model
from synperf.report import eager_scores
from synperf.report.jsonout import to_json

from ...measurements.shared import shared

PASS = EagerPass(
    model="gpt3_xl", mode=INFERENCE, gpu="H100", batch=2, seq_len=2048, measured_s=0.62, published_s=0.66
)  # fmt: skip


def count(found: list[Operator], kind: type, **fields: object) -> int:
    return sum(
        one.times
        for one in found
        if isinstance(one.call, kind) and all(getattr(one.call, name) == value for name, value in fields.items())
    )


def test_attention_of_gpt2_is_two_products_around_a_softmax() -> None:
    found = list(forward(model("gpt2-large"), 4, 1024, 8))
    assert count(found, Gemm, batch=80, m=1024, n=1024, k=64) == 36
    assert count(found, Gemm, batch=80, m=1024, n=64, k=1024) == 36
    assert count(found, Softmax, rows=80 * 1024, dim=1024) == 36
    assert count(found, Elementwise, elements=80 * 1024 * 1024, inputs=1) == 72


def test_logits_are_of_all_tokens_and_sums_are_operators_of_their_own() -> None:
    found = list(forward(model("gpt2-large"), 4, 1024, 8))
    assert count(found, Gemm, m=4096, n=50257, k=1280) == 1
    assert count(found, LayerNorm, residual=False) == 73
    assert count(found, Elementwise, elements=4096 * 1280, inputs=2) >= 72


def test_an_activation_is_as_many_launches_as_it_is_written_in() -> None:
    few, many = (list(forward(model("gpt2-large"), 4, 1024, launches)) for launches in (1, 8))
    assert sum(one.times for one in many) - sum(one.times for one in few) == 7 * 36


def test_a_product_has_two_of_the_same_work_backward() -> None:
    first, second = backward(Operator(Gemm(m=2, n=3, k=5), 4))
    assert (first.call.m, first.call.n, first.call.k, first.times) == (2, 5, 3, 4)
    assert (second.call.m, second.call.n, second.call.k) == (5, 3, 2)


def test_training_is_forward_and_backward() -> None:
    inference, training = (operators(PASS.__class__(**_fields(mode))) for mode in (INFERENCE, TRAINING))
    flop = [sum(2 * one.times * one.call.m * one.call.n * one.call.k * one.call.batch for one in found
                if isinstance(one.call, Gemm)) for found in (inference, training)]  # fmt: skip
    assert flop[1] == 3 * flop[0]


def _fields(mode: str) -> dict[str, object]:
    return {name: getattr(PASS, name) for name in PASS.__slots__} | {"mode": mode}


def test_a_report_has_all_labels_and_what_was_set_aside() -> None:
    found = eager.report("rows.parquet", [eager._Answer(PASS, 0.64, 0.1)], {"compiled": 3})
    text = eager_scores.to_text(found)
    assert all(word in text for word in ("h100_sxm", "gpt3_xl", "inf", "3: compiled", "3.23 %"))
    assert json.loads(to_json(found))["rows"] == 1


@pytest.mark.parametrize(("gpu", "most"), [("H100", 0.05), ("a100_pcie_40gb", 0.06), ("v100_pcie", 0.06)])
def test_published_passes_are_near_where_weights_know_the_gpu(gpu: str, most: float) -> None:
    found = eager.evaluate(shared("neusight_e2e_labels.parquet"), [gpu])
    (score,) = found.scores["all"]
    assert score.estimate.mape < most
    assert score.published is not None
    assert score.estimate.mape < score.published.mape
    assert found.below_floor == 0
