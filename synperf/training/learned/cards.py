"""What the card says of trained networks: their errors on held-out rows, and the intervals that come of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec
import numpy as np

from ...estimators.network import Network
from ...estimators.weights import GENERAL, KNOWN, NetworkCard, Regime
from ...evaluation.metrics import Errors
from ...numeric import concatenated
from .data import Table
from .kinds import alone, kind_of
from .regimes import Spread, regimes, scaled_by_band, widening
from .seen import origins
from .stages import FOLDS, ROWS_GENERAL, ROWS_LEFT_OUT, TABLES, few, left_out, without, without_fold, without_largest
from .unseen import Case, unseen

BEYOND = 0.9  # of the largest calls


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """Rows, and the networks that tell how far errors go on them: which one of each row, and if it is new to that."""

    data: Table
    networks: tuple[Network, ...]
    by: np.ndarray  # (rows,) index of the network
    is_new: np.ndarray

    @classmethod
    def of(cls, part: str, data: Table, networks: Mapping[str, Network]) -> Judged:
        """By the network of a format that knows GPUs; where shapes are few by those that miss the shape."""
        folds = [(i, others) for i, others in data.folds(FOLDS) if without_fold(part, i) in networks]
        by = np.zeros(len(data), dtype=np.intp)
        if not folds:
            return cls(data=data, networks=(networks[f"{part}.{KNOWN}"],), by=by, is_new=data.held_out)
        for place, (_, others) in enumerate(folds):
            by[~others] = place
        found = tuple(networks[without_fold(part, i)] for i, _ in folds)
        return cls(data=data, networks=found, by=by, is_new=np.ones(len(data), dtype=bool))

    def by_network(self) -> Iterator[tuple[Network, np.ndarray]]:
        """(network, mask of its rows)."""
        for place, network in enumerate(self.networks):
            yield network, self.by == place


def cards(
    part: str, data: Table, networks: Mapping[str, Network], spreads: Spreads, seed: int
) -> Iterator[NetworkCard]:
    known, general = networks[f"{part}.{KNOWN}"], networks.get(f"{part}.{GENERAL}")
    judged = Judged.of(part, data, networks)
    rows = len(data) if judged.is_new.all() else int((~data.held_out).sum())
    card = _card(part, KNOWN, known, rows, _scores_of(judged, known=True), spreads.regimes(part))
    yield msgspec.structs.replace(card, beyond=_beyond(data, networks.get(without_largest(part))))
    if general is None:
        return
    cases = [_case(data, gpus, networks[without(part, gpus)], seed) for gpus in left_out(set(data.gpu))]
    found = unseen(part, cases)
    most = min(rows, ROWS_GENERAL * len([group for group in known.groups if "*" not in group]))
    scores = _scores_of(_alone(general, data), known=False)
    card = _card(part, GENERAL, general, most, scores, found.regimes)
    yield msgspec.structs.replace(card, left_out=found.left_out, alone=alone(data))


def _beyond(data: Table, smaller: Network | None) -> float:
    """|log(measured / predicted)| of nine in ten of the largest calls, by the network that misses them; 0 without one.

    Without a sign: how errors go on depends on the GPU, and on calls larger by far nobody knows it.
    """
    if smaller is None:
        return 0.0
    return round(float(np.quantile(np.abs(errors(smaller, data.take(data.largest), known=True)[1]), BEYOND)), 5)


def tables_card(part: str, data: Table, network: Network, spreads: Spreads) -> NetworkCard:
    rows, scores = int((~data.held_out).sum()), _scores_of(_alone(network, data), known=True)
    card = _card(part, KNOWN, network, rows, scores, spreads.regimes(part))
    return msgspec.structs.replace(card, name=f"{part}.{TABLES}", widening=widening(spreads.by_part[part]))


def _alone(network: Network, data: Table) -> Judged:
    """Rows that one network tells of, which was fitted to all that are not held out."""
    return Judged(data=data, networks=(network,), by=np.zeros(len(data), dtype=np.intp), is_new=data.held_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spreads:
    """The errors of every group of the networks that know GPUs, by format."""

    by_part: Mapping[str, Mapping[str, Spread]]

    @classmethod
    def of(cls, judged: Mapping[str, Judged]) -> Spreads:
        return cls(by_part={part: _spreads(own) for part, own in judged.items()})

    @classmethod
    def of_tables(cls, tables: Mapping[str, Table], networks: Mapping[str, Network]) -> Spreads:
        return cls.of({part: _alone(networks[part], data) for part, data in tables.items()})

    def regimes(self, part: str) -> dict[str, tuple[Regime, ...]]:
        """Of one format; its ends are drawn towards those of all."""
        everywhere = np.concatenate([scaled_by_band(groups) for groups in self.by_part.values()])
        return regimes(part, self.by_part[part], everywhere)


def _spreads(judged: Judged) -> dict[str, Spread]:
    """The errors of every group of rows, those of the middle of several engines included."""
    found: dict[str, list[Spread]] = {}
    for network, mask in judged.by_network():
        for name, index in origins(judged.data, known=True).rows_of.items():
            rows = judged.data.take(own := index[mask[index]])
            if len(own) and name in network.groups:
                correction = network.correction(rows.logs, network.groups.index(name))
                time_s, apart = rows.base_s * np.exp(correction), rows.target - correction
                spread = Spread(time_s=time_s, apart=apart, held_out=judged.is_new[own], shape=rows.shape)
                found.setdefault(name, []).append(spread)
    return {name: Spread(**concatenated(parts)) for name, parts in found.items()}


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
