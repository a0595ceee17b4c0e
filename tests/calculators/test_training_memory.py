"""Memory of training. Values are those of the papers, of DeepSpeed's estimators, or worked out by hand."""

import json

import pytest

from synperf.calculators.activations import Shape, per_layer
from synperf.calculators.training_memory import Setup, training_memory
from synperf.hardware import gpu
from tests.cli.runner import assert_refused, invoke

GPT3 = Shape(seq=2048, batch=1, hidden=12288, heads=96)
CASE = {"parameters": 6805e6, "dp": 4, "zero": 3, "precision": "mixed-fp32-gradients", "largest_layer": 131e6}


@pytest.mark.parametrize(("zero", "gigabytes"), [(0, 120), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_zero_of_7_5_billion_parameters_over_64(zero, gigabytes):
    found = training_memory(Setup(parameters=7.5e9, dp=64, zero=zero))
    assert found.bytes_per_gpu / 1e9 == pytest.approx(gigabytes, abs=0.05)
    assert found.by_zero[str(zero)] == found.bytes_per_gpu


def test_the_command_takes_the_plain_numbers():
    seen = invoke("training-memory", "--parameters", "7.5e9", "--dp", "64", "--zero", "3", "--json")
    assert json.loads(seen.out)["bytes_per_gpu"] == 1.875e9


def test_mixed_precision_is_8_times_the_weights_and_fp32_4_times():
    mixed = training_memory(Setup(parameters=9e9))
    assert mixed.bytes_per_gpu == 8 * mixed.parts["weights"] == 144e9
    whole = training_memory(Setup(parameters=9e9, precision="fp32"))
    assert whole.bytes_per_gpu == 4 * whole.parts["weights"]
    assert whole.parts["optimizer"] == 2 * whole.parts["weights"]


@pytest.mark.parametrize(
    ("options", "gigabytes"),
    [
        ({"tp": 1}, 2.869),
        ({"tp": 8}, 0.579),
        ({"tp": 8, "sequence_parallel": True}, 0.359),
        ({"tp": 8, "sequence_parallel": True, "recompute": "selective"}, 0.107),
        ({"tp": 8, "recompute": "full"}, 0.0503),
    ],
)
def test_activations_of_a_layer_of_gpt3(options, gigabytes):
    assert per_layer(GPT3, **options) / 1e9 == pytest.approx(gigabytes, rel=2e-3)


def test_a_fused_attention_keeps_what_selective_recomputation_keeps():
    assert per_layer(GPT3, flash=True) == per_layer(GPT3, recompute="selective") == 34 * 2048 * 12288


def test_the_first_stage_of_a_pipeline_holds_as_many_micro_batches_as_there_are_stages():
    one = Setup(parameters=175e9, layers=96, shape=GPT3)
    assert one.parts["activations"] == 96 * one.layer_bytes
    assert Setup(parameters=175e9, pp=8, layers=96, shape=GPT3).parts["activations"] == one.parts["activations"]


@pytest.mark.parametrize(("offload", "gib"), [("none", 29.01), ("optimizer", 3.66), ("all", 0.49)])
def test_deepspeeds_estimator_of_zero_3(offload, gib):
    """https://github.com/deepspeedai/DeepSpeed/issues/4527: what it prints as GB are GiB."""
    found = training_memory(Setup(**CASE, offload=offload))
    assert found.bytes_per_gpu / 2**30 == pytest.approx(gib, rel=2e-3, abs=5e-3)
    assert found.by_offload[offload] == found.bytes_per_gpu


def test_the_hosts_hold_what_deepspeed_says_and_the_usual_16_bytes_give_less():
    assert training_memory(Setup(**CASE, offload="all")).host_bytes / 2**30 == pytest.approx(171.1, rel=2e-3)
    usual = training_memory(Setup(parameters=6805e6, dp=4, zero=3))
    assert usual.bytes_per_gpu / 2**30 == pytest.approx(25.35, rel=2e-3)


def test_the_text_says_what_is_counted_and_what_is_not():
    arguments = "training-memory --parameters 6805e6 --dp 4 --zero 3 --precision mixed-fp32-gradients"
    said = invoke(*arguments.split(), "--largest-layer", "131e6").out
    assert "none: 29.01 GiB, optimizer: 3.66 GiB, all: 0.49 GiB" in said
    assert "18 bytes a parameter: 2 weights + 4 gradients + 4 master + 4 m + 4 v" in said
    assert "at the usual 16 bytes a parameter it would be 27.22 GB (25.35 GiB)" in said
    assert "fragmentation of the allocator, the CUDA context" in said
    assert "a floor for the states, not what a monitor shows" in said


def test_what_does_not_fit_is_an_answer_with_the_first_stage_that_does():
    found = training_memory(Setup(parameters=7.5e9, dp=64), gpu("a100_sxm"))
    assert found.fits is False
    assert found.advice[0].startswith("ZeRO-1: 31.41 GB")
    assert found.advice[0].endswith("which fits")
    assert training_memory(Setup(parameters=7.5e9, dp=64, zero=1), gpu("a100_sxm")).fits


def test_where_no_stage_is_enough_more_gpus_are_named_that_are():
    found = training_memory(Setup(parameters=175e9, dp=8), gpu("a100_sxm"))
    ways = int(found.advice[-1].split(" GPUs")[0].split()[-1])
    assert training_memory(Setup(parameters=175e9, dp=ways, zero=3), gpu("a100_sxm")).fits
    assert not training_memory(Setup(parameters=175e9, dp=ways // 2, zero=3), gpu("a100_sxm")).fits


@pytest.mark.parametrize("precision", ["mixed", "mixed-fp32-gradients", "fp32"])
def test_a_higher_stage_and_more_gpus_never_take_more(precision):
    for dp in (1, 2, 8, 64):
        sizes = [Setup(parameters=1e9, dp=dp, zero=zero, precision=precision).total for zero in range(4)]
        assert sizes == sorted(sizes, reverse=True)
        wider = [Setup(parameters=1e9, dp=2 * dp, zero=zero, precision=precision).total for zero in range(4)]
        assert all(after <= before for before, after in zip(sizes, wider, strict=True))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--parameters 0", "parameters must be above 0"),
        ("--parameters -1", "parameters must be above 0"),
        ("--parameters nan", "parameters: 'nan' is not a number"),
        ("--parameters 1e30", "parameters must be above 0 (from 1e-18 to 1e+24)"),
        ("--parameters 7e9 --dp 0", "dp must be a whole number from 1"),
        ("--parameters 7e9 --zero 4", "zero must be a stage from 0 (none) to 3, got 4"),
        ("--parameters 7e9 --precision fp8", "precision: no precision named 'fp8'"),
        ("--parameters 7e9 --offload disk", "offload: no offload named 'disk'"),
        ("--parameters 7e9 --offload all", "offload all needs zero 3 or more, got zero 0"),
        ("--parameters 7e9 --largest-layer 8e9", "largest_layer must be up to parameters"),
        ("--parameters 7e9 --layers 32", "layers: activations need layers, hidden, heads, seq and batch"),
        ("--parameters 7e9 --seq 32", "batch: none given"),
        ("--parameters 7e9 --layers 32 --seq 9 --batch 1 --hidden 0 --heads 1", "hidden must be a whole number"),
        ("--parameters 7e9 --layers 32 --seq 9 --batch 1 --hidden 8 --heads 1 --recompute some", "no recomputation"),
        (
            "--parameters 7e9 --layers 32 --seq 9 --batch 1 --hidden 8 --heads 1 --sequence-parallel",
            "sequence_parallel needs tp of 2 or more",
        ),
        ("--parameters 7e9 --gpu h21", "no GPU named 'h21'"),
    ],
)
def test_bad_input_is_one_sentence(arguments, said):
    seen = invoke("training-memory", *arguments.split())
    assert_refused(seen)
    assert said in seen.err
