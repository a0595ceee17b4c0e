"""Which drawing an explanation gets: waves of identical tasks, SMs with unequal tiles, or experts with their rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields
from math import isclose
from typing import Any

from ..explanation import Explanation
from ..features import busiest_s
from ..hardware.makers import maker
from ..kernels import family
from ..kernels.moe_call import BALANCED
from ..kernels.moe_power_law import NUM_DRAWS
from ..kernels.one_by_one import Experts, Order, Tiles
from ..units import format_time
from . import estimates, expert_bars, sm_rows, unequal, waves
from .pipe_bars import Times
from .routing import Routing
from .text import counted, number

_NEAR = 0.01  # of sums that count as equal
_SOFTMAX = {"tensor": "Q K and P V", "fma": "softmax", "xu": "exponentials"}
_SOFTMAX_FMA = {"fma": "Q K, P V, softmax", "xu": "exponentials"}


def drawing(x: Explanation) -> str:
    """The launch as SVG, by what its family lists one by one, with the GPU's parts as its maker calls them."""
    return maker(x.gpu.maker).said(_drawing(x))


def _drawing(x: Explanation) -> str:
    e = x.estimate
    listed = family(e.family).listed(x.call, x.gpu)
    heading = f"{e.family} {x.call.dtype} on {x.gpu.name}: {format_time(e.time_s)}, {e.origin}"
    if isinstance(listed, Tiles):
        return sm_rows.render(_tiles(x, listed), _times(x, _roles(x)), heading, _call(x.call))
    if isinstance(listed, Experts):
        return expert_bars.render(_layer(x, listed), _times(x, {}), heading, _call(x.call))
    return waves.render(_waves(x), _title(x)[:90])


def _waves(x: Explanation) -> waves.Waves:
    """Identical tasks; one takes the time of its slowest pipe."""
    load = x.features.load
    return waves.Waves(
        num_tasks=int(load.tasks),
        num_sms=x.gpu.num_sms,
        ctas_per_sm=x.launch.occupancy.ctas_per_sm,
        task_s=max(x.features.busiest_s.values()) / load.sm_max_tasks,
    )


def _title(x: Explanation) -> str:
    sizes = [f"{name}={getattr(x.call, name)}" for name in estimates.required(x.call)]
    return f"{' '.join([x.estimate.family, *sizes, str(x.call.dtype)])} on {x.gpu.name}"


def _call(call: Any) -> str:
    """Fields that have no default, or another value."""
    named = ((f.name, f.default, getattr(call, f.name)) for f in fields(call))
    given = ((name, value) for name, default, value in named if default is MISSING or value != default)
    return " ".join(f"{name}={_shown(value)}" for name, value in given if value is not None)


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _times(x: Explanation, roles: dict[str, str]) -> Times:
    demands = x.features.pipes
    return Times(
        gpu_s={name: demand.gpu_s for name, demand in demands.items()},
        sm_max_s={name: demand.sm_max_s for name, demand in demands.items()},
        others_s=x.beside_s(),
        limiter=str(x.estimate.limiter),
        roles=roles,
    )


def _roles(x: Explanation) -> dict[str, str]:
    return _SOFTMAX if x.gpu.math_pipe(x.call.dtype) == "tensor" else _SOFTMAX_FMA


def _tiles(x: Explanation, listed: Tiles) -> sm_rows.Launch:
    core = busiest_s(x.task, x.features.load, x.gpu, x.call.dtype, 0.0)  # without what a module does after it
    keys = x.launch.facts.get("keys_per_part")
    slowest = max(core, key=core.__getitem__)
    return sm_rows.Launch(
        tiles=listed,
        placed=listed.place(x.gpu.num_sms),
        num_sms=x.gpu.num_sms,
        keys_per_step=x.launch.choice["tile_kv"],
        steps_per_part=None if keys is None else int(keys // x.launch.choice["tile_kv"]),
        notes=tuple(_notes(x, listed.order)),
        step_s=core[slowest] / listed.busiest,
        step_pipe=slowest,
        then_s=x.features.reduction_s,
    )


def _notes(x: Explanation, order: Order) -> Iterator[str]:
    parts = unequal.split(x)
    evenly = "; the time takes work as spread evenly, as drawn" if order is Order.EVENLY else ""
    yield f"Split along the keys: {parts or 'none by rule (num_splits 1)'}{evenly}."
    if x.task.then is not None:
        yield "The pipes at the right have the module's projections too, which follow what is drawn at the left."


def _layer(x: Explanation, listed: Experts) -> expert_bars.Layer:
    routing = Routing.of(x)
    assert routing is not None
    return expert_bars.Layer(experts=listed, routing=routing, source=_source(x, listed, routing))


def _source(x: Explanation, listed: Experts, routing: Routing) -> str:
    """Where rows come from."""
    if getattr(x.call, "tokens_per_expert", None) is not None or routing.noun == "group":
        return "Rows are those that were given."
    if x.call.distribution == BALANCED:
        return "Rows are dealt in turn: every expert has as many, or one more."
    said = f"Rows are means over {NUM_DRAWS} routings of {x.call.distribution}, of which each is sorted by rows."
    return f"{said} {_dip(listed, routing)}".rstrip()


def _dip(listed: Experts, routing: Routing) -> str:
    """What bars add up to where that is less than the time counts, whose loads never fall in tokens as means may."""
    rows, padded = float(listed.rows.sum()), float(listed.padded.sum())
    if isclose(rows, routing.rows, rel_tol=_NEAR) and isclose(padded, routing.padded, rel_tol=_NEAR):
        return ""
    return (
        f"Bars add up to {counted(rows, 'row')}, {number(padded)} in whole tiles: the time counts "
        f"{number(routing.rows)} and {number(routing.padded)}, as its loads never fall where there are more tokens."
    )
