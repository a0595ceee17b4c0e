"""Compiled code says where values stand as a strict reader of JSON would, or says that it cannot."""

import json
from decimal import ROUND_HALF_UP, Decimal

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

tokens = pytest.importorskip("synperf.traces._tokens", reason="the compiled part was not built")

OUTER, INNER, TYPES = (b"ph", b"name", b"ts"), (b"id", b"grid"), b"svrvr"
FIELDS = ("ph", "name", "ts", "id", "grid")


def scan(text):
    return tokens.scan(text, OUTER, INNER, TYPES, b"args")


def texts(found, text):
    """Of each row the texts of its values by field."""
    rows, _, places = found
    columns = {
        name: np.frombuffer(one, np.int32).reshape(rows, 2).tolist()
        for name, one in zip(FIELDS, places, strict=True)
        if one is not None
    }
    return [
        {name: text[at : at + length] for name, (at, length) in ((n, c[row]) for n, c in columns.items()) if at >= 0}
        for row in range(rows)
    ]


def column(values):
    """A text of values, and where each is; None is none."""
    text, places = b"", []
    for value in values:
        places.append((len(text), len(value)) if value is not None else (-1, -1))
        text += value or b""
    return text, np.array(places, dtype=np.int32)


def test_values_of_an_object_and_of_its_arguments():
    text = (
        b' {"ph": "X", "skipped": [1, {"ph": 2}], "args": {"id": 7, "more": {"id": 8}}} ,\n{"name": null, "ts": 1.5e3}'
    )
    found = scan(text)
    assert texts(found, text) == [{"ph": b'"X"', "id": b"7"}, {"name": b"null", "ts": b"1.5e3"}]
    assert found[1] is False
    assert found[2][FIELDS.index("grid")] is None


def test_of_a_key_that_is_there_twice_the_last_one_counts():
    text = b'{"ph": "X", "ph": "Y", "args": {"id": 1, "grid": [1]}, "args": {"id": 2, "id": 3}}'
    assert texts(scan(text), text) == [{"ph": b'"Y"', "id": b"3"}]


@pytest.mark.parametrize(
    "text",
    [
        b"", b" ", b"{", b"{}{}", b"{},", b",{}", b"[]", b"1", b'{"a"}', b'{"a":}', b'{"a":1,}', b'{"a":1 "b":2}',
        b"{a:1}", b'{"a":NaN}', b'{"a":-}', b'{"a":01}', b'{"a":1.}', b'{"a":.5}', b'{"a":1e}', b'{"a":tru}',
        b'{"a":nul', b'{"a":"', b'{"a":"b\\', b'{"a":"\\x"}', b'{"a":"\\u0041"}', b'{"\\n":1}', b'{"a":"\n"}',
        b'{"a":[1,]}', b'{"a":[1 2]}', b'{"a":{]}', b'{"a":' + b"[" * 100 + b"]" * 100 + b"}", b'{"ph": 1}',
        b'{"ph": null}', b'{"name": true}', b'{"name": [1]}', b'{"name": 1e400}', b'{"name": 1' + b"0" * 30 + b"}",
        b'{"args": 1}', b'{"args": null}', b'{"args": {"id": {}}}',
    ],
)  # fmt: skip
def test_what_is_not_strictly_such_a_list_is_for_another_reader(text):
    assert scan(text) is None


@pytest.mark.parametrize("letter", ["é", "汉", "😀"])
def test_letters_beyond_ascii_are_said(letter):
    assert scan(json.dumps({"x": letter}, ensure_ascii=False).encode())[1] is True


leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
objects = st.fixed_dictionaries(
    {},
    optional={
        "ph": st.text(), "name": st.text() | st.integers(-(2**60), 2**60) | st.none(), "ts": values, "other": values,
        "args": st.fixed_dictionaries({}, optional={"id": st.integers(-(2**60), 2**60), "grid": values, "x": values}),
    },
)  # fmt: skip


@given(st.lists(objects, min_size=1, max_size=6), st.sampled_from([None, 1]))
def test_every_value_is_that_of_a_json_reader(rows, indent):
    text = json.dumps(rows, indent=indent, ensure_ascii=False).encode()[1:-1]
    found = scan(text)
    if found is None:
        assert b"\\u" in text
        return
    for row, said in zip(rows, texts(found, text), strict=True):
        wanted = {name: row[name] for name in FIELDS[:3] if name in row}
        wanted |= {name: row["args"][name] for name in FIELDS[3:] if name in row.get("args", {})}
        assert {name: json.loads(one) for name, one in said.items()} == wanted


@given(st.binary(max_size=60) | st.text('{}[]",:\\ntrue0.-e ph', max_size=60).map(str.encode))
def test_nothing_is_taken_that_a_json_reader_refuses(text):
    if scan(text) is not None:
        msgspec.json.decode(b"[" + text + b"]", type=list[dict[str, msgspec.Raw]])


@given(st.lists(st.none() | st.integers(-(10**18) + 1, 10**18 - 1), max_size=30))
def test_whole_numbers(numbers):
    text, places = column([None if one is None else str(one).encode() for one in numbers])
    found, is_plain = tokens.whole(text, places, -1)
    assert is_plain
    assert np.frombuffer(found, np.int64).tolist() == [-1 if one is None else one for one in numbers]


@pytest.mark.parametrize("odd", [b"1.5", b"1" * 19, b'"7"', b"null", b"-", b"+1", b"0x1", b" 1"])
def test_what_is_no_plain_whole_number_is_said(odd):
    assert tokens.whole(*column([b"1", odd]), -1)[1] is False


@given(st.lists(st.decimals(-(10**12), 10**12, places=5) | st.decimals(0, 10**15, places=2), min_size=1), st.booleans())
def test_decimals_are_rounded_exactly(numbers, quoted):
    text, places = column([(b'"%s"' if quoted else b"%s") % format(one, "f").encode() for one in numbers])
    found, is_plain = tokens.scaled(text, places, 3)
    assert is_plain
    wanted = [int(one.scaleb(3).to_integral_value(ROUND_HALF_UP)) for one in numbers]
    assert np.frombuffer(found, np.int64).tolist() == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (b"1661203462598835", 1661203462598835000),
        (b"1661203462598835.1234", 1661203462598835123),
        (b"0.0005", 1), (b"-0.0005", -1), (b"0.00049999", 0), (b"-2", -2000), (b"007", 7000),
        (b"9223372036854775", 9223372036854775000),
    ],
)  # fmt: skip
def test_times(text, wanted):
    found, is_plain = tokens.scaled(*column([text]), 3)
    assert is_plain
    assert np.frombuffer(found, np.int64).tolist() == [wanted]
    assert wanted == int(Decimal(text.decode()).scaleb(3).to_integral_value(ROUND_HALF_UP))


@pytest.mark.parametrize(
    "odd", [b"", b'""', b".", b"1.", b".5", b"1e3", b"null", b"1..2", b"1.2.3", b"1.23456x", b"9" * 19, b"-"]
)
def test_what_is_no_plain_decimal_is_said(odd):
    assert tokens.scaled(*column([b"1", odd]), 3)[1] is False


def test_a_decimal_that_is_not_there_is_the_least_number():
    assert np.frombuffer(tokens.scaled(*column([None, b"1"]), 3)[0], np.int64).tolist() == [
        np.iinfo(np.int64).min,
        1000,
    ]


@given(st.lists(st.none() | st.sampled_from([b"a", b"b", b"ab", b"abcdefgh", b"abcdefghi", b"abcdefgx"]) | st.binary()))
def test_values_that_are_alike_have_one_number_in_order(values):
    text, places = column(values)
    of, first = (np.frombuffer(one, np.int32).tolist() for one in tokens.alike(text, places))
    known = list(dict.fromkeys(value or b"" for value in values))
    assert [known[place] for place in of] == [value or b"" for value in values]
    assert [values[row] or b"" for row in first] == known


@pytest.mark.parametrize(
    "places", [[[0, 4]], [[3, 1]], [[0, -1]], [[2**31 - 1, 2**31 - 1]], np.zeros(3, np.int32), np.zeros(1, np.int8)]
)
@pytest.mark.parametrize("ask", [tokens.alike, lambda t, p: tokens.whole(t, p, 0), lambda t, p: tokens.scaled(t, p, 3)])
def test_places_beyond_the_text_are_refused(ask, places):
    places = places if isinstance(places, np.ndarray) else np.array(places, dtype=np.int32)
    with pytest.raises(ValueError, match="beyond the text"):
        ask(b"123", places)


@pytest.mark.parametrize(
    "given", [((b"a",), (), b""), ((b"",), (), b"s"), ((b"a" * 256,), (), b"s"), ((b"a",) * 65, (), b"s" * 65)]
)
def test_keys_that_it_has_no_room_for_are_refused(given):
    with pytest.raises(ValueError, match=r"keys|types"):
        tokens.scan(b"{}", *given, b"args")
