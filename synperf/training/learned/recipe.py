"""The hybrid model as a recipe, so that it stands beside the baselines on equal rows, and its ablations.

A recipe trains a network for every format; the general one where rows of GPUs that it never saw are to be predicted.
"""

from __future__ import annotations

import numpy as np

from ...estimators.network import Network
from ...measurements import Rows
from ..recipe import Devices, Predictor, Recipe, by_part
from .data import some_of_each, table
from .fit import fit
from .judged import errors
from .settings import Settings
from .stages import ROWS_GENERAL


def hybrid(
    name: str = "hybrid", *, known: bool = True, without: tuple[str, ...] = (), settings: Settings | None = None
) -> Recipe:
    """The network that is shipped; `without` leaves out inputs: `math`, `memory`."""
    summary = "launch floor + roofline times a network's correction" + "".join(f", without {w} inputs" for w in without)

    def fitted(rows: Rows, devices: Devices, seed: int) -> Predictor:
        networks: dict[str, Network] = {}
        for part, index in by_part(rows):
            data = table(rows.take(index), devices, without)
            networks[part] = fit(data, settings or Settings.for_rows(len(data), str(rows.family[0])), seed, known=known)
        return lambda asked, seen: _predict(networks, known, without, asked, seen)

    return Recipe(name=name, summary=summary, fit=fitted)


def shipped(name: str) -> Recipe:
    """All that is shipped: the network that knows the GPUs of the rows, and for any other the one that knows none."""
    known, general = hybrid(name), hybrid(name, known=False)

    def fitted(rows: Rows, devices: Devices, seed: int) -> Predictor:
        own = known.fit(rows, devices, seed)
        others = general.fit(rows.take(some_of_each(rows, ROWS_GENERAL, seed)), devices, seed)

        def predict(asked: Rows, seen: Devices) -> np.ndarray:
            time_s = own(asked, seen)
            unknown = np.flatnonzero(np.isnan(time_s))
            if len(unknown):
                time_s[unknown] = others(asked.take(unknown), seen)
            return time_s

        return predict

    return Recipe(name=name, summary=f"{known.summary}, of GPUs without rows that of one that knows none", fit=fitted)


def base_alone() -> Recipe:
    """What is left without the network: launch floor + roofline at sustained rates."""

    def fitted(rows: Rows, devices: Devices, seed: int) -> Predictor:  # noqa: ARG001
        return _base

    return Recipe(
        name="no_network", summary="launch floor + roofline at sustained rates, without a network", fit=fitted
    )


def _base(rows: Rows, devices: Devices) -> np.ndarray:
    found = table(rows, devices)
    time_s = np.empty(len(rows))
    time_s[found.place] = found.base_s
    return time_s


def _predict(
    networks: dict[str, Network], known: bool, without: tuple[str, ...], rows: Rows, devices: Devices
) -> np.ndarray:
    time_s = np.empty(len(rows))
    for part, index in by_part(rows):
        data = table(rows.take(index), devices, without)
        time_s[index[data.place]] = errors(networks[part], data, known=known)[0]
    return time_s
