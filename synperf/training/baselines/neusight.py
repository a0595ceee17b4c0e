"""Waves of tiles at a utilization that a network gives, for each kernel and format.

time = waves x FLOP of a tile / (rate of one SM x utilization), utilization = alpha - beta / waves; the rate is that of
the roofline, min(peak, intensity x bandwidth) / SMs. A small network gives alpha and beta from four features of a tile.
Tiles are those of our decomposition.
Source: Lee, Phanishayee, Mahajan, "Forecasting GPU Performance for Deep Learning Training and Inference" (NeuSight),
ASPLOS 2025, sections 4 and 5.
"""

from __future__ import annotations

from typing import Any

from ...api import family_of
from ...hardware import GPU
from ...numeric import Number, ceil_div, minimum
from ..recipe import Recipe
from .nets.recipe import recipe as of_networks
from .nets.schedule import Schedule

LEAST_UTILIZATION = 1e-6  # a sigmoid that saturates has no time
MICRO = 1e6  # features in microseconds have logarithms near 0, where a network begins


def recipe(*, max_epochs: int = 300, minutes: float | None = None) -> Recipe:
    """NeuSight; `max_epochs` and `minutes` (of each network) end a training that does not stop early by itself."""
    summary = "waves of tiles at a utilization that a network learns"
    schedule = Schedule(max_epochs=max_epochs, minutes=minutes)
    return of_networks("neusight", summary, columns, "utilization", LEAST_UTILIZATION, schedule)


def columns(call: Any, gpu: GPU) -> tuple[Number, ...]:
    """Seconds at full utilization, waves, and the features: a tile's FLOP and bytes over what an SM has of each limit.

    The limits are peak FLOP per s, DRAM bytes per s, DRAM bytes and L2 bytes; of the last two for all waves.
    """
    kind = family_of(call)
    groups, sms = kind.decompose(call, gpu), gpu.num_sms
    tile_flop = groups.tensor_flop + groups.fma_flop
    tile_bytes = groups.load_bytes + groups.store_bytes
    waves = ceil_div(groups.count, sms)
    peak = gpu.peak_flop_per_s(call.dtype)
    intensity = groups.count * tile_flop / kind.compulsory_bytes(call)  # of whole tiles, as NeuSight has it
    rate_per_sm = minimum(peak, intensity * gpu.dram_bytes_per_s) / sms
    return (
        waves * tile_flop / rate_per_sm,
        waves,
        tile_flop * sms / peak * MICRO,
        tile_bytes * sms / gpu.dram_bytes_per_s * MICRO,
        waves * tile_bytes * sms / gpu.dram_bytes,
        waves * tile_bytes * sms / gpu.l2_bytes,
    )


RECIPE = recipe()
