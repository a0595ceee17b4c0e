"""The launch floor of a kernel on a GPU: the time of a launch with next to no work, from calibration records."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from .calibration import Calibration
from .dtype import DType
from .gpu import GPU

PLAIN = "gemm"  # the family whose keys in a record do not begin with its name
# Kernels of one launch in families whose recorded ones are layers of several, and the family whose launches are alike.
ONE_LAUNCH: Mapping[tuple[str, str], str] = {
    ("fused_moe", "triton_w13"): PLAIN,
    ("sparse_attention", "flashmla_sparse"): "mla",
    ("sparse_attention", "plain"): "mla",
}
SHORTEST = "quantize"  # the family whose kernels do least before their first load and after their last store


def floor_key(family: str, kernel: str, dtype: str) -> str:
    """What a record calls the floor of a kernel and format: `cublas.bf16`, `attention.fa3.bf16`."""
    return f"{kernel}.{dtype}" if family == PLAIN else f"{family}.{kernel}.{dtype}"


@lru_cache(maxsize=4096)
def launch_floor(gpu: GPU, family: str, kernel: str, dtype: DType, like: str = "") -> tuple[float, tuple[str, ...]]:
    """(seconds, what was assumed). Recorded for this kernel and format, on this GPU or, of kernels that were timed one
    launch at a time, on idle ones; else the least of the kernel's formats, else the least of the family's kernels on
    that GPU (for `ONE_LAUNCH`, of those that are alike), else of the family that its launches are `like`, else of all;
    0 where nothing was ever recorded, which is said. Those of `SHORTEST` stand in for launches like them alone.
    """
    record = gpu.calibration
    own = floor_key(family, kernel, dtype)
    exact = record.launch_floor_s.get(own)
    if exact is not None:
        return exact, _borrowed(record, own)
    if own in idle():
        return idle()[own], (
            "launch floor: one launch on an idle GPU, with what the host takes, the median of five GPUs",
        )
    alike = ONE_LAUNCH.get((family, kernel), family)
    searched = [(family, floor_key(family, kernel, "")), (alike, "" if alike == PLAIN else f"{alike}.")]
    searched += [(family, f"{like}.")] if like else []
    searched.append((alike, ""))
    near = next((found for of, start in searched if (found := _starting(record.launch_floor_s, start, of))), None)
    if near is None:
        return 0.0, ("launch floor: no record, taken as 0",)
    key = min(near, key=lambda name: near[name])
    stands_in = f"launch floor: no record of {kernel} {dtype}, that of {key.replace('.', ' ')} stands in"
    return near[key], (*_borrowed(record, key), stands_in)


@cache
def idle() -> Mapping[str, float]:
    """Launch floors of kernels that were timed one launch at a time on an idle GPU."""
    text = Path(__file__).with_name("idle_launches.toml").read_text(encoding="utf-8")
    floors: Mapping[str, float] = tomllib.loads(text)["launch_floor_s"]
    return floors


def _borrowed(record: Calibration, key: str) -> tuple[str, ...]:
    """From which GPU a floor is, where it is not this one's own."""
    own = not record.launch_floor_from or key in record.launch_floor_fitted
    return () if own else (f"launch floor: measured on {record.launch_floor_from}",)


def _starting(floors: Mapping[str, float], start: str, family: str) -> dict[str, float]:
    """Floors whose key begins so, of any family but `SHORTEST` where that is empty; of GEMM, keys without a family."""
    plain = family == PLAIN
    known = {key: s for key, s in floors.items() if start or not key.startswith(f"{SHORTEST}.")}
    return {key: s for key, s in known.items() if key.startswith(start) and (not plain or key.count(".") == 1)}
