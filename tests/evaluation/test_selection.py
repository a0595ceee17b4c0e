"""Which rows are fitted to and which are scored."""

from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest

from synperf.errors import FieldError, UnknownNameError
from synperf.evaluation.selection import (
    Selection,
    is_paper_shape_test,
    is_random_test,
    is_shard_test,
    is_split_test,
    pool,
    usable,
)
from synperf.measurements import Rows

from .toy_pools import identities, rows


def test_no_row_is_fitted_to_and_scored():
    found = pool([rows("l40s"), rows("a100_sxm")], Selection(), is_split_test)
    fitted, scored = found.rows.take(found.fit), found.rows.take(found.test)
    assert len(fitted) + len(scored) == len(found.rows)
    assert not identities(fitted) & identities(scored)


def test_a_new_shape_has_no_call_of_its_weights_in_training():
    found = pool([rows("l40s")], Selection(), is_split_test)
    weights = [set(zip(*(found.rows.fields[x][mask] for x in "nk"), strict=True)) for mask in (found.fit, found.test)]
    assert weights[0]
    assert weights[1]
    assert not weights[0] & weights[1]


def test_biased_rows_are_never_used():
    part = rows("l40s")
    biased = np.arange(len(part)) % 2 == 0
    found = pool([replace(part, biased=biased)], Selection(), is_split_test)
    assert identities(found.rows) == identities(part.take(~biased))


def test_random_rows_are_told_by_the_call_and_the_engine():
    part = rows("l40s")
    f = part.fields
    texts = [f"vllmx{m}x{n}x{k}x1xbf16" for m, n, k in zip(f["m"], f["n"], f["k"], strict=True)]
    assert is_random_test(part).tolist() == [crc32(text.encode()) % 5 == 0 for text in texts]


def test_a_random_test_row_is_one_on_every_gpu_and_not_for_every_engine():
    assert (is_random_test(rows("l40s")) == is_random_test(rows("h100_sxm"))).all()
    assert (is_random_test(rows("l40s")) != is_random_test(rows("l40s", engine="sglang"))).any()


def test_of_each_group_so_many_rows_are_used():
    both = Rows.join([rows("l40s"), rows("l40s", engine="sglang")])
    found = pool([both], Selection(rows_per_group=5), is_split_test)
    for engine in ("vllm", "sglang"):
        own = found.rows.engine == engine
        assert [(mask & own).sum() for mask in (found.fit, found.test, found.whole)] == [5, 5, 5]


def test_the_choice_within_a_group_does_not_depend_on_other_groups():
    alone = pool([rows("l40s")], Selection(rows_per_group=5), is_split_test)
    beside = pool([rows("a100_sxm"), rows("l40s")], Selection(rows_per_group=5), is_split_test)
    own = beside.rows.gpu == "l40s"
    assert identities(alone.rows.take(alone.fit)) == identities(beside.rows.take(beside.fit & own))


def test_another_seed_chooses_other_rows():
    one, other = (pool([rows("l40s")], Selection(rows_per_group=5, seed=seed), is_split_test) for seed in (1, 2))
    assert identities(one.rows) != identities(other.rows)


def test_names_are_resolved_and_count_once():
    assert Selection.of(["L40S", "l40s"], ["bf16", "bf16"]) == Selection(gpus=("l40s",), dtypes=("bf16",))


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"gpus": ["h21"]}, UnknownNameError, "no GPU named 'h21'"),
        ({"dtypes": ["bf17"]}, UnknownNameError, "no format named 'bf17'"),
        ({"hold_out": ["h21"]}, UnknownNameError, "no GPU named 'h21'"),
        ({"rows_per_group": 0}, FieldError, "rows_per_group: must be at least 1, got 0"),
        ({"seed": -1}, FieldError, "seed: must be at least 0, got -1"),
    ],
)
def test_what_is_wrong_is_refused(arguments, error, said):
    with pytest.raises(error, match=said):
        Selection.of(**arguments)


def test_without_rows_there_is_nothing_to_do():
    with pytest.raises(FieldError, match=r"^rows: none are left of these GPUs, .*; right would be rows of others$"):
        pool([rows("l40s")], Selection(gpus=("h20",)), is_split_test)
    with pytest.raises(FieldError, match=r"^rows: none are of fp8, but of bf16; right would be --dtype bf16$"):
        pool([rows("l40s")], Selection(dtypes=("fp8",)), is_split_test)


def test_shards_are_held_out_whole_and_only_where_calls_have_them():
    part = rows("h100_sxm")
    with pytest.raises(FieldError, match="calls of gemm have no tp and ep"):
        is_shard_test(part)
    tp, ep = np.array([1.0, 1.0, 2.0, 4.0]), np.array([8.0, 1.0, 8.0, 1.0])
    shards = replace(part.take(slice(0, 4)), fields={"tp": tp, "ep": ep})
    assert is_shard_test(shards).tolist() == [True, False, True, True]  # crc32 of 1x8, 1x1, 2x8, 4x1


def test_the_papers_shapes_are_three_of_experts():
    part = rows("h100_sxm")
    with pytest.raises(FieldError, match="calls of gemm have no experts"):
        is_paper_shape_test(part)
    columns = {"experts": [8, 8, 64, 128], "topk": [2, 2, 6, 6], "hidden": [1024, 2048, 3584, 4096]}
    columns |= {"inter": [512, 512, 1536, 2048]}
    layers = replace(part.take(slice(0, 4)), fields={n: np.array(c, dtype=float) for n, c in columns.items()})
    assert is_paper_shape_test(layers).tolist() == [True, False, True, True]


def test_a_variant_of_calls_can_be_chosen_and_one_that_is_not_there_is_named():
    part = rows("l40s")
    with pytest.raises(UnknownNameError, match="no variant named 'prefill'"):
        usable(part, Selection(variants=("prefill",)))
    assert len(usable(part, Selection(variants=("",)))) == len(part)
