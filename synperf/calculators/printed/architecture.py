"""Occupancy, lanes, divergence, hardware ranges, metric names."""

from __future__ import annotations

from ... import hardware
from ...analysis.ncu_metrics import from_nvprof, translations
from ...hardware import GPU, DType
from ...hardware.capability import capabilities, capability, major_minor
from ...scheduling.hardware import busiest_sm_tasks
from ..banks import banks
from ..coalescing import coalescing
from ..divergence import divergence
from ..occupancy import occupancy
from ..sm import Limits, described
from .figure import Exact

_GPU, _MAKER = "a100_sxm", "nvidia"


def breadth_first() -> dict[str, Exact]:
    """CTAs on the busiest SM of a launch with one for each SM."""
    gpu = hardware.gpu(_GPU)
    return {"CTAs on the busiest SM": Exact(float(busiest_sm_tasks(gpu.num_sms, gpu.num_sms)))}


def flop_per_clock() -> dict[str, Exact]:
    """Tensor FLOP per clock: of one SM and of the GPU."""
    gpu = hardware.gpu(_GPU)
    each = gpu.flop_per_clk_per_sm(DType.FP16)
    return {"FLOP per clock": Exact(each, "FLOP for each SM"), "of the GPU": Exact(each * gpu.num_sms, "FLOP")}


def worked_occupancy() -> dict[str, Exact]:
    """256 threads, 32 registers, 8 KiB on an SM of 2,048 threads, 16 blocks and 48 KiB, and on a real one."""
    sm = Limits(sm_threads=2048, sm_blocks=16, sm_registers=65_536, sm_shared_bytes=48 * 1024)
    simple = occupancy(described(None, sm), threads=256, registers=32, shared_bytes=8192, textbook=True)
    real = occupancy(described(capability("8.0"), sm), threads=256, registers=32, shared_bytes=8192)
    return {
        "CTAs by limits alone": Exact(float(simple.ctas_per_sm)),
        "occupancy by limits alone": Exact(simple.occupancy, "share"),
        "CTAs with the KiB that is reserved": Exact(float(real.ctas_per_sm)),
        "occupancy with it": Exact(real.occupancy, "share"),
    }


def stride_of_32() -> dict[str, Exact]:
    """Lanes that read 4 bytes 128 bytes apart, at both granularities."""
    by = {grain: coalescing(element_bytes=4, stride=32, granularity=grain).efficiency for grain in (32, 128)}
    return {"by sectors of 32 bytes": Exact(by[32], "share"), "by lines of 128 bytes": Exact(by[128], "share")}


def sectors_of_a_request() -> dict[str, Exact]:
    """A warp that reads 4 bytes a lane, next to each other."""
    return {"sectors a request": Exact(float(coalescing(element_bytes=4, stride=1).sectors))}


def padded_tile() -> dict[str, Exact]:
    """A column of a 32 x 32 tile with a column or a row more."""
    pitches = {"[32][32]": 32, "[32][33]": 33, "[33][32]": 32}
    return {name: Exact(float(banks(rows=32, pitch=pitch).degree), "-way") for name, pitch in pitches.items()}


def unrolled() -> dict[str, Exact]:
    """Conflicts of a loop body, once and four times over."""
    once, four = (banks(addresses="8 * lane + 256 * step", steps=steps) for steps in (1, 4))
    return {"rolled": Exact(float(once.degree), "-way"), "unrolled": Exact(float(four.degree), "-way")}


def metric_names() -> dict[str, Exact]:
    """Metrics of nvprof that have a name in Nsight Compute."""
    named = sum(1 for one in translations() if one.ncu)
    efficiency = from_nvprof("gld_efficiency")
    return {"metrics translated": Exact(float(named)), "names for gld_efficiency": Exact(float(len(efficiency.ncu)))}


def rates_of_an_sm() -> dict[str, Exact]:
    """FP32 lanes and tensor FLOP per clock of an SM, over all NVIDIA GPUs that are known."""
    lanes = {capability(one).fp32_lanes_per_sm for one in capabilities() if major_minor(one) >= (7, 0)}
    tensor = {
        gpu.flop_per_clk_per_sm(DType.FP16)
        for gpu in _nvidia()
        if DType.FP16 in gpu.dtypes() and gpu.math_pipe(DType.FP16) == "tensor"
    }
    return {
        "FP32 lanes, least": Exact(float(min(lanes))),
        "FP32 lanes, most": Exact(float(max(lanes))),
        "tensor fp16, least": Exact(min(tensor), "FLOP per clock"),
        "tensor fp16, most": Exact(max(tensor), "FLOP per clock"),
    }


def memory_of_a_gpu() -> dict[str, Exact]:
    """L2 and shared memory, the largest that is known."""
    shared = max(gpu.shared_bytes_per_sm for gpu in _nvidia())
    return {
        "largest L2": Exact(max(gpu.l2_bytes for gpu in _nvidia()), "B"),
        "largest shared memory of an SM": Exact(float(shared), "B"),
    }


def limits_are_theory() -> dict[str, Exact]:
    """Resources that bind set the theoretical occupancy itself: 512 threads with 128 KiB a CTA on an H100."""
    found = occupancy(capability("9.0"), threads=512, registers=32, shared_bytes=128 * 1024)
    return {"theoretical occupancy": Exact(found.occupancy, "share")}


def _nvidia() -> list[GPU]:
    return [gpu for gpu in hardware.gpus() if gpu.maker == _MAKER]


def two_paths() -> dict[str, Exact]:
    """Half a warp takes 100 cycles, the other half 10."""
    found = divergence([100, 10], [16, 16])
    return {
        "cycles of the warp": Exact(found.cycles, "cycles"),
        "useful lane cycles": Exact(found.efficiency, "share"),
        "regrouped by warp": Exact(found.speedup, "x"),
    }
