"""Compiled code finds what a strict reader of JSON would, or says that it cannot."""

import json
from array import array
from decimal import ROUND_HALF_UP, Decimal

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

tokens = pytest.importorskip("synperf.traces._tokens", reason="the compiled part was not built")

FIELDS = ("ph", "name", "ts", "id", "grid")
TYPES = b"svrvr"
NONE = np.iinfo(np.int64).min


def scan(text, types=TYPES, missing=(0,) * 5):
    fields = [field.encode() for field in FIELDS]
    return tokens.scan(text, tuple(fields[:3]), tuple(fields[3:]), types, array("q", missing), 3, b"args")


def texts(found):
    """Of each row the texts of its values by field."""
    rows, _, columns = found
    values = {
        name: [one[1][code] for code in np.frombuffer(one[0], np.int32)]
        for name, one in zip(FIELDS, columns, strict=True)
        if one is not None
    }
    return [{name: column[row] for name, column in values.items() if column[row]} for row in range(rows)]


def column(values, letter):
    """The column of a field with these values as text; None is none."""
    rows = (b"{}" if one is None else b'{"ts": %s}' % one for one in values)
    found = scan(b",".join([*rows, b'{"name": "the last one"}']), b"sv%cvr" % ord(letter), (0, 0, -1, 0, 0))[2][2]
    return np.frombuffer(found, np.int64).tolist()[:-1] if isinstance(found, bytes) else None


def test_values_of_an_object_and_of_its_arguments():
    text = (
        b' {"ph": "X", "skipped": [1, {"ph": 2}], "args": {"id": 7, "more": {"id": 8}}} ,\n{"name": null, "ts": 1.5e3}'
    )
    found = scan(text)
    assert texts(found) == [{"ph": b'"X"', "id": b"7"}, {"name": b"null", "ts": b"1.5e3"}]
    assert found[1] is False
    assert found[2][FIELDS.index("grid")] is None


def test_of_a_key_that_is_there_twice_the_last_one_counts():
    text = b'{"ph": "X", "ph": "Y", "args": {"id": 1, "grid": [1]}, "args": {"id": 2, "id": 3}}'
    assert texts(scan(text)) == [{"ph": b'"Y"', "id": b"3"}]


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
    for row, said in zip(rows, texts(found), strict=True):
        wanted = {name: row[name] for name in FIELDS[:3] if name in row}
        wanted |= {name: row["args"][name] for name in FIELDS[3:] if name in row.get("args", {})}
        assert {name: json.loads(one) for name, one in said.items()} == wanted


@given(st.binary(max_size=60) | st.text('{}[]",:\\ntrue0.-e ph', max_size=60).map(str.encode))
def test_nothing_is_taken_that_a_json_reader_refuses(text):
    if scan(text) is not None:
        msgspec.json.decode(b"[" + text + b"]", type=list[dict[str, msgspec.Raw]])


@given(st.lists(st.none() | st.integers(-(10**18) + 1, 10**18 - 1), max_size=30).filter(any))
def test_whole_numbers(numbers):
    found = column([None if one is None else str(one).encode() for one in numbers], "w")
    assert found == [-1 if one is None else one for one in numbers]


@pytest.mark.parametrize("odd", [b"1.5", b"1" * 19, b'"7"', b"null"])
def test_what_is_no_plain_whole_number_is_a_text(odd):
    assert column([b"1", odd], "w") is None
    assert texts(scan(b'{"ts": 1}, {"ts": %s}' % odd, b"svwvr")) == [{"ts": b"1"}, {"ts": odd}]


@given(st.lists(st.decimals(-(10**12), 10**12, places=5) | st.decimals(0, 10**15, places=2), min_size=1), st.booleans())
def test_decimals_are_rounded_exactly(numbers, quoted):
    found = column([(b'"%s"' if quoted else b"%s") % format(one, "f").encode() for one in numbers], "d")
    assert found == [int(one.scaleb(3).to_integral_value(ROUND_HALF_UP)) for one in numbers]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (b"1661203462598835", 1661203462598835000),
        (b"1661203462598835.1234", 1661203462598835123),
        (b"0.0005", 1), (b"-0.0005", -1), (b"0.00049999", 0), (b"-2", -2000), (b'"007"', 7000),
        (b"9223372036854775", 9223372036854775000),
    ],
)  # fmt: skip
def test_times(text, wanted):
    assert column([text], "d") == [wanted]
    assert wanted == int(Decimal(text.decode().strip('"')).scaleb(3).to_integral_value(ROUND_HALF_UP))


@pytest.mark.parametrize(
    "odd", [b'""', b'"."', b'"1."', b'".5"', b"1e3", b"null", b'"1..2"', b'"1.2.3"', b'"1.2345x"', b"9" * 19, b'"-"']
)
def test_what_is_no_plain_decimal_is_a_text(odd):
    assert column([b"1", odd], "d") is None
    assert texts(scan(b'{"ts": 1}, {"ts": %s}' % odd, b"svdvr")) == [{"ts": b"1"}, {"ts": odd}]


def test_a_decimal_that_is_not_there_is_the_least_number():
    assert column([None, b"1"], "d") == [NONE, 1000]


words = st.sampled_from(["a", "b", "ab", "abcdefgh", "abcdefghi", "abcdefgx"]) | st.text()


@given(st.lists(st.none() | words, min_size=1).filter(lambda values: any(one is not None for one in values)))
def test_values_that_are_alike_have_one_number_in_order(values):
    given = [b"" if one is None else json.dumps(one, ensure_ascii=False).encode() for one in values]
    if any(b"\\u" in one for one in given):
        return
    rows = (b'{"ts": %s}' % one if one else b"{}" for one in given)
    codes, known = scan(b",".join(rows))[2][2]
    assert list(known) == list(dict.fromkeys(given))
    assert [known[code] for code in np.frombuffer(codes, np.int32)] == given


@given(st.lists(st.integers(0, 20)))
def test_codes_have_new_numbers_in_order(codes):
    of, used = (np.frombuffer(one, np.int32).tolist() for one in tokens.renumbered(np.array(codes, np.int32), 21))
    assert used == list(dict.fromkeys(codes))
    assert [used[place] for place in of] == codes


def test_no_codes_have_no_numbers():
    assert tokens.renumbered(array("i"), 3) == (b"", b"")  # whose buffer is not aligned


@pytest.mark.parametrize(("codes", "count"), [([3], 3), ([-1], 3), ([0], 0), ([0], -1), ([0], 2**31), ([0], 2**62 - 1)])
def test_codes_that_are_not_below_the_count_are_refused(codes, count):
    with pytest.raises(ValueError, match="codes"):
        tokens.renumbered(np.array(codes, np.int32), count)


@pytest.mark.parametrize(
    "given",
    [
        ((b"a",), (), b""), ((b"",), (), b"s"), ((b"a" * 256,), (), b"s"), ((b"a",) * 65, (), b"s" * 65),
        ((b"a",), (b"b",), b"s"),
    ],
)  # fmt: skip
def test_keys_that_it_has_no_room_for_are_refused(given):
    with pytest.raises(ValueError, match=r"keys|types"):
        tokens.scan(b"{}", *given, array("q", [0] * len(given[2])), 3, b"args")


def test_every_key_has_a_number_for_what_is_missing():
    with pytest.raises(ValueError, match="missing"):
        scan(b"{}", missing=(0, 0))
