"""What the card says of trained networks: their errors on held-out rows, and the intervals that come of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec
import numpy as np

from ... import hardware
from ...estimators.network import Network
from ...estimators.weights import GENERAL, KNOWN, NetworkCard, Regime
from ...evaluation.metrics import Errors
from ...hardware.twins import kin
from .data import Table
from .fit import origins
from .regimes import Spread, regimes, scaled, widening
from .stages import HELD, ROWS_GENERAL, ROWS_LEFT_OUT, TABLES, few, left_out, without
from .unseen import Case, unseen


def cards(
    part: str, data: Table, networks: Mapping[str, Network], spreads: Spreads, seed: int
) -> Iterator[NetworkCard]:
    known, general = networks[f"{part}.{KNOWN}"], networks.get(f"{part}.{GENERAL}")
    held = networks.get(f"{part}.{HELD}")
    rows = len(data) if held is not None else int((~data.held_out).sum())
    card = _card(part, KNOWN, held or known, rows, data, spreads.regimes(part))
    yield msgspec.structs.replace(card, groups=known.groups)
    if general is None:
        return
    cases = [_case(data, gpus, networks[without(part, gpus)], seed) for gpus in left_out(set(data.gpu))]
    found = unseen(part, cases)
    most = min(rows, ROWS_GENERAL * len([group for group in known.groups if "*" not in group]))
    card = _card(part, GENERAL, general, most, data, found.regimes)
    yield msgspec.structs.replace(card, left_out=found.left_out)


def tables_card(part: str, data: Table, network: Network, spreads: Spreads) -> NetworkCard:
    card = _card(part, KNOWN, network, int((~data.held_out).sum()), data, spreads.regimes(part))
    return msgspec.structs.replace(card, name=f"{part}.{TABLES}", widening=widening(spreads.by_part[part]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spreads:
    """The errors of every group of the networks that know GPUs, by format."""

    by_part: Mapping[str, Mapping[str, Spread]]

    @classmethod
    def of(cls, tables: Mapping[str, Table], networks: Mapping[str, Network]) -> Spreads:
        return cls(by_part={part: _spreads(networks[part], data) for part, data in tables.items()})

    def regimes(self, part: str) -> dict[str, tuple[Regime, ...]]:
        """Of one format; one of few rows has the ends of all."""
        everywhere = np.concatenate([scaled(groups) for groups in self.by_part.values()])
        return regimes(part, self.by_part[part], everywhere)


def _spreads(network: Network, data: Table) -> dict[str, Spread]:
    """The errors of every group of a network, those of the middle of several engines included."""
    found = {}
    for name, index in origins(data, known=True).rows_of.items():
        if name not in network.groups:
            continue
        correction = network.correction(data.logs[index], network.groups.index(name))
        time_s, apart = data.base_s[index] * np.exp(correction), data.target[index] - correction
        found[name] = Spread(time_s=time_s, apart=apart, held_out=data.held_out[index])
    return found


def _case(data: Table, gpus: tuple[str, ...], network: Network, seed: int) -> Case:
    """What a network that was trained without the GPUs makes of their rows."""
    away = np.isin(data.gpu.astype(str), gpus)
    rows = data.take(few(data, away, ROWS_LEFT_OUT, seed))
    time_s, apart = errors(network, rows, known=False)
    middle = rows.target - network.correction(rows.logs, network.groups.index("*"))
    kins, own = ({kin(hardware.gpu(key).compute_capability) for key in set(data.gpu[which])} for which in (~away, away))
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


def _scores(rows: Table, apart: np.ndarray) -> dict[str, dict[str, float]]:
    """Errors on the held-out rows of every GPU, and of all."""
    found, known = {}, np.isfinite(apart)
    for gpu in (*sorted(set(rows.gpu[known])), "all"):
        own = np.exp(-apart[known & ((rows.gpu == gpu) | (gpu == "all"))])
        if len(own):
            e = Errors.of(own, np.ones_like(own))
            found[gpu] = {"rows": len(own), "mape": e.mape, "median": e.median, "p90": e.p90}
    return {gpu: _plain(score) for gpu, score in found.items()}


def _plain(score: Mapping[str, float]) -> dict[str, float]:
    """As JSON gives it back: every figure a float."""
    return {name: round(float(value), 5) for name, value in score.items()}


def _card(
    part: str, scope: str, network: Network, rows: int, data: Table, found: dict[str, tuple[Regime, ...]]
) -> NetworkCard:
    kept, (dtype, _, variant) = data.take(data.held_out), part.partition(".")
    return NetworkCard(
        name=f"{part}.{scope}",
        scope=scope,
        dtypes=(dtype,),
        variant=variant,
        inputs=network.inputs,
        groups=network.groups,
        num_layers=len(network.weights),
        rows=rows,
        held_out=_scores(kept, errors(network, kept, known=scope == KNOWN)[1]) if len(kept) else {},
        regimes=found,
    )
