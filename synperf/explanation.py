"""Why one call takes its time: every stage of the pipeline, from tiles to the limiter, in one object."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .estimators import Estimate, analytical
from .features import Features, analyse
from .hardware import GPU, DType
from .hardware.launch import launch_floor
from .kernels.base import KernelFamily, Launch
from .numeric import ceil_div
from .scheduling import TaskGroups, schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One call taken apart: its parts add up to `analytical_s`, which `estimate` corrects where it is learned."""

    call: Any
    gpu: GPU
    estimate: Estimate
    launch: Launch
    task: TaskGroups
    features: Features
    math: DType  # the format at whose rate FLOP are computed
    launch_floor_s: float
    analytical_s: float

    @property
    def waves(self) -> int:
        """Started waves, the partly filled one included."""
        return int(ceil_div(self.features.load.waves, 1))

    def pipes(self) -> dict[str, dict[str, float]]:
        """Each pipe's demand in seconds and in clocks: on average over the GPU and on the busiest SM."""
        clock_hz, demands = self.gpu.clock_hz, self.features.pipes
        return {
            name: {
                "gpu_s": demand.gpu_s,
                "sm_max_s": demand.sm_max_s,
                "gpu_cycles": demand.gpu_s * clock_hz,
                "sm_max_cycles": demand.sm_max_s * clock_hz,
            }
            for name, demand in demands.items()
        }

    def beside_s(self) -> dict[str, float]:
        """Seconds of what runs before, after and around the pipes, where there is any."""
        f = self.features
        parts = {"reduction": f.reduction_s, "before": f.before_s, "fill": f.fill_s}
        return {**{name: time_s for name, time_s in parts.items() if time_s}, "launch": self.launch_floor_s}

    def sm_max(self) -> dict[str, float]:
        """Work of the busiest SM, in all launches."""
        busiest = [(g, schedule(g, self.gpu.num_sms).sm_max_tasks) for g in self.task.launches()]
        work = {name: sum(getattr(g, name) * tasks for g, tasks in busiest) for name in _WORK}
        tasks = sum(tasks for _, tasks in busiest)
        return {"tasks": int(tasks) if tasks == int(tasks) else tasks, **work}

    def to_dict(self) -> dict[str, Any]:
        """The keys that `explain --json` adds to those of the estimate."""
        f = self.features
        return {
            "tiles": self.launch.tiles,
            "tasks": int(f.load.tasks),
            "grid": list(self.launch.grid),
            "persistent": self.launch.persistent,
            "waves": self.waves,
            "tail": f.load.tail,
            "wave_efficiency": f.load.wave_efficiency,
            "sm_max": self.sm_max(),
            "imbalance": f.load.imbalance,
            "pipes": self.pipes(),
            "occupancy": asdict(self.launch.occupancy),
            "tile": {**self.launch.choice, "source": self.launch.choice_source},
            **({"facts": dict(self.launch.facts)} if self.launch.facts else {}),
            "threads": self.launch.threads,
            "registers": self.launch.registers,
            "shared_bytes": self.launch.shared_bytes,
            "launch_floor_s": self.launch_floor_s,
            "analytical_s": self.analytical_s,
            "reduction_s": f.reduction_s,
            "roofline_s": f.roofline_s,
            "flop": f.flop,
            "compulsory_bytes": f.compulsory_bytes,
            "dram_bytes": f.dram_bytes,
            "padding": f.padding,
            "intensity_over_ridge": f.intensity_over_ridge,
            "working_set_over_l2": f.working_set_over_l2,
        }


_WORK = ("tensor_flop", "fma_flop", "xu_op", "load_bytes", "store_bytes", "port_bytes", "shared_bytes")


def explanation(family: KernelFamily, call: Any, gpu: GPU, estimate: Estimate) -> Explanation:
    """Take one call apart, of which there is an estimate.

    Raises:
        UnsupportedError: the GPU lacks the format, the engine a kernel for it, or the tile does not fit.
    """
    own, task = analytical.estimate(family, call, gpu), family.decompose(call, gpu)
    return Explanation(
        call=call,
        gpu=gpu,
        estimate=estimate,
        launch=family.launch(call, gpu),
        task=task,
        features=analyse(family, call, gpu, task),
        math=family.math(call),
        launch_floor_s=launch_floor(gpu, family.name, own.kernel, call.dtype, family.launches_like)[0],
        analytical_s=own.time_s,
    )
