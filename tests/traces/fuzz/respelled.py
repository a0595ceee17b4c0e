"""The same trace in other words: each way to write a file that is not to change a single number of the answer."""

import copy
import gzip
import json
from collections.abc import Callable
from random import Random
from typing import Any

from .ages import Event, events_of


def shuffled(found: Any) -> Any:
    Random(7).shuffle(events_of(found))
    return found


def reversed_(found: Any) -> Any:
    events_of(found).reverse()
    return found


def times_as_texts(found: Any) -> Any:
    for event in events_of(found):
        event |= {key: str(event[key]) for key in ("ts", "dur") if key in event}
    return found


def numbers_as_texts(found: Any) -> Any:
    """All numbers of events but for lists of them."""
    for event in events_of(found):
        for target in (event, event.get("args", {})):
            target |= {key: str(value) for key, value in target.items() if type(value) in (int, float)}
    return found


def whole_numbers_as_fractions(found: Any) -> Any:
    """As programs write them that have but one kind of number."""
    for event in events_of(found):
        for target in (event, event.get("args", {})):
            target |= {key: float(value) for key, value in target.items() if type(value) is int and value < 2**50}
    return found


def halves(found: Any) -> Any:
    """Begins and ends apart."""
    made: list[Event] = []
    for event in events_of(found):
        if event["ph"] != "X":
            made.append(event)
            continue
        begin = {key: value for key, value in event.items() if key != "dur"} | {"ph": "B"}
        keys = {key: event[key] for key in ("name", "cat", "pid", "tid")}
        made += [begin, keys | {"ph": "E", "ts": _later(event["ts"], event["dur"])}]
    events_of(found)[:] = made
    return found


def _later(start: Any, dur: Any) -> Any:
    return str(int(start) + int(dur)) if isinstance(start, str) else start + dur


def other_order_of_keys(found: Any) -> Any:
    events_of(found)[:] = [dict(reversed(event.items())) for event in events_of(found)]
    return found if isinstance(found, list) else dict(reversed(found.items()))


def events_first(found: Any) -> Any:
    return found if isinstance(found, list) else {"traceEvents": found.pop("traceEvents"), **found}


def with_more_beside(found: Any) -> Any:
    """Fields that nobody reads, some of them with the names of those that are read."""
    for event in events_of(found):
        event |= {"id": 5, "bp": "e", "sf": [1, {"ts": 3}], "more": {"ph": "X", "dur": 7}}
    return found if isinstance(found, list) else {"config": {"ts": 1, "a": ["}", "]"]}, **found, "after": [{"b": None}]}


def older_words(found: Any) -> Any:
    words = {
        "kernel": "Kernel",
        "gpu_memcpy": "Memcpy",
        "gpu_memset": "Memset",
        "cuda_runtime": "Runtime",
        "cpu_op": "Operator",
    }
    for event in events_of(found):
        if "cat" in event:
            event["cat"] = words.get(event["cat"], event["cat"])
        args = event.get("args", {})
        if "External id" in args:
            args["external id"] = args.pop("External id")
    return found


DOCUMENTS: tuple[Callable[[Any], Any], ...] = (
    shuffled, reversed_, times_as_texts, numbers_as_texts, whole_numbers_as_fractions, halves, other_order_of_keys,
    events_first, with_more_beside, older_words,
)  # fmt: skip


def _escaped(found: Any) -> bytes:
    """Every letter of every name as its number."""
    made = copy.deepcopy(found)
    for event in events_of(made):
        event["name"] = "\N{BLACK STAR}" + event["name"]
    text = json.dumps(made)
    for event in events_of(found):
        numbers = "".join(f"\\u{ord(letter):04x}" for letter in event["name"])
        text = text.replace(json.dumps("\N{BLACK STAR}" + event["name"]), f'"{numbers}"')
    return text.encode()


def _unclosed(found: Any) -> bytes:
    """A list alone whose end its writer never wrote."""
    return json.dumps(events_of(found), indent=1).removesuffix("]").encode()


def _zstd(found: Any) -> bytes:
    try:
        from compression import zstd  # Python 3.14 has it
    except ImportError:
        from backports import zstd
    packed: bytes = zstd.compress(json.dumps(found).encode())
    return packed


def _in_two_members(found: Any) -> bytes:
    data = json.dumps(found).encode()
    return gzip.compress(data[:5000]) + gzip.compress(data[5000:])


TEXTS: dict[str, Callable[[Any], bytes]] = {
    "no blanks": lambda found: json.dumps(found, separators=(",", ":")).encode(),
    "many blanks": lambda found: json.dumps(found, indent=9).replace("\n", "\r\n\r\n").encode(),
    "tabs": lambda found: json.dumps(found, indent="\t", separators=(" ,", "\t: ")).encode(),
    "marked as UTF-8": lambda found: b"\xef\xbb\xbf" + json.dumps(found, ensure_ascii=False).encode(),
    "blanks around": lambda found: b" \n\t" + json.dumps(found).encode() + b"\r\n\n  ",
    "escaped": _escaped,
    "gzip": lambda found: gzip.compress(json.dumps(found).encode()),
    "gzip twice": _in_two_members,
    "zstd": _zstd,
}
BARE: dict[str, Callable[[Any], bytes]] = {
    "a list": lambda found: json.dumps(events_of(found)).encode(),
    "a list without its end": _unclosed,
    "a list with a comma at its end": lambda found: _unclosed(found).rstrip() + b",\n",
    "events alone": lambda found: json.dumps({"traceEvents": events_of(found)}).encode(),
    "without names of places": lambda found: json.dumps([one for one in events_of(found) if one["ph"] != "M"]).encode(),
}
