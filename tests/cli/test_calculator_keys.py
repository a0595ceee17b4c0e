"""Options and keys of calculators that scripts rely on: each is taken by its name, and answers by its name."""

import json
import shlex

import pytest

from .runner import invoke

TEN = "padding --lengths 10,20,30,40,50,60,70,80,90,100"
OWN_SM = "--sm-threads 2048 --sm-blocks 16 --sm-registers 65536 --sm-shared-bytes 49152"
MEMORY = "--dtype bf16 --kv-dtype bf16 --tp 4 --pp 1 --seq 8192 --batch 16 --utilization 0.9 --activations-bytes 2e9"
ASKED = [
    (
        "occupancy --gpu a100_sxm --threads 256 --registers 33 --shared-bytes 0",
        {"ctas_per_sm": 6, "warps_per_sm": 48, "occupancy": 0.75, "limiters": ["registers"]},
    ),
    (
        f"occupancy --threads 256 --registers 32 --shared-bytes 8192 {OWN_SM} --textbook",
        {"ctas_per_sm": 6, "occupancy": 0.75, "limiters": ["shared"]},
    ),
    (
        "occupancy --cc 8.0 --threads 1024 --registers 65 --shared-bytes 0",
        {"ctas_per_sm": 0, "warps_per_sm": 0, "occupancy": 0, "limiters": ["registers"]},
    ),
    (
        "coalescing --element-bytes 4 --stride 32 --offset 0",
        {"sectors": 32, "lines": 32, "bytes_moved": 1024, "efficiency": 0.125},
    ),
    (
        "coalescing --element-bytes 4 --stride 32 --granularity 128",
        {"sectors": 32, "lines": 32, "bytes_moved": 4096, "efficiency": 0.03125},
    ),
    ("coalescing --element-bytes 4 --addresses '8 * lane'", {"sectors": 8, "efficiency": 0.5}),
    ("banks --element-bytes 4 --stride 32", {"degree": 32, "wavefronts": 32}),
    ("banks --rows 32 --pitch 33 --column 0", {"degree": 1, "wavefronts": 1}),
    ("banks --addresses '8 * lane'", {"degree": 2, "wavefronts": 2}),
    ("divergence --paths 100,10 --lanes 16,16", {"cycles": 110, "efficiency": 0.5}),
    (
        "roofline --gpu a100_sxm --flop 1e12 --bytes 1e9 --dtype bf16",
        {
            "intensity_flop_per_byte": 1000,
            "ridge_flop_per_byte": pytest.approx(152.95, rel=1e-4),
            "bound": "compute",
            "time_s": pytest.approx(1e12 / 311.87e12, rel=1e-4),
        },
    ),
    ("roofline --gpu h100_sxm --op gemm m=4096 n=4096 k=4096", {"intensity_flop_per_byte": pytest.approx(4096 / 3)}),
    (f"{TEN} --strategy fixed", {"padded_tokens": 1000, "waste": pytest.approx(0.45), "utilization": 0.55}),
    (f"{TEN} --strategy buckets --buckets 3", {"padded_tokens": 670, "waste": pytest.approx(0.179, abs=5e-4)}),
    (f"{TEN} --strategy dynamic --batch 2", {"padded_tokens": 600, "waste": pytest.approx(0.083, abs=5e-4)}),
    (f"packing{TEN.removeprefix('padding')} --capacity 100", {"bins": 6, "utilization": pytest.approx(550 / 600)}),
    (
        "fusion --chain conv,bn,relu --elements 1000 --dtype fp32",
        {
            "accesses_before": 5,
            "accesses_after": 1,
            "bytes_saved": 16_000,
            "launches_saved": 2,
            "decision": "fuse",
        },
    ),
    (
        f"memory Llama-3.1-70B --gpu h100_sxm {MEMORY}",
        {
            "parameters": 70_553_706_496,
            "weights_bytes": pytest.approx(35.28e9, rel=1e-3),
            "kv_bytes_per_token": 327_680,
            "kv_bytes_per_token_per_gpu": 81_920,
            "max_tokens": 423_866,
        },
    ),
    ("training-memory --parameters 7.5e9 --dp 64 --zero 3", {"bytes_per_gpu": 1.875e9}),
    (
        "allreduce --bytes 1e6 --ranks 8 --latency-s 5e-6 --bandwidth 100e9",
        {
            "ring_s": pytest.approx(87.5e-6),
            "tree_s": pytest.approx(90e-6),
            "pipelined_tree_s": pytest.approx(50e-6),
            "ring_steps": 14,
            "tree_steps": 6,
            "crossover_bytes": pytest.approx(0.941e6, rel=1e-3),
            "crossover_pipelined_bytes": pytest.approx(16e6),
        },
    ),
    (
        "overlap --compute-s 100 --comm-s 60 --overlap-s 40",
        {"step_s": 120, "exposed_s": 20, "scaling_efficiency": pytest.approx(100 / 120)},
    ),
    (
        "pipeline --stages 8 --microbatches 32 --schedule gpipe",
        {"bubble_of_total": pytest.approx(7 / 39), "bubble_of_ideal": 7 / 32},
    ),
    ("pipeline --stages 8 --microbatches 32 --schedule interleaved --chunks 2", {"bubble_of_ideal": 7 / 64}),
    ("imbalance --times 100,100,100,120", {"efficiency": 0.875}),
    (
        "compression --bytes 100e6 --bandwidth 10e9 --ratio 4 --codec-s 0.008",
        {"saving_s": pytest.approx(7.5e-3), "worth_it": False},
    ),
]


@pytest.mark.parametrize(("line", "keys"), ASKED, ids=[line for line, _ in ASKED])
def test_options_and_keys_are_those_that_are_promised(line, keys):
    seen = invoke(*shlex.split(line), "--json")
    assert (seen.code, seen.err) == (0, "")
    found = json.loads(seen.out)
    assert {name: found[name] for name in keys} == keys


@pytest.mark.parametrize("line", [line for line, _ in ASKED if line.startswith(("occupancy", "banks"))])
def test_advice_is_among_them(line):
    assert json.loads(invoke(*shlex.split(line), "--json").out)["advice"]
