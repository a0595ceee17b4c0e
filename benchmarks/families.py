"""How fast families are answered, a million calls as columns and one at a time. Prints medians, and ratios against
GEMMs and a roofline here.

python benchmarks/families.py [--json] [--single]    # --single: single calls alone, of seconds
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from predict import seconds

import synperf
from synperf import Attention, Conv, FusedMoe, Gemm, LinearAttention, Mla
from synperf.api import family_of
from synperf.features import roofline
from synperf.kernels import families

MILLION = 1_000_000
REQUESTS = 4096
MILLION_BUDGET_S, LIST_BUDGET_MS = 10, 5
TIMES_GEMM = 3  # the budget of convolutions, linear attention and memory-bound families
ROUNDS, CALLS = 7, 200  # of single calls


def spread(draw: np.random.Generator, least: int, most: int) -> np.ndarray:
    """A million whole numbers, log-uniform."""
    return np.exp(draw.uniform(np.log(least), np.log(most + 1), MILLION)).astype(np.int64)


def millions() -> dict[str, Any]:
    """A million calls of each kind, with a number in every field that varies in use."""
    draw = np.random.default_rng(0)
    tokens, batch, lengths = spread(draw, 1, 16384), spread(draw, 1, 512), spread(draw, 16, 65536)
    heads = 2 ** draw.integers(3, 7, MILLION)
    shape = {"heads": heads, "kv_heads": 8, "head_dim": 128}
    return {
        "gemm": Gemm(m=tokens, n=spread(draw, 64, 32768), k=spread(draw, 64, 32768)),
        "attention decode": Attention(batch=batch, q_len=1, kv_len=lengths, **shape),
        "attention prefill": Attention(batch=1 + batch % 8, q_len=lengths, kv_len=lengths, **shape),
        "mla decode": Mla(batch=batch, q_len=1, kv_len=lengths, heads=heads),
        "fused_moe": FusedMoe(tokens=tokens, hidden=4096, inter=1536, experts=128, topk=8),
    }


def others() -> dict[str, Any]:
    """The same of families whose budget is that of GEMM, `TIMES_GEMM` times: a size of rows and one of columns vary."""
    draw = np.random.default_rng(2)
    rows, dim, batch = spread(draw, 1, 65536), 8 * spread(draw, 8, 2048), spread(draw, 1, 64)
    side, channels = spread(draw, 7, 112), 8 * spread(draw, 2, 64)
    image = {"batch": batch, "height": side, "width": side, "kernel_h": 3, "kernel_w": 3, "padding": 1}
    found: dict[str, Any] = {}
    for dtype, layout in (("bf16", "nchw"), ("bf16", "nhwc"), ("fp32", "nchw")):
        found[f"conv {dtype} {layout}"] = Conv(
            **image, in_channels=channels, out_channels=channels, dtype=dtype, layout=layout
        )
    heads = {"heads": 32, "head_dim": 128, "state_dim": 128, "groups": 16}
    for variant in ("gdn", "mamba2"):
        found[f"linear_attention {variant}"] = LinearAttention(variant=variant, batch=batch, seq_len=rows, **heads)
    for kind in families().values():
        if kind.is_memory_bound:
            sizes = {"rows": rows, "dim": dim, "vocab": dim, "elements": rows * dim}
            required = {
                name: size
                for name, size in sizes.items()
                if name in (*kind.required(), "vocab") and name in kind.field_names()
            }
            found[kind.name] = kind.call_type(**required)
    return found


def single_s(calls: dict[str, Any], gpu: synperf.GPU) -> dict[str, float]:
    """One call at a time of each kind, every one new, from its fields to the estimate, kinds in turns.

    The median of the best of `ROUNDS` rounds: what else a machine does can only add to a time.
    """
    fields = {name: [_fields(columns, i) for i in range(ROUNDS * CALLS)] for name, columns in calls.items()}
    found: dict[str, list[float]] = {name: [] for name in calls}
    for start in range(0, ROUNDS * CALLS, CALLS):
        for name, given in fields.items():
            kind, times = type(calls[name]), []
            for one in given[start : start + CALLS]:
                began = time.perf_counter()
                synperf.predict(kind(**one), gpu)
                times.append(time.perf_counter() - began)
            found[name].append(statistics.median(times))
    return {name: min(medians) for name, medians in found.items()}


def _fields(columns: Any, i: int) -> dict[str, Any]:
    """Fields of call i in plain numbers, without those that are open."""
    values = {name: getattr(columns, name) for name in family_of(columns).field_names()}
    plain = {name: value[i].item() if isinstance(value, np.ndarray) else value for name, value in values.items()}
    return {name: value for name, value in plain.items() if value is not None}


def lists() -> dict[str, Callable[[], Any]]:
    """Builders of one call of many requests of different lengths."""
    draw = np.random.default_rng(1)
    kv = draw.integers(1, 32768, REQUESTS).tolist()
    q = [min(length, int(new)) for length, new in zip(kv, draw.integers(1, 512, REQUESTS), strict=True)]
    some = {"heads": 32, "kv_heads": 8, "head_dim": 128}
    return {
        "decode": lambda: Attention(q_len=1, kv_lens=[*kv], **some),
        "mixed": lambda: Attention(q_lens=[*q], kv_lens=[*kv], **some),
    }


def million(calls: Any, gpu: synperf.GPU) -> dict[str, float]:
    """Seconds of a million calls, and of a bare roofline of them."""
    kind = family_of(calls)
    bare_s = seconds(lambda: roofline(gpu, kind.math(calls), kind.flop(calls), kind.compulsory_bytes(calls)), 3)
    return {"million_s": seconds(partial(synperf.predict, calls, gpu), 3), "roofline_s": bare_s}


def main() -> None:
    """Measure and print."""
    gpu, found = synperf.gpu("h100_sxm"), dict[str, dict[str, float]]()
    beside = others()
    if "--single" not in sys.argv:
        found = {name: million(calls, gpu) for name, calls in (millions() | beside).items()}
        for name, build in lists().items():
            call_s = seconds(lambda: synperf.predict(build(), gpu), 21)  # noqa: B023
            found[f"{REQUESTS} requests, {name}"] = {"list_s": call_s}
    for name, call_s in single_s({"gemm": millions()["gemm"]} | beside, gpu).items():
        found[name] = found.get(name, {}) | {"call_s": call_s}
    if "--json" in sys.argv:
        print(json.dumps(found))
        return
    for name, times in found.items():
        print(f"{name:24} {'   '.join(_said(times, found['gemm'], name in beside))}")


def _said(times: dict[str, float], gemm: dict[str, float], is_of_gemm: bool) -> list[str]:
    """What is printed of one kind."""
    budget = f"budget {TIMES_GEMM} x" if is_of_gemm else f"budget {MILLION_BUDGET_S} s"
    said = []
    if "list_s" in times:
        said.append(f"one call {times['list_s'] * 1e3:7.2f} ms   budget {LIST_BUDGET_MS} ms")
    if "million_s" in times:
        ratios = (times["million_s"] / base for base in (gemm["million_s"], times["roofline_s"]))
        said.append("a million {:6.2f} s, {:.1f} x GEMM, {:.0f} x a bare roofline".format(times["million_s"], *ratios))
    if "call_s" in times:
        said.append(f"one {times['call_s'] * 1e6:4.0f} us, {times['call_s'] / gemm['call_s']:.1f} x GEMM")
    return [*said, budget] if "list_s" not in times else said


if __name__ == "__main__":
    main()
