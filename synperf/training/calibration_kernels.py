"""Which kernels of a family weights answer for on a GPU: what is right where the kernel of the rows has none."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import PerfError
from ..estimators import learned
from ..estimators.learned import STAND_IN
from ..estimators.weights import Weights
from ..hardware import GPU, DType
from ..kernels.dispatch import PLAIN, resolve
from ..measurements import Rows
from .calibration_rows import launches


def formats(weights: Weights) -> list[str]:
    """Formats that some network is of."""
    return sorted({str(dtype) for card in weights.card.networks for dtype in card.dtypes})


def has_format(rows: Rows, weights: Weights) -> bool:
    """Whether some network is of a format of the rows, or of one that stands in for it."""
    own = {DType(name) for name in rows.fields["dtype"].astype(str).tolist()}
    return not {STAND_IN.get(dtype, dtype) for dtype in own}.union(own).isdisjoint(map(DType, formats(weights)))


def answered(rows: Rows, gpu: GPU, weights: Weights) -> list[str]:
    """Names of kernels that weights would answer for on the GPU, were the rows of them."""
    return sorted(
        {
            kernel
            for _, kind, call in launches(rows)
            for engine, kernel in _labels(weights)
            if _runs(kind.name, call.dtype, gpu, engine, kernel)
            and learned.choose(weights, _of(learned.wanted(kind, call, gpu), engine, kernel)) is not None
        }
    )


def _of(want: learned.Wanted, engine: str, kernel: str) -> learned.Wanted:
    return learned.of_any_balance(want)._replace(engine=engine, kernel=kernel, measured_as="")


def _labels(weights: Weights) -> Iterator[tuple[str, str]]:
    """(engine, kernel) of what networks know; groups are named `gpu.engine.kernel` and `engine.kernel`."""
    for group in {group for card in weights.card.networks for group in card.groups}:
        *_, engine, kernel = ("*", *group.split("."))
        if engine not in ("*", PLAIN):
            yield engine, kernel


def _runs(family: str, dtype: DType, gpu: GPU, engine: str, kernel: str) -> bool:
    """Whether a call may name that engine and kernel there."""
    try:
        resolve(family, dtype, gpu.compute_capability, engine, kernel)
    except PerfError:
        return False
    return True
