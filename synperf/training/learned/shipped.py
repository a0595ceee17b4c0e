"""Makes the weights of a family; the state of every network is kept in a work folder, so that a later run goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from time import monotonic

import msgspec
import numpy as np

from ...errors import FieldError
from ...estimators.inputs import VERSION as INPUTS_VERSION
from ...estimators.network import Network
from ...estimators.shapes import AXES
from ...estimators.weights import FORMAT, Card, NetworkCard, of_tables, serialize, tensors
from ...kernels import family as family_named
from ...measurements import Rows
from ...tables.outfile import replacing
from ...version import VERSION
from ..recipe import Devices, by_part
from ..shapes import shapes
from .cards import Spreads, cards, tables_card
from .course import other_training, require_same
from .data import HELD_OUT, Table, some_of_each, table
from .fit import fit, marks
from .judged import Judged
from .more_rows import fall
from .more_shapes import more_shapes, stages_of_shapes, told_by
from .settings import Settings
from .stages import TABLES, Stage, fitted_to, stages

SPLIT = "rows of the published split's test shapes are not among them; one in ten of the other n x k is held out"
LEAST_SHAPES = 2  # one to fit to, and another that tells the error
Progress = Callable[[str, int, int], None]  # (stage, epochs done, of all)
Made = Mapping[str, tuple[Card, Mapping[str, np.ndarray]]]  # by name of the weights


class Training:
    """How the weights are trained: a seed, where stages keep their state, who is told, and how many run at once.

    `tables`: also a larger network for measured tables, in families that have any. `general`: also one that knows no
    GPU, for those that nobody measured.
    """

    def __init__(
        self, *, seed: int = 42, work: Path | None = None, resume: bool = False, progress: Progress | None = None,
        settings: Settings | None = None, side_by_side: int = 2, tables: bool = True, general: bool = True,
    ) -> None:  # fmt: skip
        self.seed, self.work, self.resume, self.progress = seed, work, resume, progress
        self.settings, self.side_by_side, self.tables, self.general = settings, side_by_side, tables, general
        self._done, self._stopped = 0, Event()

    def networks(self, stages: Sequence[Stage]) -> dict[str, Network]:
        """The network of every stage by its name, the longest trainings first.

        Raises:
            FileFormatError: a state to go on from is damaged, or of another training; nothing is trained then.
        """
        if self.work is not None and self.resume:
            self._check_states(self.work, {stage.name: stage for stage in stages})
        ordered = sorted(stages, key=lambda stage: -len(stage.rows) * self._settings(stage).cost)
        total = sum(self._settings(stage).passes for stage in stages)
        with ThreadPoolExecutor(self.side_by_side) as pool:
            running = {stage.name: pool.submit(self._network, stage, total) for stage in ordered}
            try:
                return {name: future.result() for name, future in running.items()}
            except BaseException:
                self._stopped.set()
                pool.shutdown(cancel_futures=True)
                raise

    def _check_states(self, work: Path, stages: Mapping[str, Stage]) -> None:
        """Checks that every state that is left is one that a stage goes on from."""
        for state in sorted(work.glob("*.state")):
            stage = stages.get(state.stem)
            if stage is None:
                raise other_training(state, "other networks")
            require_same(state, marks(stage.rows, self._settings(stage), self.seed, known=stage.known))

    def _settings(self, stage: Stage) -> Settings:
        return self.settings or stage.settings

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


def at_most(rows: Rows, most: int, seed: int) -> Rows:
    """At most so many of the rows that weights are fitted to, at random, of every GPU, engine, kernel and format."""
    fitted = rows.take(~(rows.is_test | rows.biased))
    return fitted.take(some_of_each(fitted, most, seed)) if len(fitted) else rows


def train(rows: Rows, devices: Devices, training: Training, command: str) -> Made:
    """Cards and arrays of the weights for these rows, of which test rows and biased ones are left out.

    Raises:
        FieldError: no row is left, or of a format all or none are held out.
    """
    began, family = monotonic(), str(rows.family[0])
    rows = rows.take(~(rows.is_test | rows.biased))
    if not len(rows):
        raise FieldError("rows: all are test rows, or were chosen by an error; right would be some that are neither")
    parts = {part: rows.take(index) for part, index in by_part(rows)}
    tables = {part: table(own, devices) for part, own in parts.items()}
    num_shapes = {part: len(shapes(own)[0]) for part, own in parts.items()}
    seed, has_tables = training.seed, len(names(family, tables=training.tables)) > 1
    _check_held_out(tables, num_shapes, " x ".join(family_named(family).shape), has_tables=has_tables)
    every = [
        stage
        for part, data in tables.items()
        for stage in stages(
            family, part, data, seed, num_shapes=num_shapes[part], tables=has_tables, general=training.general
        )
    ]
    every += [one for part in told_by(num_shapes) for one in stages_of_shapes(family, part, tables[part], seed)]
    networks = training.networks(every)
    spread = _spreads(tables, networks, num_shapes, seed)
    made = {
        family: [
            msgspec.structs.replace(card, varied=_varied(parts[part]))
            for part, data in tables.items()
            for card in cards(part, data, networks, spread, num_shapes[part], seed)
        ]
    }
    if has_tables:
        large = {part: networks[f"{part}.{TABLES}"] for part in tables}
        spread = Spreads.of_tables(tables, large)
        made[of_tables(family)] = [tables_card(part, data, large[part], spread) for part, data in tables.items()]
    return {
        name: (
            _whole(name, rows, found, began, command, seed),
            {key: array for card in found for key, array in tensors(card.name, networks[card.name]).items()},
        )
        for name, found in made.items()
    }


def _spreads(
    tables: Mapping[str, Table], networks: Mapping[str, Network], num_shapes: Mapping[str, int], seed: int
) -> Spreads:
    """The errors of the networks that know GPUs, as those of the one that answers in each format."""
    falls = fall((part, data, networks, num_shapes[part]) for part, data in tables.items())
    judged = {
        part: [
            Judged.of(part, data, networks, num_shapes[part], falls),
            *Judged.of_largest(part, data, networks),
        ]
        for part, data in tables.items()
    }
    seen = {part: np.unique(fitted_to(data, num_shapes[part]).extents, axis=0) for part, data in tables.items()}
    return Spreads.of(judged, seen, lambda near: more_shapes(tables, networks, num_shapes, near, seed))


def _varied(rows: Rows) -> tuple[str, ...]:
    """Fields that measured calls of the family always have at 1, and that these rows have at other values too."""
    return tuple(name for name in family_named(rows.family[0]).always_one if (rows.fields[name] != 1).any())


def _check_held_out(
    tables: Mapping[str, Table], num_shapes: Mapping[str, int], extents: str, *, has_tables: bool
) -> None:
    """Checks that every part has shapes to fit to and others, which tell how far errors go; those of measured tables
    are the ones that are held out.

    Raises:
        FieldError: it lacks one of them.
    """
    for part, data in tables.items():
        held = int(data.held_out.sum())
        if not data.folds(2):
            why, right = "too few to tell errors on others", f"rows of {LEAST_SHAPES} shapes or more"
        elif held == len(data):
            why, right = f"all kept from the fit, as one shape in {HELD_OUT} is", "rows of more shapes"
        elif held == 0 and has_tables:
            why, right = f"none kept from the fit, as one shape in {HELD_OUT} is", "rows of more shapes, or --only-rows"
        else:
            continue
        count = num_shapes[part]
        shown = f"{count} shape{'s' if count > 1 else ''} ({extents})"
        raise FieldError(f"rows: those of {part} have {shown}, {why}; right would be {right}, or another --dtype")


def _whole(name: str, rows: Rows, cards: list[NetworkCard], began: float, command: str, seed: int) -> Card:
    return Card(
        format=FORMAT,
        inputs_version=INPUTS_VERSION,
        family=name,
        sha256="",
        synperf=VERSION,
        seed=seed,
        command=command,
        date=datetime.now(UTC).date().isoformat(),
        training_s=round(monotonic() - began, 1),
        split=SPLIT,
        sources=_sources(rows),
        networks=tuple(cards),
        plugin=family_named(str(rows.family[0])).digest,
    )


def names(family: str, *, tables: bool) -> tuple[str, ...]:
    """The weights that are made of a family: its own, and with `tables` those of its measured tables if it has any."""
    return (family, *([of_tables(family)] if tables and family in AXES else []))


def paths(path: Path, named: Sequence[str]) -> tuple[Path, ...]:
    """Where weights of these `names` go: `gemm` to `path`, `gemm.tables` beside it."""
    return tuple(path.with_name(f"{path.stem}{name.removeprefix(named[0])}.safetensors") for name in named)


def write(path: Path, made: Made) -> tuple[Path, ...]:
    """The weights and their cards where `paths` says, of which it gives those of the weights.

    A card comes last, so that an old one never stands beside new weights.
    """
    places = paths(path, sorted(made))
    for place, name in zip(places, sorted(made), strict=True):
        card, arrays = made[name]
        card_path = place.with_suffix(".json")
        written, data = serialize(card, dict(arrays))
        with replacing("out", place) as part, replacing("out", card_path) as card_part:
            part.write_bytes(data)
            card_part.write_bytes(msgspec.json.format(msgspec.json.encode(written), indent=1))
            with suppress(FileNotFoundError):
                card_path.unlink()
    return places


def _sources(rows: Rows) -> dict[str, int]:
    """Training rows by engine and version, as measured."""
    return {f"{engine} {version}": len(part) for (engine, version), part in rows.groups("engine", "version")}
