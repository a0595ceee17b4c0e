"""What one GPU can do, as published. Facts are fields, consequences are methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import Any

from ..errors import UnsupportedError
from ..light_classes import dataclass
from .calibration import Calibration, plain_fields, revived
from .capability import GPU_FIELDS, ComputeCapability, capability, major_minor
from .dtype import DType


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GPU:
    """Published limits of one GPU. Rates are dense (no structured sparsity) and count a multiply-add as two FLOP.

    Of other makers' GPUs an SM is a CU or an Xe core, a warp a wave or a sub-group: `makers.py` has the words.

    Three clocks: `base_clock_hz` is guaranteed, `clock_hz` is the one that the published peak implies and at
    which times are computed, `max_clock_hz` is the highest that the part can reach and bounds `floor_s`.
    """

    key: str
    name: str
    architecture: str
    compute_capability: str
    num_sms: int
    base_clock_hz: float
    clock_hz: float
    max_clock_hz: float
    tensor_flop_per_clk_per_sm: Mapping[DType, float]  # empty on GPUs without tensor cores
    fma_flop_per_clk_per_sm: Mapping[DType, float]  # fp32 always; packed fp16 or int8 where no tensor core does it
    xu_op_per_clk_per_sm: float  # exp, log, sin, rcp, rsqrt: lane operations
    dram_bytes: float
    dram_bytes_per_s: float
    l2_bytes: float
    l2_bytes_per_s: float
    shared_bytes_per_clk_per_sm: float
    shared_bytes_per_sm: int
    shared_bytes_per_cta: int  # with opt-in
    reserved_shared_bytes_per_cta: int
    shared_granularity_bytes: int
    registers_per_sm: int
    max_registers_per_thread: int
    max_threads_per_cta: int
    warp_size: int = 32  # threads
    max_warps_per_sm: int
    max_ctas_per_sm: int
    power_w: float
    nvlink_bytes_per_s: float  # per GPU, one direction; 0 where there is none
    pcie_bytes_per_s: float  # one direction
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    notes: Mapping[str, str] = field(default_factory=dict, repr=False)
    aliases: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()  # fields that were filled in or changed, in sentences
    calibration: Calibration = field(default_factory=Calibration, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return revived, (GPU, plain_fields(self))

    @property
    def cc(self) -> tuple[int, int]:
        """Compute capability as (major, minor); (0, 0) for a GPU of another maker, which has none."""
        return major_minor(self.compute_capability)

    @property
    def maker(self) -> str:
        """`nvidia`, `amd` or `intel`."""
        return capability(self.compute_capability).maker

    @property
    def sm(self) -> ComputeCapability:
        """One SM: that of its compute capability, with what this GPU has otherwise."""
        return _sm(self)

    @property
    def l2_port_bytes_per_s(self) -> float:
        """What one SM can move from and to L2: 64 bytes per clock.

        Source: Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018; CUs: ROCm
        Compute Profiler documentation, vector L1 cache. Taken for Xe cores too.
        """
        return 64.0 * self.clock_hz

    def math_pipe(self, dtype: DType) -> str:
        """`tensor` or `fma`: the pipe that multiplies this format.

        Raises:
            UnsupportedError: neither pipe takes the format; the message lists those that this GPU has.
        """
        rate = DType(dtype).rate  # a format may be given by its name
        if rate in self.tensor_flop_per_clk_per_sm:
            return "tensor"
        if rate in self.fma_flop_per_clk_per_sm:
            return "fma"
        raise UnsupportedError(f"dtype: {self.name} has no {dtype} math; it has {', '.join(self.dtypes())}")

    def flop_per_clk_per_sm(self, dtype: DType) -> float:
        """Dense FLOP per clock of one SM in this format, on the pipe that `math_pipe` names."""
        return _flop_per_clk_per_sm(self, dtype)

    def other_fma_flop_per_clk_per_sm(self, dtype: DType) -> float:
        """FLOP per clock of one SM for what a kernel computes beside its products: packed where the format is."""
        return self.fma_flop_per_clk_per_sm.get(DType(dtype).rate, self.fma_flop_per_clk_per_sm[DType.FP32])

    def peak_flop_per_s(self, dtype: DType) -> float:
        """Dense peak at the published clock: SMs x rate x clock."""
        return self.num_sms * self.flop_per_clk_per_sm(dtype) * self.clock_hz

    def ridge_flop_per_byte(self, dtype: DType) -> float:
        """Arithmetic intensity at which a kernel stops being DRAM-bound."""
        return self.peak_flop_per_s(dtype) / self.dram_bytes_per_s

    def dtypes(self) -> tuple[DType, ...]:
        """Every operand format that this GPU multiplies, widest first; mixed formats multiply in one of these."""
        return tuple(
            d
            for d in DType
            if not d.is_mixed and (d.rate in self.tensor_flop_per_clk_per_sm or d.rate in self.fma_flop_per_clk_per_sm)
        )


@lru_cache(maxsize=4096)
def _sm(gpu: GPU) -> ComputeCapability:
    known = capability(gpu.compute_capability)
    own: dict[str, Any] = {field: getattr(gpu, field) for field in GPU_FIELDS}
    if gpu.shared_bytes_per_sm != known.shared_bytes_per_sm:
        own["carveouts_bytes"] = (gpu.shared_bytes_per_sm,)
    return replace(known, max_threads_per_sm=gpu.max_warps_per_sm * gpu.warp_size, **own)


@lru_cache(maxsize=4096)
def _flop_per_clk_per_sm(gpu: GPU, dtype: DType) -> float:
    rates = gpu.tensor_flop_per_clk_per_sm if gpu.math_pipe(dtype) == "tensor" else gpu.fma_flop_per_clk_per_sm
    return rates[DType(dtype).rate]
