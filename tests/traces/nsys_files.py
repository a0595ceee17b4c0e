"""Small exports as Nsight Systems writes them, for tests."""

import sqlite3
from pathlib import Path

HARDWARE = 1 << 48  # of a global id
GLOBAL = {100: HARDWARE | 100 << 24, 200: HARDWARE | 200 << 24}  # of processes 100 and 200

GPU = ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid")
LAUNCH = (
    "registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "staticSharedMemory",
    "dynamicSharedMemory",
)  # fmt: skip
KERNELS = (*GPU, "demangledName", "shortName", *LAUNCH)
COPIES = (*GPU, "bytes", "copyKind", "srcKind", "dstKind")
CALLS = ("start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue")
NVTX = ("start", "end", "eventType", "text", "globalTid", "textId", "domainId")
MEMORY = [(0, "", "Pageable"), (1, "", "Pinned"), (2, "", "Device")]


def kernel(start, end, name=1, process=100, correlation=7, device=0):
    where = (device, 1, 7, correlation, GLOBAL[process])
    return (start, end, *where, name, 2, 32, 10, 2, 1, 128, 1, 1, 1024, 2048)


def call(start, end, process=100, correlation=7, name=3):
    return (start, end, 0, GLOBAL[process] | 5, correlation, name, 0)


def write(
    path: Path, strings=("", "void gemm<float>(int)", "gemm", "cudaLaunchKernel_v7000", "marked"), **tables
) -> Path:
    """A database; each table is (columns, rows)."""
    with sqlite3.connect(path) as file:
        create(file, "StringIds", ("id", "value"), list(enumerate(strings)))
        for name, (columns, rows) in tables.items():
            create(file, name, columns, rows)
    file.close()
    return path


def create(file, name, columns, rows):
    file.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
    file.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)
