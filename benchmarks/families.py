"""How fast attention, MLA and expert layers are answered. Prints medians, and ratios against GEMMs and a roofline here.

python benchmarks/families.py [--json]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from predict import seconds

import synperf
from synperf import Attention, FusedMoe, Gemm, Mla
from synperf.api import family_of
from synperf.features import roofline

MILLION = 1_000_000
REQUESTS = 4096
MILLION_BUDGET_S, LIST_BUDGET_MS = 10, 5


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


def main() -> None:
    """Measure and print."""
    gpu, found = synperf.gpu("h100_sxm"), {}
    for name, calls in millions().items():
        kind = family_of(calls)
        bare = seconds(lambda: roofline(gpu, calls.dtype, kind.flop(calls), kind.compulsory_bytes(calls)), 3)  # noqa: B023
        found[name] = {"million_s": seconds(partial(synperf.predict, calls, gpu), 3), "roofline_s": bare}
    for name, build in lists().items():
        found[f"{REQUESTS} requests, {name}"] = {"call_s": seconds(lambda: synperf.predict(build(), gpu), 21)}  # noqa: B023
    if "--json" in sys.argv:
        print(json.dumps(found))
        return
    for name, times in found.items():
        if "million_s" in times:
            beside, bare = (times["million_s"] / base for base in (found["gemm"]["million_s"], times["roofline_s"]))
            said = f"budget {MILLION_BUDGET_S} s; {beside:.1f} x GEMM, {bare:.0f} x a bare roofline"
            print(f"{name:24} a million {times['million_s']:7.2f} s    {said}")
        else:
            print(f"{name:24} one call  {times['call_s'] * 1e3:7.2f} ms   budget {LIST_BUDGET_MS} ms")


if __name__ == "__main__":
    main()
