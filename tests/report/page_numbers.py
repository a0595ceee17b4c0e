"""The rows of the page's tables by the JSON document of `analyze --json`, and what the texts of cells say."""

import re

from synperf.analysis.gaps import CAUSES

_NS = {"s": 1e9, "B": 1.0, "B/s": 1.0, "FLOP": 1.0, "FLOP/s": 1.0}  # of a cell's value, for each unit of its text
_PREFIXES = {"n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_SHOWN = re.compile(r"(-?[\d,.]+)(?: ([nµmkMGTP]?)(s|B|B/s|FLOP|FLOP/s)|( %))?")
PLACE = {"rank": "rank", "device": "device"}


def number(text):
    """What a text such as `1.02 ms` says, in ns, bytes or shares."""
    digits, prefix, unit, percent = _SHOWN.fullmatch(text).groups()
    value = float(digits.replace(",", ""))
    return value / 100 if percent else value * _PREFIXES[prefix] * _NS[unit] if unit else value


def rows(found):
    """By table, rows of values by head."""
    made = {name: [_picked(one, keys) for one in found[key]] for name, (key, keys) in _PICKED.items()}
    made["families"] = [_picked(one, _FAMILY) for one in _summed(found["families"], "family")]
    made["kernels"] = [_picked(one, _KERNEL) for one in _summed(found["kernels"], "name")]
    made["idle"] = [_picked(one, _IDLE) | {"because": CAUSES[one["cause"]]} for one in _summed(found["idle"], "cause")]
    made["ranks"] = [
        _picked(one, _TIMES) | {"idle %": _share(one["idle_ns"], one["span_ns"])} for one in found["ranks"]
    ]
    made["gaps"] = _gaps(found)
    made["step_times"] = [
        _picked(one, _STEPS) | {"spread": one["spread"] if one["count"] > 1 else None, "slow": _slow(found, one)}
        for one in found["step_times"]
    ]
    made["steps"] = [_picked(one, _STEP) | {"": _marks(one)} for one in found["steps"]]
    first = min((one["start_ns"] for one in found["collectives"]), default=0)
    made["collectives"] = [_picked(one, _COLLECTIVE) | {"at": one["start_ns"] - first} for one in found["collectives"]]
    made["causes"] = [
        _picked(one, PLACE) | _picked(cause, _CAUSE) for one in found["diagnosis"] for cause in one["causes"]
    ]
    made["operators"] = sorted(made["operators"], key=lambda one: -one["GPU total"])
    made["geometry"] = sorted(made["geometry"], key=lambda one: -one["total"])
    for one in made["geometry"]:
        one["limited by"] = ", ".join(one["limited by"])
    made["memory"] = [_memory(one) | {"at": one["peak_ns"] - one["start_ns"]} for one in found["memory"]]
    made["memory_holders"] = [
        {"rank": one["rank"], "device": _where(one), **_picked(holder, _HOLDER)}
        for one in found["memory"]
        for holder in one["holders"]
    ]
    return {name: table for name, table in made.items() if table}


def _picked(one, keys):
    return {head: one[key] for head, key in keys.items()}


def _share(part, whole):
    return part / whole if whole else None


def _summed(of, key):
    """Counts and totals by name over all devices, the largest first."""
    sums = {}
    for one in of:
        row = sums.setdefault(one[key], one | {"count": 0, "total_ns": 0})
        row["count"] += one["count"]
        row["total_ns"] += one["total_ns"]
    whole = sum(row["total_ns"] for row in sums.values())
    for row in sums.values():
        row |= {"share": _share(row["total_ns"], whole), "mean_ns": row["total_ns"] / row["count"]}
    return sorted(sums.values(), key=lambda row: (-row["total_ns"], row[key]))


def _gaps(found):
    zero = {(one["rank"], one["device"]): one["start_ns"] for one in found["ranks"]}
    keys = _GAP if len(zero) == 1 else PLACE | _GAP
    return [
        _picked(one, keys) | {"at": one["start_ns"] - zero[one["rank"], one["device"]]}
        for one in sorted(found["gaps"], key=lambda one: -one["dur_ns"])
    ]


def _slow(found, of):
    return [one["name"] for one in found["steps"] if one["rank"] == of["rank"] and one["is_slow"]]


def _marks(one):
    return ", ".join(word for word, key in (("slow", "is_slow"), ("may be cut", "may_be_cut")) if one[key])


def _where(one):
    return "host" if one["is_host"] else str(one["device"])


def _memory(one):
    return _picked(one, _PEAK) | {"device": _where(one)}


_TIMES = PLACE | {
    "span": "span_ns", "busy": "busy_ns", "compute": "compute_ns", "exposed copy": "exposed_copy_ns",
    "exposed comm": "exposed_comm_ns", "idle": "idle_ns", "kernels": "kernels",
}  # fmt: skip
_GAP = {"longest gaps": "dur_ns", "cause": "cause", "host in": "operator", "Python": "python"}
_STEPS = {"rank": "rank", "steps": "count", "found by": "found_by", "median": "median_ns"}
_STEP = {"rank": "rank", "step": "name", "time": "dur_ns", "GPU busy": "busy_ns", "compute": "compute_ns"}
_COLLECTIVE = {
    "collective": "name", "spread": "spread_ns", "transfer": "transfer_ns", "last rank": "last_rank", "bytes": "bytes",
    "busbw": "busbw_bytes_per_s",
}  # fmt: skip
_CAUSE = {"cause": "title", "time": "total_ns", "of the span": "share", "evidence": "evidence", "look with": "tool"}
_PEAK = {
    "rank": "rank", "peak": "peak_bytes", "reserved": "reserved_bytes", "from before": "before_bytes",
    "at the begin": "start_bytes", "at the end": "end_bytes",
}  # fmt: skip
_HOLDER = {"allocated in": "operator", "blocks": "blocks", "bytes": "bytes", "of the peak": "share"}
_FAMILY = {"kernels": "family", "count": "count", "total": "total_ns", "share": "share"}
_KERNEL = {
    "kernel": "name", "family": "family", "count": "count", "total": "total_ns", "mean": "mean_ns", "share": "share"
}  # fmt: skip
_IDLE = {"idle": "cause", "gaps": "count", "total": "total_ns"}
_PICKED = {
    "dataloader": ("dataloader", {"rank": "rank", "waits": "count", "total": "total_ns", "of the trace": "share"}),
    "waits": (
        "waits",
        {"rank": "rank", "call": "name", "calls": "count", "total": "total_ns", "GPU worked": "worked_ns"},
    ),
    "late_ranks": (
        "late_ranks",
        {
            "late rank": "rank", "last at": "times_last", "others waited": "others_waited_ns",
            "behind the next": "delay_ns",
        },
    ),
    "imbalance": (
        "imbalance",
        {
            "step": "step", "mean compute": "mean_compute_ns", "most": "max_compute_ns", "busiest rank": "busiest_rank",
            "mean / most": "efficiency",
        },
    ),
    "copies": (
        "copies",
        PLACE
        | {
            "copy": "direction", "host memory": "host_memory", "count": "count", "total": "total_ns", "bytes": "bytes",
            "rate": "bytes_per_s",
        },
    ),
    "launches": (
        "launches",
        PLACE
        | {
            "calls": "calls", "events": "events", "without a call": "untied", "delay": "delay_median_ns",
            "interval": "interval_median_ns", "short kernels": "short_kernels", "their time": "short_ns",
            "graphs": "graph_launches", "events in graphs": "graph_events", "queue found empty": "found_empty_share",
        },
    ),
    "gpus": ("gpus", PLACE | {"GPU": "key", "SMs": "num_sms", "taken for": "assumed", "not known": "reason"}),
    "checks": (
        "checks", {"": "kind", "group": "group", "answer": "state", "what should hold": "title", "because": "reason"}
    ),
    "operators": (
        "operators",
        {
            "rank": "rank", "operator": "name", "shapes": "shapes", "count": "count", "GPU total": "gpu_total_ns",
            "GPU own": "gpu_own_ns", "host total": "host_total_ns", "host own": "host_own_ns", "FLOP": "flop",
            "bytes": "bytes", "FLOP/byte": "flop_per_byte", "rate": "flop_per_s", "bound by": "bound",
            "of roofline": "efficiency",
        },
    ),
    "geometry": (
        "geometry",
        PLACE
        | {
            "kernel": "name", "grid": "grid", "block": "block", "registers": "registers", "shared": "shared_bytes",
            "count": "count", "total": "total_ns", "CTAs per SM": "blocks_per_sm", "waves": "waves",
            "last wave": "last_wave", "occupancy": "occupancy", "limited by": "limiters",
        },
    ),
}  # fmt: skip
