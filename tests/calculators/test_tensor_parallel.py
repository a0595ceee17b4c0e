"""Tensor parallelism, worked out by hand."""

import json

import pytest

from synperf.calculators.tensor_parallel import Layers, Machine, layers_of, tensor_parallel
from synperf.hardware import gpu
from synperf.models import model
from tests.cli.runner import assert_refused, invoke

LAYERS = Layers(hidden=1000, layers=10, parameters=1e9)
MACHINE = Machine(flop_per_s=1e12, latency_s=1e-9, bandwidth=1e9)


def test_llama_70b_sends_575_930_368_bytes_160_times():
    found = tensor_parallel(
        layers_of(model("Llama-3.1-70B"), 4), tp=4, tokens=35_152, machine=Machine(gpu=gpu("h100_sxm"))
    )
    assert found.bytes_per_allreduce == 575_930_368
    assert (found.allreduces_forward, found.allreduces_backward) == (160, 160)
    assert found.bytes_forward == 160 * 575_930_368
    assert found.memory_saved == 0.75
    assert "575,930,368 bytes an all-reduce" in found.why[0]


def test_powers_of_ten():
    found = tensor_parallel(LAYERS, tp=2, tokens=1000, machine=MACHINE)
    assert found.bytes_per_allreduce == 2e6  # 1000 x 1000 values of 2 bytes
    assert found.allreduce_s == pytest.approx(2e6 / 1e9, rel=1e-5)  # 2(n-1)/n = 1
    assert found.comm_s == pytest.approx(20 * 2e-3, rel=1e-5)
    assert found.compute_s == pytest.approx(2 * 1e9 * 1000 / 2 / 1e12)
    assert found.comm_over_compute == pytest.approx(0.04, rel=1e-5)
    assert found.training_comm_over_compute == pytest.approx(0.04 * 2 / 3, rel=1e-5)
    assert found.weights_bytes_per_gpu == 1e9


def test_one_rank_sends_nothing():
    found = tensor_parallel(LAYERS, tp=1, tokens=1000, machine=MACHINE)
    assert (found.comm_s, found.comm_over_compute, found.memory_saved) == (0, 0, 0)


@pytest.mark.parametrize("tp", [2, 4, 8, 16])
def test_more_ranks_compute_less_and_send_no_less(tp):
    few, many = (tensor_parallel(LAYERS, tp=ranks, tokens=1000, machine=MACHINE) for ranks in (tp, 2 * tp))
    assert many.compute_s == pytest.approx(few.compute_s / 2)
    assert many.comm_s > few.comm_s
    assert many.bytes_forward == few.bytes_forward


def test_advice_is_the_best_of_the_numbers_that_are_listed():
    found = tensor_parallel(LAYERS, tp=2, tokens=1000, machine=MACHINE)
    best = min(found.by_tp, key=lambda one: one.total_s)
    assert [one.tp for one in found.by_tp] == [1, 2, 4]
    assert found.advice[0].startswith(f"tp {best.tp}: ")


def test_an_unlinked_number_of_ranks_is_left_out_of_the_list():
    found = tensor_parallel(LAYERS, tp=8, tokens=1000, machine=Machine(gpu=gpu("h100_sxm")))
    assert [one.tp for one in found.by_tp] == [1, 2, 4, 8]


def test_the_document_has_what_the_text_says():
    arguments = "tensor-parallel Llama-3.1-70B --tp 4 --tokens 35152 --gpu h100_sxm --json"
    found = json.loads(invoke(*arguments.split()).out)
    assert found["bytes_per_allreduce"] == 575_930_368


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("Llama-3.1-70B --tp 0 --tokens 1 --gpu h100_sxm", "tp must be"),
        ("Llama-3.1-70B --tp 3 --tokens 1 --gpu h100_sxm", "tp must divide the 64 heads"),
        ("Llama-3.1-70B --tp 4 --tokens 0 --gpu h100_sxm", "tokens must be"),
        ("Llama-3.1-70B --tp 4 --tokens 1", "flop_per_s: none given"),
        ("Llama-3.1-70B --tp 4 --tokens 1 --flop-per-s 1e12", "latency_s: none given"),
        ("Llama-3.1-70B --tp 4 --tokens 1 --flop-per-s 0", "flop_per_s must be above 0"),
        ("Llama-3.1-70B --tp 16 --tokens 1 --gpu h100_sxm", "network: none given"),
        ("Llama-9 --tp 4 --tokens 1 --gpu h100_sxm", "model: "),
        ("Llama-3.1-70B --hidden 5 --tp 4 --tokens 1 --gpu h100_sxm", "hidden is given beside MODEL"),
        ("--hidden 5 --tp 4 --tokens 1 --gpu h100_sxm", "layers: none given"),
        ("--hidden 0 --layers 1 --parameters 1 --tp 4 --tokens 1 --gpu h100_sxm", "hidden must be a whole number"),
        ("--hidden 5 --layers 1 --parameters -1 --tp 4 --tokens 1 --gpu h100_sxm", "parameters must be above 0"),
        ("Llama-3.1-70B --tp 4 --tokens 1 --gpu h100_sxm --dtype bf15", "no dtype named 'bf15'"),
        ("Llama-3.1-70B --tp 4 --tokens 1 --gpu h100_sxm --link none", "no link named 'none'"),
    ],
)
def test_bad_input_is_one_sentence(arguments, said):
    seen = invoke("tensor-parallel", *arguments.split())
    assert_refused(seen)
    assert said in seen.err
