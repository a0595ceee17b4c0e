"""What each tile costs a GEMM: seconds of the busiest SM on its slowest own pipe, or of L2 for all SMs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ..errors import UnsupportedError
from ..hardware import GPU, DType
from ..numeric import Number, ceil_div, floor, maximum, minimum, round_up, where
from .fields import MAX_EXTENT
from .gemm_call import Gemm
from .gemm_tiles import Tile, build, bytes_per_k, port_share_of_b, step_of_k, tiles
from .gemm_traits import Traits

FEW = 64  # rows or columns that the ordinary tiles, of 64 and more, cannot fill
PARTIAL_BYTES = 8.0  # a split-K partial sum is written once and read once, in fp32
# A weight that is narrower than its activations is widened in registers by two multiply-adds, for its offset and its
# scale; the masks and shifts before them run on the integer pipe. Source: vLLM, csrc/quantization/marlin/dequant.h;
# CUTLASS, numeric_conversion.h.
_WIDEN_FLOP = 4.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """A tile with its constants in seconds, so that the cost of one call is a few multiplications.

    Every GEMM reads dozens of these fields: slots are read in a third of the time of a named tuple's fields.
    """

    tile_m: float
    tile_n: float
    tile_k: float
    cluster_m: float
    cluster_n: float
    step_s: float  # one value of k in one task: the slower of math and shared memory
    tile_k_s: float  # one step of tile_k
    row_s: float  # one value of k of one row of A, out of the whole L2
    column_s: float  # one value of k of one column of B
    value_s: float  # one value of C, into the whole L2
    port_row_s: float  # the same three through the port of one SM
    port_column_s: float
    port_value_s: float
    port_partial_s: float  # one fp32 partial sum, written and read
    reduction_s: float  # the launch that sums the slices
    bound_s: float  # the cost is not below this times m n k batch, however the tiles fall
    spare_m: float  # with m up to this, and spare_n alike, an equal tile with a shorter side costs no more
    spare_n: float
    may_split: bool
    is_cluster: bool  # of more than one CTA
    is_small: bool  # a side is shorter than FEW
    ctas_per_sm: float
    tile: Tile


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """Every tile that may be tried, and for one call those that its rows and columns leave: found, not filtered."""

    every: tuple[Candidate, ...]  # of one tile_k
    ends_m: list[int]  # extents up to which the same tiles are left, ascending
    ends_n: list[int]
    left: tuple[tuple[tuple[Candidate, ...], ...], ...]  # by the place of m and of n among these

    @classmethod
    def of(cls, every: tuple[Candidate, ...]) -> Candidates:
        ends_m, ends_n = (sorted({FEW - 1, *(int(getattr(c, x)) for c in every)}) for x in ("spare_m", "spare_n"))
        left = [[_left(every, m, n) for n in (*ends_n, MAX_EXTENT)] for m in (*ends_m, MAX_EXTENT)]
        return cls(every=every, ends_m=ends_m, ends_n=ends_n, left=tuple(map(tuple, left)))

    def of_one(self, m: int, n: int) -> tuple[Candidate, ...]:
        """What is left for one call."""
        return self.left[bisect_left(self.ends_m, m)][bisect_left(self.ends_n, n)]


def _left(every: tuple[Candidate, ...], m: int, n: int) -> tuple[Candidate, ...]:
    is_few = has_few(m, n)
    return tuple(c for c in every if m > c.spare_m and n > c.spare_n and (is_few or not c.is_small)) or every[:1]


@lru_cache(maxsize=256)
def candidates(gpu: GPU, dtype: DType, out_dtype: DType, kernel: Traits) -> Candidates:
    """Every feasible tile of this GPU and format with its cost constants under a kernel's traits, small ones first.

    Whoever keeps the least cost so far can pass over most of the others then; of tiles that are equal in cost and
    padding the last is meant.
    """
    found = [_candidate(gpu, dtype, out_dtype, kernel, tile) for tile in reversed(tiles(gpu, dtype, kernel.shipped))]
    return Candidates.of(
        tuple(replace(c, spare_m=_shorter(c, found, "m"), spare_n=_shorter(c, found, "n")) for c in found)
    )


def _shorter(c: Candidate, found: Sequence[Candidate], side: str) -> float:
    """The next shorter side among tiles that are equal otherwise: calls that it covers never need the longer one."""
    this, other = f"tile_{side}", "tile_n" if side == "m" else "tile_m"
    if c.tile.cluster_m > 1 or c.tile.cluster_n > 1:
        return 0.0
    alike = [x for x in found if x.tile.cluster_m == x.tile.cluster_n == 1 and getattr(x, other) == getattr(c, other)]
    return max((getattr(x, this) for x in alike if getattr(x, this) < getattr(c, this)), default=0.0)


@lru_cache(maxsize=4096)
def given_candidates(
    gpu: GPU, dtype: DType, out_dtype: DType, kernel: Traits, tile_m: int | None, tile_n: int | None, tile_k: int | None
) -> Candidates:
    """The candidates that have the given parts of a tile; a tile that no library ships is taken as it is.

    Raises:
        UnsupportedError: no such tile, or it does not fit.
    """
    k = tile_k or step_of_k(gpu, dtype, kernel.shipped)
    shipped: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for t in tiles(gpu, dtype, kernel.shipped):
        shipped.setdefault((t.tile_m, t.tile_n), []).append((t.cluster_m, t.cluster_n))
    shapes = [(m, n) for m, n in shipped if tile_m in (None, m) and tile_n in (None, n)]
    if tile_m and tile_n:
        shapes = [(tile_m, tile_n)]
    if not shapes:
        raise UnsupportedError(f"tile: no known tile has {_part(tile_m, tile_n)}; give both tile_m and tile_n")
    built = [
        build(gpu, dtype, m, n, k, *cluster, bool(kernel.shipped))
        for m, n in shapes
        for cluster in shipped.get((m, n), [(1, 1)])
    ]
    fitting = reversed([tile for tile in built if tile is not None])
    found = tuple(replace(_candidate(gpu, dtype, out_dtype, kernel, tile), is_small=False) for tile in fitting)
    if not found:
        m, n = max(shapes)
        raise UnsupportedError(
            f"tile: {m}x{n}x{k} does not fit {gpu.name}: two stages need {int(2 * bytes_per_k(dtype, m, n) * k)} bytes "
            f"of shared memory of the {gpu.shared_bytes_per_cta} that a CTA can have, or its registers do not fit"
        )
    return Candidates.of(found)


def _part(tile_m: int | None, tile_n: int | None) -> str:
    return f"tile_m={tile_m}" if tile_m else f"tile_n={tile_n}"


def _candidate(gpu: GPU, dtype: DType, out_dtype: DType, kernel: Traits, tile: Tile) -> Candidate:
    a_bytes, b_bytes = value_bytes(dtype)
    l2_s, port_s = 1 / gpu.l2_bytes_per_s, 1 / gpu.l2_port_bytes_per_s  # per byte
    math_s, shared_bytes = _math_s(gpu, dtype, tile), bytes_per_k(dtype, tile.tile_m, tile.tile_n)
    shared_s = shared_bytes / gpu.shared_bytes_per_clk_per_sm / gpu.clock_hz
    step_s, row_s, column_s = max(math_s, shared_s), a_bytes / tile.cluster_n * l2_s, b_bytes / tile.cluster_m * l2_s
    own_s = step_s / (tile.tile_m * tile.tile_n) / gpu.num_sms
    return Candidate(
        tile_m=float(tile.tile_m), tile_n=float(tile.tile_n), tile_k=float(tile.tile_k),
        cluster_m=float(tile.cluster_m), cluster_n=float(tile.cluster_n),
        step_s=step_s, tile_k_s=float(tile.tile_k) * step_s,
        row_s=row_s, column_s=column_s, value_s=out_dtype.bytes * l2_s,
        port_row_s=a_bytes * port_s, port_column_s=b_bytes * port_share_of_b(gpu, tile.cluster_m) * port_s,
        port_value_s=out_dtype.bytes * port_s,
        port_partial_s=PARTIAL_BYTES * port_s, reduction_s=kernel.reduction_s,
        bound_s=max(own_s, row_s / tile.tile_n + column_s / tile.tile_m) * (1 - 1e-9),  # less what rounding may add
        spare_m=0.0, spare_n=0.0, may_split=kernel.splits_k and tile.cluster_m == tile.cluster_n == 1,
        is_cluster=tile.cluster_m * tile.cluster_n > 1, is_small=min(tile.tile_m, tile.tile_n) < FEW,
        ctas_per_sm=float(tile.occupancy.ctas_per_sm), tile=tile,
    )  # fmt: skip


def _math_s(gpu: GPU, dtype: DType, tile: Tile) -> float:
    """One value of k in one task, on the slower of the pipes that multiply and that widen weights, or on the one."""
    math_s = 2.0 * tile.tile_m * tile.tile_n / gpu.flop_per_clk_per_sm(dtype) / gpu.clock_hz
    widen_s: float = widen_flop(dtype, tile.tile_n, 1) / gpu.other_fma_flop_per_clk_per_sm(dtype) / gpu.clock_hz
    return max(math_s, widen_s) if gpu.math_pipe(dtype) == "tensor" else math_s + widen_s


def widen_flop(dtype: DType, tile_n: Number, k: Number) -> Number:
    """FLOP of the FMA pipe that widen the weights of one task, where they are narrower than activations."""
    return _WIDEN_FLOP * tile_n * k if dtype.is_mixed else 0.0


@lru_cache(maxsize=64)
def value_bytes(dtype: DType) -> tuple[float, float]:
    """Bytes of one value of A and of B with its share of the scales."""
    if dtype is DType.NVFP4:  # one fp8 scale per 16 values, both operands
        return dtype.bytes + 1 / 16, dtype.bytes + 1 / 16
    if dtype is DType.FP8_BLOCK:  # fp32 scales: 1 x 128 blocks of A, 128 x 128 blocks of B
        return dtype.bytes + 4 / 128, dtype.bytes + 4 / 128**2
    if dtype in (DType.MXFP4, DType.MXFP4_FP8):  # an 8-bit exponent per 32 values; OCP, Microscaling Formats 1.0
        return dtype.activations.bytes + (1 / 32 if dtype is DType.MXFP4_FP8 else 0.0), dtype.bytes + 1 / 32
    if dtype in (DType.INT4, DType.INT4_FP8):  # a bf16 scale per 128 weights, the usual group of GPTQ and AWQ
        return dtype.activations.bytes, dtype.bytes + 2 / 128
    return dtype.bytes, dtype.bytes


@lru_cache(maxsize=256)
def operand_value_bytes(dtype: DType, out_dtype: DType | None) -> tuple[float, float, float]:
    """Bytes of one value of A, of B and of C."""
    assert out_dtype is not None  # a call has chosen one
    return (*value_bytes(dtype), out_dtype.bytes)


def has_few(m: Number, n: Number) -> Number:
    """Whether there are so few rows or columns that a tile with a short side, which is made for these, comes in."""
    return (m < FEW) | (n < FEW)


def num_tasks(p: Gemm, c: Candidate) -> Number:
    """Tiles of C over the batch, rounded up to whole clusters."""
    tiles_m, tiles_n = ceil_div(p.m, c.tile_m), ceil_div(p.n, c.tile_n)
    if c.is_cluster:
        tiles_m, tiles_n = round_up(tiles_m, c.cluster_m), round_up(tiles_n, c.cluster_n)
    return tiles_m * tiles_n * p.batch


def terms(p: Gemm, c: Candidate) -> tuple[Number, Number, Number, Number]:
    """What both costs are made of: steps of k, values of C per task, seconds per k through the port, seconds of L2."""
    rows, columns = minimum(p.m, c.tile_m), minimum(p.n, c.tile_n)
    outputs = rows * columns
    l2_s = (rows * c.row_s + columns * c.column_s) * p.k + outputs * c.value_s
    return ceil_div(p.k, c.tile_k), outputs, rows * c.port_row_s + columns * c.port_column_s, l2_s


def whole_cost(
    p: Gemm, c: Candidate, t: tuple[Number, Number, Number, Number], num_tiles: Number, num_sms: int
) -> Number:
    """Seconds when every task sums over all of k: of the busiest SM, or of L2 for all of them."""
    steps, outputs, port_s, l2_s = t
    busiest = maximum(steps * c.tile_k_s, port_s * p.k + outputs * c.port_value_s)
    return maximum(ceil_div(num_tiles, num_sms) * busiest, num_tiles * l2_s)


def split_count(steps: Number, num_tiles: Number, num_sms: int) -> Number:
    """Slices of k that fill one wave, never more than there are steps of k, never fewer than one."""
    return maximum(minimum(floor(num_sms / num_tiles), steps), 1.0)


def split_cost(
    p: Gemm, c: Candidate, t: tuple[Number, Number, Number, Number], num_tiles: Number, slices: Number, num_sms: int
) -> Number:
    """As `whole_cost` for slices of k, with their partial sums and the launch that adds them up.

    Partial sums load the port of the SM alone: their total hardly depends on how many slices there are.
    """
    steps, outputs, port_s, l2_s = t
    k = ceil_div(steps, slices) * c.tile_k
    port = port_s * minimum(k, p.k) + outputs * (c.port_value_s + c.port_partial_s)
    busiest = ceil_div(num_tiles * slices, num_sms) * maximum(k * c.step_s, port)
    return maximum(busiest, num_tiles * l2_s) + c.reduction_s


def nonempty(k: Number, tile_k: Number, slices: Number) -> Number:
    """Of that many slices of whole steps of k those that have any."""
    steps = ceil_div(k, tile_k)
    return ceil_div(steps, ceil_div(steps, slices))


def forced_cost(p: Gemm, c: Candidate, num_tiles: Number, num_sms: int) -> Number:
    """The cost under the given split_k."""
    slices, t = nonempty(p.k, c.tile_k, p.split_k), terms(p, c)
    split = split_cost(p, c, t, num_tiles, slices, num_sms)
    return where(slices == 1, whole_cost(p, c, t, num_tiles, num_sms), split)
