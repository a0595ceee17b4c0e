"""Makes the weights of a family: for every format a network that knows the measured GPUs and one that knows none.

The intervals of the second come from networks that were trained without the GPU they are tried on, twins out
together. Every network is a stage of its own: its state is kept in the work folder, so that a later run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from time import monotonic

import msgspec
import numpy as np
from safetensors.numpy import save

from ...estimators.inputs import VERSION as INPUTS_VERSION
from ...estimators.network import Network
from ...estimators.weights import FORMAT, GENERAL, KNOWN, Card, NetworkCard, Regime, tensors
from ...evaluation.metrics import Errors
from ...measurements import Rows
from ...tables.outfile import replacing
from ...version import VERSION
from ..recipe import Devices
from .data import Table, table
from .fit import Settings, fit, origins
from .regimes import by_group, regimes

TWINS = (("h100_sxm", "h200_sxm", "h800"), ("b200_sxm", "gb200"), ("b300_sxm", "gb300"))
ROWS_GENERAL = 8000  # of every GPU, engine and kernel, for the network that knows no GPU: more do not help it
ROWS_LEFT_OUT = 2000  # for those that only measure what unseen GPUs cost
SPLIT = "rows of the published split's test shapes are not among them; one in ten of the other n x k is held out"
Progress = Callable[[str, int, int], None]  # (stage, epochs done, of all)


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """How the weights are trained: a seed, where stages keep their state, and who is told."""

    seed: int = 42
    work: Path | None = None
    resume: bool = False
    progress: Progress | None = None
    settings: Settings | None = None  # as the number of rows suggests, where none are given

    def network(self, name: str, rows: Table, *, known: bool) -> Network:
        """One stage."""
        state = None if self.work is None else self.work / f"{name}.state"
        if state is not None and not self.resume:
            state.unlink(missing_ok=True)
        told = self.progress
        return fit(
            rows, self.settings or Settings.for_rows(len(rows)), self.seed, known=known, state=state,
            progress=None if told is None else lambda done, total: told(name, done, total),
        )  # fmt: skip


def train(rows: Rows, devices: Devices, training: Training, command: str) -> tuple[Card, dict[str, np.ndarray]]:
    """The card and the arrays of the weights for these rows, of which test rows and biased ones are left out."""
    began = monotonic()
    rows = rows.take(~(rows.is_test | rows.biased))
    cards, arrays = [], {}
    for (dtype,), part in rows.groups("dtype"):
        data = table(part, devices)
        for card, network in _networks(dtype, data, training):
            cards.append(card)
            arrays |= tensors(card.name, network)
    card = Card(
        format=FORMAT,
        inputs_version=INPUTS_VERSION,
        family=str(rows.family[0]),
        sha256=sha256(save(arrays)).hexdigest(),
        synperf=VERSION,
        seed=training.seed,
        command=command,
        date=datetime.now(UTC).date().isoformat(),
        training_s=round(monotonic() - began, 1),
        split=SPLIT,
        sources=_sources(rows),
        networks=tuple(cards),
    )
    return card, arrays


def write(path: Path, card: Card, arrays: Mapping[str, np.ndarray]) -> None:
    """The weights and the card beside them; the card comes last, so that an old one never stands beside new weights."""
    card_path = path.with_suffix(".json")
    with replacing("out", path) as part, replacing("out", card_path) as card_part:
        part.write_bytes(save(dict(arrays)))
        card_part.write_bytes(msgspec.json.format(msgspec.json.encode(card), indent=1))
        with suppress(FileNotFoundError):
            card_path.unlink()


def _sources(rows: Rows) -> dict[str, int]:
    """Training rows by engine and version, as measured."""
    return {f"{engine} {version}": len(part) for (engine, version), part in rows.groups("engine", "version")}


def _networks(dtype: str, data: Table, training: Training) -> Iterator[tuple[NetworkCard, Network]]:
    fitted, kept = data.take(~data.held_out), data.take(data.held_out)
    network = training.network(f"{dtype}.{KNOWN}", fitted, known=True)
    time_s, apart = errors(network, kept, known=True)
    own = by_group(origins(kept, known=True).rows_of, time_s, apart)
    pooled = regimes(dtype, time_s, apart) or _all(dtype, apart)
    yield _card(dtype, KNOWN, network, len(fitted), _scores(kept, apart), own | {"": pooled}), network
    if len(set(data.gpu)) < 2:
        return  # one GPU says nothing about others
    fitted = fitted.take(_few(fitted, np.ones(len(fitted), dtype=bool), ROWS_GENERAL, training.seed))
    network = training.network(f"{dtype}.{GENERAL}", fitted, known=False)
    parts = [_left_out(dtype, data, gpus, training) for gpus in left_out(set(data.gpu))]
    time_s, apart, middle = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    unseen = regimes(f"{dtype} on an unseen GPU", time_s, apart) or _all(dtype, apart)
    nobody = regimes(f"{dtype}, a kernel that nobody measured", time_s, middle) or _all(dtype, middle)
    _, own_apart = errors(network, kept, known=False)
    scores = _scores(kept, own_apart)
    yield _card(dtype, GENERAL, network, len(fitted), scores, {"": unseen, "*": nobody}), network


def left_out(gpus: set[str]) -> list[tuple[str, ...]]:
    """Which GPUs are left out together: twins, and every other one alone; never all of them."""
    twins = [tuple(sorted(gpus & set(pair))) for pair in TWINS]
    alone = [(gpu,) for gpu in sorted(gpus - {gpu for pair in TWINS for gpu in pair})]
    found = [pair for pair in (*twins, *alone) if pair]
    return found if len(found) > 1 else [(gpu,) for gpu in sorted(gpus)]


def _left_out(
    dtype: str, data: Table, gpus: tuple[str, ...], training: Training
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(predicted time, log(measured / predicted), the same by the middle of all kernels) of GPUs left out."""
    away = np.isin(data.gpu.astype(str), gpus)
    some = data.take(_few(data, ~away, ROWS_LEFT_OUT, training.seed))
    network = training.network(f"{dtype}.without_{'_'.join(gpus)}", some, known=False)
    tried = data.take(_few(data, away, ROWS_LEFT_OUT, training.seed))
    time_s, apart = errors(network, tried, known=False)
    at = network.groups.index("*")
    middle = tried.target - network.correction(tried.logs, at)
    return time_s, apart, middle


def _few(data: Table, chosen: np.ndarray, most: int, seed: int) -> np.ndarray:
    """Indices of at most `most` of the chosen rows of every GPU, engine and kernel."""
    draw = np.random.default_rng(seed)
    label = np.char.add(np.char.add(data.gpu.astype(str), data.engine.astype(str)), data.kernel.astype(str))
    found = []
    for name in np.unique(label[chosen]):
        rows = np.flatnonzero(chosen & (label == name))
        found.append(rows if len(rows) <= most else draw.choice(rows, most, replace=False))
    return np.concatenate(found)


def errors(network: Network, rows: Table, *, known: bool) -> tuple[np.ndarray, np.ndarray]:
    """(predicted time, log(measured / predicted)) of every row, each by its own group, else by the middle of all."""
    correction = np.zeros(len(rows))
    for name, index in origins(rows, known).rows_of.items():
        if "*" in name:
            continue
        kernel = name.rpartition(".")[2]
        group = next(g for g in (name, f"*.{kernel}", "*") if g in network.groups)
        correction[index] = network.correction(rows.logs[index], network.groups.index(group))
    return rows.base_s * np.exp(correction), rows.target - correction


def _scores(rows: Table, apart: np.ndarray) -> dict[str, dict[str, float]]:
    """Errors on the held-out rows of every GPU, and of all."""
    found = {}
    for gpu in (*sorted(set(rows.gpu)), "all"):
        own = np.exp(-apart[(rows.gpu == gpu) | (gpu == "all")])
        e = Errors.of(own, np.ones_like(own))
        found[gpu] = {"rows": len(own), "mape": e.mape, "median": e.median, "p90": e.p90}
    return {gpu: {name: round(value, 5) for name, value in score.items()} for gpu, score in found.items()}


def _all(name: str, apart: np.ndarray) -> tuple[Regime, ...]:
    """One regime of too few rows, which is better than none."""
    low, high = np.quantile(apart, (0.1, 0.9))
    return (Regime(name=f"{name}: all", up_to_s=1e30, rows=len(apart), low=float(low), high=float(high)),)


def _card(
    dtype: str, scope: str, network: Network, rows: int, scores: dict[str, dict[str, float]],
    found: dict[str, tuple[Regime, ...]],
) -> NetworkCard:  # fmt: skip
    return NetworkCard(
        name=f"{dtype}.{scope}", scope=scope, dtypes=(dtype,), inputs=network.inputs, groups=network.groups,
        num_layers=len(network.weights), rows=rows, held_out=scores, regimes=found,
    )  # fmt: skip
