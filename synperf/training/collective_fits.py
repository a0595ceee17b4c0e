"""Fits the curves of collectives: terms of alpha and beta for each algorithm and protocol, then what is left over.

The terms of all numbers of ranks are fitted together, on training rows, robustly and on logarithms, towards a first
guess from the link's rate. What measured times add to them is a correction at some sizes for each number of ranks.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import least_squares

from ..collectives.algorithms import (
    ALL_REDUCE,
    DIRECT,
    EXPERTS,
    NVLS,
    ONE_SHOT,
    RING,
    TWO_SHOT,
    Term,
    steps,
    wire_share,
)
from ..collectives.curves import Correction, Curve, Interval, rising
from ..collectives.measured import PER_EXPERT, PER_RANK, Messages
from ..hardware.links import Link
from ..measurements import Rows

SEED = 42
CUSTOM = "custom_all_reduce"
EXPERT_COPIES = ("deepep_ll", "deepep_v2_generation")  # kernels that send a token to every expert of its own
MOST_ROWS = 600  # that the terms are fitted to; corrections see all
_STARTS = (  # seconds of a base, seconds of a step, and the link's seconds per byte, for each protocol in turn
    ((6e-6, 10e-6, 20e-6, 20e-6), (0.6e-6, 1.2e-6, 2e-6, 1e-6), (4.0, 1.2, 1.2, 1.2)),
    ((4e-6, 6e-6, 12e-6, 12e-6), (0.3e-6, 0.6e-6, 1e-6, 1e-6), (10.0, 3.0, 1.3, 1.3)),
)
_TOWARDS_START = 0.02  # how much the first guess weighs beside a row
_TOLERATED = 0.05  # relative error up to which the loss is quadratic
_SMOOTH, _SHRUNK = 0.05, 0.001  # weights of the bend and of the size of a correction beside the rows
_DENSE = 200  # rows of one number of ranks from which on knots are twice as near


def copies_of(kernel: str) -> str:
    """What a kernel of expert layers sends a token to."""
    return PER_EXPERT if kernel in EXPERT_COPIES else PER_RANK


def kinds(rows: Rows, link: Link) -> tuple[tuple[str, str], ...]:
    """The algorithms and protocols that are fitted.

    A tree within a node has the steps of a ring and sends more, so that no time within a node tells of it.
    """
    operation, kernel = str(rows.family[0]), str(rows.kernel[0])
    if kernel == CUSTOM:
        return ((ONE_SHOT, "peer"), (TWO_SHOT, "peer"), (RING, "simple"))
    if operation in EXPERTS:
        return ((DIRECT, "ll"), (DIRECT, "simple"))
    algorithm = RING if operation in (ALL_REDUCE, "all_gather", "reduce_scatter", "broadcast") else DIRECT
    rings = tuple((algorithm, protocol) for protocol in ("ll", "ll128", "simple"))
    in_switch = operation == ALL_REDUCE and link.in_switch_reduction and rows.fields["dtype"][0] != "int8"
    return (*rings, (NVLS, "simple")) if in_switch else rings


def curve(rows: Rows, link: Link, rate: float) -> Curve:
    """The curve of training rows of one library, operation, format and link; `rate` is the link's bytes per second."""
    kernel = str(rows.kernel[0])
    messages = Messages.of(rows, copies_of(kernel))
    made = fitted(messages, str(rows.family[0]), kinds(rows, link), rate)
    return replace(
        made,
        engine=str(rows.engine[0]),
        kernel=kernel,
        version=str(rows.version[0]),
        source=str(rows.source[0]),
        dtype=str(rows.fields["dtype"][0]),
        link=str(rows.fields["link"][0]),
        network=str(rows.fields["network"][0]),
        copies=copies_of(kernel),
    )


def fitted(messages: Messages, operation: str, ways: tuple[tuple[str, str], ...], rate: float) -> Curve:
    """Terms and corrections, without names and with intervals of no width."""
    exact = Interval(low=1.0, high=1.0)
    made = Curve(
        engine="", kernel="", version="", source="", dtype="", link="",
        operation=operation, terms=_terms(messages, operation, ways, rate), corrections=(),
        known=exact, other_ranks=exact,
    )  # fmt: skip
    return replace(made, corrections=corrections(messages, made))


def _terms(messages: Messages, operation: str, ways: tuple[tuple[str, str], ...], rate: float) -> tuple[Term, ...]:
    seen = _some(messages)
    waits, sent = np.empty((len(ways), len(seen))), np.empty((len(ways), len(seen)))
    for ranks, nodes, which in seen.shapes():
        for i, (algorithm, _) in enumerate(ways):
            waits[i, which] = sum(steps(operation, algorithm, ranks, nodes))
            sent[i, which] = wire_share(operation, algorithm, ranks) * seen.volume[which]
    tries = [_solved(seen.time_s, waits, sent, _start(start, len(ways), rate)) for start in _STARTS]
    base, hop, slope = min(tries)[1]
    return tuple(
        Term(
            algorithm=algorithm, protocol=protocol, base_s=rounded(base[i]), hop_s=rounded(hop[i]),
            network_hop_s=rounded(hop[i]), s_per_byte=rounded(slope[i]),
        )
        for i, (algorithm, protocol) in enumerate(ways)
    )  # fmt: skip


def _solved(
    time_s: np.ndarray, waits: np.ndarray, sent: np.ndarray, start: np.ndarray
) -> tuple[float, list[list[float]]]:
    """The cost, and the base, the latency of a step and the seconds per byte of each way."""

    def errors(x: np.ndarray) -> np.ndarray:
        base, hop, slope = np.exp(x).reshape(3, -1, 1)
        estimated = (base + hop * waits + slope * sent).min(axis=0)
        return np.concatenate([np.log(estimated / time_s), _TOWARDS_START * (x - start)])

    found = least_squares(errors, start, loss="soft_l1", f_scale=_TOLERATED, max_nfev=60)
    return float(found.cost), np.exp(found.x).reshape(3, -1).tolist()


def _some(messages: Messages) -> Messages:
    if len(messages) <= MOST_ROWS:
        return messages
    return messages.take(np.random.default_rng(SEED).choice(len(messages), MOST_ROWS, replace=False))


def _start(start: tuple[tuple[float, ...], ...], count: int, rate: float) -> np.ndarray:
    base, hop, slope = (np.array(values[4 - count :] if count < 3 else values[:count]) for values in start)
    found: np.ndarray = np.log(np.concatenate([base, hop, slope / rate]))
    return found


def corrections(messages: Messages, made: Curve) -> tuple[Correction, ...]:
    """What measured times add to the terms, for each number of ranks."""
    return tuple(_correction(messages.take(which), made, n, m) for n, m, which in messages.shapes())


def _correction(seen: Messages, made: Curve, ranks: int, nodes: int) -> Correction:
    sizes = np.log2(seen.volume)
    step = 1.0 if len(seen) > _DENSE else 2.0
    first = float(np.floor(sizes.min()))
    count = max(2, int(np.ceil((sizes.max() - first) / step)) + 1)
    knots = np.log(made.terms_s(np.exp2(first + step * np.arange(count)), ranks, nodes))
    logs = np.log(made.terms_s(seen.volume, ranks, nodes))
    ratios = _smoothed(np.log(seen.time_s) - logs, _shares(logs, knots))
    return Correction(
        ranks=ranks,
        nodes=nodes,
        low_bytes=float(seen.volume.min()),
        high_bytes=float(seen.volume.max()),
        first=first,
        step=step,
        log_ratios=tuple(round(float(value), 4) for value in rising(knots + ratios) - knots),
    )


def _shares(logs: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """How much each knot has of each message."""
    place = np.interp(logs, knots, np.arange(len(knots), dtype=float))
    below = np.minimum(place.astype(int), len(knots) - 2)
    shares = np.zeros((len(logs), len(knots)))
    rows = np.arange(len(logs))
    shares[rows, below] = 1 - (place - below)
    shares[rows, below + 1] = place - below
    return shares


def _smoothed(ratios: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The values at the knots that ratios of messages come nearest to, rows that lie far off counting for less."""
    count = shares.shape[1]
    bend = np.diff(np.eye(count), 2, axis=0)
    calm = (_SMOOTH * bend.T @ bend + _SHRUNK * np.eye(count)) * len(ratios) / count
    weights = np.ones(len(ratios))
    for _ in range(15):
        weighted = shares.T * weights
        found: np.ndarray = np.linalg.solve(weighted @ shares + calm, weighted @ ratios)
        off = np.abs(ratios - shares @ found)
        scale = max(1.4826 * float(np.median(off)), 0.01)
        weights = 1 / np.maximum(1.0, off / scale)
    return found


def rounded(value: float) -> float:
    """Four digits: what is fitted has no more."""
    return float(f"{value:.4g}")
