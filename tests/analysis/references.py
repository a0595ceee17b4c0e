"""Real traces beside this checkout, and what plain interval arithmetic over their events gives."""

import json
from functools import cache

from synperf.traces import read_trace

from ..measurements.shared import DATA, shared

DLRM = "dlrm_v100_8ranks"
KINETO = [
    "alexnet_a100_cuda_sync", "cpu_only_no_gpu_events", "cupti_counters_a100", "eager_b200", "minitoy_mi250_rocm62",
    "nccl_meta_a100_rank0of2", "qwen05b_h100_infer", "qwen05b_mi300_infer", "resnet50_v100_dataloader0",
    "resnet50_v100_dataloader4", "resnet_ddp_mi300_rank0of8", "resnet_v100_ns_2024", "sglang_decode_hipgraph_mi300",
    "tracediff_a100_control", "tracediff_v100_cudagraph", *(f"{DLRM}/rank{rank}" for rank in range(8)),
]  # fmt: skip


def path(name):
    """The file of a trace, or a skipped test."""
    return shared(f"traces/{name}.json.gz")


@cache
def _trace(name):
    return read_trace(DATA / "traces" / f"{name}.json.gz")[0]


def trace(name):
    """A trace, read once, or a skipped test."""
    path(name)
    return _trace(name)


def document(name):
    """A file of reference results."""
    return json.loads(shared(f"traces/{name}.json").read_text(encoding="utf-8"))


def independent(name):
    """The independent check of a trace."""
    folder, _, rank = name.partition("/rank")
    traces = document("reference_hta")["traces"]
    return traces[folder if rank else f"{name}.json.gz"]["independent_check"][rank or "0"]
