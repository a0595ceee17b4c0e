"""Trains one network: least mean absolute relative error of the time, by AdamW with one cycle of the learning rate.

Source of the recipe: a comparison on the same rows (loss on latency, no sigmoid, ReLU, one-cycle), see docs/learned.md.
"""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import numpy as np

from ...estimators.network import Network
from .course import Course, Progress
from .data import Table
from .seen import Seen
from .settings import Settings
from .shared import resampled

SLACK = 0.0005  # the share of training rows at either end that the output may not go beyond


def fit(
    table: Table, settings: Settings, seed: int, *,
    known: bool, state: Path | None = None, progress: Progress | None = None,
) -> Network:  # fmt: skip
    """A network for the rows of a table; `known` tells GPUs apart. The same seed gives the same weights, bit for bit.

    `state` is a file that holds how far the training has come after every epoch, and that a later call goes on from.
    """
    seen = Seen.of(table, settings.pieces, known=known)
    course = Course(
        [seen.x.shape[1], *settings.hidden, 1], settings, seed, marks(table, settings, seed, known=known)
    )  # fmt: skip
    if state is not None and state.is_file():
        course.take_up(state)
    x, target = resampled(table, seen.x, settings, seed, progress)
    course.run(x, target.astype(np.float32), state, progress)
    return _network(table, seen, course.arrays())


def _network(table: Table, seen: Seen, layers: list[tuple[np.ndarray, np.ndarray]]) -> Network:
    """The layers as the estimator uses them: scaling and origin folded into the first, weights rounded as stored."""
    origin, num_codes = seen.origin, seen.origin.codes.shape[1]
    first, bias = layers[0]
    first = first / seen.scale[:, None]
    plain, codes = first[:-num_codes], first[-num_codes:]
    weights = [plain, *(w for w, _ in layers[1:])]
    offset = seen.center[:-num_codes] @ plain.astype(np.float16).astype(np.float32)
    target, names = table.target, list(origin.groups)
    rows_of = [origin.rows_of[name] for name in names]
    ends = np.array([np.quantile(target[rows], (SLACK, 1 - SLACK)) for rows in rows_of], dtype=np.float32)
    return Network(
        inputs=table.names,
        groups=tuple(names),
        low=seen.low,
        high=seen.high,
        encoded=seen.encoded,
        knots=seen.knots,
        weights=tuple(w.astype(np.float16).astype(np.float32) for w in weights),
        biases=(bias - offset, *(b for _, b in layers[1:])),
        shift=np.stack([origin.groups[name] @ codes for name in names]).astype(np.float32),
        group_low=np.stack([table.logs[rows].min(axis=0) for rows in rows_of]),
        group_high=np.stack([table.logs[rows].max(axis=0) for rows in rows_of]),
        out_low=ends[:, 0],
        out_high=ends[:, 1],
    )


def marks(table: Table, settings: Settings, seed: int, *, known: bool) -> dict[str, str]:
    """What a state notes of its training, and what only a training with the same may go on from."""
    labels = (table.engine, table.kernel, *([table.gpu] if known else []))
    texts = "\n".join(
        [repr((table.names, table.stepped, table.sizes, table.of_gpus)), *("\t".join(label) for label in labels)]
    )
    columns = (texts.encode(), table.logs.tobytes(), table.target.tobytes())
    rows = "".join(f"{crc32(column):08x}" for column in columns)
    return {"settings": repr(settings), "seed": str(seed), "rows": rows}
