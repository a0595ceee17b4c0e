"""The network that knows no GPU, trained within an evaluation; it answers, and is corrected, as shipped weights are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..errors import FieldError, MissingExtraError, UnsupportedError
from ..estimators import learned
from ..estimators.inputs import VERSION as INPUTS_VERSION
from ..estimators.network import Network
from ..estimators.weights import FORMAT, GENERAL, Card, NetworkCard, Regime, Weights
from ..kernels import family
from ..measurements import Rows
from ..training.calibrate import CalibrationFit, fit_calibration
from ..training.recipe import Devices, Predictor, Recipe, by_launch, by_part
from ..version import VERSION

_NO_INTERVAL = (Regime(name="not fitted: times alone are scored", up_to_s=1e30, rows=0, low=0.0, high=0.0),)


@runtime_checkable
class Correctable(Protocol):
    """A predictor that few rows of a GPU can correct."""

    def corrected(self, rows: Rows, devices: Devices, seed: int) -> Predictor:
        """The predictor with what the rows say of their GPUs."""
        ...


def correctable(predictor: object) -> Correctable | None:
    """The predictor, if few rows can correct it."""
    return predictor if isinstance(predictor, Correctable) else None


@dataclass(frozen=True, slots=True, eq=False)
class General:
    """Weights of general networks alone, as a predictor."""

    weights: Weights

    def __call__(self, rows: Rows, devices: Devices) -> np.ndarray:
        """Seconds, one per row."""
        found = np.empty(len(rows))
        for index, call, gpu, part in by_launch(rows, devices):
            try:
                found[index] = learned.estimate(family(part.family[0]), call, gpu, self.weights).time_s
            except UnsupportedError as wrong:
                raise _without_network(part, wrong) from None
        return found

    def corrected(self, rows: Rows, devices: Devices, seed: int) -> Predictor:
        """The estimate with a calibration of every GPU among the rows, where `synperf calibrate` makes one of them."""
        fits, kept = {}, {}
        for (key,), part in rows.groups("gpu"):
            try:
                fits[key] = fit_calibration(part, devices[key], self.weights, seed)
            except (FieldError, UnsupportedError) as why:  # too few rows, or such as say what no GPU can be
                kept[key] = str(why)
        return Corrected(self, fits, kept)


@dataclass(frozen=True, slots=True, eq=False)
class Corrected:
    """General weights with calibrations by GPU; `kept` says why some GPUs have none, and stay as they were."""

    general: General
    fits: Mapping[str, CalibrationFit]
    kept: Mapping[str, str]

    def __call__(self, rows: Rows, devices: Devices) -> np.ndarray:
        """Seconds, one per row."""
        found = np.empty(len(rows))
        for (key,), index in rows.indices("gpu"):
            part = rows.take(index)
            found[index] = self.fits[key].predict(part) if key in self.fits else self.general(part, devices)
        return found


def kept(predictor: object) -> Mapping[str, str]:
    """Why a corrected predictor is not corrected on some GPUs, by GPU."""
    return predictor.kept if isinstance(predictor, Corrected) else {}


def _without_network(rows: Rows, wrong: UnsupportedError) -> UnsupportedError:
    """Of rows of one GPU, engine, kernel and format for which the fitted networks have no answer."""
    why = str(wrong).removeprefix("origin: ").partition("; right would be")[0]
    what = f"{rows.engine[0]}.{rows.kernel[0]} in {rows.fields['dtype'][0]} on {rows.gpu[0]}"
    return UnsupportedError(
        f"recipe: {GENERAL} has no answer for {what} ({why}); right would be --recipe no_network, or --gpu NAME "
        f"of the others"
    )


def general(settings: Any = None, name: str = GENERAL) -> Recipe:
    """The recipe of the shipped general network; `settings` as `synperf.training.learned.settings.Settings`."""
    data, training, settings_of = _needing("data"), _needing("fit"), _needing("settings").Settings.for_rows

    def fit(rows: Rows, devices: Devices, seed: int) -> Predictor:
        cards, networks = [], []
        for part, index in by_part(rows):
            table = data.table(rows.take(index), devices)
            chosen = settings or settings_of(len(table), str(rows.family[0]))
            networks.append(training.fit(table, chosen, seed, known=False))
            cards.append(_card(part, networks[-1], len(table), _needing("kinds").alone(table)))
        return General(_weights(str(rows.family[0]), seed, cards, networks))

    return Recipe(
        name=name, summary="launch floor + roofline times the correction of a network that knows no GPU", fit=fit
    )


def _card(part: str, network: Network, rows: int, alone: Mapping[str, str]) -> NetworkCard:
    dtype, _, variant = part.partition(".")
    return NetworkCard(
        name=f"{part}.{GENERAL}", scope=GENERAL, dtypes=(dtype,), variant=variant, inputs=network.inputs,
        groups=network.groups, num_layers=len(network.weights), rows=rows, held_out={}, regimes={"": _NO_INTERVAL},
        alone=dict(alone),
    )  # fmt: skip


def _weights(family: str, seed: int, cards: list[NetworkCard], networks: list[Network]) -> Weights:
    """Weights that are in no file."""
    card = Card(
        format=FORMAT, inputs_version=INPUTS_VERSION, family=family, sha256="", synperf=VERSION, seed=seed,
        command="", date="", training_s=0.0, split="", sources={}, networks=tuple(cards),
    )  # fmt: skip
    return Weights(card, tuple(networks))


def _needing(module: str) -> Any:
    """A module of the training, which needs torch."""
    try:
        return import_module(f"synperf.training.learned.{module}")
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of("training", "train") from missing
