"""What the card says of trained networks: their errors on held-out rows, and the intervals that come of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from ...estimators.network import Network
from ...estimators.weights import GENERAL, KNOWN, NetworkCard, Regime
from ...evaluation.metrics import Errors
from ...numeric import concatenated
from .data import Table
from .kinds import alone, kind_of
from .regimes import Spread, beyond, regimes, scaled_by_band, widening
from .seen import origins
from .stages import (
    ROWS_GENERAL,
    ROWS_LEFT_OUT,
    TABLES,
    few,
    has_few_shapes,
    left_out,
    num_folds,
    without,
    without_fold,
    without_largest,
)
from .unseen import Case, unseen


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """Rows, and the networks that tell how far errors go on them: which one of each row, and if it is new to that.

    With `parted`, calls outside the range that a network has seen stand apart from the others.
    """

    data: Table
    networks: tuple[Network, ...]
    by: np.ndarray  # (rows,) index of the network
    is_new: np.ndarray
    parted: bool

    @classmethod
    def of(cls, part: str, data: Table, networks: Mapping[str, Network], num_shapes: int) -> Judged:
        """By the network of a format that knows GPUs; unless shapes are many, by those that miss the shape."""
        folds = [(i, others) for i, others in data.folds(num_folds(num_shapes)) if without_fold(part, i) in networks]
        if not folds:
            return cls.of_one(networks[f"{part}.{KNOWN}"], data)
        by = np.zeros(len(data), dtype=np.intp)
        for place, (_, others) in enumerate(folds):
            by[~others] = place
        found = tuple(networks[without_fold(part, i)] for i, _ in folds)
        return cls(data=data, networks=found, by=by, is_new=np.ones(len(data), dtype=bool), parted=True)

    @classmethod
    def of_one(cls, network: Network, data: Table) -> Judged:
        """By one network, which was fitted to all that are not held out."""
        by = np.zeros(len(data), dtype=np.intp)
        return cls(data=data, networks=(network,), by=by, is_new=data.held_out, parted=False)

    @classmethod
    def of_largest(cls, part: str, data: Table, networks: Mapping[str, Network]) -> tuple[Judged, ...]:
        """The largest calls by the network that misses them; none where there is no such network."""
        if without_largest(part) not in networks:
            return ()
        found = cls.of_one(networks[without_largest(part)], data.take(data.largest))
        return (replace(found, is_new=np.ones(len(found.data), dtype=bool), parted=True),)

    def by_network(self) -> Iterator[tuple[Network, np.ndarray]]:
        """(network, mask of its rows)."""
        for place, network in enumerate(self.networks):
            yield network, self.by == place


def cards(
    part: str, data: Table, networks: Mapping[str, Network], spreads: Spreads, num_shapes: int, seed: int
) -> Iterator[NetworkCard]:
    known, general = networks[f"{part}.{KNOWN}"], networks.get(f"{part}.{GENERAL}")
    judged = Judged.of(part, data, networks, num_shapes)
    rows = len(data) if has_few_shapes(num_shapes) else int((~data.held_out).sum())
    card = _card(part, KNOWN, known, rows, _scores_of(judged, known=True), spreads.regimes(part))
    yield msgspec.structs.replace(card, beyond=spreads.beyond[part])
    if general is None:
        return
    cases = [_case(data, gpus, networks[without(part, gpus)], seed) for gpus in left_out(set(data.gpu))]
    found = unseen(part, cases)
    most = min(rows, ROWS_GENERAL * len([group for group in known.groups if "*" not in group]))
    scores = _scores_of(Judged.of_one(general, data), known=False)
    card = _card(part, GENERAL, general, most, scores, found.regimes)
    yield msgspec.structs.replace(card, left_out=found.left_out, alone=alone(data))


def tables_card(part: str, data: Table, network: Network, spreads: Spreads) -> NetworkCard:
    rows, scores = int((~data.held_out).sum()), _scores_of(Judged.of_one(network, data), known=True)
    card = _card(part, KNOWN, network, rows, scores, spreads.regimes(part))
    return msgspec.structs.replace(card, name=f"{part}.{TABLES}", widening=widening(spreads.by_part[part]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spreads:
    """The errors of every group of the networks that know GPUs, by format."""

    by_part: Mapping[str, Mapping[str, Spread]]  # of calls inside the measured range
    beyond: Mapping[str, float]  # by format, of `regimes.beyond`

    @classmethod
    def of(cls, judged: Mapping[str, Sequence[Judged]]) -> Spreads:
        every = {part: _spreads(own) for part, own in judged.items()}
        inside = {part: {name: s.inside for name, s in groups.items()} for part, groups in every.items()}
        return cls(by_part=inside, beyond=beyond(every))

    @classmethod
    def of_tables(cls, tables: Mapping[str, Table], networks: Mapping[str, Network]) -> Spreads:
        return cls.of({part: [Judged.of_one(networks[part], data)] for part, data in tables.items()})

    def regimes(self, part: str) -> dict[str, tuple[Regime, ...]]:
        """Of one format; its ends are drawn towards those of all."""
        everywhere = np.concatenate([scaled_by_band(groups) for groups in self.by_part.values()])
        return regimes(part, self.by_part[part], everywhere)


def _spreads(judged: Iterable[Judged]) -> dict[str, Spread]:
    """The errors of every group of rows, those of the middle of several engines included."""
    found: dict[str, list[Spread]] = {}
    for one in judged:
        for network, mask in one.by_network():
            for name, index in origins(one.data, known=True).rows_of.items():
                if name in network.groups and len(own := index[mask[index]]):
                    found.setdefault(name, []).append(_spread(one, network, name, own))
    return {name: Spread(**concatenated(parts)) for name, parts in found.items()}


def _spread(judged: Judged, network: Network, name: str, own: np.ndarray) -> Spread:
    """The errors of a network on some rows of one group."""
    rows, group = judged.data.take(own), network.groups.index(name)
    correction = network.correction(rows.logs, group)
    return Spread(
        time_s=rows.base_s * np.exp(correction),
        apart=rows.target - correction,
        held_out=judged.is_new[own],
        shape=rows.shape,
        outside=judged.parted & np.any(network.outside(rows.logs, group), axis=1),
    )


def _case(data: Table, gpus: tuple[str, ...], network: Network, seed: int) -> Case:
    """What a network that was trained without the GPUs makes of their rows."""
    away = np.isin(data.gpu.astype(str), gpus)
    rows = data.take(few(data, away, ROWS_LEFT_OUT, seed))
    time_s, apart = errors(network, rows, known=False)
    middle = rows.target - network.correction(rows.logs, network.groups.index("*"))
    kins, own = ({kind_of(key) for key in set(data.gpu[which])} for which in (~away, away))
    return Case(name=" ".join(gpus), has_kin=own <= kins, time_s=time_s, apart=apart, middle=middle)


def errors(network: Network, rows: Table, *, known: bool) -> tuple[np.ndarray, np.ndarray]:
    """(predicted time, log(measured / predicted)) of every row, each by its own group, else by the middle of all.

    Rows that the network has no group for are nan.
    """
    correction = np.full(len(rows), np.nan)
    for name, index in origins(rows, known).rows_of.items():
        if "*" in name:
            continue
        kernel = name.rpartition(".")[2]
        group = next((g for g in (name, f"*.{kernel}", "*") if g in network.groups), None)
        if group is None:
            continue
        correction[index] = network.correction(rows.logs[index], network.groups.index(group))
    return rows.base_s * np.exp(correction), rows.target - correction


def _scores_of(judged: Judged, *, known: bool) -> dict[str, dict[str, float]]:
    """Errors on the rows that are new of every GPU, and of all."""
    parts = [
        (rows.gpu, errors(network, rows, known=known)[1])
        for network, mask in judged.by_network()
        if len(rows := judged.data.take(mask & judged.is_new))
    ]
    if not parts:
        return {}
    gpus, apart = (np.concatenate(column) for column in zip(*parts, strict=True))
    found, is_told = {}, np.isfinite(apart)
    for gpu in (*sorted(set(gpus[is_told])), "all"):
        own = np.exp(-apart[is_told & ((gpus == gpu) | (gpu == "all"))])
        if len(own):
            e = Errors.of(own, np.ones_like(own))
            found[gpu] = {"rows": len(own), "mape": e.mape, "median": e.median, "p90": e.p90}
    return {gpu: _plain(score) for gpu, score in found.items()}


def _plain(score: Mapping[str, float]) -> dict[str, float]:
    """As JSON gives it back: every figure a float."""
    return {name: round(float(value), 5) for name, value in score.items()}


def _card(
    part: str, scope: str, network: Network, rows: int, scores: dict[str, dict[str, float]],
    found: dict[str, tuple[Regime, ...]],
) -> NetworkCard:  # fmt: skip
    dtype, _, variant = part.partition(".")
    return NetworkCard(
        name=f"{part}.{scope}",
        scope=scope,
        dtypes=(dtype,),
        variant=variant,
        inputs=network.inputs,
        groups=network.groups,
        num_layers=len(network.weights),
        rows=rows,
        held_out=scores,
        regimes=found,
    )
