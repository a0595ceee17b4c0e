"""What the card says of trained networks: their errors on held-out rows, and the intervals that come of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from ...estimators.nearness import Nearness
from ...estimators.network import Network
from ...estimators.weights import GENERAL, KNOWN, MoreShapes, NetworkCard, Regime
from ...evaluation.metrics import Errors
from ...numeric import concatenated
from .data import Table
from .judged import Judged, errors
from .kinds import alone, kind_of
from .nearness import leveled, nearness
from .regimes import Spread, beyond, regimes, scaled_by_band, widening
from .seen import origins
from .stages import ROWS_GENERAL, ROWS_LEFT_OUT, TABLES, few, fitted_to, left_out, without
from .unseen import Case, unseen

More = Callable[[Mapping[str, Nearness]], Mapping[str, MoreShapes]]  # what one more shape comes to, by format


def cards(
    part: str, data: Table, networks: Mapping[str, Network], spreads: Spreads, num_shapes: int, seed: int
) -> Iterator[NetworkCard]:
    known, general = networks[f"{part}.{KNOWN}"], networks.get(f"{part}.{GENERAL}")
    judged, rows = Judged.of(part, data, networks, num_shapes), len(fitted_to(data, num_shapes))
    card = _card(part, KNOWN, known, rows, _scores_of(judged, known=True), spreads.regimes(part))
    yield msgspec.structs.replace(
        card,
        beyond=spreads.beyond[part],
        nearness=spreads.nearness.get(part),
        more_shapes=spreads.more_shapes.get(part),
    )
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

    by_part: Mapping[str, Mapping[str, Spread]]  # of calls inside the measured range, on shapes as far as usual
    beyond: Mapping[str, float]  # by format, of `regimes.beyond`
    nearness: Mapping[str, Nearness]  # by format, where errors grow with the distance to measured shapes
    more_shapes: Mapping[str, MoreShapes]  # by format of very few shapes, where errors fall with their number

    @classmethod
    def of(
        cls, judged: Mapping[str, Sequence[Judged]], shapes: Mapping[str, np.ndarray], more: More = lambda _: {}
    ) -> Spreads:
        """`shapes` (shapes, fields) are those that the network which answers has seen."""
        raw = {part: _spreads(own) for part, own in judged.items()}
        near = nearness({part: _inside(groups) for part, groups in raw.items()}, shapes)
        told = more(near)
        raw |= {part: _times(raw[part], own.share) for part, own in told.items()}
        every = {part: leveled(groups, near.get(part)) for part, groups in raw.items()}
        inside = {part: _inside(groups) for part, groups in every.items()}
        return cls(by_part=inside, beyond=beyond(every), nearness=near, more_shapes=told)

    @classmethod
    def of_tables(cls, tables: Mapping[str, Table], networks: Mapping[str, Network]) -> Spreads:
        return cls.of({part: [Judged.of_one(networks[part], data)] for part, data in tables.items()}, {})

    def regimes(self, part: str) -> dict[str, tuple[Regime, ...]]:
        """Of one format; its ends are drawn towards those of all."""
        everywhere = np.concatenate([scaled_by_band(groups) for groups in self.by_part.values()])
        return regimes(part, self.by_part[part], everywhere)


def _times(groups: Mapping[str, Spread], share: float) -> dict[str, Spread]:
    return {name: replace(s, apart=share * s.apart) for name, s in groups.items()}


def _inside(groups: Mapping[str, Spread]) -> dict[str, Spread]:
    return {name: s.inside for name, s in groups.items()}


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
        apart=(rows.target - correction) * judged.share,
        held_out=judged.is_new[own],
        shape=rows.shape,
        outside=judged.parted & np.any(network.outside(rows.logs, group), axis=1),
        octaves=judged.octaves[own],
        wider=np.ones(len(own)),
    )


def _case(data: Table, gpus: tuple[str, ...], network: Network, seed: int) -> Case:
    """What a network that was trained without the GPUs makes of their rows."""
    away = np.isin(data.gpu.astype(str), gpus)
    rows = data.take(few(data, away, ROWS_LEFT_OUT, seed))
    time_s, apart = errors(network, rows, known=False)
    middle = rows.target - network.correction(rows.logs, network.groups.index("*"))
    kins, own = ({kind_of(key) for key in set(data.gpu[which])} for which in (~away, away))
    return Case(name=" ".join(gpus), has_kin=own <= kins, time_s=time_s, apart=apart, middle=middle)


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
