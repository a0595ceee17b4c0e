"""Files of requests: every format, and one sentence for each that is not right."""

import polars as pl
import pytest

from synperf.errors import PerfError
from synperf.serving.request_files import static_batch, trace
from synperf.serving.workload import RequestTrace, StaticBatch

ROWS = {"arrived_at_s": [0.5, 1.0], "isl": [10, 20], "osl": [1, 2]}
RIGHT = RequestTrace(arrived_s=(0.5, 1.0), isl=(10, 20), osl=(1, 2))
CSV = "arrived_at_s,isl,osl,mine\n0.5,10,1,a\n1,20,2,b\n"
LINES = '{"arrived_at_s": 0.5, "isl": 10, "osl": 1}\n{"arrived_at_s": 1, "isl": 20, "osl": 2}\n'
DOCUMENT = '{"requests": [{"arrived_at_s": 0.5, "isl": 10, "osl": 1}, {"arrived_at_s": 1, "isl": 20, "osl": 2}]}'


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(("name", "text"), [("a.csv", CSV), ("a.jsonl", LINES), ("a.json", DOCUMENT)])
def test_a_trace_in_text_is_read(tmp_path, name, text):
    assert trace(written(tmp_path, name, text)) == RIGHT


def test_a_trace_in_parquet_is_read(tmp_path):
    pl.DataFrame(ROWS).write_parquet(tmp_path / "a.parquet")
    assert trace(tmp_path / "a.parquet") == RIGHT


def test_prefixes_in_the_cache_are_read_where_they_are_told(tmp_path):
    found = trace(written(tmp_path, "a.csv", "isl,osl,arrived_at_s,cached\n10,1,0,\n20,1,0,16\n"))
    assert found.cached == (0, 16)
    document = '{"requests": [{"isl": 10, "osl": 1, "cached": 4}, {"isl": 20, "osl": 1}]}'
    assert static_batch(written(tmp_path, "a.json", document)).cached == (4, 0)


def test_a_static_batch_is_read(tmp_path):
    found = static_batch(written(tmp_path, "a.json", '{"requests": [{"isl": 1024, "osl": 128}]}'))
    assert found == StaticBatch.alike(1, 1024, 128)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "isl,osl\n1,2\n", "a.csv: no column arrived_at_s among isl, osl; right would be arrived_at_s, isl"),
        ("a.csv", "arrived_at_s,isl,osl\n", "a.csv: requests must be from 1 to 1000000, got 0"),
        ("a.csv", "arrived_at_s,isl,osl\n0,0,1\n", r"a.csv row 1 \(line 2\): isl must be a whole number from 1"),
        ("a.csv", "arrived_at_s,isl,osl\n0,1,\n", r"a.csv row 1 \(line 2\): osl must be a whole number from 1"),
        ("a.csv", "arrived_at_s,isl,osl\nnan,1,1\n", r"a.csv row 1 \(line 2\): arrived_at_s must be a number of sec"),
        ("a.csv", "arrived_at_s,isl,osl,cached\n0,1,1,1\n", "a.csv: cached of request 1 must be below its isl 1"),
        ("a.csv", b"\xff\xfe", "a.csv line 1: not UTF-8 text"),
        ("a.txt", CSV, "workload: 'a.txt' must end in .csv"),
        ("a.parquet", b"PAR1", "a.parquet is not a parquet file"),
        ("a.jsonl", "[1]\n", "a.jsonl line 1: not a JSON object"),
        ("a.json", "{", "a.json: not JSON"),
        ("a.json", b"\xff\xfe", "a.json: not JSON"),
        ("a.json", "[" * 100_000, "a.json: nested too deeply"),
        ("a.json", "[]", r'a.json: right would be \{"requests": \[\{"arrived_at_s": ..., "isl": ..., "osl": ...\}'),
        ("a.json", '{"requests": [1]}', r"a.json requests\[0\]: not an object"),
        ("a.json", '{"requests": [{"isl": 1, "osl": 1}]}', r"a.json requests\[0\]: arrived_at_s is missing"),
    ],
)
def test_a_bad_trace_is_one_sentence(tmp_path, name, text, message):
    with pytest.raises(PerfError, match=f"^{message}"):
        trace(written(tmp_path, name, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"requests": []}', r'a.json: right would be \{"requests": \[\{"isl": ..., "osl": ...\}, ...\]\}'),
        ('{"requests": [{"isl": 1, "osl": 1, "iso": 1}]}', r"a.json requests\[0\]: no field 'iso', right would be isl"),
        ('{"requests": [{"isl": 1}]}', r"a.json requests\[0\]: osl is missing"),
        ('{"requests": [{"isl": "x", "osl": 1}]}', r"a.json requests\[0\]: isl must be a whole number"),
        ('{"requests": [{"isl": 1, "osl": null}]}', r"a.json requests\[0\]: osl must be a whole number"),
        ('{"requests": [{"isl": [1], "osl": 1}]}', r"a.json requests\[0\]: isl must be one whole number"),
        ('{"requests": [{"isl": NaN, "osl": 1}]}', r"a.json requests\[0\]: isl must be a whole number"),
    ],
)
def test_a_bad_batch_is_one_sentence(tmp_path, text, message):
    with pytest.raises(PerfError, match=f"^{message}"):
        static_batch(written(tmp_path, "a.json", text))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(PerfError, match=r"^workload: no file '.*a.csv'"):
        trace(tmp_path / "a.csv")
    with pytest.raises(PerfError, match=r"^batch_file: no file '.*a.json'"):
        static_batch(tmp_path / "a.json")
    with pytest.raises(PerfError, match=r"^workload: '.*' is a folder"):
        trace(tmp_path)
    (tmp_path / "b.json").mkdir()
    with pytest.raises(PerfError, match="Is a directory"):
        static_batch(tmp_path / "b.json")
