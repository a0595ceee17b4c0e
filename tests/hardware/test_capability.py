"""Limits of one SM, against the table of the CUDA C++ Programming Guide, and of one CU, against AMD's documentation."""

import pytest

from synperf.errors import UnknownNameError
from synperf.hardware import gpu
from synperf.hardware.capability import GPU_FIELDS, apart, capabilities, capability, major_minor, sources

KIB = 1024
OF_NVIDIA = [key for key in capabilities() if capability(key).maker == "nvidia"]
OF_OTHERS = [key for key in capabilities() if key not in OF_NVIDIA]


def test_every_capability_of_the_table_is_there():
    assert " ".join(OF_NVIDIA) == "6.0 6.1 7.0 7.5 8.0 8.6 8.7 8.9 9.0 10.0 10.3 11.0 12.0 12.1"
    assert " ".join(OF_OTHERS) == "gfx908 gfx90a gfx942 gfx950 xe2"


@pytest.mark.parametrize(
    ("key", "ctas", "warps", "shared_kib", "cta_kib", "reserved", "lanes"),
    [
        ("7.0", 32, 64, 96, 96, 0, 64),
        ("7.5", 16, 32, 64, 64, 0, 64),
        ("8.0", 32, 64, 164, 163, 1024, 64),
        ("8.6", 16, 48, 100, 99, 1024, 128),
        ("8.7", 16, 48, 164, 163, 1024, 128),
        ("8.9", 24, 48, 100, 99, 1024, 128),
        ("9.0", 32, 64, 228, 227, 1024, 128),
        ("10.0", 32, 64, 228, 227, 1024, 128),
        ("10.3", 32, 64, 228, 227, 1024, 128),
        ("11.0", 24, 48, 228, 227, 1024, 128),
        ("12.0", 24, 48, 100, 99, 1024, 128),
        ("12.1", 24, 48, 100, 99, 1024, 128),
    ],
)
def test_limits_are_those_of_the_programming_guide(key, ctas, warps, shared_kib, cta_kib, reserved, lanes):
    cc = capability(key)
    assert (cc.max_ctas_per_sm, cc.max_warps_per_sm, cc.max_threads_per_sm) == (ctas, warps, 32 * warps)
    assert (cc.shared_bytes_per_sm, cc.shared_bytes_per_cta) == (shared_kib * KIB, cta_kib * KIB)
    assert (cc.reserved_shared_bytes_per_cta, cc.fp32_lanes_per_sm) == (reserved, lanes)


@pytest.mark.parametrize("key", capabilities())
def test_the_largest_carveout_is_all_shared_memory_and_a_cta_with_its_reserve_fits_in_it(key):
    cc = capability(key)
    assert max(cc.carveouts_bytes) == cc.shared_bytes_per_sm
    assert cc.shared_bytes_per_cta + cc.reserved_shared_bytes_per_cta <= cc.shared_bytes_per_sm
    assert cc.max_threads_per_sm == cc.warp_size * cc.max_warps_per_sm


@pytest.mark.parametrize("key", OF_NVIDIA)
def test_what_every_capability_of_nvidia_has_in_common(key):
    cc = capability(key)
    assert cc.shared_granularity_bytes == (128 if float(key) >= 8 else 256)
    assert (cc.registers_per_sm, cc.max_registers_per_thread, cc.max_threads_per_cta) == (65536, 255, 1024)
    assert (cc.warp_size, cc.register_unit_per_warp) == (32, 256)


@pytest.mark.parametrize(
    ("key", "waves", "lds_kib", "unit", "lanes", "exponentials"),
    [("gfx908", 40, 64, 256, 64, 16), ("gfx90a", 32, 64, 512, 64, 16), ("gfx942", 32, 64, 512, 128, 16),
     ("gfx950", 32, 160, 512, 128, 32)],
)  # fmt: skip
def test_a_cu_has_waves_of_64_on_four_simds_and_512_kib_of_registers(key, waves, lds_kib, unit, lanes, exponentials):
    cc = capability(key)
    assert (cc.maker, cc.warp_size, cc.max_warps_per_sm, cc.max_ctas_per_sm) == ("amd", 64, waves, 16)
    assert (cc.shared_bytes_per_sm, cc.shared_bytes_per_cta) == (lds_kib * KIB, lds_kib * KIB)
    assert (cc.registers_per_sm * 4, cc.max_registers_per_thread) == (512 * KIB, 512)
    assert (cc.register_unit_per_warp, cc.fp32_lanes_per_sm, cc.xu_op_per_clk_per_sm) == (unit, lanes, exponentials)


def test_targets_of_other_makers_are_no_versions():
    assert [major_minor(key) for key in ("9.0", "10.3", "9", "gfx942", "xe2")] == [
        (9, 0),
        (10, 3),
        (9, 0),
        (0, 0),
        (0, 0),
    ]


def test_capabilities_are_apart_by_minor_versions_and_targets_of_other_makers_by_more_than_any():
    assert (apart("8.0", "8.6"), apart("8.9", "9.0"), apart("gfx942", "gfx942")) == (6, 1, 0)
    assert apart("gfx942", "9.0") == apart("gfx942", "gfx950") == float("inf")


def test_a_gpu_inherits_the_limits_of_its_capability_with_their_sources():
    h100, cc = gpu("h100_sxm"), capability("9.0")
    assert {field: getattr(h100, field) for field in GPU_FIELDS} == {field: getattr(cc, field) for field in GPU_FIELDS}
    assert {h100.sources[field] for field in GPU_FIELDS} == {sources("nvidia")[field] for field in GPU_FIELDS}


@pytest.mark.parametrize("maker", ["amd", "intel"])
def test_every_inherited_field_of_another_maker_has_a_source_of_its_own(maker):
    assert not {sources(maker)[field] for field in GPU_FIELDS} & set(sources("nvidia").values())


def test_an_unknown_capability_is_told_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"no compute capability named '9.1'; nearest: .*9.0"):
        capability("9.1")
