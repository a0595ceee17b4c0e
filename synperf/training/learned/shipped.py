"""Makes the weights of a family: for every format a network that knows the measured GPUs and one that knows none.

The intervals of the second come from networks that were trained without the GPU they are tried on, twins out
together. Every network is a stage of its own: its state is kept in the work folder, so that a later run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from time import monotonic

import msgspec
import numpy as np

from ...estimators.inputs import VERSION as INPUTS_VERSION
from ...estimators.network import Network
from ...estimators.weights import FORMAT, GENERAL, KNOWN, Card, NetworkCard, Regime, serialize, tensors
from ...evaluation.metrics import Errors
from ...measurements import Rows
from ...tables.outfile import replacing
from ...version import VERSION
from ..recipe import Devices
from .data import Table, table
from .fit import Settings, fit, origins
from .regimes import Spread, regimes

TWINS = (("h100_sxm", "h200_sxm", "h800"), ("b200_sxm", "gb200"), ("b300_sxm", "gb300"))
ROWS_GENERAL = 8000  # of every GPU, engine and kernel, for the network that knows no GPU: more do not help it
ROWS_LEFT_OUT = 1000  # for those that only measure what unseen GPUs cost
SPLIT = "rows of the published split's test shapes are not among them; one in ten of the other n x k is held out"
Progress = Callable[[str, int, int], None]  # (stage, epochs done, of all)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One network to train."""

    name: str
    rows: Table
    known: bool


class Training:
    """How the weights are trained: a seed, where stages keep their state, who is told, and how many run at once."""

    def __init__(
        self, *, seed: int = 42, work: Path | None = None, resume: bool = False, progress: Progress | None = None,
        settings: Settings | None = None, side_by_side: int = 2,
    ) -> None:  # fmt: skip
        self.seed, self.work, self.resume, self.progress = seed, work, resume, progress
        self.settings, self.side_by_side = settings, side_by_side
        self._done, self._stopped = 0, Event()

    def networks(self, stages: Sequence[Stage]) -> dict[str, Network]:
        """The network of every stage by its name, the longest trainings first."""
        ordered = sorted(stages, key=lambda stage: -len(stage.rows) * self._settings(stage).epochs)
        total = sum(self._settings(stage).epochs for stage in stages)
        with ThreadPoolExecutor(self.side_by_side) as pool:
            running = {stage.name: pool.submit(self._network, stage, total) for stage in ordered}
            try:
                return {name: future.result() for name, future in running.items()}
            except BaseException:
                self._stopped.set()
                pool.shutdown(cancel_futures=True)
                raise

    def _settings(self, stage: Stage) -> Settings:
        return self.settings or Settings.for_rows(len(stage.rows))

    def _network(self, stage: Stage, total: int) -> Network:
        state = None if self.work is None else self.work / f"{stage.name}.state"
        if state is not None and not self.resume:
            state.unlink(missing_ok=True)

        def told(_: int, __: int) -> None:
            if self._stopped.is_set():
                raise InterruptedError("another training failed, or was interrupted")
            self._done += 1
            if self.progress is not None:
                self.progress(stage.name, self._done, total)

        return fit(stage.rows, self._settings(stage), self.seed, known=stage.known, state=state, progress=told)


def train(rows: Rows, devices: Devices, training: Training, command: str) -> tuple[Card, dict[str, np.ndarray]]:
    """The card and the arrays of the weights for these rows, of which test rows and biased ones are left out."""
    began = monotonic()
    rows = rows.take(~(rows.is_test | rows.biased))
    tables = {dtype: table(part, devices) for (dtype,), part in rows.groups("dtype")}
    networks = training.networks(
        [stage for dtype, data in tables.items() for stage in _stages(dtype, data, training.seed)]
    )
    cards: list[NetworkCard] = []
    arrays: dict[str, np.ndarray] = {}
    for dtype, data in tables.items():
        for one in _cards(dtype, data, networks, training.seed):
            cards.append(one)
            arrays |= tensors(one.name, networks[one.name])
    card = Card(
        format=FORMAT,
        inputs_version=INPUTS_VERSION,
        family=str(rows.family[0]),
        sha256="",
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
    written, data = serialize(card, dict(arrays))
    with replacing("out", path) as part, replacing("out", card_path) as card_part:
        part.write_bytes(data)
        card_part.write_bytes(msgspec.json.format(msgspec.json.encode(written), indent=1))
        with suppress(FileNotFoundError):
            card_path.unlink()


def _sources(rows: Rows) -> dict[str, int]:
    """Training rows by engine and version, as measured."""
    return {f"{engine} {version}": len(part) for (engine, version), part in rows.groups("engine", "version")}


def _stages(dtype: str, data: Table, seed: int) -> Iterator[Stage]:
    """The known network, and where there are several GPUs the general one and those without some of them."""
    fitted = data.take(~data.held_out)
    yield Stage(name=f"{dtype}.{KNOWN}", rows=fitted, known=True)
    if len(set(data.gpu)) < 2:
        return  # one GPU says nothing about others
    some = fitted.take(_few(fitted, np.ones(len(fitted), dtype=bool), ROWS_GENERAL, seed))
    yield Stage(name=f"{dtype}.{GENERAL}", rows=some, known=False)
    for gpus in left_out(set(data.gpu)):
        others = ~np.isin(data.gpu.astype(str), gpus)
        yield Stage(name=_without(dtype, gpus), rows=data.take(_few(data, others, ROWS_LEFT_OUT, seed)), known=False)


def _without(dtype: str, gpus: tuple[str, ...]) -> str:
    return f"{dtype}.without_{'_'.join(gpus)}"


def _cards(dtype: str, data: Table, networks: Mapping[str, Network], seed: int) -> Iterator[NetworkCard]:
    known, general = networks[f"{dtype}.{KNOWN}"], networks.get(f"{dtype}.{GENERAL}")
    rows = int((~data.held_out).sum())
    yield _card(dtype, KNOWN, known, rows, data, regimes(dtype, _spreads(known, data)))
    if general is None:
        return
    tried = [_tried(data, gpus, networks[_without(dtype, gpus)], seed) for gpus in left_out(set(data.gpu))]
    time_s, apart, middle = (np.concatenate(columns) for columns in zip(*tried, strict=True))
    away = np.ones(len(time_s), dtype=bool)
    unseen = regimes(f"{dtype} on an unseen GPU", {"": Spread(time_s=time_s, apart=apart, held_out=away)})[""]
    name = f"{dtype}, a kernel that nobody measured"
    nobody = regimes(name, {"": Spread(time_s=time_s, apart=middle, held_out=away)})[""]
    few = min(rows, ROWS_GENERAL * len([group for group in known.groups if "*" not in group]))
    yield _card(dtype, GENERAL, general, few, data, {"": unseen, "*": nobody})


def _spreads(network: Network, data: Table) -> dict[str, Spread]:
    """The errors of every group of the network that knows GPUs, those of the middle of several engines included."""
    found = {}
    for name, index in origins(data, known=True).rows_of.items():
        correction = network.correction(data.logs[index], network.groups.index(name))
        time_s, apart = data.base_s[index] * np.exp(correction), data.target[index] - correction
        found[name] = Spread(time_s=time_s, apart=apart, held_out=data.held_out[index])
    return found


def left_out(gpus: set[str]) -> list[tuple[str, ...]]:
    """Which GPUs are left out together: twins, and every other one alone; never all of them."""
    twins = [tuple(sorted(gpus & set(pair))) for pair in TWINS]
    alone = [(gpu,) for gpu in sorted(gpus - {gpu for pair in TWINS for gpu in pair})]
    found = [pair for pair in (*twins, *alone) if pair]
    return found if len(found) > 1 else [(gpu,) for gpu in sorted(gpus)]


def _tried(
    data: Table, gpus: tuple[str, ...], network: Network, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(predicted time, log(measured / predicted), the same by the middle of all kernels) of GPUs left out."""
    away = np.isin(data.gpu.astype(str), gpus)
    tried = data.take(_few(data, away, ROWS_LEFT_OUT, seed))
    time_s, apart = errors(network, tried, known=False)
    middle = tried.target - network.correction(tried.logs, network.groups.index("*"))
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


def _card(
    dtype: str, scope: str, network: Network, rows: int, data: Table, found: dict[str, tuple[Regime, ...]]
) -> NetworkCard:
    kept = data.take(data.held_out)
    return NetworkCard(
        name=f"{dtype}.{scope}",
        scope=scope,
        dtypes=(dtype,),
        inputs=network.inputs,
        groups=network.groups,
        num_layers=len(network.weights),
        rows=rows,
        held_out=_scores(kept, errors(network, kept, known=scope == KNOWN)[1]),
        regimes=found,
    )
