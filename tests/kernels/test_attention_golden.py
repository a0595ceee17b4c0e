"""Attention cases with values worked out by hand or in public sources: steps, FLOP, bytes, splits, imbalance."""

from dataclasses import replace

import numpy as np
import pytest

import synperf
from synperf import Attention
from synperf.features import features
from synperf.kernels import family
from synperf.kernels.attention_requests import pairs, requests
from synperf.kernels.attention_split import even_chunk, num_splits, planned_chunk
from synperf.kernels.attention_tiles import Tiling, steps
from tests.toys import TOY

ATTENTION = family("attention")


def square(**changes):
    return Attention(**({"q_len": 4096, "kv_len": 4096, "heads": 1, "head_dim": 128, "engine": "plain"} | changes))


def count_steps(call, rows=128, columns=128):
    r = requests(call)
    t = Tiling(rows=rows, columns=columns, packed=1.0, heads=1.0, head_dim=128, v_head_dim=128)
    return r.total(steps(call, r, t).total)


@pytest.mark.parametrize(("length", "causal", "full"), [(1024, 36, 64), (4096, 528, 1024), (20_000, 12_403, 24_649)])
def test_steps_of_a_causal_square(length, causal, full):
    assert count_steps(square(q_len=length, kv_len=length)) == causal
    assert count_steps(square(q_len=length, kv_len=length, causal=False)) == full


def test_a_chunk_sees_the_keys_before_it():
    # 256 queries after 1,024 keys: 9 steps for the first tile of 128, 10 for the second.
    assert count_steps(square(q_len=256, kv_len=1280)) == 19


def test_decode_sees_all_keys():
    assert count_steps(square(q_len=1, kv_len=1000)) == 8


@pytest.mark.parametrize("rows", [64, 128, 192])
@pytest.mark.parametrize("columns", [32, 80, 112, 128, 176])
@pytest.mark.parametrize("window", [0, 1, 100, 1000])
def test_closed_forms_equal_tiles_one_by_one(rows, columns, window):
    for q, kv in ((1, 1), (1, 777), (300, 300), (300, 1000), (1000, 1000), (129, 5000)):
        call = square(q_len=q, kv_len=kv, window=window)
        tiles = -(-q // rows)
        span = min(q, rows)
        most = min(kv, span + window - 1) if window else kv
        one_by_one = [min(-(-(kv - j * rows) // columns), -(-most // columns)) for j in range(tiles)]
        assert count_steps(call, rows, columns) == sum(one_by_one)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("window", [0, 1, 5, 64, 999])
def test_pairs_are_those_of_the_mask(causal, window):
    for q, kv in ((1, 1), (1, 50), (7, 7), (20, 50), (64, 64)):
        i, j = np.arange(q)[:, None] + kv - q, np.arange(kv)[None, :]
        met = np.ones((q, kv), dtype=bool)
        if causal:
            met &= j <= i
        if window:
            met &= np.abs(i - j) < window
        call = square(q_len=q, kv_len=kv, causal=causal, window=window)
        assert pairs(call, requests(call)) == met.sum()


def test_flop_without_a_mask_are_4_b_h_q_kv_d():
    call = square(batch=3, heads=8, kv_heads=2, q_len=100, kv_len=300, causal=False)
    assert ATTENTION.flop(call) == 4 * 3 * 8 * 100 * 300 * 128


def test_a_value_dimension_of_its_own_counts_in_the_second_product_and_in_o():
    call = square(heads=2, q_len=10, kv_len=10, causal=False, head_dim=192, v_head_dim=128)
    assert ATTENTION.flop(call) == 2 * 2 * 100 * (192 + 128)
    assert ATTENTION.compulsory_bytes(call) == 2 * 10 * 2 * (192 + 128) * 2  # Q and O, K and V, of two bytes


def test_compulsory_bytes_of_decode_are_the_cache_and_a_row():
    call = square(batch=4, q_len=1, kv_len=4096, heads=32, kv_heads=8, kv_dtype="fp8", page_size=16)
    cache, own, pages = 4 * 4096 * 8 * 256, 4 * 32 * 256 * 2, 4 * 4096 / 16 * 4
    assert ATTENTION.compulsory_bytes(call) == cache + own + pages
    assert ATTENTION.dram_bytes(call, TOY) >= cache + own + pages


def test_engines_write_new_keys_to_the_cache_first():
    own, engine = (square(q_len=1, engine=name) for name in ("plain", "vllm"))
    a100 = synperf.gpu("a100_sxm")
    assert ATTENTION.dram_bytes(engine, a100) - ATTENTION.dram_bytes(own, a100) == 2 * 256 * 2  # read and written
    rotates = square(q_len=1, engine="trtllm")
    assert ATTENTION.dram_bytes(rotates, a100) - ATTENTION.dram_bytes(engine, a100) == 2 * 128 * 2
    assert features(ATTENTION, engine, a100).before_s == 1024 / a100.dram_bytes_per_s


def test_a_window_leaves_out_keys_that_no_query_sees():
    call = square(q_len=1, kv_len=4096, window=100)
    assert ATTENTION.compulsory_bytes(call) == 256 * 2 + 100 * 256 * 2


@pytest.mark.parametrize(
    ("work", "num_sms", "blocks", "splits"), [(8, 132, 32, 16), (8, 108, 32, 11), (32, 108, 64, 3), (100, 108, 64, 1)]
)
def test_splits_of_flash_attention(work, num_sms, blocks, splits):
    assert num_splits(work, num_sms, blocks) == splits
    assert num_splits(np.array([work, 1]), num_sms, np.array([blocks, 4])).tolist() == [splits, 1]


def test_few_blocks_are_not_split():
    assert num_splits(1, 132, 4) == 1


def test_flashinfer_plans_the_smallest_chunk_that_its_grid_takes():
    # 4 requests of 4,096 keys, room for 32 CTAs: 8 parts each. One page is 16 keys.
    assert even_chunk(4, 4096, 32) == 512
    assert planned_chunk(np.ones(4), np.full(4, 4096.0), 32) == 512
    assert planned_chunk(np.ones(4), np.full(4, 4096.0), 32, page=16) == 512
    assert even_chunk(1, 4096, 1000) == 128  # no chunk is shorter
    assert planned_chunk(np.ones(2), np.array([128.0, 4096.0]), 9) == 512


@pytest.mark.parametrize(("num_sms", "busiest", "imbalance"), [(32, 32, 1.94), (16, 33, 1.0)])
def test_imbalance_of_a_causal_square_with_a_tile_per_sm(num_sms, busiest, imbalance):
    gpu = synperf.what_if(synperf.gpu("h100_sxm"), [f"num_sms={num_sms}"])
    call = square(kernel="fa3", engine="vllm")
    launch = ATTENTION.launch(call, gpu)
    assert launch.choice["num_splits"] == 1
    assert launch.facts == {"steps": 528, "longest_tile_steps": 32, "busiest_sm_steps": busiest}
    assert features(ATTENTION, call, gpu).load.imbalance == pytest.approx(imbalance, abs=0.005)


def test_a_split_evens_out_what_few_tiles_cannot():
    gpu = synperf.gpu("h100_sxm")
    call = square(q_len=8192, kv_len=8192, kernel="fa3", engine="vllm")  # 64 tiles, 132 SMs
    assert ATTENTION.launch(call, gpu).choice["num_splits"] > 1
    f = features(ATTENTION, call, gpu)
    assert f.load.imbalance == pytest.approx(1.0)
    assert f.reduction_s > 0


def test_the_tile_of_flash_attention_3_follows_the_head_dimension():
    gpu = synperf.gpu("h100_sxm")
    for head_dim, tile in ((64, (192, 128)), (80, (192, 144)), (128, (128, 128)), (192, (128, 112)), (256, (128, 80))):
        choice = ATTENTION.launch(square(head_dim=head_dim, kernel="fa3", engine="vllm"), gpu).choice
        assert (choice["tile_q"], choice["tile_kv"]) == tile
    fp8 = ATTENTION.launch(square(dtype="fp8", engine="vllm"), gpu).choice
    assert (fp8["tile_q"], fp8["tile_kv"]) == (128, 224)


def test_the_tile_of_flashinfer_follows_the_packed_queries():
    gpu = synperf.gpu("a100_sxm")

    def rows(q_len, group):
        call = Attention(batch=8, q_len=q_len, kv_len=4096, heads=group, kv_heads=1, head_dim=128, engine="flashinfer")
        return ATTENTION.launch(call, gpu).choice["tile_q"]

    assert [rows(1, 8), rows(1, 16), rows(1, 17), rows(8, 8), rows(9, 8)] == [16, 16, 64, 64, 128]


def test_heads_that_share_keys_fill_one_tile_in_decode():
    call = Attention(batch=200, q_len=1, kv_len=1000, heads=32, kv_heads=8, head_dim=128)
    launch = ATTENTION.launch(call, synperf.gpu("h100_sxm"))
    assert (launch.tiles, launch.choice["heads_per_tile"]) == (200 * 8, 4)


def _decode(heads, kv_heads, **given):
    return Attention(batch=4, q_len=1, kv_len=8192, heads=heads, kv_heads=kv_heads, head_dim=128, **given)


def test_up_to_32_heads_share_a_tile_of_tensorrt_llm_and_more_have_tiles_of_their_own():
    """From 48 heads on decode rows take 8 to 20 times as long, on every measured GPU."""
    gpu = synperf.gpu("h100_sxm")
    shared, own = (ATTENTION.launch(_decode(n, 1, engine="trtllm"), gpu) for n in (32, 64))
    assert (shared.tiles, shared.choice["heads_per_tile"]) == (4, 32)
    assert (own.tiles, own.choice["heads_per_tile"]) == (4 * 64, 1)
    others = ATTENTION.launch(_decode(64, 1, engine="vllm"), gpu)
    assert (others.tiles, others.choice["heads_per_tile"]) == (4, 64)


def test_tensorrt_llm_does_not_split_tiles_of_several_heads_over_narrow_keys():
    gpu = synperf.gpu("l40s")
    wanted = [(n, kv_dtype) for n in (1, 8) for kv_dtype in ("bf16", "fp8")]
    calls = {(n, kv): _decode(n * 2, 2, engine="trtllm", kv_dtype=kv) for n, kv in wanted}
    splits = {which: ATTENTION.launch(call, gpu).choice["num_splits"] for which, call in calls.items()}
    assert splits[8, "fp8"] == 1
    assert min(splits[1, "bf16"], splits[8, "bf16"], splits[1, "fp8"]) > 1


def test_a_network_sees_windows_single_keys_and_heads_without_company():
    gpu = synperf.gpu("a100_sxm")

    def seen(call):
        found = ATTENTION.inputs(call, gpu, 1e-5, 0.9)
        return {name: found[name] for name in ("windowed", "one_key", "alone", "unpacked")}

    plain = {"windowed": 1.0, "one_key": 1.0, "alone": 1.0, "unpacked": 1.0}
    call = _decode(32, 8, engine="vllm", kernel="fa2")
    assert seen(call) == plain
    assert seen(replace(call, window=128)) == plain | {"windowed": 2.0, "unpacked": 4.0}  # FA2 packs none in a window
    assert seen(replace(call, kernel="triton", window=128)) == plain | {"windowed": 2.0}
    assert seen(replace(call, kv_len=1)) == plain | {"one_key": 2.0}
    assert seen(replace(call, kv_heads=32)) == plain | {"alone": 2.0}
