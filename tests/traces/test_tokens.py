"""Compiled code finds what a strict reader of JSON would, or says that it cannot."""

import json
from array import array
from concurrent.futures import ThreadPoolExecutor
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


def scanner(types=TYPES, missing=(0,) * 5):
    fields = [field.encode() for field in FIELDS]
    return tokens.Scanner(tuple(fields[:3]), tuple(fields[3:]), types, array("q", missing), 3, b"args")


def added(one, text):
    """Whether it takes all objects of a text."""
    return one.add(text + b"]") == (len(text) + 1, True)


def scan(text, types=TYPES, missing=(0,) * 5):
    one = scanner(types, missing)
    return one.taken() if added(one, text) else None


def texts(found):
    """Of each row the texts of its values by field."""
    rows, columns = found
    values = {
        name: [one[1][code] for code in np.frombuffer(one[0], np.int32)]
        for name, one in zip(FIELDS, columns, strict=True)
        if one is not None
    }
    return [{name: column[row] for name, column in values.items() if column[row]} for row in range(rows)]


def column(values, letter):
    """The column of a field with these values as text; None is none."""
    rows = (b"{}" if one is None else b'{"ts": %s}' % one for one in values)
    found = scan(b",".join([*rows, b'{"name": "the last one"}']), b"sv%cvr" % ord(letter), (0, 0, -1, 0, 0))[1][2]
    return np.frombuffer(found, np.int64).tolist()[:-1] if isinstance(found, bytes) else None


def test_values_of_an_object_and_of_its_arguments():
    text = (
        b' {"ph": "X", "skipped": [1, {"ph": 2}], "args": {"id": 7, "more": {"id": 8}}} ,\n{"name": null, "ts": 1.5e3}'
    )
    found = scan(text)
    assert texts(found) == [{"ph": b'"X"', "id": b"7"}, {"name": b"null", "ts": b"1.5e3"}]
    assert found[1][FIELDS.index("grid")] is None


def test_of_a_key_that_is_there_twice_the_last_one_counts():
    text = b'{"ph": "X", "ph": "Y", "args": {"id": 1, "grid": [1]}, "args": {"id": 2, "id": 3}}'
    assert texts(scan(text)) == [{"ph": b'"Y"', "id": b"3"}]


@pytest.mark.parametrize(
    "text",
    [
        b"", b" ", b"{", b"{}{}", b"{},", b",{}", b"[]", b"1", b'{"a"}', b'{"a":}', b'{"a":1,}', b'{"a":1 "b":2}',
        b"{a:1}", b'{"a":NaN}', b'{"a":-}', b'{"a":01}', b'{"a":1.}', b'{"a":.5}', b'{"a":1e}', b'{"a":tru}',
        b'{"a":nul', b'{"a":"', b'{"a":"b\\', b'{"a":"\\x"}', b'{"a":"\\u004"}', b'{"a":"\\u00g1"}',
        b'{"a":"\\ud83d"}', b'{"a":"\\ude00"}', b'{"a":"\\ud83dx"}', b'{"a":"\\ud83d\\u0041"}',
        b'{"\\n":1}', b'{"a":"\n"}',
        b'{"a":[1,]}', b'{"a":[1 2]}', b'{"a":{]}', b'{"a":' + b"[" * 100 + b"]" * 100 + b"}", b'{"ph": 1}',
        b'{"ph": null}', b'{"name": true}', b'{"name": [1]}', b'{"name": 1e400}', b'{"name": 1' + b"0" * 30 + b"}",
        b'{"args": 1}', b'{"args": null}', b'{"args": {"id": {}}}',
    ],
)  # fmt: skip
def test_what_is_not_strictly_such_a_list_is_for_another_reader(text):
    assert scan(text) is None


@pytest.mark.parametrize("letter", ["é", "汉", "😀"])
def test_letters_beyond_ascii(letter):
    text = json.dumps({"ph": letter}, ensure_ascii=False).encode()
    assert texts(scan(text)) == [{"ph": f'"{letter}"'.encode()}]
    assert scan(text.replace(letter.encode(), letter.encode()[:-1])) is None  # which is no UTF-8


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
    codes, known = scan(b",".join(rows))[1][2]
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
        tokens.Scanner(*given, array("q", [0] * len(given[2])), 3, b"args")


def test_every_key_has_a_number_for_what_is_missing():
    with pytest.raises(ValueError, match="missing"):
        scanner(missing=(0, 0))


@pytest.mark.parametrize("digits", [-1, 19])
def test_decimals_of_more_digits_than_there_are_in_a_number_are_refused(digits):
    with pytest.raises(ValueError, match="digits"):
        tokens.Scanner((b"a",), (), b"d", array("q", [0]), digits, b"args")


def read(found, letters):
    """Of each row its values by field: numbers of columns of numbers, and what other texts stand for."""
    rows, columns = found
    kept = []
    for letter, one in zip(letters, columns, strict=True):
        if one is None:
            kept.append([None] * rows)
        elif isinstance(one, bytes):
            kept.append([None if number in (-1, NONE) else number for number in np.frombuffer(one, np.int64).tolist()])
        else:
            known = [number_of(value, letter) for value in one[1]]
            kept.append([known[code] for code in np.frombuffer(one[0], np.int32)])
    return list(zip(*kept, strict=True))


def number_of(value, letter):
    """What stands for a value, as a column of numbers would have it."""
    if not value:
        return None
    value = json.loads(value, parse_float=Decimal, parse_int=Decimal)
    if letter == "d" and isinstance(value, Decimal):
        return int(value.scaleb(3).to_integral_value(ROUND_HALF_UP))
    return None if value == -1 and letter == "w" else value


whole = st.none() | st.integers(-5, 5) | st.integers(-(2**60), 2**60) | st.sampled_from(["7", "x", 1.5])
decimal = st.none() | st.decimals(-(10**12), 10**12, places=4).map(float) | st.integers(0, 10**15) | st.just("x")
mixed = st.fixed_dictionaries(
    {},
    optional={
        "ph": st.sampled_from("XB"), "name": whole, "ts": decimal,
        "args": st.fixed_dictionaries({}, optional={"id": whole, "grid": values}),
    },
)  # fmt: skip


@given(st.lists(st.lists(mixed, min_size=1, max_size=4), min_size=1, max_size=5))
def test_texts_one_after_the_other_are_one_text(lists):
    letters = "swdwr"
    one, parts = scanner(letters.encode(), (0, -1, 0, -1, 0)), []
    for rows in lists:
        for row in rows:
            if row.get("ts") is None:
                row.pop("ts", None)
        text = json.dumps(rows).encode()[1:-1]
        if added(one, text):
            parts.append(text)
    assert one.rows == sum(len(json.loads(b"[" + part + b"]")) for part in parts)
    whole = scanner(letters.encode(), (0, -1, 0, -1, 0))
    assert not parts or added(whole, b",".join(parts))
    assert read(one.taken(), letters) == read(whole.taken(), letters)


@given(
    st.lists(objects, min_size=1, max_size=6), st.sampled_from([None, 1]), st.lists(st.integers(1, 60)), st.booleans()
)
def test_a_list_that_is_cut_anywhere_is_the_same_list(rows, indent, cuts, is_ascii):
    text = json.dumps(rows, indent=indent, ensure_ascii=is_ascii).encode()[1:] + b', "more": 1}'
    one, whole, rest, closed = scanner(), scanner(), b"", False
    wanted = whole.add(text)
    for size in [*cuts, len(text)]:
        rest, text = rest + text[:size], text[size:]
        if closed:
            continue
        found = one.add(rest)
        if found is None:
            assert wanted is None
            return
        done, closed = found
        rest = rest[done:]
    assert closed
    assert rest == b', "more": 1}'
    assert wanted is not None
    assert texts(one.taken()) == texts(whole.taken())


@pytest.mark.parametrize(
    "end", ["", '"', '"na', '"name": "a\\', '"name": "a\\u00', '"name": nul', '"ts": -', '"args": {"id": [1, {}']
)
def test_an_object_that_is_cut_off_waits_for_the_rest(end):
    one, text = scanner(), b'{"ph": "X"}, {"ph": "Y", "args": {"grid": [{}, {}]}}, '
    assert one.add(text + b"{" + end.encode()) == (len(text) - 1, False)
    assert texts(one.taken()) == [{"ph": b'"X"'}, {"ph": b'"Y"', "grid": b"[{}, {}]"}]


def test_an_object_is_taken_when_a_sign_is_behind_it():
    one = scanner()
    assert one.add(b'{"ph": "X"} ') == (0, False)
    assert one.add(b'{"ph": "X"} ] x') == (13, True)
    assert one.rows == 1


def test_letters_as_escapes():
    text = json.dumps([{"ph": "é 汉 😀", "name": "\x7f"}]).encode()[1:-1]
    assert texts(scan(text)) == [{"ph": rb'"\u00e9 \u6c49 \ud83d\ude00"', "name": rb'"\u007f"'}]


def test_what_was_taken_is_gone():
    one = scanner()
    assert added(one, b'{"ph": "X"}, {"name": 1}')
    assert one.rows == 2
    assert one.values(0) == (b'"X"', b"")
    assert texts(one.taken()) == [{"ph": b'"X"'}, {"name": b"1"}]
    assert (one.rows, one.values(0)) == (0, ())
    assert added(one, b'{"name": 2}')
    assert one.taken() == (1, (None, (b"\0" * 4, (b"2",)), None, None, None))
    assert one.taken() == (0, (None,) * 5)


def test_a_text_that_is_refused_leaves_nothing():
    one = scanner()
    assert added(one, b'{"ph": "X"}')
    assert one.add(b'{"ph": "Y", "ts": 1}, {"ph": 1},') is None
    assert added(one, b'{"ph": "Z"}')
    assert texts(one.taken()) == [{"ph": b'"X"'}, {"ph": b'"Z"'}]


def test_numbers_become_texts_where_a_later_one_is_none():
    one = scanner(b"swdvr", (0, -1, 0, 0, 0))
    assert added(one, b'{"name": 5, "ts": -0.0005}, {"name": -7, "ts": 1.25}, {"name": -1}')
    assert added(one, b'{"name": "0x7", "ts": "never"}')
    assert texts(one.taken()) == [
        {"name": b"5", "ts": b"-0.001"}, {"name": b"-7", "ts": b"1.250"}, {}, {"name": b'"0x7"', "ts": b'"never"'},
    ]  # fmt: skip


@pytest.mark.parametrize("key", [-1, 5, 2**70])
def test_a_key_that_is_not_there(key):
    with pytest.raises((IndexError, OverflowError)):
        scanner().values(key)


def test_a_scanner_that_another_thread_uses_is_refused():
    one, text = scanner(), b",".join([b'{"ph": "X", "args": {"grid": [1, 2, 3]}}'] * 10**5) + b"]"
    with ThreadPoolExecutor(8) as pool:
        done = [future.exception() for future in [pool.submit(one.add, text) for _ in range(40)]]
    assert {type(error) for error in done} <= {type(None), RuntimeError}
    assert one.rows == 10**5 * done.count(None)
