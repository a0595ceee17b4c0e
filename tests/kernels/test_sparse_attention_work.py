"""Sparse attention: values worked out by hand, what its fields take and refuse, and what is told of a call."""

import numpy as np
import pytest

import synperf
from synperf import FieldError, SparseAttention, UnsupportedError
from synperf.features import features
from synperf.kernels import family
from synperf.kernels.sparse_attention_work import index_bytes, pairs, projections, scored

DSA = family("sparse_attention")
H100, A100, B200 = (synperf.gpu(key) for key in ("h100_sxm", "a100_sxm", "b200_sxm"))
GLM5 = {"nope_dim": 192, "v_dim": 256, "q_rank": 2048, "hidden": 6144, "index_heads": 32}


def call(**changes):
    return SparseAttention(**({"batch": 4, "q_len": 1, "kv_len": 10_000, "heads": 16, "engine": "plain"} | changes))


def test_each_query_meets_its_best_tokens_and_no_more_than_there_are():
    assert pairs(call()) == 4 * 2048
    assert pairs(call(kv_len=1000)) == 4 * 1000
    # of 10 queries up to position 10, with 3 places: 1 + 2 + 3 + 7 x 3
    assert pairs(call(q_len=10, kv_len=10, topk=3)) == 4 * (1 + 2 + 3 + 7 * 3)
    assert pairs(call(q_len=4, kv_len=5, topk=3)) == 4 * (2 + 3 + 3 + 3)


def test_only_queries_with_more_tokens_than_places_are_scored():
    assert scored(call()) == 4 * 10_000
    assert scored(call(kv_len=2048)) == 0
    assert scored(call(q_len=10, kv_len=10, topk=3)) == 4 * (4 + 5 + 6 + 7 + 8 + 9 + 10)
    assert scored(call(indexes=False)) == 0
    assert scored(call(kernel="plain")) == 0


def test_flop_of_the_core_are_of_576_and_512_per_head_and_selected_token():
    assert DSA.flop(call(kernel="plain")) == 2 * 4 * 16 * 2048 * (576 + 512)


def test_scores_count_as_the_flop_of_16_bits_that_take_as_long():
    without = DSA.flop(call(kv_len=2048))
    added = DSA.flop(call(kv_len=4096)) - without
    assert added == 2 * 4 * 4096 * 64 * 128 / 2  # fp8 is twice as fast
    assert DSA.flop(call(kv_len=4096, dtype="fp8")) - DSA.flop(call(kv_len=2048, dtype="fp8")) == 2 * added


def test_projections_of_deepseek_v3_2():
    down, q_up, index_q, index_k, into, back, out = projections(call(batch=2, q_len=3, proj_dtype="fp8_block"))
    assert (down.rows, down.n, down.k, down.dtype) == (6, 1536 + 576, 7168, "fp8_block")
    assert (q_up.n, q_up.k) == (16 * 192, 1536)
    assert (index_q.n, index_q.k, index_k.n, index_k.k, index_k.dtype) == (64 * 128, 1536, 128 + 64, 7168, "bf16")
    assert (into.n, into.k, back.n, back.k, into.batch) == (512, 128, 128, 512, 16)
    assert (out.n, out.k) == (7168, 16 * 128)


def test_projections_of_glm_5_and_of_a_layer_that_does_not_index():
    found = {x.name: (x.n, x.k) for x in projections(call(indexes=False, **GLM5))}
    assert found == {
        "down": (2048 + 576, 6144), "q_up": (16 * 256, 2048), "into_latent": (512, 192), "out_of_latent": (256, 512),
        "out": (6144, 16 * 256),
    }  # fmt: skip


def test_bytes_are_the_selected_latents_and_all_keys_of_the_indexer():
    core = call(kernel="plain")
    assert DSA.compulsory_bytes(core) == 4 * 2048 * 576 * 2 + 4 * 16 * (576 + 512) * 2
    longer = DSA.compulsory_bytes(call(kv_len=20_000)) - DSA.compulsory_bytes(call())
    assert longer == 4 * 10_000 * index_bytes(call()) == 4 * 10_000 * (128 + 4)


def test_a_longer_cache_costs_a_core_nothing_and_a_module_its_scores():
    core, longer = (features(DSA, call(kernel="plain", kv_len=n), H100) for n in (4096, 65_536))
    assert core.pipes["tensor"].sm_max_s == longer.pipes["tensor"].sm_max_s
    facts = [DSA.launch(call(kv_len=n), H100).facts for n in (4096, 8192)]
    assert facts[1]["index_s"] == 2 * facts[0]["index_s"]
    assert facts[1]["select_s"] == 2 * facts[0]["select_s"]


def test_every_query_has_tiles_of_its_own():
    assert DSA.launch(call(q_len=100, heads=128, kernel="plain"), H100).tiles == 4 * 100 * 2  # of 64 rows
    assert DSA.launch(call(q_len=100, heads=16, kernel="plain"), H100).tiles == 4 * 100


def test_flashmla_steps_over_all_places_of_a_selection():
    def one(kv_len):
        return call(batch=1, kv_len=kv_len, kernel="flashmla_sparse", engine="sglang")

    few, many = (features(DSA, one(n), H100).pipes["tensor"].sm_max_s for n in (10, 100_000))
    assert few == many
    assert any("however few tokens" in said for said in DSA.assumptions(one(10), H100))


def test_the_indexer_multiplies_in_16_bits_where_there_is_no_fp8():
    said = [" ".join(DSA.assumptions(call(), gpu)) for gpu in (H100, A100)]
    assert "scores all tokens in fp8" in said[0]
    assert "scores all tokens in bf16" in said[1]


@pytest.mark.parametrize(
    ("engine", "gpu", "kernel"),
    [
        ("vllm", H100, "flashmla_sparse_module"), ("vllm", B200, "flashinfer_module"), ("sglang", H100, "fa3_module"),
        ("sglang", B200, "trtllm_gen_module"), ("trtllm", H100, "trtllm_module"), ("plain", A100, "plain_module"),
    ],
)  # fmt: skip
def test_a_call_is_the_module_of_its_engine(engine, gpu, kernel):
    assert synperf.predict(call(engine=engine), gpu, origin="analytical").kernel == kernel


def test_what_is_left_out_follows_what_is_given():
    module, core, narrow = call(), call(kernel="plain"), call(dtype="fp8")
    assert (module.projected, module.indexes, module.kv_dtype, module.is_module) == ("bf16", True, "bf16", True)
    assert (core.is_module, narrow.projected, narrow.kv_dtype) == (False, "bf16", "fp8")
    assert call(indexes="false").indexes is False


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"q_len": 10_001}, "kv_len must not be below q_len, which is 10001, got 10000"),
        ({"topk": 0}, "topk must be a whole number from 1"),
        ({"dtype": "fp32"}, "dtype must be one of fp16, bf16, fp8, got fp32"),
        ({"dtype": "fp8", "kv_dtype": "bf16"}, "kv_dtype must not be wider than dtype, which is fp8, got bf16"),
        ({"proj_dtype": "int4"}, "proj_dtype must be one of fp16, bf16, fp8, fp8_block, nvfp4, got int4"),
        ({"indexes": "maybe"}, "indexes must be true or false, got 'maybe'"),
        ({"kernel": "plain", "proj_dtype": "bf16"}, "proj_dtype: plain is the core alone; right would be the name of"),
        ({"kernel": "plain", "indexes": False}, "indexes: plain is the core alone; right would be the name of"),
        ({"batch": [1, 2], "heads": [1, 2, 3]}, "heads has 3 values, but batch has 2"),
    ],
)
def test_bad_fields_are_one_sentence(changes, said):
    with pytest.raises(FieldError, match=f"^{said}"):
        call(**changes)


@pytest.mark.parametrize(
    ("changes", "gpu", "said"),
    [
        ({"engine": "vllm"}, A100, "engine: vllm has no sparse_attention kernel for bf16; right would be"),
        ({"kernel": "flashmla_sparse"}, A100, "kernel: flashmla_sparse needs compute capability 9.0, 10.0, 10.3"),
        ({"dtype": "fp8"}, A100, "dtype: A100 SXM 80GB has no fp8 math"),
    ],
)
def test_what_a_gpu_or_engine_lacks_is_told(changes, gpu, said):
    with pytest.raises(UnsupportedError, match=f"^{said}"):
        synperf.predict(call(**changes), gpu, origin="analytical")


@pytest.mark.parametrize("kernel", [None, "plain"])
def test_inputs_of_a_network_are_the_same_in_columns(kernel):
    many = DSA.inputs(call(batch=[1, 64], q_len=[1, 3000], kernel=kernel), H100, np.array([1e-5, 1e-3]), 0.85)
    for i, (batch, q_len, base_s) in enumerate(((1, 1, 1e-5), (64, 3000, 1e-3))):
        one = DSA.inputs(call(batch=batch, q_len=q_len, kernel=kernel), H100, base_s, 0.85)
        assert list(one) == list(many)
        assert [column[i] for column in many.values()] == pytest.approx(list(one.values()), rel=1e-12)


@pytest.mark.parametrize(
    ("kernel", "engine", "lengths"),
    [("plain", "plain", [1, 1, 2, 2, 2]), ("flashmla_sparse", "sglang", [2, 2, 2, 2, 2])],
)
def test_listed_tiles_have_the_steps_of_their_queries(kernel, engine, lengths):
    # positions 63 to 67 with 100 places, 64 latents a step
    one = call(batch=2, q_len=5, kv_len=67, topk=100, heads=128, kernel=kernel, engine=engine)
    tiles = DSA.listed(one, H100)
    each = [n for n in lengths for _ in range(2)]  # two tiles of 64 heads
    assert tiles.lengths.tolist() == each * 2
    assert tiles.num_tiles == len(each) * 2
    assert tiles.total == sum(each) * 2
