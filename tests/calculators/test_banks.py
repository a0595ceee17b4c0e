"""Banks of shared memory, from NVIDIA's definitions; user cases quote the question that they come from."""

from collections import defaultdict
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synperf import FieldError
from synperf.calculators.banks import banks
from synperf.calculators.lanes.conflicts import degree_of_stride
from tests.cli.runner import assert_refused, invoke


@pytest.mark.parametrize(
    ("stride", "degree"),
    [(1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (17, 1), (31, 1), (32, 32), (33, 1), (64, 32), (0, 1)],
)
def test_a_stride_of_words_meets_banks_by_the_greatest_common_divisor(stride, degree):
    found = banks(stride=stride)
    assert (found.degree, found.wavefronts, found.minimum_wavefronts) == (degree, degree, 1)
    assert degree_of_stride(stride) == degree
    assert max(found.histogram) == degree


@pytest.mark.parametrize(
    ("asked", "wavefronts", "minimum"),
    [
        ({"element_bytes": 8}, 2, 2),
        ({"element_bytes": 8, "stride": 2}, 4, 2),
        ({"element_bytes": 16}, 4, 4),
        ({"vector": 4}, 4, 4),
        ({"element_bytes": 16, "stride": 2}, 8, 4),
        ({"element_bytes": 16, "addresses": "128 * lane"}, 32, 4),
        ({"element_bytes": 2}, 1, 1),
        ({"element_bytes": 1, "stride": 4}, 1, 1),
    ],
)
def test_wide_accesses_go_in_phases(asked, wavefronts, minimum):
    found = banks(**asked)
    assert (found.wavefronts, found.minimum_wavefronts) == (wavefronts, minimum)
    assert found.slowdown == wavefronts / minimum


@pytest.mark.parametrize(("rows", "pitch", "degree"), [(32, 32, 32), (32, 33, 1), (33, 32, 32)])
def test_padding_belongs_into_rows_not_below_them(rows, pitch, degree):
    assert banks(rows=rows, pitch=pitch, column=0).degree == degree


def test_a_column_of_a_square_tile_is_cured_by_one_element_or_by_an_exclusive_or():
    found = banks(rows=32, pitch=32, column=5)
    assert (found.padding.pad, found.padding.wavefronts, found.padding.extra_bytes) == (1, 1, 128)
    assert found.padding.extra_share == 0.03125
    assert found.swizzle == "column ^ row % 32"
    for fixed in range(32):  # by brute force: down every column and along every row
        assert banks(addresses=[4 * (32 * row + (fixed ^ row % 32)) for row in range(32)]).degree == 1
        assert banks(addresses=[4 * (32 * fixed + (column ^ fixed % 32)) for column in range(32)]).degree == 1


@pytest.mark.parametrize(
    ("pitch", "pad", "formula"), [(64, 8, "(column / 8) ^ row % 8"), (32, 8, "(column / 8) ^ (row / 2) % 4")]
)
def test_rows_of_fragments_must_begin_in_different_groups_of_banks(pitch, pad, formula):
    found = banks(ldmatrix=4, element_bytes=2, rows=64, pitch=pitch)
    assert (found.minimum_wavefronts, found.wavefronts) == (4, 4 * found.degree)
    assert (found.padding.pad, found.padding.degree, found.swizzle) == (pad, 1, formula)
    assert banks(ldmatrix=4, element_bytes=2, rows=64, pitch=pitch + pad).degree == 1


def test_rows_of_wide_accesses_are_padded_by_one_of_them():
    found = banks(vector=4, rows=32, pitch=128)
    assert (found.wavefronts, found.minimum_wavefronts) == (32, 4)
    assert (found.padding.pad, found.padding.wavefronts) == (4, 4)  # 4 words, the 16 bytes of one access
    assert banks(vector=4, rows=32, pitch=132).wavefronts == 4


def test_fragments_of_fewer_matrices_take_fewer_phases():
    assert [banks(ldmatrix=n, element_bytes=2, pitch=72).wavefronts for n in (1, 2, 4)] == [1, 2, 4]


# https://github.com/siboehm/SGEMM_CUDA/issues/8: a tile of A is stored transposed
@pytest.mark.parametrize(("pad", "degree"), [(0, 2), (1, 2), (2, 2), (3, 2), (4, 1), (8, 2)])
def test_the_transposed_store_of_sgemm_is_two_way_until_rows_are_padded_by_four(pad, degree):
    found = banks(rows=8, pitch=128 + pad, addresses="4 * ((lane % 2 * 4 + step) * pitch + lane // 2)", steps=4)
    assert (found.degree, found.wavefronts, found.minimum_wavefronts) == (degree, 4 * degree, 4)
    if pad == 0:
        assert (found.padding.pad, found.padding.extra_bytes) == (4, 128)


def test_its_command_says_so():
    expression = "4*((lane%2*4+step)*pitch+lane//2)"
    seen = invoke("banks", "--rows", "8", "--pitch", "128", "--addresses", expression, "--steps", "4")
    assert seen.out.startswith("2-way bank conflict: 8 wavefronts where 4 would do")
    assert "8, 2 for each of 4 requests" in seen.out
    assert "pad rows by 4 elements to 132, [8][132]: 1-way, 4 wavefronts in the place of 8, 128 bytes more" in seen.out


# https://forums.developer.nvidia.com/t/unexpected-shared-memory-bank-conflict/77228
def test_wide_loads_take_four_wavefronts_without_a_conflict():
    seen = invoke("banks", "--element-bytes", "16", "--addresses", "16 * (lane % 4)", "--cc", "7.5")
    found = banks(element_bytes=16, addresses="16 * (lane % 4)", cc="7.5")
    assert (found.wavefronts, found.minimum_wavefronts, found.extra_wavefronts) == (4, 4, 0)
    assert (found.degree, found.unique_bytes) == (1, 64)
    assert seen.out.startswith("no bank conflict: 4 wavefronts, which is the minimum")
    assert "lanes t and t ^ 1, or t and t ^ 2, read one address, which they do not here" in " ".join(seen.out.split())


@pytest.mark.parametrize(("expression", "cc", "wavefronts"), [
    ("16 * (lane // 2 % "
     "4)", "7.5", 2), ("16 * (lane % 2 + lane // 4 * 2)", "7.0", 2), ("16 * (lane // 2 % 4)", "8.0", 4),
])  # fmt: skip
def test_on_volta_and_turing_pairs_that_read_one_address_take_half_the_phases(expression, cc, wavefronts):
    assert banks(element_bytes=16, addresses=expression, cc=cc).wavefronts == wavefronts


def brute(addresses, width):
    """(most different words of a bank in a phase, sum over phases) by counting."""
    per_phase = 32 if width <= 4 else 128 // width
    words = defaultdict(set)
    for lane, address in enumerate(addresses):
        for byte in range(address, address + width):
            words[lane // per_phase, byte // 4 % 32].add(byte // 4)
    busiest = defaultdict(int)
    for (phase, _), found in words.items():
        busiest[phase] = max(busiest[phase], len(found))
    return max(busiest.values()), sum(busiest.values())


@given(st.lists(st.integers(0, 500), min_size=1, max_size=32), st.sampled_from([1, 2, 4, 8, 16]))
def test_the_degree_is_the_highest_multiplicity(places, width):
    addresses = [place * width for place in places]
    found = banks(element_bytes=width, addresses=addresses)
    assert (found.degree, found.wavefronts) == brute(addresses, width)


@given(st.integers(1, 300), st.sampled_from([4, 8, 16]))
def test_advice_holds_when_it_is_followed(pitch, width):
    found = banks(element_bytes=width, rows=32, pitch=pitch)
    if found.padding is not None:
        again = banks(element_bytes=width, rows=32, pitch=pitch + found.padding.pad)
        assert (again.degree, again.wavefronts) == (found.padding.degree, found.padding.wavefronts)
        assert again.wavefronts < found.wavefronts
    assert (found.extra_wavefronts == 0) == (found.degree == 1)


@given(st.integers(1, 10_000))
def test_a_single_step_of_words_follows_the_formula(stride):
    assert banks(stride=stride).degree == gcd(stride, 32) == degree_of_stride(stride)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--element-bytes", "12"), "element_bytes must be"),
        (("--element-bytes", "32", "--cc", "10.0"), "element_bytes must be 1, 2, 4, 8 or 16"),
        (("--rows", "0", "--pitch", "32"), "rows must be a whole number from 1"),
        (("--rows", "32"), "pitch: none given"),
        (("--pitch", "32"), "rows: none given"),
        (("--rows", "32", "--pitch", "-1"), "pitch must be a whole number from 1"),
        (("--rows", "32", "--pitch", "32", "--column", "32"), "column must be 0 to 31"),
        (("--rows", "2", "--pitch", "2", "--active", "4-7"), "active must be lanes"),
        (("--stride", "2", "--pitch", "32"), "stride does not go with pitch"),
        (("--stride", "2", "--addresses", "lane"), "stride does not go with addresses"),
        (("--ldmatrix", "3", "--pitch", "64"), "ldmatrix must be 1, 2 or 4, got 3"),
        (("--ldmatrix", "1", "--pitch", "64", "--active", "8-31"), "active must be lanes"),
        (("--ldmatrix", "4", "--pitch", "64", "--vector", "2"), "vector does not go with ldmatrix"),
        (("--column", "1"), "pitch: none given"),
        (("--column", "1", "--stride", "2"), "stride does not go with column"),
        (("--column", "1", "--addresses", "lane"), "addresses goes with pitch"),
        (("--steps", "2"), "steps goes with addresses"),
        (("--steps", "0", "--addresses", "lane"), "steps must be a whole number"),
        (("--addresses", "pitch * lane"), "addresses: no variable named 'pitch'"),
        (("--addresses", "lane - 1"), "addresses: bytes must be from 0 on"),
        (("--gpu", "mi300x"), "gpu: sectors and banks"),
    ],
)
def test_bad_input_is_named(arguments, named):
    seen = invoke("banks", *arguments)
    assert_refused(seen)
    assert seen.err.startswith(f"synperf: {named}"), seen.err


def test_a_misaligned_access_is_an_answer():
    found = banks(element_bytes=16, addresses="4 * lane")
    assert not found.aligned
    assert found.advice == ("begin every access at a multiple of 16 bytes",)


def test_a_list_of_another_kind_is_refused():
    with pytest.raises(FieldError, match="addresses must be 1 to 32"):
        banks(addresses=[])
