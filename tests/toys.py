"""GPUs whose figures are worked out in the head, and three real ones as the paper's artifact lists them."""

from dataclasses import replace

from synperf.hardware import GPU, DType

# Powers of ten, so that every expected value is worked out in the head.
TOY = GPU(
    key="toy",
    name="toy",
    architecture="ampere",
    compute_capability="8.0",
    num_sms=10,
    base_clock_hz=1e9,
    clock_hz=1e9,
    max_clock_hz=1e9,
    tensor_flop_per_clk_per_sm={DType.BF16: 1000.0},
    fma_flop_per_clk_per_sm={DType.FP32: 100.0},
    xu_op_per_clk_per_sm=10.0,
    dram_bytes=1e10,
    dram_bytes_per_s=1e12,
    l2_bytes=1e7,
    l2_bytes_per_s=1e13,
    shared_bytes_per_clk_per_sm=100.0,
    shared_bytes_per_sm=164 * 1024,
    shared_bytes_per_cta=163 * 1024,
    reserved_shared_bytes_per_cta=1024,
    shared_granularity_bytes=128,
    registers_per_sm=65536,
    max_registers_per_thread=255,
    max_threads_per_cta=1024,
    max_warps_per_sm=64,
    max_ctas_per_sm=32,
    power_w=100.0,
    nvlink_bytes_per_s=0.0,
    pcie_bytes_per_s=1e10,
)

# Figures of the paper's artifact (zksainx/pipeweave, Apache-2.0, hardware files).
A100 = replace(
    TOY,
    key="paper_a100",
    name="A100",
    num_sms=108,
    clock_hz=1410e6,
    max_clock_hz=1410e6,
    tensor_flop_per_clk_per_sm={DType.BF16: 2048.0},
    fma_flop_per_clk_per_sm={DType.FP32: 128.0},
    dram_bytes_per_s=2039.04e9,
    l2_bytes=40960 * 1024,
    l2_bytes_per_s=3235e9,
    shared_bytes_per_clk_per_sm=128.0,
)
H100 = replace(
    A100,
    key="paper_h100",
    name="H100",
    architecture="hopper",
    compute_capability="9.0",
    num_sms=132,
    clock_hz=1830e6,
    max_clock_hz=1980e6,
    tensor_flop_per_clk_per_sm={DType.BF16: 4096.0, DType.FP8: 8192.0},
    fma_flop_per_clk_per_sm={DType.FP32: 256.0},
    dram_bytes_per_s=3352.32e9,
    l2_bytes=51200 * 1024,
    l2_bytes_per_s=8820e9,
    shared_bytes_per_sm=228 * 1024,
    shared_bytes_per_cta=227 * 1024,
)
H20 = replace(
    H100,
    key="paper_h20",
    name="H20",
    num_sms=78,
    tensor_flop_per_clk_per_sm={DType.BF16: 1024.0, DType.FP8: 2048.0},
    dram_bytes_per_s=4022.784e9,
    l2_bytes=61440 * 1024,
    l2_bytes_per_s=8815e9,
)
