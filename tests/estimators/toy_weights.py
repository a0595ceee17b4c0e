"""Weights of a toy network for GEMMs: few units, random but fixed."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np

from synperf import hardware
from synperf.estimators.inputs import VERSION, inputs, logarithms, sustained
from synperf.estimators.network import Network
from synperf.estimators.weights import FORMAT, Card, NetworkCard, Regime, Weights, serialize, tensors
from synperf.features import features
from synperf.kernels import family
from synperf.kernels.gemm_call import Gemm

KNOWN_GROUPS = ("h100_sxm.vllm.cublas", "h100_sxm.*.cublas")
GENERAL_GROUPS = ("vllm.cublas", "*.cublas", "*")
BAND = (Regime("short", 1e-5, 2000, -0.2, 0.3), Regime("long", 1e30, 2000, -0.1, 0.1))
WIDE = (Regime("unseen", 1e30, 2000, -0.5, 0.6),)


def names_and_ranges() -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Input names, and their ranges over shapes from 16 to 8192 on the H100."""
    gpu, kind = hardware.gpu("h100_sxm"), family("gemm")
    sizes = np.array([16, 100, 1000, 8192], dtype=float)
    m, n, k = (axis.ravel() for axis in np.meshgrid(sizes, sizes, sizes))
    call = Gemm(m=m, n=n, k=k, engine="vllm", kernel="cublas")
    base_s, found = inputs(kind, call, gpu, features(kind, call, gpu), sustained(gpu, "gemm", "cublas", call.dtype))
    logs = logarithms(found, base_s)
    return tuple(found), logs.min(axis=0), logs.max(axis=0)


def network(groups: tuple[str, ...], seed: int = 0, size: float = 0.02) -> Network:
    """A network of 8 and 4 units over the inputs of GEMMs, two of them encoded in three pieces."""
    draw = np.random.default_rng(seed)
    names, low, high = names_and_ranges()
    encoded = np.array([names.index("m"), names.index("n")])
    knots = np.stack([np.linspace(low[i], high[i], 4) for i in encoded]).astype(np.float32)
    sizes = (len(names) + 6, 8, 4, 1)
    layers = [draw.normal(0, size, pair).astype(np.float16).astype(np.float32) for pair in pairwise(sizes)]
    return Network(
        inputs=names,
        groups=groups,
        low=low,
        high=high,
        encoded=encoded,
        knots=knots,
        weights=tuple(layers),
        biases=tuple(draw.normal(0, size, n).astype(np.float32) for n in sizes[1:]),
        shift=draw.normal(0, 0.1, (len(groups), 8)).astype(np.float32),
        group_low=np.tile(low, (len(groups), 1)),
        group_high=np.tile(high, (len(groups), 1)),
        out_low=np.full(len(groups), -0.5, np.float32),
        out_high=np.full(len(groups), 0.5, np.float32),
    )


def card(networks: dict[str, Network], digest: str = "0" * 64) -> Card:
    """The card of networks by their names."""
    cards = [
        NetworkCard(
            name=name, scope=name.split(".")[1], dtypes=("bf16",), inputs=n.inputs, groups=n.groups,
            num_layers=len(n.weights), rows=100, held_out={},
            regimes={"": BAND} if "known" in name else {"": WIDE, "*": (WIDE[0], )},
        )
        for name, n in networks.items()
    ]  # fmt: skip
    return Card(
        format=FORMAT, inputs_version=VERSION, family="gemm", sha256=digest, synperf="0", seed=0, command="", date="",
        training_s=0.0, split="", sources={}, networks=tuple(cards),
    )  # fmt: skip


def toy() -> Weights:
    """A network that knows the H100 with vLLM's cuBLAS, and a general one."""
    networks = {"bf16.known": network(KNOWN_GROUPS), "bf16.general": network(GENERAL_GROUPS, seed=1)}
    return Weights(card=card(networks), networks=tuple(networks.values()))


def write(path: Path, weights: Weights | None = None) -> Path:
    """The weights as files, as training leaves them."""
    weights = weights or toy()
    arrays = {}
    for one, n in zip(weights.card.networks, weights.networks, strict=True):
        arrays |= tensors(one.name, n)
    found, data = serialize(weights.card, arrays)
    path.write_bytes(data)
    path.with_suffix(".json").write_bytes(msgspec.json.encode(found))
    return path
