"""The functions of a kernel family, of what a file says."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from ... import hardware
from ...errors import FieldError
from ...hardware import GPU, DType
from ...numeric import Number, ceil_div, is_array, maximum, where
from ...scheduling import Occupancy, TaskGroups, occupancy
from ...scheduling.software import num_workers
from ...units import format_plain
from ..base import Launch
from .call import formats, numbers, truths
from .source import Source
from .tasks import BUSIEST, COUNT, CTA, WORK, Columns, all_of
from .work import COMPULSORY_BYTES, DECOMPOSE, FLOP, Work

SOFTWARE = "SW"
_CTA_NAMES = ("threads_per_cta", "registers_per_thread", "shared_bytes_per_cta")  # of `CTA`, in its order
_ROUNDING = 1 + 1e-9
_HELD = 2  # answers of `decompose` that are kept: for the GPU that is asked about, and for the one of useful work


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Functions:
    """Of one file; `held` are the last answers of `decompose`, which several functions stand on."""

    source: Source
    work: Work
    held: list[tuple[Any, GPU, Columns]] = field(default_factory=list)

    def decompose(self, call: Any, gpu: GPU) -> TaskGroups:
        """The tasks; one FLOP in all stands for none, so that shares of it exist."""
        found = self._tasks(call, gpu)
        work = {name: found[name] for name in WORK}
        has_flop = (found["tensor_flop"] > 0.0) | (found["fma_flop"] > 0.0)
        if not all_of(has_flop):
            work["fma_flop"] = maximum(found["fma_flop"], (1 - has_flop) / found[COUNT])
        return TaskGroups(
            count=found[COUNT],
            port_bytes=found["load_bytes"] + found["store_bytes"],
            ctas_per_sm=self._ctas_per_sm(found, gpu),
            sm_max_tasks=found.get(BUSIEST),
            **work,
        )

    def flop(self, call: Any) -> Number:
        """Useful FLOP, as the file says, else all that the tasks do; one where there are none."""
        found = self._tasks(call, _any_with(call.dtype))
        if self.source.function(FLOP) is not None:
            useful = self.work.total(FLOP, call)
            self._require_done(useful, found[COUNT] * (found["tensor_flop"] + found["fma_flop"]))
            return maximum(useful, 1.0)
        tensor, fma = found["tensor_flop"], found["fma_flop"]
        return maximum(found[COUNT] * where(tensor > 0, tensor, fma), 1.0)

    def _require_done(self, useful: Number, done: Number) -> None:
        """Checks that useful FLOP are among those that the tasks do.

        Raises:
            PluginError: they are more.
        """
        above = useful > maximum(done, 1.0) * _ROUNDING
        if not np.any(above):
            return
        at = int(np.argmax(above))
        told = [format_plain(float(x[at] if is_array(x) else x)) for x in (useful, done)]
        right = "right would be the useful part of what they do"
        raise self.source.wrong(FLOP, f"{FLOP} gives {told[0]}, and all tasks do {told[1]}; {right}")

    def compulsory_bytes(self, call: Any) -> Number:
        """Bytes that any kernel would have to move, as the file says, else all that the tasks load and store."""
        if self.source.function(COMPULSORY_BYTES) is not None:
            return self.work.total(COMPULSORY_BYTES, call)
        found = self._tasks(call, _any_with(call.dtype))
        return found[COUNT] * (found["load_bytes"] + found["store_bytes"])

    def dram_bytes(self, call: Any, gpu: GPU) -> Number:  # noqa: ARG002
        """The compulsory bytes."""
        return self.compulsory_bytes(call)

    def launch(self, call: Any, gpu: GPU) -> Launch:
        """Grid and resources of one call."""
        found = self._tasks(call, gpu)
        held, count = self._occupancy(found, gpu), int(found[COUNT])
        persistent = self.work.policy == SOFTWARE
        threads, registers, shared_bytes = (int(found.get(name, default)) for name, default in CTA.items())
        return Launch(
            tiles=count,
            grid=(int(num_workers(count, gpu.num_sms)) if persistent else count, 1, 1),
            persistent=persistent,
            threads=threads,
            registers=registers,
            shared_bytes=shared_bytes,
            occupancy=held,
            choice={},
            choice_source=f"by {self.source.name}",
        )

    def assumptions(self, call: Any, gpu: GPU) -> tuple[str, ...]:
        """Whose family it is, and what its file leaves out."""
        said = [f"family: of your own, {self.source.name}; no measured rows of it come with synperf"]
        missing = [name for name in (FLOP, COMPULSORY_BYTES) if self.source.function(name) is None]
        if missing:
            said.append(
                f"{' and '.join(missing)}: not in {self.source.name}, so all that its tasks do counts as useful"
            )
        tasks = self._tasks(call, gpu)
        if taken := [f"{name} {value}" for name, value in CTA.items() if value and name not in tasks]:
            said.append(f"occupancy: {', '.join(taken)}, as {self.source.name} gives no other")
        return tuple(said)

    def inputs(self, call: Any, gpu: GPU, base_s: Number, clock_share: float) -> dict[str, Number]:  # noqa: ARG002
        """The fields of the call, each a positive number."""
        kind = type(call)
        found = {name: 1.0 * getattr(call, name) for name in numbers(kind)}
        found |= {name: 2.0 if getattr(call, name) else 1.0 for name in truths(kind)}
        return found | {name: getattr(call, name).bytes for name in formats(kind) if name != "dtype"}

    def _tasks(self, call: Any, gpu: GPU) -> Columns:
        for known, device, columns in self.held:
            if known is call and device is gpu:
                return columns
        found = self.work.tasks(call, gpu)
        if BUSIEST in found:  # of the calls among columns whose tasks are equal, nothing else says it
            even = ceil_div(found[COUNT], gpu.num_sms)
            found[BUSIEST] = np.where(np.isnan(found[BUSIEST]), even, found[BUSIEST])
        self.held[:] = [*self.held[1 - _HELD :], (call, gpu, found)]
        return found

    def _ctas_per_sm(self, found: Columns, gpu: GPU) -> Number:
        columns = [found.get(name, default) for name, default in CTA.items()]
        if not any(isinstance(column, np.ndarray) for column in columns):
            return self._occupancy(found, gpu).ctas_per_sm
        rows = zip(*(column.tolist() for column in np.broadcast_arrays(*columns)), strict=True)
        return np.array([self._occupancy(dict(zip(CTA, row, strict=True)), gpu).ctas_per_sm for row in rows])

    def _occupancy(self, found: Columns, gpu: GPU) -> Occupancy:
        """How many CTAs an SM holds.

        Raises:
            PluginError: not one.
        """
        wanted = tuple(int(found.get(name, default)) for name, default in CTA.items())
        try:
            held = _held(gpu, *wanted)
        except FieldError as wrong:
            raise self.source.wrong(DECOMPOSE, f"decompose: {wrong}") from None
        if not held.ctas_per_sm:
            said = ", ".join(f"{name} {value}" for name, value in zip(CTA, wanted, strict=True))
            raise self.source.wrong(DECOMPOSE, f"decompose: an SM of {gpu.name} cannot hold a CTA with {said}")
        return held


@lru_cache(maxsize=256)
def _held(gpu: GPU, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    return occupancy(gpu, threads, registers, shared_bytes, _CTA_NAMES)


@lru_cache(maxsize=32)
def _any_with(dtype: DType) -> GPU:
    """A GPU that multiplies the format: where useful work is not said, it is that of the tasks there."""
    return next(gpu for gpu in map(hardware.gpu, hardware.keys()) if dtype.activations in gpu.dtypes())
