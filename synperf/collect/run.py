"""A collection: from a request to a file of rows, which may be interrupted at any time and goes on where it was."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import torch

from ..errors import FieldError, PerfError, UnsupportedError
from . import sensors, table
from .device import Device
from .families import family
from .journal import Entry, Journal, Row
from .place import journal_of, require_out
from .plan import Case, Plan, first_line, make_plan
from .request import Request
from .source import Source
from .table import About
from .timed import Made
from .timing import SETS, Timer, Times, measure, timer

ENGINE = "torch"
Told = Callable[[str, int, int], None]  # (what, done, of all)
_BROKEN = ("CUDA error", "HIP error")  # after which no call on the GPU works any more


def collect(out: Path, request: Request | None, at: Device, told: Told | None = None) -> About:
    """Times what is left of the plan and writes the rows; without a request, that of an earlier run goes on.

    An interrupt is passed on after what was measured is written.

    Raises:
        FieldError: `out` is no place for a file, or holds another collection, or there is none to go on with.
        FileFormatError: what is there is damaged.
        PerfError: it cannot be written, or the device broke down.
    """
    require_out(out)
    beside = journal_of(out)
    if out.exists() and not beside.exists():
        return _complete(out, request, at)
    journal = _opened(beside, request, at)
    try:
        _time_all(journal, at, told)
    except KeyboardInterrupt:
        kept = Journal.read(beside)  # the last line may be written, and not yet among the entries
        if kept.rows():
            table.write(out, kept)
        raise
    done = table.write(out, journal)
    beside.unlink()
    return done


def begun_on(out: Path) -> str:
    """cpu or cuda: what the collection at a path was begun on.

    Raises:
        FileFormatError: what is there is damaged.
    """
    beside = journal_of(out)
    plan = Journal.read(beside).plan if beside.exists() else table.about(out).plan
    return plan.request.device


def _opened(beside: Path, request: Request | None, at: Device) -> Journal:
    """The journal to go on with: that which is there, or a new one with a new plan."""
    if beside.exists():
        found = Journal.read(beside)
        _require_same(found.plan, request, at, beside)
        return found
    if request is None:
        raise FieldError(f"family: none given, and no {beside.name} has a plan; right would be a family such as gemm")
    return Journal.begin(beside, make_plan(request, at))


def _complete(out: Path, request: Request | None, at: Device) -> About:
    """What a file without a journal holds, of which nothing is left to time."""
    about = table.about(out)
    _require_same(about.plan, request, at, out)
    if not about.complete:
        beside = journal_of(out).name
        raise FieldError(
            f"out: {out.name} holds a part of a plan, and {beside}, which has the rest, is gone; name another"
        )
    return about


def _require_same(plan: Plan, request: Request | None, at: Device, place: Path) -> None:
    """Checks that a plan is the one that is asked for, on this device.

    Raises:
        FieldError: it is not.
    """
    difference = plan.request.difference(request) if request is not None else ""
    if plan.device != at.name:
        difference = f"device {at.name}, not {plan.device}"
    if difference:
        raise FieldError(f"out: {place.name} has another plan: asked is {difference}; name another --out")


def _time_all(journal: Journal, at: Device, told: Told | None) -> None:
    units, clock = journal.plan.units(), timer(at.torch, at.cache_bytes)
    torch.manual_seed(journal.plan.request.seed)
    with torch.inference_mode():
        for unit in journal.left():
            case, state = units[unit]
            if told is not None:
                told(f"{case.family} {state}", len(journal.entries), len(units))
            journal.add(_entry(unit, case, state, at, clock))


def _entry(unit: int, case: Case, state: str, at: Device, clock: Timer) -> Entry:
    """What became of one unit; a call that torch or the memory refuses has no row.

    Raises:
        PerfError: the device works no more.
    """
    try:
        made = [family(case.family).make(case.fields, Source(at.torch)) for _ in range(SETS)]
        times = measure([one.run for one in made], state, at.torch, clock)
        return Entry(unit=unit, row=_row(case, state, times, made[0], at))
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        return Entry(unit=unit, skipped=f"{case.family}: ran out of memory")
    except (RuntimeError, UnsupportedError) as wrong:
        if any(word in str(wrong) for word in _BROKEN):
            raise PerfError(
                f"device: {at.name}: {first_line(wrong)}; what was measured is kept, and the same command goes on"
            ) from None
        return Entry(unit=unit, skipped=f"{case.family}: torch refuses it ({first_line(wrong)})")


def _row(case: Case, state: str, times: Times, made: Made, at: Device) -> Row:
    return Row(
        family=case.family,
        fields=case.fields,
        l2=state,
        time_s=times.time_s,
        q1_s=times.q1_s,
        q3_s=times.q3_s,
        repeats=times.repeats,
        calls=times.calls,
        timer=times.timer,
        engine=ENGINE,
        version=str(torch.__version__),
        kernel=made.kernel,
        library=made.library,
        gpu=at.gpu,
        device_name=at.name,
        driver=at.driver,
        runtime=at.runtime,
        cpu_threads=torch.get_num_threads() if at.is_cpu else None,
        clock_hz=sensors.clock_hz(at.torch),
        power_w=sensors.power_w(at.torch),
        timestamp=datetime.now(UTC).isoformat(timespec="seconds"),
        host=at.host,
    )
