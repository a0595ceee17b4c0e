"""Factors by level: of an engine, of a stack with the engine's as prior, of a family on a stack with the stack's.

A stack or family with few points takes the factors of what it is a part of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .labels import ENGINE, FAMILY, LEVELS, STACK, Key, Labels
from .solve import FLUSHES, Features, Floats, Prior, Target, fit, general

FEWEST = {ENGINE: 1, STACK: 12, FAMILY: 3}  # points that a level's factors are fitted to
TIGHTNESS = 2.0  # how much nearer to its parent's than to an engine's in general factors of a level are
_FLUSH = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Node:
    """Factors in the order of `factors.NAMES`, the policy (its place among those tried), and points fitted to."""

    values: Floats
    policy: int
    points: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tree:
    """Nodes by what they are of: (engine,), (engine, GPU, source), or these and a family."""

    nodes: Mapping[Key, Node]

    def node(self, key: Key) -> tuple[Key, Node] | None:
        """The node of a point's `FAMILY` labels, or the nearest above it; None where not even the engine is known."""
        for names in reversed(LEVELS):
            if (found := self.nodes.get(key[: len(names)])) is not None:
                return key[: len(names)], found
        return None

    def times(self, labels: Labels, features: Sequence[Features]) -> tuple[Floats, Floats]:
        """Mean times to the first token and between tokens; nan where the engine is not known."""
        ttft, tpot = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
        for key, rows in labels.groups(FAMILY).items():
            if (found := self.node(key)) is not None:
                node = found[1]
                ttft[rows], tpot[rows] = features[node.policy].take(rows).times(node.values)
        return ttft, tpot


def grow(labels: Labels, features: Sequence[Features], target: Target, prior: Prior | None = None) -> Tree:
    """The tree of points; features are by policy."""
    prior = prior or general()
    nodes: dict[Key, Node] = {}
    for names in LEVELS:
        for key, rows in labels.groups(names).items():
            if len(rows) < FEWEST[names]:
                continue
            parent = _parent(nodes, key)
            towards = prior if parent is None else prior.around(parent.values, TIGHTNESS)
            policies = [parent.policy] if parent is not None and names == FAMILY else range(len(features))
            nodes[key] = fitted_node(rows, features, target, towards, policies)
    return Tree(nodes=nodes)


def _parent(nodes: Mapping[Key, Node], key: Key) -> Node | None:
    above = (nodes.get(key[:length]) for length in range(len(key) - 1, 0, -1))
    return next((node for node in above if node is not None), None)


def fitted_node(
    rows: npt.NDArray[np.int64], features: Sequence[Features], target: Target, prior: Prior, policies: Sequence[int]
) -> Node:
    """The node of least loss over policies, of some points."""
    own = target.take(rows)
    flushes = (float(prior.center[_FLUSH]),) if len(policies) == 1 else (*FLUSHES, float(prior.center[_FLUSH]))
    found = [(at, *fit(features[at].take(rows), own, prior, flushes)) for at in policies]
    policy, values, _ = min(found, key=lambda one: one[2])
    return Node(values=values, policy=policy, points=len(rows))
