"""CSV of Nsight Compute in its three shapes: long (a row for each metric), wide (`--page raw`) and summary.

What the program and the profiler print around the table is ignored. Values may have thousands separators and units with
a prefix; they are told as printed, and as a number in the unit without one.
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from ...errors import FileFormatError
from ...light_classes import dataclass
from ..events import Caution
from ..sources import Source
from .damage import damage
from .lines import contains, whole_lines
from .ncu_rows import HEADER, Block, Cells, blocks
from .ncu_units import scaled

FORMAT = "ncu"
_RULE = ("Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup")
_ABOUT = frozenset(
    ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream", "Block Size",
     "Grid Size", "Device", "CC", "Invocations", "Section Name", "NVTX Range", "Range Name", *_RULE)
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric of one kernel. `value` is in `unit`, which has no prefix; None where it is no number.

    Of a summary it is the average, and `minimum` and `maximum` are over the invocations.
    """

    section: str
    name: str
    printed_unit: str
    printed: str
    unit: str
    value: float | None
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What Nsight Compute itself concludes. `speedup` is the share of the time that it estimates, None without one."""

    section: str
    name: str
    type: str
    text: str
    speedup: float | None
    printed_speedup: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelProfile:
    """One kernel that was profiled, or in a summary all invocations of one."""

    kernel: str
    block: str
    grid: str
    device: str
    compute_capability: str
    invocations: int
    metrics: tuple[Metric, ...]
    rules: tuple[Rule, ...]

    def metric(self, *names: str, unit: str | None = None) -> Metric | None:
        """The first of these that is there with a number; of a name with several units, the one in `unit`."""
        wanted = [name.casefold() for name in names]
        found = [m for m in self.metrics if m.value is not None and unit in (None, m.unit)]
        by_name = {m.name.casefold(): m for m in reversed(found)}
        return next((by_name[name] for name in wanted if name in by_name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class NcuReport:
    """All kernels of a file; `shape` is long, wide or summary."""

    source: str
    shape: str
    kernels: tuple[KernelProfile, ...]
    cautions: tuple[Caution, ...]


@dataclass(slots=True)
class _Kernel:
    about: dict[str, str]
    metrics: list[Metric] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)


def recognises(head: bytes, path: Path) -> bool:
    """Whether the file has the header of such a table."""
    return contains(HEADER, head, path)


def read(path: Path) -> NcuReport:
    """The kernels, in the order of the file.

    Raises:
        FileFormatError: none of its rows can be read.
    """
    source = Source(path)
    kernels: dict[tuple[str, ...], _Kernel] = {}
    shape, unread, read_rows, odd = "", 0, 0, 0
    for place, block in enumerate(blocks(whole_lines(source))):
        shape = shape or block.shape
        _ADD[block.shape](kernels, str(place), block)
        unread, read_rows, odd = unread + block.unread, read_rows + len(block.rows), odd + block.is_odd
    if not kernels:
        raise FileFormatError(f"{path.name}: no row of this CSV of Nsight Compute can be read")
    made = tuple(_profile(one) for one in kernels.values())
    cautions = [*damage(source, "rows", unread, read_rows)]
    if odd:
        cautions.append(Caution(text="tables have a damaged header: columns of their metrics are missing", count=odd))
    return NcuReport(source=path.name, shape=shape, kernels=made, cautions=tuple(cautions))


def _add_long(kernels: dict[tuple[str, ...], _Kernel], place: str, block: Block) -> None:
    for cells in block.rows:
        one = kernels.setdefault((place, cells.get("Process ID", ""), cells.get("ID", "")), _Kernel(cells))
        if cells.get("Metric Name"):
            unit = cells.get("Metric Unit", "")
            one.metrics.append(
                _metric(cells.get("Section Name", ""), cells["Metric Name"], unit, cells.get("Metric Value", ""))
            )
        if cells.get("Rule Name"):
            one.rules.append(_rule(cells))


def _add_wide(kernels: dict[tuple[str, ...], _Kernel], place: str, block: Block) -> None:
    for number, cells in enumerate(block.rows):
        one = kernels.setdefault((place, str(number)), _Kernel(cells))
        one.metrics += [
            _metric("", name, block.units.get(name, ""), text)
            for name, text in cells.items()
            if name not in _ABOUT and text
        ]


def _add_summary(kernels: dict[tuple[str, ...], _Kernel], place: str, block: Block) -> None:
    for cells in block.rows:
        key = tuple(cells.get(name, "") for name in ("Process ID", "Kernel Name", "Block Size", "Grid Size", "Device"))
        one = kernels.setdefault((place, *key), _Kernel(cells))
        if cells.get("Metric Name"):
            unit = cells.get("Metric Unit", "")
            bounds = [scaled(cells.get(name, ""), unit)[0] for name in ("Minimum", "Maximum")]
            text = cells.get("Average", "")
            one.metrics.append(_metric(cells.get("Section Name", ""), cells["Metric Name"], unit, text, *bounds))


_ADD = {"long": _add_long, "wide": _add_wide, "summary": _add_summary}


def _metric(section: str, name: str, printed_unit: str, printed: str, *bounds: float | None) -> Metric:
    value, unit = scaled(printed, printed_unit)
    minimum, maximum = bounds or (None, None)
    return Metric(
        section=section, name=name, printed_unit=printed_unit, printed=printed, unit=unit, value=value, minimum=minimum,
        maximum=maximum,
    )  # fmt: skip


def _rule(cells: Cells) -> Rule:
    printed = cells.get("Estimated Speedup", "")
    percent, _ = scaled(printed, "")
    return Rule(
        section=cells.get("Section Name", ""), name=cells["Rule Name"], type=cells.get("Rule Type", ""),
        text=cells.get("Rule Description", ""), speedup=None if percent is None else percent / 100,
        printed_speedup=printed,
    )  # fmt: skip


def _profile(one: _Kernel) -> KernelProfile:
    about = one.about
    invocations = about.get("Invocations", "").replace(",", "")
    return KernelProfile(
        kernel=about.get("Kernel Name", ""), block=about.get("Block Size", ""), grid=about.get("Grid Size", ""),
        device=about.get("Device", ""), compute_capability=about.get("CC", ""),
        invocations=int(invocations) if invocations.isdecimal() else 1, metrics=tuple(one.metrics),
        rules=tuple(one.rules),
    )  # fmt: skip
