"""A user's calibration of one GPU: what its file holds. A small JSON document, read as data alone."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from ..digests import damage, signed, unsigned
from ..errors import FieldError, FileFormatError
from ..hardware.fields import show
from ..kernels import families
from .weights import Regime

FORMAT = 3
SHARES = (0.02, 1.5)  # of a published rate that a GPU may sustain; above 1 where the data sheet is modest
LONGEST_FLOOR_S = 1e-2
MOST_LOG = 5.0  # of a correction: a factor of 148
REGIME_ROWS = 20  # from which the intervals of a calibration stand for those of the weights; fewer only widen these
ZERO_SHOT = "zero-shot"  # nothing was changed
HARDWARE = "hardware"  # sustained rates and launch floors alone
LAUNCH_FLOOR = "launch floor"  # that alone, for what has no weights
WITHOUT_RESIDUAL = (ZERO_SHOT, HARDWARE, LAUNCH_FLOOR)


def pool_of(kernel: str, dtype: str, variant: str = "") -> str:
    """What shares a residual part, as the file calls it: `cublas.bf16`, `fa3.bf16.decode`."""
    return ".".join(filter(None, (kernel, dtype, variant)))


class Hardware(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sustained rates as shares of the published ones, launch floors by `kernel.dtype`, and where each is from.

    `launch_floor_from` is the GPU that floors are borrowed from, but for those that were `launch_floor_fitted`.
    """

    clock_share: float | None
    dram_share: float | None
    l2_share: float | None
    launch_floor_s: dict[str, float]
    launch_floor_from: str
    said: dict[str, str]
    launch_floor_fitted: tuple[str, ...] = ()


class SetAside(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A measured row that nothing was fitted to: which, and why."""

    call: str  # `vllm cublas m=4096 n=4096 k=4096 dtype=bf16`
    time_s: float
    why: str  # with the time that it cannot be below, or is far from


class Residual(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is added to the network's log(time / base), for the engines of one kernel and format.

    A shift of each engine, linear parts in the inputs (scaled to 0..1 over their training range) and in the last hidden
    layer, and bumps around calibration rows in the scaled `coordinates`, which count more for the row's own engine.
    """

    network: str
    shifts: dict[str, float]  # by engine
    input_weights: tuple[float, ...]
    hidden_weights: tuple[float, ...]
    coordinates: tuple[str, ...]
    points: tuple[tuple[float, ...], ...]
    point_engines: tuple[str, ...]
    heights: tuple[float, ...]
    length: float  # of a bump
    peaked: bool  # whether bumps are peaks, which fall off at once along every coordinate
    own: float  # how much more a bump counts for its own engine
    low: float  # the sum is cut to what the calibration rows have
    high: float


class Kernel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was chosen for one `engine.kernel.dtype`, with held-out mean absolute relative errors before and after."""

    method: str
    why: str
    rows: int
    before: float
    after: float
    regimes: tuple[Regime, ...]


class CalibrationFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole document. `residuals` are by `kernel.dtype`, `kernels` by `engine.kernel.dtype`.

    Where calls of a family have networks of their own, their variant follows: `fa3.bf16.decode`.
    """

    format: int
    family: str
    gpu: str
    weights: str  # digest of the weights that the residual parts correct; empty where there were none
    synperf: str
    date: str
    seed: int
    rows: int
    sources: dict[str, int]  # rows by file
    hardware: Hardware
    kernels: dict[str, Kernel]
    residuals: dict[str, Residual]
    set_aside: tuple[SetAside, ...] = ()
    plugin: str = ""  # digest of the file of a family of the user's own


def read(path: str | Path, gpu: str | None = None) -> CalibrationFile:
    """The calibration in a file; `gpu` is the key of the GPU that it is wanted for.

    Raises:
        FileFormatError: it cannot be read, is damaged, or of another version.
        FieldError: it is of another GPU.
    """
    found = parse(_bytes(Path(path)), Path(path).name)
    if gpu is not None:
        require_gpu(found, gpu)
    return found


def require_gpu(found: CalibrationFile, gpu: str) -> None:
    """Checks that a calibration is of that GPU.

    Raises:
        FieldError: it is of another.
    """
    if found.gpu != gpu:
        raise FieldError(f"calibration: it is of {found.gpu}, not of {gpu}; right would be --gpu {found.gpu}")


def parse(data: bytes, where: str) -> CalibrationFile:
    """The calibration that a document is.

    Raises:
        FileFormatError: it is damaged, or of another version; the message begins with `where`.
    """
    try:
        document: Any = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
        raise FileFormatError(f"{where}: not a whole JSON document ({wrong}); calibrate again") from None
    version = document.get("format") if isinstance(document, dict) else None
    if version != FORMAT or isinstance(version, bool):
        shown = f"format is {show(version)}, right would be {FORMAT}"
        raise FileFormatError(f"{where}: not a calibration of this version: {shown}; calibrate again")
    document, claimed = unsigned(document)
    try:
        found = msgspec.convert(document, CalibrationFile)
    except msgspec.ValidationError as wrong:
        raise FileFormatError(f"{where}: not a calibration ({wrong}); calibrate again") from None
    problem = _problem(found) or damage(found, claimed)
    if problem:
        raise FileFormatError(f"{where}: {problem}; calibrate again")
    return found


def render(found: CalibrationFile) -> bytes:
    """The document as a file holds it."""
    return signed(found, indent=1)


def _problem(found: CalibrationFile) -> str:
    """What cannot be in a document whose types are right, or an empty text."""
    hardware = found.hardware
    shares = {name: getattr(hardware, name) for name in ("clock_share", "dram_share", "l2_share")}
    values = {name: (value, *SHARES) for name, value in shares.items() if value is not None}
    values |= {f"launch_floor_s.{key}": (value, 0.0, LONGEST_FLOOR_S) for key, value in hardware.launch_floor_s.items()}
    for field, (value, least, most) in values.items():
        if not least < value <= most:
            return f"hardware.{field}: {show(value)} is not above {least:g} and at most {most:g}"
    if not found.plugin and found.family not in families():
        return f"family: no family named {found.family!r}"
    if not found.kernels:
        return "kernels: there are none"
    for key, one in found.kernels.items():
        if text := _oddity(one):
            return f"kernels.{key}: {text}"
        if one.method not in WITHOUT_RESIDUAL and key.partition(".")[2] not in found.residuals:
            return f"kernels.{key}: no residual part for its method {one.method}"
    return next((text for key, one in found.residuals.items() if (text := _misfit(key, one))), "")


def _oddity(one: Kernel) -> str:
    ends = [(r.low, r.high) for r in one.regimes]
    if any(not -MOST_LOG <= low <= high <= MOST_LOG for low, high in ends):
        return f"regimes: low and high are not in order, or not within {MOST_LOG:g}"
    bounds = [r.up_to_s for r in one.regimes]
    if bounds != sorted(bounds) or (bounds and not bounds[0] > 0):
        return "regimes: up_to_s does not rise from above 0"
    return "" if one.rows >= 0 else f"rows: {one.rows} is below 0"


def _misfit(key: str, one: Residual) -> str:
    if not (len(one.points) == len(one.point_engines) == len(one.heights)):
        return f"residuals.{key}: points, point_engines and heights are not of one length"
    if any(len(point) != len(one.coordinates) for point in one.points) or one.length <= 0 or one.own < 0:
        return f"residuals.{key}: points do not fit the coordinates"
    if not all(map(isfinite, (*one.shifts.values(), *one.input_weights, *one.hidden_weights, *one.heights))):
        return f"residuals.{key}: a weight that is not a number"
    if not -MOST_LOG <= one.low <= one.high <= MOST_LOG:
        return f"residuals.{key}: low and high are not in order, or not within {MOST_LOG:g}"
    return ""


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as wrong:
        why = getattr(wrong, "strerror", None) or wrong
        raise FileFormatError(f"{path}: {why}; right would be what `synperf calibrate --out` wrote") from None
