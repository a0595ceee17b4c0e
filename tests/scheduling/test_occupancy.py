"""Occupancy: the golden table of NVIDIA's algorithm over compute capabilities."""

from dataclasses import replace

import pytest

import synperf
from synperf.errors import FieldError
from synperf.scheduling import occupancy
from tests.toys import TOY

KIB = 1024
# CTAs, warps, threads are per SM: max CTAs, max warps, shared KiB, opt-in KiB, reserve, granularity
LIMITS = {
    "7.0": (32, 64, 96, 96, 0, 256),
    "7.5": (16, 32, 64, 64, 0, 256),
    "8.0": (32, 64, 164, 163, 1024, 128),
    "8.6": (16, 48, 100, 99, 1024, 128),
    "8.9": (24, 48, 100, 99, 1024, 128),
    "12.0": (24, 48, 100, 99, 1024, 128),
    "9.0": (32, 64, 228, 227, 1024, 128),
    "10.0": (32, 64, 228, 227, 1024, 128),
}


def gpu(cc):
    ctas, warps, shared, opt_in, reserve, granularity = LIMITS[cc]
    return replace(
        TOY, compute_capability=cc, max_ctas_per_sm=ctas, max_warps_per_sm=warps, shared_bytes_per_sm=shared * KIB,
        shared_bytes_per_cta=opt_in * KIB, reserved_shared_bytes_per_cta=reserve, shared_granularity_bytes=granularity,
    )  # fmt: skip


W, R, S, B = "warps", "registers", "shared", "ctas"
COLUMNS = (("7.0",), ("7.5",), ("8.0",), ("8.6",), ("8.9", "12.0"), ("9.0", "10.0"))
NO = "error"
# threads, registers, shared bytes -> per column: CTAs, percent, limiters
GOLDEN = {
    (256, 32, 8192): ((8, 100, (W, R)), (4, 100, (W,)), (8, 100, (W, R)), (6, 100, (W,)), (6, 100, (W,)), (8, 100, (W, R))),
    (256, 33, 0): ((6, 75, (R,)), (4, 100, (W,)), (6, 75, (R,)), (6, 100, (W, R)), (6, 100, (W, R)), (6, 75, (R,))),
    (1024, 64, 0): ((1, 50, (R,)), (1, 100, (W, R)), (1, 50, (R,)), (1, 66.67, (W, R)), (1, 66.67, (W, R)), (1, 50, (R,))),
    (1024, 65, 0): ((0, 0, (R,)),) * 6,
    (128, 255, 0): ((2, 12.5, (R,)), (2, 25, (R,)), (2, 12.5, (R,)), (2, 16.67, (R,)), (2, 16.67, (R,)), (2, 12.5, (R,))),
    (128, 168, 49152): ((2, 12.5, (S,)), (1, 12.5, (S,)), (3, 18.75, (R, S)), (2, 16.67, (S,)), (2, 16.67, (S,)), (3, 18.75, (R,))),
    (384, 168, 204800): (NO, NO, NO, NO, NO, (1, 18.75, (R, S))),
    (96, 40, 0): ((16, 75, (R,)), (10, 93.75, (W,)), (16, 75, (R,)), (16, 100, (W, R, B)), (16, 100, (W, R)), (16, 75, (R,))),
    (32, 16, 0): ((32, 50, (B,)), (16, 50, (B,)), (32, 50, (B,)), (16, 33.33, (B,)), (24, 50, (B,)), (32, 50, (B,))),
    (64, 32, 1024): ((32, 100, (W, R, B)), (16, 100, (W, B)), (32, 100, (W, R, B)), (16, 66.67, (B,)), (24, 100, (W, B)), (32, 100, (W, R, B))),
    (256, 128, 98304): ((1, 12.5, (S,)), NO, (1, 12.5, (S,)), (1, 16.67, (S,)), (1, 16.67, (S,)), (2, 25, (R, S))),
    (100, 32, 0): ((16, 100, (W, R)), (8, 100, (W,)), (16, 100, (W, R)), (12, 100, (W,)), (12, 100, (W,)), (16, 100, (W, R))),
    (192, 48, 23552): ((4, 37.5, (S,)), (2, 37.5, (S,)), (6, 56.25, (R, S)), (4, 50, (S,)), (4, 50, (S,)), (6, 56.25, (R,))),
}  # fmt: skip
CELLS = [
    (cc, *launch, expected)
    for launch, row in GOLDEN.items()
    for capabilities, expected in zip(COLUMNS, row, strict=True)
    for cc in capabilities
]


@pytest.mark.parametrize(("cc", "threads", "registers", "shared", "expected"), CELLS)
def test_every_cell_of_the_golden_table(cc, threads, registers, shared, expected):
    if expected == NO:
        with pytest.raises(FieldError):
            occupancy(gpu(cc), threads, registers, shared)
        return
    ctas, percent, limiters = expected
    o = occupancy(gpu(cc), threads, registers, shared)
    assert o.ctas_per_sm == ctas
    assert 100 * o.occupancy == pytest.approx(percent, abs=0.005)
    assert set(o.limiters) == set(limiters)


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "field"),
    [(0, 32, 0, "threads"), (1025, 32, 0, "threads"), (32, 256, 0, "registers"), (32, 32, -1, "shared_bytes")],
)
def test_a_launch_beyond_any_limit_names_the_field(threads, registers, shared, field):
    with pytest.raises(FieldError, match=field):
        occupancy(gpu("8.0"), threads, registers, shared)


def test_waves_of_64_share_the_registers_of_four_simds():
    mi300x = synperf.gpu("mi300x")
    # 256 threads are 4 waves; 96 registers x 64 lanes are 12 units of 512, of which a SIMD of 64 units has 5 times
    assert occupancy(mi300x, 256, 96, 0).limits["registers"] == 5
    assert (
        occupancy(mi300x, 1024, 128, 0).ctas_per_sm == 1
    )  # 16 waves, of which four SIMDs of 512 registers hold four each
    assert occupancy(mi300x, 64, 32, 0).limiters == ("ctas",)
    assert occupancy(mi300x, 256, 0, 32 * 1024).limiters == ("shared",)
