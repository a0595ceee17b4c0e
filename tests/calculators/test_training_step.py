"""Work, use and parts of a training step, worked out by hand, or those of the issues that are named."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf.calculators.training_flop import Attention, work
from synperf.calculators.training_step import Setup, training_step
from tests.cli.runner import assert_refused, invoke

WHOLE = {"parameters": 1e9, "tokens": 1000, "gpus": 10, "peak": 1e12}
TIMES = {"data": 1.0, "forward": 2.0, "backward": 4.0, "communication": 0.5, "optimizer": 0.5, "checkpoint": 20.0}
LLAMA = {"attention": Attention(layers=80, hidden=8192, seq=65536), "vocab": 32_000, "peak": 312e12}


def test_backward_is_twice_forward_and_all_is_6_for_each_parameter_and_token():
    done = work(1e9, 1000)
    assert done.forward == 2e12
    assert done.backward == 2 * done.forward
    assert done.model == done.hardware == 6 * 1e9 * 1000
    assert work(1e9, 1000, recompute="full").hardware == 8 * 1e9 * 1000


def test_attention_adds_4_l_h_s_a_token_and_half_of_it_under_a_causal_mask():
    seen = Attention(layers=2, hidden=10, seq=100, is_causal=False)
    assert work(1e3, 1, seen).forward == 2e3 + 4 * 2 * 10 * 100
    causal = Attention(layers=2, hidden=10, seq=100)
    assert work(1e3, 1, causal).forward == 2e3 + 2 * 2 * 10 * 100
    assert work(1e3, 1, causal, "selective").again == 2 * 2 * 10 * 100


def test_mfu_is_of_all_gpus_and_hfu_counts_what_is_done_again():
    found = training_step(Setup(**WHOLE, seconds=2.0, recompute="full"))
    assert found.used.mfu == pytest.approx(6e12 / 2 / 10e12)
    assert found.used.hfu == pytest.approx(8e12 / 2 / 10e12)
    assert found.used.least_s == pytest.approx(0.8)


def test_tokens_of_16_gpus_over_the_peak_of_one_are_a_common_mistake():
    """https://github.com/huggingface/blog/issues/1649: 45.5 % were claimed."""
    found = training_step(Setup(parameters=70e9, tokens=16_384_000, seconds=48_600, gpus=16, peak=312e12))
    assert found.flop["model"] == pytest.approx(6.881e18, rel=0.01)
    assert found.used.flop_per_s == pytest.approx(1.416e14, rel=0.01)
    assert found.used.mfu == pytest.approx(0.0284, rel=0.01)
    assert found.used.mfu_of_one == pytest.approx(0.454, rel=0.01)
    assert "the tokens of all 16 GPUs over the peak of one would read 45.4 %" in found.findings[0]
    assert "loading, evaluation or checkpoints" in found.findings[1]


def test_one_gpu_is_asked_whether_the_tokens_are_its_own():
    found = training_step(Setup(parameters=70e9, tokens=16_384_000, seconds=48_600, gpus=1, peak=312e12))
    assert "gpus is 1: if the tokens are those of several" in found.findings[0]


def test_the_command_says_the_true_mfu():
    arguments = "training-step --parameters 70e9 --tokens 16384000 --seconds 48600 --gpus 16 --gpu a100_sxm"
    assert invoke(*arguments.split()).out.startswith("MFU 2.84 % on 16 GPUs\n")
    assert json.loads(invoke(*arguments.split(), "--json").out)["mfu"] == pytest.approx(0.0284, rel=0.01)


def test_a_rate_above_peak_is_flagged_and_counted_again_with_a_causal_mask():
    """https://github.com/Dao-AILab/flash-attention/issues/573: 322 TFLOP/s of a GPU with a peak of 312."""
    found = training_step(Setup(**LLAMA, reported=322e12))
    told = found.reported
    assert told.formula.attention_full == pytest.approx(1.3333, rel=1e-3)
    assert told.formula.attention_causal == pytest.approx(0.6667, rel=1e-3)
    assert told.overcount == pytest.approx(1.399, rel=0.01)
    assert told.causal_flop_per_s == pytest.approx(230.2e12, rel=0.01)
    assert told.utilization == pytest.approx(0.738, rel=0.01)
    assert not told.is_possible
    assert found.findings == ("ERROR: 322 TFLOP/s are more than the peak of 312 TFLOP/s: check how FLOP are counted",)
    assert "attention is 57 % of the formula's FLOP here" in found.why[1]
    assert "three quarters" in found.advice[0]


def test_a_possible_rate_is_not_flagged():
    assert training_step(Setup(**LLAMA, reported=250e12)).findings == ()


def test_more_than_peak_is_an_error_of_what_was_given():
    found = training_step(Setup(**WHOLE, seconds=0.1))
    assert found.findings[0].startswith("ERROR: 600 % of peak is impossible")


def test_parts_have_shares_and_a_checkpoint_is_spread_over_the_steps_between_two():
    found = training_step(Setup(times=TIMES, checkpoint_every=10))
    assert found.shares.step_s == 10
    assert found.shares.shares == {
        "data": 0.1, "forward": 0.2, "backward": 0.4, "communication": 0.05, "optimizer": 0.05, "checkpoint": 0.2,
    }  # fmt: skip
    assert found.shares.bottleneck == "backward"
    assert "backward is 2 times forward, where 2 is usual: as its FLOP say" in found.why
    assert found.advice[0].endswith("without it a step takes 8 s, 1.25 times faster")


def test_waiting_for_data_is_the_bottleneck_where_it_takes_longest():
    found = training_step(Setup(times={"data": 5, "forward": 1, "backward": 2}))
    assert found.shares.bottleneck == "data"
    assert found.advice[0].startswith("data: load and prepare the next batch")


@pytest.mark.parametrize(
    ("backward", "said"), [(8.0, "look for communication"), (1.0, "look for what slows the forward pass")]
)
def test_a_backward_pass_that_is_not_twice_the_forward_pass_is_found(backward, said):
    found = training_step(Setup(times={"forward": 2.0, "backward": backward}))
    assert said in found.why[1]


def test_three_times_is_usual_where_all_is_computed_again():
    found = training_step(Setup(times={"forward": 2.0, "backward": 6.0}, recompute="full"))
    assert "where 3 is usual: as its FLOP say" in found.why[1]


def test_parts_that_do_not_add_up_are_found():
    found = training_step(Setup(**WHOLE, seconds=20.0, times={"forward": 2.0, "backward": 4.0}))
    assert "seconds are 20 s, but the parts add up to 6 s" in found.findings


@given(st.floats(1e3, 1e13), st.floats(1, 1e13), st.sampled_from(["none", "full"]))
def test_hfu_is_never_below_mfu(parameters, tokens, recompute):
    done = work(parameters, tokens, Attention(layers=2, hidden=64, seq=128), recompute)
    assert done.hardware >= done.model
    assert done.model == pytest.approx(3 * done.forward)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "parameters: none given"),
        ("--parameters 7e9", "tokens: none given"),
        ("--parameters 0 --tokens 1", "parameters must be above 0"),
        ("--parameters nan --tokens 1", "parameters: 'nan' is not a number"),
        ("--parameters 7e9 --tokens -1", "tokens must be above 0"),
        ("--parameters 7e9 --tokens 1 --gpus 0", "gpus must be a whole number from 1"),
        ("--parameters 7e9 --tokens 1 --gpu h21", "no GPU named 'h21'"),
        ("--parameters 7e9 --tokens 1 --gpu h100_sxm --dtype bf15", "no dtype named 'bf15'"),
        ("--parameters 7e9 --tokens 1 --peak 0", "peak must be above 0"),
        ("--parameters 7e9 --tokens 1 --seconds 0", "seconds must be above 0"),
        ("--parameters 7e9 --tokens 1 --recompute most", "recompute: no recomputation named 'most'"),
        ("--parameters 7e9 --tokens 1 --recompute selective", "recompute selective is of attention"),
        ("--parameters 7e9 --tokens 1 --layers 8", "hidden: none given"),
        ("--forward-s -1", "forward_s must be 0 or above"),
        ("--forward-s 0", "all other times are 0"),
        ("--checkpoint-s 1", "checkpoint_every: none given"),
        ("--checkpoint-s 1 --checkpoint-every 0", "checkpoint_every must be a whole number from 1"),
        ("--reported 1e12", "reported needs layers, hidden, seq, and peak or a GPU"),
        ("--reported 1GB/s --layers 1 --hidden 1 --seq 1 --peak 1e12", "reported: '1GB/s' is in B/s"),
    ],
)
def test_bad_input_is_one_sentence(arguments, said):
    seen = invoke("training-step", *arguments.split())
    assert_refused(seen)
    assert said in seen.err
