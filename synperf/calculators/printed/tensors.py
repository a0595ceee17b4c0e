"""Bounds of a GEMM, fusion, reuse, formats, padding, batches, links."""

from __future__ import annotations

from functools import partial

from ... import hardware
from ...hardware import DType
from ...kernels.conv_call import Conv
from ...kernels.gemm_call import Gemm
from ..batching import batching
from ..fusion import fusion
from ..layout import layout
from ..load_time import load_time
from ..padding import padding
from ..quantization import quantization
from ..reuse import reuse
from ..roofline import roofline
from .figure import Exact

_TEN = tuple(range(10, 101, 10))
_PCIE_TRANSFERS_PER_S = {3: 8e9, 4: 16e9, 5: 32e9}  # of a lane. Source: PCI-SIG; 128 of 130 bits are data
_LANES, _CODING = 16, 128 / 130


def square_gemm() -> dict[str, Exact]:
    """1024 x 1024 x 1024 in FP32 on a V100."""
    gpu = hardware.gpu("v100_sxm")
    call = Gemm(m=1024, n=1024, k=1024, dtype=DType.FP32)
    (point,) = roofline(gpu, [call]).points
    apart = reuse(gpu, call)
    return {
        "bytes, each value once": Exact(point.bytes, "B"),
        "at 900 GB/s": Exact(point.bytes / 900e9, "s"),
        "bytes without any reuse": Exact(apart.no_reuse_bytes, "B"),
        "without any reuse": Exact(apart.no_reuse_bytes / 900e9, "s"),
        "math": Exact(point.compute_s, "s"),
    }


def conv_bn_relu() -> dict[str, Exact]:
    """Accesses that fusing saves for each element."""
    found = fusion(["conv", "bn", "relu"], elements=1, dtype="fp32")
    saved = found.accesses_before - found.accesses_after
    return {"accesses saved": Exact(float(saved)), "bytes saved in FP32": Exact(found.bytes_saved_per_element, "B")}


def reuse_of_an_input() -> dict[str, Exact]:
    """How often a value of the input of a 3 x 3 convolution with 64 output channels is used."""
    call = Conv(batch=1, in_channels=64, out_channels=64, height=56, width=56, kernel_h=3, kernel_w=3, padding=1)
    found = reuse(hardware.gpu("a100_sxm"), call)
    return {"for one output channel": Exact(found.input_reuse, "x"), "in all": Exact(found.input_uses, "x")}


def layout_of_convolutions() -> dict[str, Exact]:
    """Where tensor cores want the channels, and a CPU of vectors."""
    images = partial(layout, batch=1, channels=64, height=56, width=56)
    tensor_cores, vectors = images(dtype="fp16", gpu=hardware.gpu("a100_sxm")), images(dtype="fp32", cpu="avx512")
    return {"tensor cores": Exact(tensor_cores.preferred_layout), "AVX-512": Exact(vectors.preferred_layout)}


def int8() -> dict[str, Exact]:
    """INT8 on an A100 over wider formats."""
    gpu = hardware.gpu("a100_sxm")
    return {
        f"over {name}": Exact(quantization(gpu, before=name, after="int8").compute_speedup, "x")
        for name in ("fp16", "tf32", "fp32")
    }


def padded_batches() -> dict[str, Exact]:
    """Ten lengths from 10 to 100, by three strategies."""
    return {
        "fixed": Exact(padding(_TEN).waste, "share"),
        "three buckets": Exact(padding(_TEN, strategy="buckets", buckets=3).waste, "share"),
        "dynamic, sorted pairs": Exact(padding(_TEN, strategy="dynamic", batch=2).waste, "share"),
    }


def batch_throughput() -> dict[str, Exact]:
    """Batches of 32 in 50 ms, with work for 70 % of the time."""
    (one,) = batching([(32, 0.05)], busy=0.7).batches
    return {"throughput": Exact(one.throughput_per_s, "a second"), "in the long run": Exact(one.rate_per_s, "a second")}


def pcie() -> dict[str, Exact]:
    """Rates of sixteen lanes, and 140 GB over the third generation's."""
    rates = {one: each * _LANES * _CODING / 8 for one, each in _PCIE_TRANSFERS_PER_S.items()}
    found = {f"PCIe {one} x16": Exact(rate, "B/s") for one, rate in rates.items()}
    copied = load_time(weights_bytes=140e9, link_bytes_per_s=16e9).h2d_s
    return found | {"140 GB at 16 GB/s": Exact(copied, "s")}
