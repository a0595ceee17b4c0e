"""What an answer must hold whatever the file: laws of its numbers, and that nothing of it is wrong in silence."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from synperf.analysis import analyze
from synperf.analysis.overlap import overlap
from synperf.analysis.work import devices
from synperf.errors import PerfError
from synperf.report.analysis import to_dict, to_text
from synperf.traces import read_trace

from .ages import events_of
from .plain import Counted, begun, count, strict

_NO_JSON = "not a number that JSON can hold"
_LONGEST = 600  # letters of a sentence
_NOT_NEGATIVE = (
    "span_ns",
    "busy_ns",
    "idle_ns",
    "compute_ns",
    "exposed_copy_ns",
    "exposed_comm_ns",
    "comm_ns",
    "kernels",
)


Said = dict[str, Any] | str


def in_short(path: Path) -> Said:
    """What every device did and the warnings, or the sentence of a refusal: what is quick to be had."""
    try:
        traces = read_trace(path)
    except PerfError as refused:
        return str(refused)
    ranks = [asdict(overlap(work)) for trace in traces for work in devices(trace)]
    return {"ranks": ranks, "warnings": [asdict(one) for trace in traces for one in trace.cautions]}


def in_full(path: Path) -> Said:
    """All that `synperf analyze` says of a file, as text and as JSON, or the sentence of a refusal."""
    try:
        found = analyze(path)
        document: dict[str, Any] = to_dict(found)
        to_text(found)
    except PerfError as refused:
        return str(refused)
    return document


def broken(said: Said) -> Iterator[str]:
    """The laws that an answer breaks; none of a right one."""
    if isinstance(said, str):
        if "\n" in said.strip() or len(said) > _LONGEST or _NO_JSON in said or not said.strip():
            yield f"no sentence: {said!r}"
        return
    for one in said["ranks"]:
        if one["span_ns"] != one["busy_ns"] + one["idle_ns"]:
            yield "span = busy + idle"
        if one["busy_ns"] != one["compute_ns"] + one["exposed_copy_ns"] + one["exposed_comm_ns"]:
            yield "busy = compute + copies + communication"
        if min(one[name] for name in _NOT_NEGATIVE) < 0 or one["exposed_comm_ns"] > one["comm_ns"]:
            yield "nothing is below zero, and no more is exposed than there is"
        yield from _sums(said, one)
    shares = [one["share"] for one in said["warnings"] if one["share"] is not None]
    if not all(0 <= share <= 1 for share in shares):
        yield "shares are from 0 to 1"
    if not said["ranks"] and not said.get("not_seen", True):
        yield "no device, and not a word of it"


def _sums(said: dict[str, Any], one: dict[str, Any]) -> Iterator[str]:
    """Parts of a device, where they are told, add up to its whole; so do those of processes that share one."""
    for table, part, whole in (
        ("kernels", "count", "kernels"), ("families", "count", "kernels"), ("idle", "total_ns", "idle_ns"),
        ("copies", "count", "copies"),
    ):  # fmt: skip
        place = one["rank"], one["device"]
        right = sum(row[whole] for row in said["ranks"] if (row["rank"], row["device"]) == place)
        found = sum(row[part] for row in said.get(table, ()) if (row["rank"], row["device"]) == place)
        if table in said and found != right:
            yield f"{table} add up to {found}, not to {right}"


def silent(text: bytes, said: Said) -> Iterator[str]:
    """What is wrong in silence of a Kineto file with that text, or refused without need."""
    document = strict(text)
    if document is None or not isinstance(document, dict | list):
        yield from _damaged(text, said)
    elif isinstance(document, dict) and not isinstance(document.get("traceEvents"), list):
        if not isinstance(said, str):
            yield "there is no list of events, and no word of it"
    else:
        yield from _whole(count(events_of(document)), said)


def _whole(right: Counted, said: Said) -> Iterator[str]:
    """JSON that is valid: totals are those of plain counting, and what is odd is told."""
    if isinstance(said, str):
        if right.devices:
            yield f"refused, though it can be read: {said}"
        return
    got = {
        one["device"]: {key: one[key] for key in ("span_ns", "busy_ns", "kernels", "copies")} for one in said["ranks"]
    }
    if got != right.devices:
        yield f"totals are {got}, plainly {right.devices}"
    if right.odd and not said["warnings"]:
        yield f"{right.odd} odd events, and no warning"


def _damaged(text: bytes, said: Said) -> Iterator[str]:
    """Text that is no JSON: it is refused, or told to be damaged and read up to the last event before the damage."""
    if isinstance(said, str):
        return
    if not said["warnings"]:
        yield "the text is damaged, and no warning"
    least = sum(one["kernels"] + one["copies"] for one in count(begun(text)[:-1]).devices.values())
    read = sum(one["kernels"] + one["copies"] for one in said["ranks"])
    if read < least:
        yield f"read are {read} events on GPUs, before the damage are {least}"


def shown(said: Said) -> str:
    """An answer in short, for a message."""
    if isinstance(said, str):
        return said
    keys = ("device", "span_ns", "busy_ns", "kernels", "copies")
    return json.dumps({"ranks": [{k: one[k] for k in keys} for one in said["ranks"]], "warnings": said["warnings"]})
