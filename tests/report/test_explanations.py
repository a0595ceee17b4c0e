"""An explanation as the user sees it, of a launch made by hand."""

from dataclasses import replace
from xml.etree import ElementTree

import synperf
from synperf.features import busiest_s
from synperf.hardware.rates import rates
from synperf.report import drawings, explanations
from synperf.scheduling import TaskGroups, schedule

from ..toys import TOY
from .test_estimates import CALL, ESTIMATE

MADE = synperf.explain(CALL, TOY)
RATE = rates(TOY, CALL.dtype)
TASK = TaskGroups(  # the busiest of 10 SMs has 3 of 25: 170 us of math, and 20 us of L2 for all, 24 us through its port
    count=25.0, tensor_flop=17e-5 / 3 * RATE.math_flop_per_s, load_bytes=2e-5 / 25 * TOY.l2_bytes_per_s,
    port_bytes=24e-6 / 3 * TOY.l2_port_bytes_per_s, ctas_per_sm=1,
)  # fmt: skip
LOAD = schedule(TASK, 10)
EXPLANATION = replace(
    MADE,
    estimate=ESTIMATE,
    launch=replace(
        MADE.launch, tiles=25, grid=(5, 5, 1), persistent=False, threads=256, registers=128, shared_bytes=65536,
        occupancy=replace(MADE.launch.occupancy, ctas_per_sm=1, limiters=("shared",)),
        choice={"tile_m": 128, "tile_n": 128}, choice_source="least cost",
    ),
    task=TASK,
    features=replace(
        MADE.features, groups=TASK, busiest_s=busiest_s(TASK, LOAD, TOY, CALL.dtype, 5e6),
        load=LOAD, compulsory_bytes=4e6, dram_bytes=5e6, padding=0.875, intensity_over_ridge=4.625,
    ),
    launch_floor_s=1.24e-6,
)  # fmt: skip

TEXT = """\
171 µs (155 to 330 µs), 81 % of the bf16 roofline; limited by tensor; analytical

tiles       25, least cost: tile_m 128, tile_n 128
grid        5 x 5 x 1 CTAs of 256 threads
one CTA     128 registers per thread, 64 KiB of shared memory
one SM      1 CTA at once, limited by shared
waves       3, the last 50 % full; 83.3 % of all slots used
busiest SM  3 of 25 tasks, the mean is 2.5
useful      87.5 % of the math, the rest pads edge tiles
intensity   4.62 times the ridge of toy
DRAM        5 MB, of which 4 MB are compulsory

pipe    whole GPU  busiest SM
tensor     142 µs      170 µs  the limit
fma           0 s         0 s
xu            0 s         0 s
dram         5 µs        5 µs
l2          20 µs       24 µs
shared        0 s         0 s
launch                1.24 µs

call      gemm m=4096 n=4096 k=64 batch=1 dtype=bf16 out_dtype=bf16
gpu       toy (toy)
kernel    cublas of vllm
floor     139 µs, below which no kernel can be
assumes   launch floor: measured on h100_sxm
          a second
versions  synperf 0.1.0, analytical 1"""


def test_the_launch_and_every_pipe_stand_between_the_time_and_what_it_rests_on():
    assert explanations.to_text(EXPLANATION) == TEXT


def test_the_keys_of_the_estimate_come_first():
    document = explanations.to_dict(EXPLANATION)
    assert list(document)[:5] == ["family", "gpu", "engine", "kernel", "params"]
    assert (document["tiles"], document["tasks"], document["waves"], document["tail"]) == (25, 25, 3, 0.5)


def test_the_drawing_has_the_launch_and_the_time_of_its_tasks():
    words = [element.text for element in ElementTree.fromstring(drawings.drawing(EXPLANATION)).iter()]
    assert "gemm m=4096 n=4096 k=64 bf16 on toy" in words
    assert "25 tasks over 10 SMs, 10 at once (1 per SM); 3 waves, the last 50 % full" in words
    assert "170 µs" in words


def test_the_limit_counts_the_reduction_except_beside_dram():
    def marked(limiter):
        features = replace(EXPLANATION.features, reduction_s=1e-6)
        text = explanations.to_text(
            replace(EXPLANATION, features=features, estimate=replace(ESTIMATE, limiter=limiter))
        )  # fmt: skip
        return next(line for line in text.splitlines() if line.startswith(f"{limiter} "))

    assert marked("l2").endswith("  the limit, with the reduction")
    assert marked("dram").endswith("  the limit")


def test_a_last_wave_is_never_said_to_be_empty():
    load = replace(EXPLANATION.features.load, tasks=40_001.0, num_sms=40_000)
    text = explanations.to_text(replace(EXPLANATION, features=replace(EXPLANATION.features, load=load)))
    assert "the last <0.01 % full" in text


def test_an_estimate_below_the_dram_time_is_said_to_have_come_out_of_l2():
    busy = replace(EXPLANATION.features, busiest_s={**EXPLANATION.features.busiest_s, "dram": 3e-4})
    warm = replace(EXPLANATION, features=busy, estimate=replace(ESTIMATE, limiter="dram"))
    assert "the estimate is below it: what was timed came out of L2" in explanations.to_text(warm)
    cold = replace(warm, estimate=replace(ESTIMATE, limiter="dram", time_s=4e-4))
    assert "came out of L2" not in explanations.to_text(cold)
