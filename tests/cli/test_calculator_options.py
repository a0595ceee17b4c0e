"""Options of all calculators: a wrong value is refused under the name of its option, and none is ignored in silence."""

import json

import pytest

from synperf.cli.app import calculators
from synperf.cli.parsed import command, function

from .runner import assert_refused, invoke
from .test_calculators import example

ANSWERED = ("--help", "--json", "--svg", "--template")


def options(name):
    """Every option of a calculator that takes a value."""
    return [one.opts[0] for one in command(name).params if one.param_type_name == "option" and not one.is_flag]


def without(arguments, option):
    """The arguments of an example but this option and its value."""
    places = [at for at, one in enumerate(arguments) if one == option]
    return [one for at, one in enumerate(arguments) if at not in places and at - 1 not in places]


def asked(value):
    """Every calculator's example with this value for each of its options."""
    return [
        pytest.param([*without(example(name), option), option, value], option.lstrip("-"), id=f"{name} {option}")
        for name in calculators()
        for option in options(name)
        if option not in ANSWERED
    ]


def names(said, option):
    return option in said or option.replace("-", "_") in said


@pytest.mark.parametrize(("arguments", "option"), asked("nan"))
def test_what_is_no_number_and_no_name_is_refused_under_its_option(arguments, option):
    seen = invoke(*arguments)
    assert_refused(seen)
    assert names(seen.err, option), seen.err


@pytest.mark.parametrize(("arguments", "option"), asked("1e30"))
def test_what_is_out_of_all_proportion_is_refused_under_its_option_or_answered_in_numbers(arguments, option):
    seen = invoke(*arguments, "--json")
    if seen.code == 0:
        json.loads(seen.out, parse_constant=lambda word: pytest.fail(f"{word} in the answer"))
        assert invoke(*arguments).code == 0
        return
    assert_refused(seen)
    assert names(seen.err, option), seen.err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("allreduce --bytes 1 --ranks 8 --gpu h100_sxm --network-bandwidth 1GB/s", "network_bandwidth joins nodes"),
        ("allreduce --bytes 1 --ranks 8 --gpu h100_sxm --network infiniband_ndr", "network joins nodes"),
        ("batching --batch 1=1ms --arrivals 3 --busy 0.5", "busy does not go with arrivals"),
        ("checklist --template --set ranks=2", "set does not go with template"),
        ("fusion --chain conv,relu --slots 8", "slots goes with tiles"),
        ("fusion --chain conv,relu --shared-bytes 8", "shared-bytes goes with registers"),
        ("fusion --tiles 1,2 --slots 8 --elements 9", "elements does not go with tiles"),
        ("kv-cache Qwen2.5-7B --heads 4", "heads does not go with model"),
        ("kv-cache Qwen2.5-7B --other 1GB", "other goes with total or gpu"),
        ("kv-cache Qwen2.5-7B --total 24GB --gpu h100_sxm --peak 1GB", "gpu does not go with total"),
        ("kv-cache --layers 2 --kv-heads 8 --head-dim 8 --rope-dim 8", "rope-dim goes with kv-lora-rank"),
        ("layout --batch 1 --channels 8 --height 8 --width 8 --gpu a100_sxm --uses 3", "uses goes with gain"),
        ("load-time --bytes 1GB --link pcie4 --jit-time 5ms", "jit-time goes with jit-kernels"),
        ("overlap --compute-s 9 --comm-s 5 --overlap-s 2 --buckets 4", "buckets does not go with overlap-s"),
        ("overlap --compute-s 9 --comm-s 5 --overlap-s 2 --latency-s 1", "latency-s goes with buckets"),
        ("overlap --compute-s 9 --comm-s 5 --ready-s 2 --bucket-comm-s 1", "does not go with comm-s"),
        ("pipeline --stages 4 --microbatches 8 --adam", "adam goes with layers or layer-costs"),
        ("pipeline --stages 4 --microbatches 8 --layers 8 --gpu t4 --memory-bytes 1", "gpu does not go with memory-b"),
        ("profiling dram --kernels 3", "kernels goes with kernel-s or passes"),
        ("quantization --gpu a100_sxm --to int8 --scheme group", "scheme goes with tensor"),
        ("quantization --tensor x.npy --parameters 7e9", "parameters goes with to"),
        ("roofline --gpu a100_sxm --op gemm,m=1,n=1,k=1 --dtype fp16", "dtype goes with flop or bytes"),
        ("training-memory --parameters 7e9 --recompute full", "recompute goes with layers"),
        ("training-step --reported 1e12 --peak 1e12 --tokens 1", "tokens does not go with reported"),
        ("training-step --parameters 1 --tokens 1 --checkpoint-every 5", "checkpoint-every goes with checkpoint-s"),
        ("training-step --parameters 1 --tokens 1 --peak 1e12 --gpu t4", "gpu does not go with peak"),
        (
            "training-step --parameters 1 --tokens 1 --full-attention",
            "full-attention goes with layers or",
        ),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(line, said):
    seen = invoke(*line.split())
    assert_refused(seen)
    assert said in seen.err, seen.err


@pytest.mark.parametrize("name", calculators())
def test_what_goes_together_is_said_of_options_that_there_are(name):
    called = function(name)
    said = [*called.__globals__.get("GOES_WITH", {}).items(), *called.__globals__.get("NOT_WITH", {}).items()]
    named = {one for key, names in said for one in (*key.split(), *names)}
    assert named <= {one.name for one in command(name).params}
