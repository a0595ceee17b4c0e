"""The launch floor of a kernel on a GPU: the time of a launch with next to no work, from calibration records."""

from __future__ import annotations

from functools import lru_cache

from .dtype import DType
from .gpu import GPU


@lru_cache(maxsize=4096)
def launch_floor(gpu: GPU, kernel: str, dtype: DType) -> tuple[float, tuple[str, ...]]:
    """(seconds, what was assumed). Recorded for this kernel and format, else the least of the kernel's formats,
    else the least of all kernels on that GPU; 0 where nothing was ever recorded, which is said.
    """
    record = gpu.calibration
    said = (f"launch floor: measured on {record.launch_floor_from}",) if record.launch_floor_from else ()
    exact = record.launch_floor_s.get(f"{kernel}.{dtype}")
    if exact is not None:
        return exact, said
    of_kernel = {key: s for key, s in record.launch_floor_s.items() if key.startswith(f"{kernel}.")}
    near = of_kernel or record.launch_floor_s
    if not near:
        return 0.0, ("launch floor: no record, taken as 0",)
    key = min(near, key=lambda name: near[name])
    return near[key], (*said, f"launch floor: no record of {kernel} {dtype}, that of {key.replace('.', ' ')} stands in")
