"""How far learned answers fall where a size grows: the laws of docs/conv.md and others are of the analytical estimate.

python benchmarks/monotone.py [--json]

A curve is a call of which one size grows by a tenth from step to step, on a GPU that weights know or answer for.
Printed, by family and what grows: curves, how many fall somewhere, the largest fall below an earlier time, and the
median of the largest of each curve.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import synperf
from synperf import Conv, Elementwise, LinearAttention, Quantize, RmsNorm, Rope, SiluMul
from synperf.api import family_of

STEP = 1.1


class Curve(NamedTuple):
    """Calls as columns, of which `grows` ascends, and the GPU."""

    calls: Any
    grows: str
    gpu: str


class Fall(NamedTuple):
    """By how much the time of a curve is below an earlier one, and between which two sizes."""

    share: float
    before: int
    after: int


def sizes(least: int, most: int) -> np.ndarray:
    """Whole numbers from one to the other, each a tenth more than the last or one."""
    steps = np.arange(np.log(most / least) / np.log(STEP) + 1)
    return np.unique(np.minimum(least * STEP**steps, most).astype(np.int64))


def curves() -> Iterator[Curve]:
    """A fixed set, of kernels that have weights."""
    for gpu in ("a100_pcie_40gb", "p100_pcie", "t4", "v100_pcie", "h100_sxm"):  # of the last there are no rows
        for channels, side in ((32, 28), (64, 56), (128, 28), (256, 14), (512, 7)):
            image = {"in_channels": channels, "out_channels": channels, "height": side, "width": side}
            kernel: dict[str, Any] = {"kernel_h": 3, "kernel_w": 3, "padding": 1, "dtype": "fp32"}
            yield Curve(Conv(batch=sizes(1, 256), **image, **kernel), "batch", gpu)
    for gpu in ("h100_sxm", "b200_sxm", "l40s"):
        for heads in (8, 32):
            state = {"heads": heads, "head_dim": 128, "state_dim": 128, "groups": heads // 2}
            for kernel in (None, "causal_conv1d"):
                given: dict[str, Any] = {"variant": "gdn", "kernel": kernel, **state}
                for tokens in (128, 1024, 4096):
                    yield Curve(LinearAttention(batch=sizes(1, 128), seq_len=tokens, **given), "batch", gpu)
                for batch in (1, 8):
                    yield Curve(LinearAttention(batch=batch, seq_len=sizes(16, 16384), **given), "seq_len", gpu)
                yield Curve(LinearAttention(batch=sizes(1, 512), seq_len=1, phase="decode", **given), "batch", gpu)
        for dim in (1024, 4096, 8192):
            yield Curve(Quantize(rows=sizes(1, 32768), dim=dim), "rows", gpu)
    for gpu in ("a100_sxm", "a40", "h100_sxm"):
        old: dict[str, Any] = {"dtype": "fp16", "engine": "vllm", "kernel": "vllm_legacy"}
        for dim in (4096, 5120, 8192):
            yield Curve(RmsNorm(rows=sizes(1, 4096), dim=dim, **old), "rows", gpu)
        for dim in (1792, 5504, 14336):
            yield Curve(SiluMul(rows=sizes(1, 4096), dim=dim, **old), "rows", gpu)
        yield Curve(Rope(rows=sizes(8, 65536), dim=128, **old), "rows", gpu)
        yield Curve(Elementwise(elements=sizes(4096, 2**25), inputs=2, **old), "elements", gpu)


def fall(curve: Curve, origin: str | None = None) -> Fall:
    """The largest fall of a curve; a share of 0 where it never falls."""
    found = synperf.predict(curve.calls, curve.gpu, origin=origin)
    highest = np.maximum.accumulate(found.time_s)
    share, values = 1.0 - found.time_s / highest, getattr(curve.calls, curve.grows)
    after = int(np.argmax(share))
    return Fall(float(share[after]), int(values[found.time_s[: after + 1].argmax()]), int(values[after]))


def main() -> None:
    """Scan and print."""
    found: dict[tuple[str, str], list[tuple[Fall, Curve]]] = {}
    for curve in curves():
        found.setdefault((family_of(curve.calls).name, curve.grows), []).append((fall(curve), curve))
    if "--json" in sys.argv:
        print(json.dumps({" ".join(key): [one.share for one, _ in falls] for key, falls in found.items()}))
        return
    print("family            grows     curves  that fall  largest  median  largest between")
    for (name, grows), falls in found.items():
        shares = [one.share for one, _ in falls]
        worst, curve = falls[int(np.argmax(shares))]
        some = sum(share > 0.0 for share in shares)
        where = f"{grows} {worst.before:,} and {worst.after:,} on {curve.gpu}"
        said = f"{name:17} {grows:9} {len(falls):6} {some:10} {max(shares):8.1%} {np.median(shares):7.1%}  {where}"
        print(said)


if __name__ == "__main__":
    main()
