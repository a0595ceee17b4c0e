"""The public functions. Everything the command line does is one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from . import hardware
from .collectives import Collective
from .collectives.family import collective
from .errors import FieldError, UnknownNameError, named
from .estimators import Estimate, analytical, learned
from .estimators.weights import serving
from .explanation import Explanation, explanation
from .hardware import GPU, DType
from .kernels import KernelFamily, families, family, name_of, of_type
from .kernels.base import Call, call_from, num_calls, take

if TYPE_CHECKING:
    from .estimators.calibration_file import CalibrationFile
    from .estimators.weights import Weights
    from .kernels.gemm_profile import TileProfile
    from .measurements.source import Key
    from .models import Model, Plan
    from .serving.answer import Forecast
    from .serving.stack_file import StackFile
    from .serving.workload import Workload

    CalibrationSource = CalibrationFile | str | Path
    WeightsSource = Weights | str | Path

Table = TypeVar("Table")  # a list of dicts, a dict of columns, a polars DataFrame
CHUNK = 16_384  # calls per pass of array arithmetic: the columns of one pass stay in the caches
Estimator = Callable[[KernelFamily, Any, GPU], Estimate]
ORIGINS = ("measured", learned.ORIGIN, analytical.ORIGIN)  # that may be asked for


def parse_call(family_name: str, fields: Mapping[str, Any]) -> Call:
    """The call that text, numbers or arrays by field name describe; of a family by its name, or its file's path.

    Raises:
        UnknownNameError: no such family.
        FieldError: a field is unknown, missing or out of range.
        PluginError: the file of a family is not what it should be.
    """
    return call_from(collective(family_name) or family(name_of(family_name)), fields)


@overload
def predict(
    call: Call,
    gpu: GPU | str | Path | None = None,
    *,
    origin: str | None = None,
    tiles: TileProfile | str | Path | None = None,
    calibration: CalibrationSource | None = None,
    weights: WeightsSource | None = None,
) -> Estimate: ...
@overload
def predict(
    call: Table,
    gpu: GPU | str | Path | None = None,
    *,
    origin: str | None = None,
    tiles: TileProfile | str | Path | None = None,
    calibration: CalibrationSource | None = None,
    weights: WeightsSource | None = None,
) -> Table: ...
def predict(
    call: Any,
    gpu: GPU | str | Path | None = None,
    *,
    origin: str | None = None,
    tiles: TileProfile | str | Path | None = None,
    calibration: CalibrationSource | None = None,
    weights: WeightsSource | None = None,
) -> Any:
    """How long a call takes, or each call of columns, or each row of a table.

    A call gives an `Estimate`. A table (a list of dicts, a dict of columns, a DataFrame) has the columns `family`
    and its fields, and gives a table of its kind with the results as further columns; a column `gpu` may name a GPU
    per row. `origin` forces one estimator; without it the learned one answers where there are weights for the format,
    else the analytical one. `measured` looks into the tables of the extra [data] first, and calls that they do not
    cover are answered, and marked, as without it. `calibration` is what `synperf calibrate` wrote for the GPU.
    `weights` is what `synperf train` wrote, which then answers for its family in the place of the shipped ones.
    `tiles` is a profile of recorded launches, or the CSV file that holds one.

    Raises:
        UnknownNameError: no such GPU.
        FieldError: `origin` names no estimator; the call names an engine or kernel that does not exist; the weights are
            of another family.
        FileFormatError: the weights are damaged, of another version, or no weights.
        UnsupportedError: the GPU lacks the format, the engine a kernel for it, or the tile does not fit.
        PluginError: the file of a family of the user's own raises, or gives no work.
    """
    device = None if gpu is None else _device(gpu)
    if type(call) is Collective:
        return _collective(call, device, origin, {"tiles": tiles, "calibration": calibration, "weights": weights})
    kind = of_type(type(call))
    if kind is None:
        return _predict_table(call, device, origin, tiles, calibration, weights)
    if device is None:
        raise _no_gpu()
    said: tuple[str, ...] = ()
    if tiles is not None:
        call, sentence = _profile(tiles).fill(call, device)
        said = (sentence,)
    estimate = _estimate(kind, call, device, _estimator(origin, calibration, weights))
    return replace(estimate, assumptions=estimate.assumptions + said) if said else estimate


def _no_gpu() -> FieldError:
    return FieldError("gpu: none given; right would be a key such as 'h100_sxm', a TOML file or a GPU")


def _collective(call: Collective, gpu: GPU | None, origin: str | None, others: Mapping[str, Any]) -> Estimate:
    """The time of a collective, which has neither tiles nor calibrations and weights of its own."""
    from .collectives.estimate import ORIGINS, estimate  # answers of kernels do not need it

    if gpu is None:
        raise _no_gpu()
    for name, value in others.items():
        if value is not None:
            raise FieldError(f"{name}: it is for kernels; right would be none for {call.operation}")
    if origin is not None and origin not in ORIGINS:
        raise FieldError(f"origin: {UnknownNameError.among('estimator of collectives', str(origin), ORIGINS)}")
    return estimate(call, gpu, origin)


def _estimate(kind: KernelFamily, call: Any, gpu: GPU, estimator: Estimator) -> Estimate:
    size = num_calls(call)
    if size is None or size <= CHUNK:
        return estimator(kind, call, gpu)
    starts = range(0, size, CHUNK)
    return Estimate.join([estimator(kind, take(call, slice(start, start + CHUNK)), gpu) for start in starts])


def predict_file(
    calls: str | Path,
    out: str | Path | None = None,
    gpu: GPU | str | Path | None = None,
    *,
    family: str | Path | None = None,
    changes: Sequence[str] = (),
    origin: str | None = None,
    tiles: TileProfile | str | Path | None = None,
    calibration: CalibrationSource | None = None,
    weights: WeightsSource | None = None,
) -> None:
    """Predict every row of a table in a file, and write the table with the results: whole, or not at all.

    CSV, JSON lines or parquet by the names' endings; `-` is CSV on standard input, and without `out` CSV goes to
    standard output. `family` (a name, or the path of a file of one's own) and `gpu` are those of rows that name none;
    `changes` are what-ifs of every GPU. Batches are read and written one after the other, so the file may be larger
    than memory.

    Raises:
        PerfError: the message names file, row and field; nothing is written then.
    """
    from .tables import Plan, predict_file

    def device(name: GPU | str | Path) -> GPU:
        return hardware.what_if(_device(name), changes)

    estimate = partial(
        predict, origin=origin, tiles=tiles, calibration=_read(calibration), weights=_read_weights(weights)
    )
    named = None if family is None else name_of(family)
    plan = Plan(estimate=estimate, device=device, family=named, gpu=None if gpu is None else device(gpu))
    predict_file(calls, plan, out)


def _predict_table(
    table: Any, gpu: GPU | None, origin: str | None, tiles: TileProfile | str | Path | None,
    calibration: CalibrationSource | None, weights: WeightsSource | None,
) -> Any:  # fmt: skip
    from .tables import Plan, is_table, predict_table  # not needed for a single call, and slow to import

    if not is_table(table):
        known = ", ".join(kind.call_type.__name__ for kind in families().values())
        raise FieldError(f"call must be one of {known}, or a table of calls, got {type(table).__name__}")
    profile = None if tiles is None else _profile(tiles)
    estimate = partial(
        predict, origin=origin, tiles=profile, calibration=_read(calibration), weights=_read_weights(weights)
    )
    return predict_table(table, Plan(estimate=estimate, device=_device, gpu=gpu))


def estimate(
    model: Model | str | Path, plan: Plan, workload: Workload, gpu: GPU | str | Path, *, origin: str | None = None,
    calibration: StackFile | str | Path | None = None, version: str | None = None,
) -> Forecast:  # fmt: skip
    """What requests see of a model on a plan's GPUs under a load: TTFT, TPOT, throughput, and where the time goes.

    `model` is one that was read, a name of the catalog, or a config.json. `workload` is one of `StaticBatch`,
    `ClosedLoop`, `OpenLoop` and `RequestTrace`. Where the load does not fit into the memory, the answer has no times
    and says what would fit. `origin` forces one estimator of kernels, without fitted factors. `calibration` is
    what `synperf fit-engine` wrote; `version` is that of the engine, where several were measured.

    Raises:
        FileFormatError: the calibration is none.
        UnknownNameError: no such GPU or model.
        FieldError: the plan does not go with the model; a request can never fit; no such engine.
        UnsupportedError: the GPU lacks a format, or the engine a kernel for it.
    """
    from .models import model as of_name  # answers of kernels need neither
    from .serving.estimate import estimate
    from .serving.stack_file import read

    if origin is not None and origin not in ORIGINS:
        raise FieldError(f"origin: {UnknownNameError.among('estimator', str(origin), ORIGINS)}")
    from .models import Plan as ModelPlan
    from .serving import workload as loads

    _require("plan", plan, ModelPlan, "synperf.Plan")
    kinds = (loads.StaticBatch, loads.ClosedLoop, loads.OpenLoop, loads.RequestTrace)
    _require("workload", workload, kinds, "one of StaticBatch, ClosedLoop, OpenLoop and RequestTrace")
    own = read(Path(calibration)) if isinstance(calibration, str | Path) else calibration
    return estimate(of_name(model), plan, workload, _device(gpu), origin=origin, version=version, own=own)


def _require(name: str, value: Any, kinds: Any, right: str) -> None:
    if not isinstance(value, kinds):
        raise FieldError(f"{name} must be {right}, got {type(value).__name__}")


def explain(
    call: Call, gpu: GPU | str | Path, *, origin: str | None = None, tiles: TileProfile | str | Path | None = None,
    calibration: CalibrationSource | None = None, weights: WeightsSource | None = None,
) -> Explanation:  # fmt: skip
    """Why one call takes its time: tiles, grid, waves, the busiest SM, every pipe's demand, occupancy.

    The estimate is that of `predict`; the parts are those of the analytical one.

    Raises: as `predict`; and FieldError where the call holds columns of many.
    """
    device, kind = _device(gpu), family_of(call)
    if num_calls(call) is not None:
        raise FieldError("call: one call is explained at a time, got columns")
    estimate = predict(call, device, origin=origin, tiles=tiles, calibration=calibration, weights=weights)
    if tiles is None:
        return explanation(kind, call, device, estimate)
    filled, _ = _profile(tiles).fill(call, device)
    found = explanation(kind, filled, device, estimate)
    launch = found.launch if filled is call else replace(found.launch, choice_source="recorded")
    return replace(found, launch=launch)


def tile_profile(path: TileProfile | str | Path) -> TileProfile:
    """The recorded launches of a CSV file, whose tiles then stand for calls of near shape.

    Raises:
        FileFormatError: the file cannot be read, or a row is not what it should be.
    """
    from .kernels.gemm_profile import TileProfile, read  # answers without a profile do not need them

    return path if isinstance(path, TileProfile) else read(path)


def _profile(tiles: TileProfile | str | Path) -> TileProfile:
    with named("tiles"):
        return tile_profile(tiles)


def _device(gpu: GPU | str | Path) -> GPU:
    return gpu if isinstance(gpu, GPU) else hardware.gpu(gpu)


def family_of(call: Call) -> KernelFamily:
    """The family that a call belongs to.

    Raises:
        FieldError: it is not a call of any family.
    """
    found = of_type(type(call))
    if found is None:
        known = ", ".join(kind.call_type.__name__ for kind in families().values())
        raise FieldError(f"call must be one of {known}, got {type(call).__name__}")
    return found


def _best(kind: KernelFamily, call: Any, gpu: GPU, weights: Weights | None = None) -> Estimate:
    """The learned estimate where there are weights for the format, else the analytical one."""
    if parts := learned.by_variant(kind, call):
        return Estimate.gather([(rows, _best(kind, part, gpu, weights)) for rows, part in parts])
    found = learned.known(kind, call, gpu, weights)
    return _instead(kind, call, gpu, weights) if found is None else found


def _instead(kind: KernelFamily, call: Any, gpu: GPU, weights: Weights | None = None) -> Estimate:
    """The analytical estimate, with the reason where networks for the format are there and decline."""
    found, want = analytical.estimate(kind, call, gpu), learned.wanted(kind, call, gpu)
    networks = weights or serving(kind.name, want.kernel)
    why = learned.declined(networks, want) if networks else ""
    return replace(found, assumptions=(*found.assumptions, why)) if why else found


@cache
def measured(*, with_test: bool = True) -> Estimator:
    """The estimator of the installed measured tables; `with_test=False` leaves out what an evaluation is scored on.

    Raises:
        MissingExtraError: the extra [data] is not installed.
    """
    from .estimators.measured import Measured  # answers without tables need neither
    from .measurements import aiconfigurator
    from .measurements.source import Source

    aiconfigurator.folder()
    return Measured(trend=_trend, source=Source.installed(with_test=with_test), widening=_widening).estimate


def _trend(kind: KernelFamily, call: Any, gpu: GPU) -> Estimate:
    """What measured tables correct: the larger learned estimate where there is one, else as `_best`."""
    if parts := learned.by_variant(kind, call):
        return Estimate.gather([(rows, _trend(kind, part, gpu)) for rows, part in parts])
    found = learned.of_tables(kind, call, gpu)
    return _instead(kind, call, gpu) if found is None else found


def _widening(key: Key, gpu: GPU) -> float:
    want = learned.Wanted(gpu.key, 0.0, DType(key.dtype), key.engine, key.kernel, "")
    return learned.widening(want, key.family)


def _estimator(origin: str | None, calibration: CalibrationSource | None, weights: WeightsSource | None) -> Estimator:
    if origin is not None and origin not in ORIGINS:
        raise FieldError(f"origin: {UnknownNameError.among('estimator', str(origin), ORIGINS)}")
    if weights is not None and origin not in (None, learned.ORIGIN):
        raise FieldError(f"weights: they are for the learned estimate; right would be no origin, got {origin!r}")
    if calibration is not None:
        return _calibrated(origin, calibration, weights)
    if weights is not None:
        return _of_own(_best if origin is None else learned.estimate, weights)
    if origin is None:
        return _best
    if origin == learned.ORIGIN:
        return learned.estimate
    return analytical.estimate if origin == analytical.ORIGIN else measured()


def _of_own(estimate: Callable[..., Estimate], source: WeightsSource) -> Estimator:
    """The estimator with weights of the user's own in the place of the shipped ones."""
    own = _read_weights(source)
    assert own is not None  # the caller has some

    def estimated(kind: KernelFamily, call: Any, gpu: GPU) -> Estimate:
        if own.card.family != kind.name:
            raise FieldError(f"weights: they are of {own.card.family}, not of {kind.name}")
        if own.card.plugin != kind.digest:
            raise FieldError(f"weights: they were trained with another file of {kind.name}; train them again")
        measured = learned.engines_of(own, call.dtype)
        return estimate(kind, learned.as_in_rows(kind, call, gpu, measured), gpu, weights=own)

    return estimated


def _calibrated(origin: str | None, calibration: CalibrationSource, weights: WeightsSource | None) -> Estimator:
    from .estimators import calibrated  # answers without a calibration do not need it

    if origin is not None:
        raise FieldError(f"origin: a calibration corrects the learned estimate; right would be none, got {origin!r}")
    found = _read(calibration)
    assert found is not None  # the caller has one
    estimate = partial(calibrated.estimate, calibration=found)
    return estimate if weights is None else _of_own(estimate, weights)


def _read(calibration: CalibrationSource | None) -> CalibrationFile | None:
    """The calibration of a file, read once for all calls."""
    if calibration is None:
        return None
    from .estimators.calibration_file import CalibrationFile, read

    if isinstance(calibration, CalibrationFile):
        return calibration
    with named("calibration"):
        return read(_path("calibration must be a file or a calibration", calibration))


def _read_weights(weights: WeightsSource | None) -> Weights | None:
    """The weights of a file, read once for all calls."""
    if weights is None:
        return None
    from .estimators.weights import Weights, read_own

    if isinstance(weights, Weights):
        return weights
    with named("weights"):
        return read_own(_path("weights must be a file or weights", weights))


def _path(right: str, given: Any) -> Path:
    """A path that was given in the place of what a file holds.

    Raises:
        FieldError: it is none.
    """
    if not isinstance(given, str | Path):
        raise FieldError(f"{right}, got {type(given).__name__}")
    return Path(given)
