"""Small files of every format but Kineto's, as bytes."""

from collections.abc import Iterator
from pathlib import Path

from tests.traces import nsys_files as nsys
from tests.traces import xplane_files as xplane
from tests.traces.records import samples
from tests.traces.records.test_memory_timeline import ROWS as MEMORY_TIMELINE
from tests.traces.records.test_nccl_tests import NEW as NCCL_TESTS
from tests.traces.test_horovod import TIMELINE as HOROVOD

TEXTS = {
    "horovod": HOROVOD,
    "memory_timeline": MEMORY_TIMELINE,
    "nccl_debug": samples.LOG,
    "nccl_tests": NCCL_TESTS,
    "ncu_long": samples.LONG,
    "ncu_summary": samples.SUMMARY,
    "ncu_wide": samples.WIDE,
    "deepspeed": samples.DEEPSPEED,
    "megatron": samples.MEGATRON,
    "torchtitan": samples.TITAN,
}
KERNEL, COPY, SET, WAIT = (
    "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
)  # fmt: skip
CALL, NVTX, SESSION = "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "TARGET_INFO_SESSION_START_TIME"
_EVENTS = 40  # of each kind
_LINE_NS = 1_700_000_000_000_000_000

Tables = dict[str, tuple[tuple[str, ...], list[tuple[object, ...]]]]


def nsys_tables(schema: int) -> Tables:
    """Tables of an export, of schema 2 or 3."""
    process = nsys.GLOBAL[100]
    ranges = [(1000 * n, 1000 * n + 900, 59, f"step {n}", process | 5, None, 0) for n in range(_EVENTS)]
    copies = [(1000 * n + 600, 1000 * n + 650, 0, 1, 7, 900 + n, process, 4096, 1, 1, 2) for n in range(_EVENTS)]
    sets = [(1000 * n + 700, 1000 * n + 710, 0, 1, 7, 990 + n, process, 512) for n in range(3)]
    waits = [(1000 * n + 720, 1000 * n + 800, 0, 1, 7, 0, process, 3) for n in range(3)]
    metadata = "META_DATA_EXPORT" if schema > 2 else "EXPORT_META_DATA"
    tables: Tables = {
        metadata: (("name", "value"), [("EXPORT_SCHEMA_VERSION", f"{schema}.9.1")]),
        KERNEL: (
            nsys.KERNELS,
            [nsys.kernel(1000 * n + 100, 1000 * n + 500, correlation=n + 1) for n in range(_EVENTS)],
        ),
        COPY: (nsys.COPIES, copies),
        SET: ((*nsys.GPU, "bytes"), sets),
        WAIT: ((*nsys.GPU, "syncType"), waits),
        CALL: (nsys.CALLS, [nsys.call(1000 * n + 10, 1000 * n + 20, correlation=n + 1) for n in range(_EVENTS)]),
        NVTX: (nsys.NVTX, ranges),
        "ENUM_CUDA_MEM_KIND": (("id", "name", "label"), nsys.MEMORY),
    }
    if schema > 2:
        tables[SESSION] = (("utcEpochNs",), [(1_700_000_000_000_000_000,)])
    return tables


def nsys_export(folder: Path, tables: Tables) -> bytes:
    path = folder / "made.sqlite"
    path.unlink(missing_ok=True)
    return nsys.write(path, **tables).read_bytes()


def xplane_profile() -> bytes:
    stats = ("correlation_id", "kernel_details", "memcpy_details", "step_num", "core_count")
    details = "regs:32 static_shared:1024 dynamic_shared:0 grid:10,2,1 block:128,1,1 occ_pct:50"
    kernels = [
        xplane.event(1, 10**6 * n, 500_000, xplane.stat(1, n), xplane.stat(2, details)) for n in range(1, _EVENTS)
    ]
    copy = xplane.event(2, 500_000, 100_000, xplane.stat(3, "kind_src:pinned kind_dst:device size:4096 async:1"))
    calls = [xplane.event(1, 10**6 * n - 9000, 1000, xplane.stat(1, n)) for n in range(1, _EVENTS)]
    step = xplane.event(2, 0, 9_000_000, xplane.stat(4, 5))
    gpu = xplane.plane(
        "/device:GPU:1", [xplane.line(7, "Stream #7(Kernel,MemcpyH2D)", _LINE_NS, copy, *kernels)],
        ("fusion", "MemcpyH2D"), stats, [xplane.stat(5, 132)],
    )  # fmt: skip
    host = xplane.plane(
        "/host:CPU", [xplane.line(3, "python", _LINE_NS, step, *calls)], ("cuLaunchKernel", "train"), stats
    )
    return xplane.space(host, gpu)


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of each."""
    yield from ((name, text.encode()) for name, text in TEXTS.items())
    yield from ((f"nsys {schema}.x", nsys_export(folder, nsys_tables(schema))) for schema in (2, 3))
    yield "xplane", xplane_profile()
