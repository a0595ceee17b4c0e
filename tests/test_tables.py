"""Tables in memory: what goes in comes out, with the results of each row's own call beside it."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synperf
from synperf import tables
from synperf.errors import FieldError, PerfError
from synperf.hardware import DType
from synperf.tables import csv_text, files, json_lines
from synperf.tables.headings import RESULTS

from .toys import H100, TOY

DEVICES = {"toy": TOY, "h100": H100}
PLAN = tables.Plan(estimate=synperf.predict, device=DEVICES.__getitem__, gpu=TOY)
ROW = {"family": "gemm", "m": 128, "n": 256, "k": 512}


def read(path):
    reader = {".csv": csv_text, ".jsonl": json_lines}[path.suffix]
    (batch,) = reader.read(path, path.name, 100)
    return batch


def test_a_list_of_dicts_gives_dicts_with_the_keys_of_predict_json():
    (answer,) = tables.predict_table([ROW | {"layer": "q"}], PLAN)
    expected = synperf.predict(synperf.Gemm(m=128, n=256, k=512), TOY)
    assert list(answer) == ["family", "m", "n", "k", "layer", *RESULTS]
    assert answer["time_s"] == expected.time_s
    assert (answer["gpu"], answer["engine"], answer["kernel"]) == ("toy", expected.engine, expected.kernel)
    assert answer["assumptions"] == expected.assumptions
    assert answer["versions"] == expected.versions


def test_a_dict_of_columns_gives_columns_and_single_values_stand_for_every_row():
    m = np.array([64, 128, 4096])
    answer = tables.predict_table({"family": "gemm", "m": m, "n": 256, "k": [1, 2, 3]}, PLAN)
    expected = synperf.predict(synperf.Gemm(m=m, n=np.array([256, 256, 256]), k=np.array([1, 2, 3])), TOY)
    assert answer["m"] is m
    assert (answer["family"], answer["n"], answer["k"]) == ("gemm", 256, [1, 2, 3])
    assert np.array_equal(answer["time_s"], expected.time_s)
    assert answer["assumptions"] == [";".join(expected.assumptions)] * 3


def test_a_dataframe_gives_a_dataframe_with_its_columns_untouched():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"family": "gemm", "m": [64, 128], "n": [64, 64], "k": [8.0, 16.0], "tag": [[1], None]})
    answer = tables.predict_table(frame, PLAN)
    assert answer.select(frame.columns).equals(frame)
    assert answer.columns == [*frame.columns, *RESULTS]
    assert answer["time_s"].to_list() == [row["time_s"] for row in tables.predict_table(frame.to_dicts(), PLAN)]


SMALL = st.integers(1, 999)


@settings(max_examples=50)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"family": st.just("gemm"), "m": st.integers(1, 2**31 - 1), "n": SMALL, "k": SMALL},
            optional={
                "dtype": st.sampled_from(["bf16", " BF16", None, "", DType.BF16]),
                "gpu": st.sampled_from(["toy", "h100", None]),
                "engine": st.sampled_from(["vllm", "torch", ""]),
                "batch": st.sampled_from([1, "2", 3.0, "4e0", None]),
                "tile_m": st.sampled_from([64, 128, None, " "]),
                "tile_n": st.sampled_from(["64", None]),
            },
        ),
        max_size=12,
    )
)
def test_rows_of_any_mixture_keep_their_order_and_get_what_each_alone_would_get(rows):
    together = tables.predict_table(rows, PLAN)
    alone = [tables.predict_table([row], PLAN)[0] for row in rows]
    for one, other in zip(together, alone, strict=True):
        assert one.keys() == other.keys()
        for name in one:
            number = isinstance(one[name], float)  # the network's last digits depend on how many rows it sees at once
            assert one[name] == (pytest.approx(other[name], rel=1e-5) if number else other[name]), name


def test_rows_of_latent_attention_are_absorbed_where_each_alone_would_be():
    rows = [
        {"family": "mla", "batch": 4, "q_len": q_len, "kv_len": 512, "heads": 16} | absorbed
        for q_len in (1, 128, "1", 1.0)
        for absorbed in ({}, {"absorbed": "true"}, {"absorbed": False}, {"proj_dtype": "bf16"})
    ]
    plan = replace(PLAN, gpu=synperf.gpu("h100_sxm"))
    for row, answer in zip(rows, tables.predict_table(rows, plan), strict=True):
        alone = synperf.predict(synperf.parse_call("mla", {k: v for k, v in row.items() if k != "family"}), plan.gpu)
        assert (answer["time_s"], answer["kernel"]) == (pytest.approx(alone.time_s, rel=1e-5), alone.kernel)


def test_a_length_that_is_none_is_named_where_defaults_depend_on_it():
    rows = [{"family": "mla", "q_len": q_len, "kv_len": 512, "heads": 16} for q_len in (1, "one")]
    with pytest.raises(FieldError, match=r"row 2: q_len must be a whole number from 1 to 2147483647, got 'one'"):
        tables.predict_table(rows, PLAN)


def test_no_cell_of_the_input_changes_and_empty_engines_are_filled_in():
    rows = [ROW | {"engine": " ", "kernel": None}, ROW | {"engine": "VLLM", "kernel": "torch.nn.functional.linear"}]
    first, second = tables.predict_table(rows, PLAN)
    assert (first["engine"], first["kernel"]) == ("torch", "cublas")
    assert (second["engine"], second["kernel"]) == ("VLLM", "torch.nn.functional.linear")


def test_columns_that_are_no_field_pass_through_unless_they_resemble_one():
    passed = {"id": 1, "layer": "q", "name": "x", "count": 3, "kernel_source": "y", "measured_us": 1.5, "heads": 8}
    (answer,) = tables.predict_table([ROW | passed], PLAN)
    assert {name: answer[name] for name in passed} == passed
    for name in ("dtyp", "Dtype", "batchs", "M", "tile-m", "tile_q", "out_type", "famly", "kernal", "GPU"):
        with pytest.raises(FieldError, match=f"^table: column '{name}' looks like the field "):
            tables.predict_table([ROW | {name: 1}], PLAN)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"m": 0}, "table row 2: m must be a whole number from 1 to 2147483647, got 0"),
        ({"m": True}, "table row 2: m must be a whole number from 1 to 2147483647, got True"),
        ({"m": [1, 2]}, "table row 2: m must be a whole number from 1 to 2147483647, got '[1,2]'"),
        ({"m": [None, []]}, "table row 2: m must be a whole number from 1 to 2147483647, got '[null,[]]'"),
        ({"m": {"a": 1}}, "table row 2: m must be a whole number from 1 to 2147483647, got '{\"a\":1}'"),
        ({"m": float("nan")}, "table row 2: m must be a whole number from 1 to 2147483647, got nan"),
        ({"m": 10**400}, "table row 2: m must be a whole number"),
        ({"m": None}, "table row 2: gemm: missing m"),
        ({"dtype": 7}, "table row 2: dtype: no dtype named '7'"),
        ({"dtype": ["bf16"]}, "table row 2: dtype: no dtype named"),
        ({"engine": 7}, "table row 2: engine must be a name, got 7"),
        ({"family": 3}, "table row 2: no kernel family named '3'"),
        ({"dtype": "fp8"}, "table row 2: dtype: toy has no fp8 math"),
        ({"tile_m": 128, "tile_n": 4096, "tile_k": 4096}, "table row 2: tile: 128x4096x4096 does not fit"),
        ({"origin": "learned"}, "table: column origin is one of the results; rename it in the input"),
    ],
)
def test_the_first_bad_row_is_named_with_its_field(change, said):
    rows = [ROW | dict.fromkeys(set(change) - {"origin"} - set(ROW)), ROW | change, ROW | {"m": -1}]
    with pytest.raises(PerfError) as caught:
        tables.predict_table(rows, PLAN)
    assert str(caught.value).startswith(said)


def test_the_first_bad_row_is_found_among_many_good_ones():
    m = np.full(100_000, 64)
    m[70_001] = 0
    with pytest.raises(FieldError, match=r"^table row 70002: m must be a whole number from 1 to 2147483647, got 0$"):
        tables.predict_table({"family": "gemm", "m": m, "n": 64, "k": 64}, PLAN)


def test_what_is_no_table_of_calls_is_refused():
    with pytest.raises(FieldError, match="table row 2 must be a dict, got int"):
        tables.predict_table([ROW, 3], PLAN)
    with pytest.raises(FieldError, match="column n has 2 values, but m has 3"):
        tables.predict_table({"family": "gemm", "m": [1, 2, 3], "n": [1, 2], "k": 1}, PLAN)
    with pytest.raises(FieldError, match="family: none given for all rows, and no such column among m, n, k"):
        tables.predict_table([{"m": 1, "n": 1, "k": 1}], PLAN)
    with pytest.raises(FieldError, match="gpu: none given for all rows"):
        tables.predict_table([ROW], tables.Plan(estimate=synperf.predict, device=synperf.gpu))


def test_empty_tables_are_empty_tables():
    assert tables.predict_table([], PLAN) == []
    answer = tables.predict_table({"family": [], "m": [], "n": [], "k": []}, PLAN)
    assert list(answer) == ["family", "m", "n", "k", *RESULTS]
    assert {len(cells) for cells in answer.values()} == {0}


CSV = 'note,family, m ,n,k\n"a, ""b""\nc",gemm, 14.0 ,1e2,0064\n\nplain,gemm,1,1,1\n'


def test_cells_of_csv_keep_their_text_whatever_quotes_and_line_ends(tmp_path):
    for text in (CSV, CSV.replace("\n", "\r\n"), "\ufeff" + CSV):
        (tmp_path / "in.csv").write_bytes(text.encode())
        tables.predict_file(tmp_path / "in.csv", PLAN, tmp_path / "out.csv")
        before, after = read(tmp_path / "in.csv"), read(tmp_path / "out.csv")
        assert list(after.columns)[:5] == ["note", "family", "m", "n", "k"]
        assert after.columns["m"] == (" 14.0 ", "1")
        for name in before.columns:
            assert after.columns[name] == before.columns[name]


def test_values_of_json_lines_keep_their_text(tmp_path):
    lines = '{"m": 14.0, "n": 1e2, "k": "64", "family": "gemm", "x": {"y": [1.10, null]}, "engine": null}\n'
    (tmp_path / "in.jsonl").write_text("\n" + lines)
    tables.predict_file(tmp_path / "in.jsonl", PLAN, tmp_path / "out.jsonl")
    text = (tmp_path / "out.jsonl").read_text()
    assert text.startswith(
        '{"m":14.0,"n":1e2,"k":"64","family":"gemm","x":{"y": [1.10, null]},"engine":"torch",'
        '"gpu":"toy","kernel":"cublas","time_s":'
    )
    assert text.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"m": 1', "in.jsonl line 1: not a JSON object"),
        ("[1]", "in.jsonl line 1: not a JSON object"),
        ("NaN", "in.jsonl line 1: not a JSON object"),
        ('\n{"m": NaN}', "in.jsonl line 2: not a JSON object"),
        ('{"m": 1, "m": 2}', "in.jsonl line 1: field 'm' is there twice"),
        ('{"family": "gemm", "m": 1, "n": 1, "k": "x"}', "in.jsonl row 1 (line 1): k must be a whole number"),
        ("[" * 100_000, "in.jsonl line 1: not a JSON object"),
    ],
)
def test_broken_json_lines_name_the_line(tmp_path, text, said):
    (tmp_path / "in.jsonl").write_text(text)
    with pytest.raises(PerfError) as caught:
        tables.predict_file(tmp_path / "in.jsonl", PLAN, tmp_path / "out.jsonl")
    assert str(caught.value).startswith(said)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_a_key_inside_a_value_may_repeat_one_outside(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"family": "gemm", "m": 1, "n": 1, "k": 1, "x": {"m": 2, "s": "\\"m\\":"}}')
    tables.predict_file(tmp_path / "in.jsonl", PLAN, tmp_path / "out.jsonl")


def test_every_format_gives_the_same_answers(tmp_path):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"family": "gemm", "m": [1, 300], "n": [64, 70], "k": [8, 16], "note": ["a,b", "c"]})
    frame.write_csv(tmp_path / "in.csv")
    frame.write_ndjson(tmp_path / "in.jsonl")
    frame.write_parquet(tmp_path / "in.parquet")
    seen = []
    for source in ("csv", "jsonl", "parquet"):
        for target in ("csv", "jsonl", "parquet"):
            out = tmp_path / f"out.{target}"
            tables.predict_file(tmp_path / f"in.{source}", PLAN, out)
            found = {"csv": pl.read_csv, "jsonl": pl.read_ndjson, "parquet": pl.read_parquet}[target](out)
            seen.append(found.drop("outside", "assumptions", "versions"))
            assert found.columns == [*frame.columns, *RESULTS]
    assert all(found.equals(seen[0]) for found in seen)


@pytest.mark.parametrize("target", ["csv", "jsonl", "parquet"])
def test_batches_do_not_show(tmp_path, monkeypatch, target):
    pytest.importorskip("polars")
    text = "family,m,n,k,tile_m\n" + "".join(f"gemm,{i + 1},64,64,{'64' if i % 7 == 3 else ''}\n" for i in range(50))
    (tmp_path / "in.csv").write_text(text)
    exact = replace(PLAN, estimate=partial(synperf.predict, origin="analytical"))  # a network rounds by batch
    tables.predict_file(tmp_path / "in.csv", exact, tmp_path / f"whole.{target}")
    monkeypatch.setattr(files, "BATCH_ROWS", 7)
    tables.predict_file(tmp_path / "in.csv", exact, tmp_path / f"parts.{target}")
    if target == "parquet":
        pl = pytest.importorskip("polars")
        assert pl.read_parquet(tmp_path / "whole.parquet").equals(pl.read_parquet(tmp_path / "parts.parquet"))
    else:
        assert (tmp_path / f"whole.{target}").read_text() == (tmp_path / f"parts.{target}").read_text()
    (tmp_path / "in.csv").write_text(text.replace("gemm,44,", "gemm,-44,"))
    with pytest.raises(FieldError, match=r"^in.csv row 44 \(line 45\): m must be"):
        tables.predict_file(tmp_path / "in.csv", PLAN, tmp_path / f"broken.{target}")
    assert not (tmp_path / f"broken.{target}").exists()


def test_a_key_that_appears_too_late_for_a_csv_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BATCH_ROWS", 1)
    (tmp_path / "in.jsonl").write_text('{"m": 1, "n": 1, "k": 1}\n{"m": 1, "n": 1, "k": 1, "late": 1}\n')
    plan = replace(PLAN, family="gemm")
    tables.predict_file(tmp_path / "in.jsonl", plan, tmp_path / "out.jsonl")
    with pytest.raises(PerfError, match=r"^in.jsonl row 2 \(line 2\): 'late' is new here"):
        tables.predict_file(tmp_path / "in.jsonl", plan, tmp_path / "out.csv")


def test_a_file_is_predicted_by_one_public_function(tmp_path):
    calls, out = tmp_path / "calls.csv", tmp_path / "out.jsonl"
    calls.write_text("family,m,n,k\ngemm,1,2,3\ngemm,4,5,6\n")
    synperf.predict_file(calls, out, "h100_sxm", changes=["dram_bytes_per_s=2x"])
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    wide = synperf.what_if(synperf.gpu("h100_sxm"), ["dram_bytes_per_s=2x"])
    alone = [synperf.predict(synperf.Gemm(m=m, n=n, k=k), wide).time_s for m, n, k in ((1, 2, 3), (4, 5, 6))]
    assert [row["time_s"] for row in rows] == pytest.approx(alone, rel=1e-5)


MEANT = [
    ("gemm_dtype", "dtype"), ("Precision", "dtype"), ("torch_dtype", "dtype"), ("batch_size", "batch"), ("b", "batch"),
    ("bs", "batch"), ("c_dtype", "out_dtype"), ("backend", "engine"), ("device", "gpu"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "field"), MEANT)
def test_another_name_of_a_field_is_refused_with_the_field(name, field):
    for table in ([ROW | {name: "x"}], {column: [value] for column, value in (ROW | {name: "x"}).items()}):
        with pytest.raises(FieldError, match=f"^table: column '{name}' looks like the field {field};"):
            tables.predict_table(table, PLAN)


def test_another_name_may_stand_beside_the_field_where_the_field_is_filled():
    tables.predict_table([ROW | {"num_tokens": 7, "batch": 1, "batch_size": 8}], PLAN)
    without = {name: value for name, value in ROW.items() if name != "m"}
    with pytest.raises(FieldError, match=r"^table: column 'num_tokens' looks like the field m"):
        tables.predict_table([without | {"num_tokens": 7}], PLAN)
    rows = [ROW | {"batch": 2}, ROW | {"batch": None, "batch_size": 8}]
    with pytest.raises(FieldError, match=r"^table row 2: column 'batch_size' looks like the field batch"):
        tables.predict_table(rows, PLAN)


def test_a_number_too_large_for_a_float_stays_in_a_column_of_the_user(tmp_path):
    line = '{"family": "gemm", "m": 1, "n": 1, "k": 1, "x": 1e400, "y": [1e999]}'
    (tmp_path / "in.jsonl").write_text(line)
    tables.predict_file(tmp_path / "in.jsonl", PLAN, tmp_path / "out.jsonl")
    assert '"x":1e400,"y":[1e999],' in (tmp_path / "out.jsonl").read_text()
    tables.predict_file(tmp_path / "in.jsonl", PLAN, tmp_path / "out.csv")
    assert "gemm,1,1,1,1e400,[1e999]," in (tmp_path / "out.csv").read_text()
    (tmp_path / "in.jsonl").write_text(line.replace('"m": 1', '"m": 1e400'))
    with pytest.raises(FieldError, match=r"^in.jsonl row 1 \(line 1\): m must be a whole number .* got '1e400'"):
        tables.predict_file(tmp_path / "in.jsonl", PLAN, tmp_path / "out.csv")


def test_empty_json_lines_are_a_table_without_rows(tmp_path):
    (tmp_path / "in.jsonl").write_text("")
    tables.predict_file(tmp_path / "in.jsonl", PLAN, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == ""


def test_an_output_that_cannot_be_made_is_named_not_its_temporary_file(tmp_path, monkeypatch):
    def refuse(self, *_, **__):
        raise PermissionError(13, "Permission denied", str(self))

    (tmp_path / "in.jsonl").write_text("")
    for method in ("open", "replace"):
        monkeypatch.setattr(type(tmp_path), method, refuse)
        with pytest.raises(PerfError, match=r"^.*/out\.csv: Permission denied$"):
            tables.predict_file(tmp_path / "in.jsonl", PLAN, tmp_path / "out.csv")
        monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
