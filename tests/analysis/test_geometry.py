"""Launch geometry: waves, the last wave, occupancy and its limiter."""

import pytest

import synperf
from synperf.analysis.geometry import devices, findings, geometry
from synperf.analysis.gpu_of import gpu_of

from ..traces.kineto_files import call, kernel, read, write
from .references import trace

V100 = {"deviceProperties": [{"id": 0, "name": "Tesla V100-SXM2-16GB", "numSms": 80}]}
SHAPE = {"grid": [4, 4, 36], "block": [64, 1, 1], "registers per thread": 126, "shared memory": 8192}


def found_in(made):
    return [one for device in devices(made) for one in geometry(made, gpu_of(made, device))]


def test_a_kernel_without_a_time_still_says_how_it_was_launched(tmp_path):
    """A user case: 576 blocks of 2 warps, 80 SMs; 126 registers are 128, so 8 blocks fit: 16 of 64 warps, 0.9 waves."""
    odd = kernel("volta_sgemm_64x64_nt", 0, 0, correlation=106123, **SHAPE, **{"warps per SM": 14.4})
    events = [odd | {"cat": "Kernel"}, call("cudaLaunchKernel", 1615207264505000, 6, correlation=106123)]
    found = synperf.analyze(write(tmp_path, events, **V100))
    (one,) = found.geometry
    assert (one.warps_per_sm, one.ctas_per_sm, one.occupancy) == (pytest.approx(14.4), 8, 0.25)
    assert (one.limiters, one.waves, one.total_ns) == (("registers",), 0.9, 0)
    assert [caution.count for caution in found.cautions if "set aside" in caution.text] == [1]
    assert found.overlaps == ()  # no span that begins in 1970


def test_the_last_wave_is_what_is_left_over(tmp_path):
    """640 CTAs fit at once; 1440 are two waves and a quarter."""
    (one,) = found_in(read(tmp_path, [kernel("k", 0, 5, **{**SHAPE, "grid": [1440, 1, 1]})], **V100))
    assert (one.waves, one.last_wave, one.slots_used, one.blocks_per_sm) == (2.25, 0.25, 0.75, 18)


def test_geometries_of_one_name_are_apart_and_add_up(tmp_path):
    events = [kernel("k", 10 * n, 5, **{**SHAPE, "grid": [1 + n % 2, 1, 1]}) for n in range(5)]
    assert [(one.grid[0], one.count, one.total_ns) for one in found_in(read(tmp_path, events, **V100))] == [
        (1, 3, 15_000), (2, 2, 10_000)
    ]  # fmt: skip


def test_what_is_not_known_is_none(tmp_path):
    (one,) = found_in(read(tmp_path, [kernel("k", 0, 5, **SHAPE)]))
    assert (one.blocks, one.waves, one.occupancy, one.blocks_per_sm, one.limiters) == (576, None, None, None, ())
    (one,) = found_in(read(tmp_path, [kernel("k", 0, 5, **{**SHAPE, "block": [4096, 1, 1]})], **V100))
    assert (one.occupancy, one.blocks_per_sm) == (None, 7.2)  # no CTA is so large: the trace is damaged


def test_collectives_and_launches_without_registers_have_none(tmp_path):
    hip = {name: value for name, value in SHAPE.items() if name in ("grid", "block")}
    events = [kernel("ncclDevKernel_AllReduce", 0, 5, **SHAPE), kernel("k", 10, 5, **hip)]
    assert found_in(read(tmp_path, events, **V100)) == []


def test_small_grids_are_a_finding_with_what_the_idle_sms_could_return(tmp_path):
    events = [kernel("small", 0, 50, **{**SHAPE, "grid": [20, 1, 1]}), kernel("large", 50, 50, **SHAPE)]
    found = tuple(found_in(read(tmp_path, events, **V100)))
    (one,) = findings(found, 100_000)
    assert one.saving_ns == 37_500  # 50 µs, three quarters of the SMs
    assert findings(found, 10_000_000) == []


def test_an_estimate_of_the_profiler_is_that_of_the_same_geometry():
    """`est. achieved occupancy` is the theoretical one while all of a wave is there."""
    full = [one for one in found_in(trace("resnet50_v100_dataloader0")) if one.waves and one.waves >= 1]
    assert len(full) > 50
    near = [one for one in full if abs(one.occupancy - one.recorded_occupancy) < 0.011]
    assert len(near) > 0.9 * len(full)


def test_a_grid_that_can_not_be_is_damage(tmp_path):
    huge = [2**31 - 1] * 3
    events = [kernel("k", 0, 5, **{**SHAPE, "grid": huge}), kernel("k", 9, 5, **{**SHAPE, "block": huge})]
    assert found_in(read(tmp_path, events, **V100)) == []
