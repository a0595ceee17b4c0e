"""Sectors and lines of accesses, from NVIDIA's definitions; user cases quote the question that they come from."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synperf import FieldError
from synperf.calculators.coalescing import coalescing, coalescing_of_strides
from synperf.calculators.lanes.coalesced import is_poor
from tests.cli.runner import assert_refused, invoke

PERMUTED = tuple(128 * ((7 * lane + 3) % 32) + 4 * (lane % 5) for lane in range(32))


@pytest.mark.parametrize(
    ("asked", "sectors", "sector_efficiency", "lines", "line_efficiency"),
    [
        ({"stride": 1}, 4, 1.0, 1, 1.0),
        ({"stride": 2}, 8, 0.5, 2, 0.5),
        ({"stride": 3}, 12, 1 / 3, 3, 1 / 3),
        ({"stride": 4}, 16, 0.25, 4, 0.25),
        ({"stride": 8}, 32, 0.125, 8, 0.125),
        ({"stride": 16}, 32, 0.125, 16, 0.0625),
        ({"stride": 32}, 32, 0.125, 32, 0.03125),
        ({"offset": 1}, 5, 0.8, 2, 0.5),
        ({"offset": 16}, 4, 1.0, 2, 0.5),
        ({"vector": 2}, 8, 1.0, 2, 1.0),
        ({"element_bytes": 8}, 8, 1.0, 2, 1.0),
        ({"vector": 4}, 16, 1.0, 4, 1.0),
        ({"element_bytes": 2}, 2, 1.0, 1, 0.5),
        ({"struct_bytes": 12}, 12, 1 / 3, 3, 1 / 3),
        ({"struct_bytes": 16}, 16, 0.25, 4, 0.25),
        ({"struct_bytes": 32}, 32, 0.125, 8, 0.125),
        ({"stride": 0}, 1, 0.125, 1, 0.03125),
        ({"addresses": PERMUTED}, 32, 0.125, 32, 0.03125),
    ],
)
def test_the_table_of_patterns_at_both_granularities(asked, sectors, sector_efficiency, lines, line_efficiency):
    for size, efficiency, blocks in ((32, sector_efficiency, sectors), (128, line_efficiency, lines)):
        found = coalescing(**asked, granularity=size)
        assert (found.sectors, found.lines, found.bytes_moved) == (sectors, lines, blocks * size)
        assert found.efficiency == pytest.approx(efficiency, rel=1e-12)
        assert found.sector_efficiency == pytest.approx(sector_efficiency, rel=1e-12)
        assert found.line_efficiency == pytest.approx(line_efficiency, rel=1e-12)


@pytest.mark.parametrize(("element_bytes", "ideal"), [(4, 4), (8, 8), (16, 16)])
def test_sectors_of_a_request_are_ideal_where_lanes_lie_side_by_side(element_bytes, ideal):
    found = coalescing(element_bytes=element_bytes)
    assert found.sectors_per_request == found.ideal_sectors_per_request == ideal
    assert (found.efficiency, found.verdict) == (1.0, "coalesced")


def test_eighty_per_cent_is_good_and_less_is_poor():
    assert not coalescing(offset=1).poor
    assert coalescing(offset=1).efficiency == 0.8
    assert is_poor(0.799)


@pytest.mark.parametrize(("fields", "efficiency"), [(2, 1 / 2), (3, 1 / 3), (5, 1 / 5), (8, 1 / 8), (20, 1 / 8)])
def test_one_field_of_a_record_costs_the_others_up_to_a_sector(fields, efficiency):
    found = coalescing(struct_bytes=4 * fields)
    assert found.efficiency == pytest.approx(efficiency, rel=0.02)  # the last record need not end a sector
    assert "(SoA)" in found.advice[0]
    assert "4 sectors a request, 100 %" in found.advice[0]


def test_down_a_column_each_lane_takes_a_sector_and_along_a_row_they_share():
    down, along = (coalescing(walk=walk, pitch=1024) for walk in ("column", "row"))
    assert (down.sector_efficiency, down.line_efficiency) == (0.125, 0.03125)
    assert (along.sectors, along.efficiency) == (4, 1.0)
    assert down.advice[0].startswith("let neighbouring lanes go along a row")


@pytest.mark.parametrize("offset", [8, 16, 64, 256])
def test_an_offset_of_whole_sectors_costs_nothing(offset):
    assert coalescing(offset=offset).sectors == 4


def test_wider_accesses_take_fewer_instructions_for_the_same_sectors():
    assert coalescing().advice[0] == (
        "16 bytes a lane (float4): 1 instruction for 4, and as much moves: 16 sectors a request, 100 % of them used"
    )
    assert "__ldg" in coalescing().advice[1]


def test_a_misaligned_access_is_an_answer():
    found = coalescing(vector=4, addresses="4*lane")
    assert not found.aligned
    assert (
        found.why[0] == "the access faults: an instruction of 16 bytes needs a multiple of them, and one is at byte 4"
    )


@pytest.mark.parametrize(("active", "lanes"), [("16", 16), ("0-15", 16), ("0xffff", 16), ("0,2,4-6", 5), (None, 32)])
def test_lanes_that_are_not_active_ask_for_nothing(active, lanes):
    found = coalescing(active=active)
    assert found.active_lanes == lanes
    assert found.requested_bytes == 4 * lanes


def test_a_store_says_which_sectors_it_writes_in_part():
    assert coalescing(store=True).partial_sectors == 0
    found = coalescing(stride=2, store=True)
    assert found.partial_sectors == found.sectors == 8
    assert any("written in part" in one for one in found.why)


def test_a_store_is_advised_to_store_otherwise():
    store, load = (coalescing(addresses="4 * (warp + 32 * lane)", warps=32, store=store) for store in (True, False))
    assert store.advice[0].startswith("store the same bytes side by side, through shared memory")
    assert load.advice[0].startswith("read the same bytes side by side, through shared memory")


@pytest.mark.parametrize(("fetch", "dram"), [(32, 1024), (64, 2048), (128, 4096)])
def test_l2_fetches_more_than_a_sector(fetch, dram):
    assert coalescing(stride=32, fetch_bytes=fetch).dram_bytes == dram


# https://github.com/GPGPUCourse/GPGPUTasks2023/pull/89 and /145: 32 x 32 work items, one float each
@pytest.mark.parametrize(
    ("index", "sectors", "efficiency", "lines", "unique_lines", "verdict"),
    [
        ("lane + 32 * warp", 128, 1.0, 32, 32, "coalesced"),
        ("warp + 32 * lane", 1024, 0.125, 1024, 32, "not coalesced"),
        ("1 + lane + 32 * warp", 160, 0.8, 64, 33, "coalesced, but not aligned"),
    ],
)
def test_the_course_work_on_a_group_of_32_by_32(index, sectors, efficiency, lines, unique_lines, verdict):
    seen = invoke("coalescing", "--addresses", f"4 * ({index})", "--warps", "32", "--store")
    found = coalescing(addresses=f"4 * ({index})", warps=32, store=True)
    assert (found.sectors, found.lines, found.unique_lines) == (sectors, lines, unique_lines)
    assert (found.efficiency, found.sectors_per_request, found.verdict) == (efficiency, sectors / 32, verdict)
    assert seen.out.startswith(f"{verdict}: {sectors // 32} sectors a request, {100 * efficiency:g} % used")
    assert f"{lines:,} of 32 requests, {lines // 32} each; {unique_lines} different ones" in seen.out


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([1, 2, 4, 8, 16]), st.integers(-70, 70), st.integers(0, 200), st.sampled_from([1, 7, 16, 31, 32])
)
def test_the_formula_of_strides_is_what_counting_gives(width, stride, offset, lanes):
    offset += max(0, -stride) * 32
    found = coalescing(element_bytes=width, stride=stride, offset=offset, active=str(lanes))
    touched = [set(), set()]
    for lane in range(lanes):
        for byte in range((offset + lane * stride) * width, (offset + lane * stride + 1) * width):
            touched[0].add(byte // 32)
            touched[1].add(byte // 128)
    quick = coalescing_of_strides(width, stride, offset, lanes=lanes)
    assert (found.sectors, found.lines) == (len(touched[0]), len(touched[1])) == (quick.sectors, quick.lines)
    assert found.efficiency == pytest.approx(quick.efficiency)
    assert 1 <= found.sectors <= lanes * max(1, width // 32)
    assert found.lines <= found.sectors <= 4 * found.lines


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=32), st.sampled_from([1, 2, 4, 8, 16]))
def test_any_addresses_touch_what_their_bytes_are_in(values, width):
    found = coalescing(element_bytes=width, addresses=values)
    taken = {byte for value in values for byte in range(value, value + width)}
    assert found.sectors == len({byte // 32 for byte in taken})
    assert found.lines == len({byte // 128 for byte in taken})
    assert found.distinct_bytes == len(taken)
    whole = [s for s in {byte // 32 for byte in taken} if all(32 * s + at in taken for at in range(32))]
    assert found.partial_sectors == found.sectors - len(whole)
    assert 0 < found.efficiency <= 1


def test_many_strides_at_once_are_those_of_one_at_a_time():
    strides = np.arange(-40, 41)
    found = coalescing_of_strides(4, strides, 2000)
    assert found.sectors.tolist() == [coalescing_of_strides(4, int(one), 2000).sectors for one in strides]
    assert found.efficiency.tolist() == [coalescing_of_strides(4, int(one), 2000).efficiency for one in strides]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--element-bytes", "3"), "element_bytes must be 1, 2, 4, 8 or 16, got 3"),
        (("--element-bytes", "0"), "element_bytes must be"),
        (("--vector", "8"), "vector must be"),
        (("--stride", "-1"), "stride: bytes must be from 0 on"),
        (("--stride", "99999999999"), "stride must be a whole number"),
        (("--stride", "1.5"), "invalid value for '--stride'"),
        (("--offset", "-1"), "stride: bytes must be from 0 on"),
        (("--struct-bytes", "2"), "struct_bytes must be at least the 4 bytes"),
        (("--walk", "diagonal", "--pitch", "4"), "walk must be row or column"),
        (("--walk", "row"), "pitch: none given"),
        (("--pitch", "8"), "pitch goes with walk or addresses"),
        (("--stride", "2", "--walk", "row"), "walk does not go with stride"),
        (("--addresses", "lane +"), "addresses must be whole-number arithmetic"),
        (("--addresses", ""), "addresses must be whole-number arithmetic"),
        (("--addresses", "lane / 2"), "addresses knows"),
        (("--addresses", "__import__('os')"), "addresses knows"),
        (("--addresses", "lane ** 99"), "addresses knows"),
        (("--addresses", "lanes"), "addresses: no variable named 'lanes'"),
        (("--addresses", "8 // (lane - 3)"), "addresses must not divide by 0"),
        (("--addresses", "1 << lane << 40"), "addresses must stay below 2^53"),
        (("--addresses", "lane << 99"), "addresses must shift by 0 to 62"),
        (("--addresses", "(" * 150), "addresses must be whole-number arithmetic"),
        (("--addresses", "lane" + "+lane" * 100), "addresses must have at most 200 letters"),
        (("--addresses", "4,x"), "addresses must be whole numbers with commas"),
        (("--addresses", ",".join(["4"] * 33)), "addresses must be 1 to 32"),
        (("--addresses", "4,8", "--warps", "2"), "warps does not go with a list"),
        (("--addresses", "4*lane", "--offset", "1"), "offset does not go with addresses"),
        (("--active", "33"), "active must be lanes 0 to 31"),
        (("--active", "0"), "active must be lanes 0 to 31"),
        (("--active", "0x0"), "active must be lanes 0 to 31"),
        (("--active", "all"), "active must be whole numbers"),
        (("--warps", "0"), "warps must be a whole number from 1"),
        (("--warps", "100000000"), "warps must be a whole number from 1"),
        (("--granularity", "64"), "granularity must be 32 or 128, got 64"),
        (("--fetch-bytes", "256"), "fetch_bytes must be 32, 64 or 128"),
        (("--gpu", "h21"), "gpu: no GPU named 'h21'"),
        (("--gpu", "mi300x"), "gpu: sectors and banks are those of NVIDIA's GPUs"),
        (("--cc", "9.9"), "cc: no compute capability named '9.9'"),
        (("--cc", "9.0", "--gpu", "h100_sxm"), "cc: 9.0 beside --gpu h100_sxm"),
    ],
)
def test_bad_input_is_named(arguments, named):
    seen = invoke("coalescing", *arguments)
    assert_refused(seen)
    assert seen.err.startswith(f"synperf: {named}"), seen.err


PARTS = st.sampled_from(["lane", "warp", "4", "+", "-", "*", "//", "%", "&", "|", "^", "<<", "(", ")", ",", "0"])


@given(st.text(max_size=40) | st.lists(PARTS, max_size=9).map(" ".join))
def test_any_expression_is_answered_or_refused(text):
    with suppress(FieldError):
        assert coalescing(addresses=text).sectors >= 1


def test_wide_loads_of_32_bytes_come_with_blackwell():
    assert coalescing(element_bytes=32, cc="10.0").efficiency == 1.0
    with pytest.raises(FieldError, match="element_bytes must be 1, 2, 4, 8 or 16, got 32"):
        coalescing(element_bytes=32, cc="9.0")
