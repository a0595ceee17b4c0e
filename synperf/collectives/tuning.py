"""What NCCL takes its algorithms and protocols to cost, from nccl_tuning.toml: it answers where nobody measured."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..hardware.links import NETWORK, NVLINK
from .algorithms import ALL_REDUCE, DIRECT, HIERARCHICAL, NVLS, RING, TREE, Term
from .alpha_beta import ring_all_reduce_s
from .place import Place

_FILE = Path(__file__).with_name("nccl_tuning.toml")
_US = 1e-6
_LL128 = "ll128"
_LIKE = {DIRECT: RING, HIERARCHICAL: RING}  # whose constants stand in


def version() -> str:
    """Whose constants these are."""
    return str(_rules()["version"])


def terms(operation: str, place: Place) -> tuple[Term, ...]:
    """Every way in which NCCL could run an operation there."""
    return tuple(
        _term(algorithm, protocol, place)
        for algorithm in _algorithms(operation, place)
        for protocol in _rules()["base_us"][_LIKE.get(algorithm, algorithm)]
        if protocol != _LL128 or place.link.kind == NVLINK  # needs stores of 128 bytes that are not torn
    )


def _algorithms(operation: str, place: Place) -> tuple[str, ...]:
    if operation == ALL_REDUCE:
        in_switch = (NVLS,) if place.link.in_switch_reduction and place.nodes == 1 and place.ranks > 2 else ()
        in_levels = (HIERARCHICAL,) if place.nodes > 1 and place.ranks_per_node > 1 else ()
        return (RING, TREE, *in_switch, *in_levels)
    return (RING,) if operation in ("all_gather", "reduce_scatter", "broadcast") else (DIRECT,)


def _term(algorithm: str, protocol: str, place: Place) -> Term:
    like, rules = _LIKE.get(algorithm, algorithm), _rules()
    hops: Mapping[str, Any] = rules["hop_us"]
    return Term(
        algorithm=algorithm,
        protocol=protocol,
        base_s=rules["base_us"][like][protocol] * _US,
        hop_s=hops[place.link.kind][like][protocol] * _US,
        network_hop_s=hops[NETWORK][like][protocol] * _US,
        s_per_byte=_s_per_byte(algorithm, place) / rules["bandwidth_share"][like][protocol],
    )


def _s_per_byte(algorithm: str, place: Place) -> float:
    """Seconds for a byte on the wire; of two levels, for a byte of the message."""
    if algorithm != HIERARCHICAL:
        return 1 / place.reached_bytes_per_s
    ranks, nodes = place.ranks_per_node, place.nodes
    between = ring_all_reduce_s(1 / ranks, nodes, 0.0, place.reached_network_bytes_per_s / ranks)
    return float(ring_all_reduce_s(1.0, ranks, 0.0, place.bytes_per_s * place.link.efficiency) + between)


@cache
def _rules() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))
