"""Rows: groups, calls, joins, and the published split."""

from zlib import crc32

import numpy as np
import pytest

from synperf.errors import FieldError
from synperf.kernels import gemm
from synperf.measurements import Rows
from synperf.measurements.schema import is_call_test, is_gemm_test, is_held_out


def text(*values):
    return np.array(values, dtype=object)


def rows(**changed):
    columns = {
        "gpu": text("toy", "toy", "toy"),
        "family": text("gemm", "gemm", "gemm"),
        "engine": text("vllm", "sglang", "vllm"),
        "version": text("1", "2", "1"),
        "kernel": text("cublas", "cublas", "cublas"),
        "kernel_source": text("a", "b", "a"),
        "source": text("x", "y", "x"),
        "fields": {
            "m": np.array([1, 2, 3]),
            "n": np.array([8, 8, 8]),
            "k": np.array([4, 4, 4]),
            "batch": np.array([1, 1, 1]),
            "dtype": text("bf16", "bf16", "bf16"),
        },
        "time_s": np.array([1.0, 2.0, 3.0]),
        "spread": np.zeros(3),
        "samples": np.ones(3, dtype=np.int64),
        "is_test": np.array([True, False, False]),
    }
    return Rows(**(columns | changed))


def test_groups_come_in_sorted_order_and_keep_the_order_of_rows():
    groups = [(label, part.time_s.tolist()) for label, part in rows().groups("engine", "dtype")]
    assert groups == [(("sglang", "bf16"), [2.0]), (("vllm", "bf16"), [1.0, 3.0])]


def test_rows_of_no_length_have_no_groups():
    assert list(rows().take(np.zeros(3, dtype=bool)).groups("engine")) == []


def test_a_group_is_one_call_of_columns():
    _, part = list(rows().groups("engine"))[1]
    call = part.call()
    assert (call.engine, call.kernel, call.dtype, call.m.tolist()) == ("vllm", "cublas", "bf16", [1, 3])


def test_rows_of_two_engines_are_no_call():
    with pytest.raises(FieldError, match="engine: a call holds one, the rows have sglang, vllm"):
        rows().call()


def test_a_call_holds_one_value_of_each_label_and_fields_that_are_not_given_are_left_out():
    fields = rows().fields | {"out_dtype": text("", "", "")}
    part = rows(fields=fields, engine=text("vllm", "vllm", "vllm"))
    assert part.labels() == ("family", "engine", "kernel", "dtype", "out_dtype")
    assert part.call().out_dtype == gemm.FAMILY.example.out_dtype


def test_truth_values_are_labels_too():
    part = rows(fields=rows().fields | {"gated": text(True, False, True)})
    groups = [(label, group.column("m").tolist()) for label, group in part.groups("gated")]
    assert groups == [((False,), [2]), ((True,), [1, 3])]


def test_joined_parts_are_the_rows_again():
    again = Rows.join([rows().take(slice(0, 1)), rows().take(slice(1, 3))])
    assert again.time_s.tolist() == [1.0, 2.0, 3.0]
    assert again.column("m").tolist() == [1, 2, 3]
    assert again.column("engine").tolist() == ["vllm", "sglang", "vllm"]


def test_nothing_cannot_be_joined():
    with pytest.raises(FieldError, match="none to join"):
        Rows.join([])


def test_rows_that_say_nothing_of_bias_have_none():
    assert rows().biased.tolist() == [False, False, False]
    assert len(rows().take(np.zeros(3, dtype=bool)).biased) == 0


def test_bias_stays_with_its_row():
    marked = rows(biased=np.array([False, True, True]))
    assert [part.biased.tolist() for _, part in marked.groups("engine")] == [[True], [False, True]]
    assert marked.take(np.array([2, 0])).biased.tolist() == [True, False]
    assert Rows.join([marked, rows()]).biased.tolist() == [False, True, True, False, False, False]
    assert marked.column("biased").sum() == 2


def test_a_source_without_test_rows_is_split_by_the_crc_of_the_fields_of_its_calls():
    calls = [(m, 12288, 4096, 1, "fp16") for m in range(1, 2000)]
    held = is_call_test(calls)
    assert held.tolist() == [crc32(f"{m}x12288x4096x1xfp16".encode()) % 5 == 0 for m in range(1, 2000)]
    assert 0.17 < held.mean() < 0.23


def test_truth_values_are_words_in_the_split():
    assert is_call_test([(i, True) for i in range(50)]).tolist() == is_held_out(f"{i}xtrue" for i in range(50)).tolist()


def test_the_split_of_a_family_is_the_remainder_of_its_key():
    keys = [f"{experts}x8x4096x1536" for experts in range(1, 200)]
    assert is_held_out(keys, 4, 3).tolist() == [crc32(key.encode()) % 4 == 3 for key in keys]


def test_the_split_is_the_crc_of_n_x_k():
    n, k = np.array([32, 64, 4096, 65536, 2**30]), np.array([32, 128, 4096, 65536, 2**30])
    expected = [crc32(f"{a}x{b}".encode()) % 5 == 0 for a, b in zip(n.tolist(), k.tolist(), strict=True)]
    assert is_gemm_test(n, k).tolist() == expected


def test_the_split_does_not_depend_on_the_other_rows():
    n, k = np.repeat(np.arange(1, 40), 39), np.tile(np.arange(1, 40), 39)
    alone = [bool(is_gemm_test(n[i : i + 1], k[i : i + 1])[0]) for i in range(len(n))]
    assert is_gemm_test(n, k).tolist() == alone
