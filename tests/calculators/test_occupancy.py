"""Occupancy as a user asks for it: the golden table, the textbook's example, advice, kernels that cannot launch."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synperf
from synperf import FieldError
from synperf.calculators.occupancy import occupancy
from synperf.calculators.sm import Limits, described
from synperf.errors import UnknownNameError
from synperf.hardware.capability import capabilities, capability
from synperf.scheduling import occupancies
from synperf.scheduling.occupancy import resident
from tests.cli.runner import assert_refused, invoke
from tests.scheduling.test_occupancy import CELLS, NO

KIB = 1024
SEED = Limits(sm_threads=2048, sm_blocks=16, sm_registers=65536, sm_shared_bytes=48 * KIB)
NVIDIA = [key for key in capabilities() if key[0].isdigit()]
ctas = st.tuples(st.integers(1, 1024), st.integers(0, 255), st.integers(0, 240 * KIB))


@pytest.mark.parametrize(("cc", "threads", "registers", "shared", "expected"), CELLS)
def test_every_cell_of_the_golden_table(cc, threads, registers, shared, expected):
    found = occupancy(capability(cc), threads=threads, registers=registers, shared_bytes=shared)
    held, percent, limiters = (0, 0, ("shared",)) if expected == NO else expected
    assert found.ctas_per_sm == held
    assert 100 * found.occupancy == pytest.approx(percent, abs=0.005)
    assert set(found.limiters) == set(limiters)
    assert found.launches == (held > 0)
    assert found.advice


@pytest.mark.parametrize(("cc", "like"), [("8.7", "8.0"), ("10.3", "10.0"), ("12.1", "12.0")])
def test_capabilities_that_differ_by_name_share_their_cells(cc, like):
    # 8.7 has the memory of 8.0 and the warps of 8.6
    warps, ctas_per_sm = capability(cc).max_warps_per_sm, capability(cc).max_ctas_per_sm
    alike = replace(capability(like), key=cc, max_warps_per_sm=warps, max_ctas_per_sm=ctas_per_sm)
    for cell in ((256, 32, 8192), (128, 168, 49152), (32, 16, 0), (192, 48, 23552)):
        assert resident(capability(cc), *cell) == resident(alike, *cell)


def test_the_textbooks_example_is_limited_by_shared_memory():
    found = occupancy(described(None, SEED), threads=256, registers=32, shared_bytes=8 * KIB, textbook=True)
    assert (found.ctas_per_sm, found.occupancy, found.limiters) == (6, 0.75, ("shared",))
    assert found.limits == {"warps": 8, "registers": 8, "shared": 6, "ctas": 16}
    assert found.warps_per_sm == 48
    # 48 / (8 + 1) with the KiB that real systems reserve
    assert (found.exact.ctas_per_sm, found.exact.occupancy) == (5, 0.625)


def test_an_sm_described_alone_reserves_nothing_and_one_of_8_0_does():
    alone = occupancy(described(None, SEED), threads=256, registers=32, shared_bytes=8 * KIB)
    assert (alone.ctas_per_sm, alone.occupancy, alone.limiters) == (6, 0.75, ("shared",))
    of_8_0 = occupancy(described(capability("8.0"), SEED), threads=256, registers=32, shared_bytes=8 * KIB)
    assert (of_8_0.ctas_per_sm, of_8_0.occupancy) == (5, 0.625)


@pytest.mark.parametrize(
    ("gpu", "held", "limiters"),
    [
        ("a100_sxm", 8, ("warps", "registers")),
        ("h100_sxm", 8, ("warps", "registers")),
        ("rtx_3090", 6, ("warps",)),
        ("rtx_4090", 6, ("warps",)),
        ("rtx_5090", 6, ("warps",)),
        ("t4", 4, ("warps",)),
    ],
)
def test_the_textbooks_kernel_fills_real_gpus(gpu, held, limiters):
    found = occupancy(synperf.gpu(gpu), threads=256, registers=32, shared_bytes=8 * KIB)
    assert (found.ctas_per_sm, found.occupancy, found.limiters) == (held, 1.0, limiters)


@pytest.mark.parametrize(
    ("gpu", "shared_kib", "l2_mib"),
    [("a100_sxm", 164, 40), ("h100_sxm", 228, 50), ("h200_sxm", 228, 60), ("l40", 100, 96), ("l20", 100, 96),
     ("rtx_6000_ada", 100, 96), ("rtx_5090", 100, 96), ("rtx_pro_6000_server", 100, 128)],
)  # fmt: skip
def test_memory_that_sms_and_chips_have(gpu, shared_kib, l2_mib):
    found = synperf.gpu(gpu)
    assert (found.shared_bytes_per_sm, found.l2_bytes) == (shared_kib * KIB, l2_mib * KIB * KIB)
    assert found.registers_per_sm == 65536


def test_one_register_less_gives_two_more_ctas():
    found = occupancy(synperf.gpu("a100_sxm"), threads=256, registers=33)
    assert (found.ctas_per_sm, found.occupancy) == (6, 0.75)
    assert found.advice[0].startswith("32 registers or fewer gives 8 CTAs, 100 %")


def test_a_part_of_a_warp_takes_a_whole_one():
    found = occupancy(capability("8.0"), threads=100, registers=32)
    assert (found.taken["warps"], found.warps_per_sm) == (4, 64)
    assert "100 threads are 4 warps, of whose lanes they use 78.1 %" in found.why
    assert found.advice[-1] == "96 or 128 threads, whole warps, leave no lane unused"


def test_a_full_sm_has_nothing_to_gain():
    assert occupancy(capability("8.0"), threads=256, registers=32).advice == (
        "nothing to gain: every warp slot is taken",
    )


def test_two_limiters_that_tie_have_to_move_together():
    found = occupancy(capability("9.0"), threads=384, registers=168, shared_bytes=204800)
    assert found.advice[0].startswith("80 registers and 113 KiB of shared memory together give 2 CTAs")
    assert resident(capability("9.0"), 384, 80, 113 * KIB).ctas_per_sm == 2
    assert resident(capability("9.0"), 384, 81, 113 * KIB).ctas_per_sm == 1
    assert resident(capability("9.0"), 384, 80, 113 * KIB + 1).ctas_per_sm == 1


# ThunderKittens#37 and openucx/ucc#1166 on GitHub: https://github.com/HazyResearch/ThunderKittens/issues/37,
# https://github.com/openucx/ucc/pull/1166
@pytest.mark.parametrize(
    ("cc", "registers", "of_warp", "needed", "of_256", "share_256"),
    [("8.9", 162, 5376, 86016, 43008, 1 / 6), ("10.3", 156, 5120, 81920, 40960, 0.125)],
)
def test_a_kernel_that_the_driver_refuses(cc, registers, of_warp, needed, of_256, share_256):
    refused = occupancy(capability(cc), threads=512, registers=registers)
    assert (refused.launches, refused.ctas_per_sm, refused.limiters) == (False, 0, ("registers",))
    assert (refused.taken["registers_per_warp"], refused.taken["registers"]) == (of_warp, needed)
    assert refused.largest == {"threads": 384, "registers": 128}
    smaller = occupancy(capability(cc), threads=256, registers=registers)
    assert (smaller.ctas_per_sm, smaller.limiters, smaller.taken["registers"]) == (1, ("registers",), of_256)
    assert smaller.occupancy == pytest.approx(share_256)
    if cc == "8.9":
        assert occupancy(capability(cc), threads=384, registers=registers).occupancy == 0.25


def test_the_refusal_is_told_in_words():
    seen = invoke("occupancy", "--gpu", "rtx_4090", "--threads", "512", "--registers", "162", "--sweep", "threads")
    assert seen.code == 0
    assert "cannot launch on GeForce RTX 4090: registers, 86,016 of 65,536" in seen.out
    assert "up to 384 threads, 128 registers a thread" in seen.out
    assert "256     1      8     16.7 %  registers" in seen.out
    assert "registers are spilled when a kernel is compiled, not when it is launched" in seen.out
    assert "__launch_bounds__(512, 1) or -maxrregcount; what does not fit is spilled" in seen.out


def test_carveouts_are_those_of_the_capability():
    a100 = capability("8.0")
    # 100 KiB hold 11 CTAs of 8 + 1 KiB, but registers stop at 8; with 32 KiB three fit, and 20 KiB are set as 32
    for asked, held in ((100 * KIB, 8), (32 * KIB, 3), (20 * KIB, 3), (0, 1)):
        found = occupancy(a100, threads=256, registers=32, shared_bytes=8 * KIB, carveout_bytes=asked)
        assert found.ctas_per_sm == held
    assert found.advice[-1] == "the largest carve-out, 164 KiB, gives 8 CTAs"
    # a CTA that does not fit has the setting raised for it: 64 KiB for one of 33
    assert found.largest["shared_bytes"] == 163 * KIB
    wide = occupancy(a100, threads=256, registers=32, shared_bytes=32 * KIB, carveout_bytes=16 * KIB)
    assert (wide.ctas_per_sm, wide.limits["shared"]) == (1, 1)
    with pytest.raises(FieldError, match="carveout_bytes must be from 0 to 167936 on this SM, got 200000"):
        occupancy(a100, threads=256, registers=32, carveout_bytes=200_000)


def test_clusters_come_with_9_0():
    h100 = synperf.gpu("h100_sxm")
    found = occupancy(h100, threads=384, registers=168, shared_bytes=200 * KIB, cluster=2)
    assert (found.clusters.size, found.clusters.portable, found.clusters.most_active) == (2, True, 66)
    assert not occupancy(h100, threads=384, registers=168, cluster=16).clusters.portable
    with pytest.raises(FieldError, match="cluster must be from 1 to 16 on H100 SXM, got 17"):
        occupancy(h100, threads=384, registers=168, cluster=17)
    with pytest.raises(FieldError, match="cluster must be 1 on compute capability"):
        occupancy(capability("8.0"), threads=384, registers=168, cluster=2)


def test_more_than_48_kib_has_to_be_asked_for():
    found = occupancy(capability("8.0"), threads=128, registers=64, shared_bytes=64 * KIB)
    assert any("cudaFuncAttributeMaxDynamicSharedMemorySize" in one for one in found.advice)


@pytest.mark.parametrize("field", ["threads", "registers", "shared_bytes"])
@pytest.mark.parametrize("cc", NVIDIA)
def test_a_sweep_is_what_each_value_alone_gives(cc, field):
    asked = {"threads": 192, "registers": 48, "shared_bytes": 4096}
    steps = occupancy(capability(cc), **asked, sweep=field).steps
    assert all(step.high + 1 == after.low for step, after in pairwise(steps))
    for step in steps:
        for end in (step.low, step.high):
            alone = resident(capability(cc), **(asked | {field: end}))
            assert (alone.ctas_per_sm, alone.limiters) == (step.ctas_per_sm, step.limiters)


def test_a_sweep_of_nothing_is_refused():
    with pytest.raises(UnknownNameError, match="no sweep named 'threds'; nearest: threads"):
        occupancy(capability("8.0"), threads=256, registers=32, sweep="threds")


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(capabilities()), ctas)
def test_more_of_any_resource_never_holds_more(cc, cta):
    sm = capability(cc)
    threads, registers, shared = min(cta[0], sm.max_threads_per_cta), cta[1], cta[2]
    held = resident(sm, threads, registers, shared).ctas_per_sm
    assert resident(sm, threads, min(registers + 1, sm.max_registers_per_thread), shared).ctas_per_sm <= held
    assert resident(sm, threads, registers, shared + 1).ctas_per_sm <= held
    assert resident(sm, min(threads + 1, sm.max_threads_per_cta), registers, shared).ctas_per_sm <= held


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(capabilities()), st.lists(ctas, min_size=1, max_size=20))
def test_arrays_give_what_one_call_gives(cc, several):
    sm = capability(cc)
    threads, registers, shared = (np.array(column) for column in zip(*several, strict=True))
    many = occupancies(sm, threads, registers, shared)
    for at, (t, r, s) in enumerate(several):
        one = resident(sm, t, r, s)
        assert (one.ctas_per_sm, one.warps_per_sm) == (many.ctas_per_sm[at], many.warps_per_sm[at])
        assert one.occupancy == many.occupancy[at]
        assert {name for name, limits in many.limiters.items() if limits[at]} == set(one.limiters)


def test_arrays_of_other_lengths_are_refused():
    sm = capability("8.0")
    with pytest.raises(FieldError, match="registers has 3 values, but threads has 2"):
        occupancies(sm, np.array([32, 64]), np.array([1, 2, 3]), 0)
    with pytest.raises(FieldError, match="threads must be from 1 to 1024, got 2048 at index 1"):
        occupancies(sm, np.array([32, 2048]), 32, 0)
    with pytest.raises(FieldError, match="registers must be whole numbers"):
        occupancies(sm, 32, np.array([1.5]), 0)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NVIDIA), ctas)
def test_advice_is_the_smallest_change(cc, cta):
    sm = capability(cc)
    threads, registers, shared = cta[0], max(cta[1], 1), cta[2]
    found = occupancy(sm, threads=threads, registers=registers, shared_bytes=shared)
    first = found.advice[0]
    if " registers or fewer gives " in first:
        most = int(first.split()[0])
        assert resident(sm, threads, most, shared).ctas_per_sm > found.ctas_per_sm
        assert resident(sm, threads, most + 1, shared).ctas_per_sm <= found.ctas_per_sm
    for field, value in found.largest.items():
        asked = {"threads": threads, "registers": registers, "shared_bytes": shared}
        assert resident(sm, **(asked | {field: value})).ctas_per_sm > 0


def test_json_has_the_keys_and_a_launch_that_fails_exits_with_0():
    seen = invoke("occupancy", "--cc", "8.0", "--threads", "1024", "--registers", "65", "--json")
    found = json.loads(seen.out)
    assert seen.code == 0
    assert (found["ctas_per_sm"], found["warps_per_sm"], found["occupancy"]) == (0, 0, 0.0)
    assert found["limiters"] == ["registers"]
    assert found["limits"]["registers"] == 0
    assert any("64 registers or fewer launch a CTA of 1024 threads" in one for one in found["advice"])


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--cc", "8.0", "--threads", "0", "--registers", "32"], "threads"),
        (["--cc", "8.0", "--threads", "1025", "--registers", "32"], "threads"),
        (["--cc", "8.0", "--threads", "256", "--registers", "256"], "registers"),
        (["--cc", "8.0", "--threads", "256", "--registers", "-1"], "registers"),
        (["--cc", "8.0", "--threads", "256", "--registers", "32", "--shared-bytes", "-1"], "shared_bytes"),
        (["--cc", "8.0", "--threads", "256", "--registers", "32", "--shared-bytes", "nan"], "shared_bytes"),
        (["--cc", "8.0", "--threads", "256", "--registers", "32", "--shared-bytes", "1.5"], "shared_bytes"),
        (["--cc", "8.0", "--threads", "256", "--registers", "32", "--shared-bytes", "1e300"], "shared_bytes"),
        (["--cc", "8.0", "--threads", "x", "--registers", "32"], "threads"),
        (["--cc", "7.9", "--threads", "256", "--registers", "32"], "compute capability"),
        (["--threads", "256", "--registers", "32"], "--sm-threads, --sm-blocks, --sm-registers, --sm-shared-bytes"),
        (["--threads", "256", "--registers", "32", "--sm-threads", "2048"], "--sm-blocks"),
        (["--cc", "8.0", "--sm-threads", "16", "--threads", "16", "--registers", "32"], "sm_threads"),
        (["--cc", "8.0", "--sm-blocks", "0", "--threads", "16", "--registers", "32"], "sm_blocks"),
        (["--cc", "8.0", "--gpu", "h100_sxm", "--threads", "16", "--registers", "32"], "cc"),
        (["--gpu", "h100", "--cluster", "0", "--threads", "16", "--registers", "32"], "cluster"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_that_names_the_field(options, word):
    seen = invoke("occupancy", *options)
    assert_refused(seen)
    assert word in seen.err


def test_nvidias_own_calculator_agrees():
    nvidia = pytest.importorskip("ncu_occupancy", reason="ncu_occupancy comes with Nsight Compute, which is not here")
    for cc in NVIDIA:
        calculator = nvidia.OccupancyCalculator(*map(int, cc.split(".")))
        for threads, registers, shared in ((256, 32, 8192), (256, 33, 0), (96, 40, 0), (192, 48, 23552)):
            asked = nvidia.OccupancyParameters(
                threads_per_block=threads, registers_per_thread=registers, shared_memory_per_block=shared
            )
            ours = resident(capability(cc), threads, registers, shared)
            assert calculator.get_theoretical_occupancy(asked) == pytest.approx(100 * ours.occupancy, abs=0.01)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(NVIDIA), st.integers(0, 240 * KIB), st.integers(0, 240 * KIB))
def test_a_carveout_is_the_least_setting_that_holds_what_is_asked_for_and_a_cta(cc, asked, shared):
    sm = capability(cc)
    asked, shared = min(asked, max(sm.carveouts_bytes)), min(shared, sm.shared_bytes_per_cta)
    found = occupancy(sm, threads=32, registers=16, shared_bytes=shared, carveout_bytes=asked)
    taken = -(-(shared + sm.reserved_shared_bytes_per_cta) // sm.shared_granularity_bytes) * sm.shared_granularity_bytes
    setting = min(one for one in sm.carveouts_bytes if one >= max(asked, taken))
    assert found.limits["shared"] == (setting // taken if taken else sm.max_ctas_per_sm)
