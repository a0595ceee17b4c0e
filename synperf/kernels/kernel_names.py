"""What the name of a GEMM kernel of cuBLAS or CUTLASS says: tile, steps of k, stages, cluster.

cuBLAS is column-major: called from a row-major program, the first extent of the name lies along n. The grid
tells which way round it was (`gemm_profile`).
Source: names as `torch.profiler` and Nsight print them; CUTLASS library generator, "procedural names".
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GemmName:
    """Extents of the tile in the order of the name; parts that the name leaves out are None."""

    library: str  # cublas, cutlass
    first: int
    second: int
    tile_k: int | None = None
    stages: int | None = None
    cluster: tuple[int, int] | None = None
    split_k: bool = False


_EXTENTS = r"(?P<first>\d+)x(?P<second>\d+)"
_PATTERNS = tuple(
    (library, re.compile(pattern))
    for library, pattern in (
        # nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT: cuBLASLt of Hopper and later
        ("cublas", rf"^nvjet_\w+?_{_EXTENTS}_(?P<tile_k>\d+)x(?P<stages>\d+)_(?P<cluster>\d+x\d+)"),
        # sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel
        (
            "cublas",
            rf"xmma_gemm_\w*?tilesize{_EXTENTS}x(?P<tile_k>\d+)(?:_(?:cgasize(?P<cga>\d+x\d+)\w*?_)?stage(?P<stages>\d+))?",
        ),
        # cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_128x128x64_2x1x1_0_tnn_align8_warpspecialized
        ("cutlass", rf"cutlass3x_sm\d+_\w*?gemm_\w*?_{_EXTENTS}x(?P<tile_k>\d+)_(?P<cluster>\d+x\d+)x\d+"),
        # cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_32x3_tn_align8; cutlass_80_simt_sgemm_128x256_8x4_nn_align1
        ("cutlass", rf"cutlass_\d+_\w*?gemm_(?:\w*?_)?{_EXTENTS}_(?P<tile_k>\d+)x(?P<stages>\d+)_"),
        # ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn
        (
            "cublas",
            rf"^(?:ampere|turing|volta|maxwell|sm\d+)_\w*?gemm_(?:\w*?_)?{_EXTENTS}_\w*?stages_(?P<tile_k>\d+)x(?P<stages>\d+)",
        ),
        # volta_sgemm_128x64_tn, volta_h884gemm_256x128_ldg8_nn, ampere_sgemm_32x32_sliced1x4_tn
        ("cublas", rf"^(?:ampere|turing|volta|maxwell|sm\d+)_\w*?gemm_(?:\w*?_)?{_EXTENTS}_"),
    )
)


def parse(name: str) -> GemmName | None:
    """What the name says, or None where it is no tiled GEMM that these patterns know."""
    for library, pattern in _PATTERNS:
        found = pattern.search(name)
        if found:
            parts = found.groupdict()
            cluster = parts.get("cluster") or parts.get("cga")
            return GemmName(
                library=library,
                first=int(parts["first"]),
                second=int(parts["second"]),
                tile_k=int(parts["tile_k"]) if parts.get("tile_k") else None,
                stages=int(parts["stages"]) if parts.get("stages") else None,
                cluster=None if cluster is None else (int(cluster.split("x")[0]), int(cluster.split("x")[1])),
                split_k="splitk" in name.lower(),
            )
    return None
