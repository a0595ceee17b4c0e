"""Tables on what a trace says of the work itself: operators, launch geometry, memory, causes, the check list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.geometry import Geometry
from ..analysis.operators import Operator
from ..analysis.whole import Analysis
from ..units import format_plain, format_quantity
from .trace_columns import DEVICE, RANK, Column, Table, count, name, share, size, time, words_of

if TYPE_CHECKING:
    from ..analysis.checklist import Check  # the first screen has none of it


def _number(value: float | None) -> str:
    return "" if value is None else format_plain(value)


def _rate(value: float | None) -> str:
    return "" if value is None else format_quantity(value, "FLOP/s")


def _flop(value: int | None) -> str:
    return "" if value is None else format_quantity(value, "FLOP")


def _three(value: tuple[int, int, int]) -> str:
    return " x ".join(map(str, value))


def gpus(found: Analysis) -> Table:
    """The GPUs whose published limits the tables count with."""
    return Table(
        key="gpus",
        title="GPUs",
        columns=(RANK, DEVICE, words_of("GPU"), Column("SMs", count), words_of("taken for"), words_of("not known")),
        rows=tuple((one.rank, one.device, one.key, one.num_sms, one.assumed, one.reason) for one in found.gpus),
        note="By the name in the trace; `synperf gpu NAME` has every limit with its source.",
    )


def operators(found: Analysis) -> Table:
    """Operators by GPU time, with their work where a formula is known."""
    rows = sorted((one for rank in found.operators for one in rank.operators), key=lambda one: -one.gpu_total_ns)
    return Table(
        key="operators",
        title="Operators",
        columns=(
            RANK, name("operator"), name("shapes"), Column("count", count), Column("GPU total", time),
            Column("GPU own", time), Column("host total", time), Column("host own", time), Column("FLOP", _flop),
            Column("bytes", size), Column("FLOP/byte", _number), Column("rate", _rate), words_of("bound by"),
            Column("of roofline", share),
        ),
        rows=tuple(map(_operator, rows)),
        note="FLOP and bytes are of one run, from shapes, where the formula is known. Totals are with what is called."
        " Above 100 % of the roofline, operands came out of L2; copies between host and device have no such roof.",
    )  # fmt: skip


def _operator(one: Operator) -> tuple[object, ...]:
    return (
        one.rank, one.name, one.shapes, one.count, one.gpu_total_ns, one.gpu_own_ns, one.host_total_ns, one.host_own_ns,
        one.flop, one.bytes, one.flop_per_byte, one.flop_per_s, one.bound, one.efficiency,
    )  # fmt: skip


def geometry(found: Analysis) -> Table:
    """Launch geometry of kernels: waves, the last wave, occupancy."""
    rows = sorted(found.geometry, key=lambda one: -one.total_ns)
    return Table(
        key="geometry",
        title="Launch geometry",
        columns=(
            RANK, DEVICE, name("kernel"), words_of("grid", _three), words_of("block", _three),
            Column("registers", count), Column("shared", size), Column("count", count), Column("total", time),
            Column("CTAs per SM", _number), Column("waves", _number), Column("last wave", share),
            Column("occupancy", share), words_of("limited by"),
        ),
        rows=tuple(map(_geometry, rows)),
        note="CTAs per SM are the grid over the SMs; a wave is what fits on all of them at once. Occupancy is the"
        " theoretical one. Kernels without a time have 0.",
    )  # fmt: skip


def _geometry(one: Geometry) -> tuple[object, ...]:
    return (
        one.rank, one.device, one.name, one.grid, one.block, one.registers, one.shared_bytes, one.count, one.total_ns,
        one.blocks_per_sm, one.waves, one.last_wave, one.occupancy, ", ".join(one.limiters),
    )  # fmt: skip


def memory(found: Analysis) -> Table:
    """Peaks of the allocators."""
    rows = [
        (
            one.rank, "host" if one.is_host else str(one.device), one.peak_bytes, one.peak_ns - one.start_ns,
            one.reserved_bytes, one.before_bytes, one.start_bytes, one.end_bytes,
        )
        for one in found.memory
    ]  # fmt: skip
    return Table(
        key="memory",
        title="Memory",
        columns=(
            RANK, words_of("device"), Column("peak", size), Column("at", time), Column("reserved", size),
            Column("from before", size), Column("at the begin", size), Column("at the end", size),
        ),
        rows=tuple(rows),
        note="What the framework's allocator handed out; `at` is from the first change. What was allocated before the"
        " recording counts where the trace has totals, else from 0.",
    )  # fmt: skip


def holders(found: Analysis) -> Table:
    """Operators that hold memory at the peak."""
    rows = [
        (one.rank, "host" if one.is_host else str(one.device), holder.operator or "no operator", holder.blocks,
         holder.bytes, holder.share)
        for one in found.memory for holder in one.holders
    ]  # fmt: skip
    return Table(
        key="memory_holders",
        title="Who holds the memory at its peak",
        columns=(
            RANK, words_of("device"), name("allocated in"), Column("blocks", count), Column("bytes", size),
            Column("of the peak", share),
        ),
        rows=tuple(rows),
    )  # fmt: skip


def causes(found: Analysis) -> Table:
    """The seven causes of a GPU that is used too little."""
    rows = [
        (one.rank, one.device, cause.title, cause.total_ns, cause.share, cause.evidence, cause.tool)
        for one in found.diagnoses
        for cause in one.causes
    ]
    return Table(
        key="causes",
        title="Why the GPU is used too little",
        columns=(
            RANK, DEVICE, words_of("cause"), Column("time", time), Column("of the span", share), words_of("evidence"),
            words_of("look with"),
        ),
        rows=tuple(rows),
        note="Seven causes are looked for; those that cost nothing are left out.",
    )  # fmt: skip


def checks(found: Analysis) -> Table:
    """The check list and the traps."""
    return Table(
        key="checks",
        title="Check list and traps",
        columns=tuple(map(words_of, ("", "group", "answer", "what should hold", "because"))),
        rows=tuple(map(_check, found.checks)),
        note="Limits are rules of thumb, in synperf/analysis/checklist.toml. Unknown is not that all is well.",
    )


def _check(one: Check) -> tuple[str, ...]:
    return (one.kind, one.group, one.state, one.title, one.reason)


TABLES = (causes, checks, gpus, operators, geometry, memory, holders)
