"""The hybrid estimate: the base time (launch floor + roofline at sustained rates) times a learned correction.

A GPU, engine and kernel that were trained on have a network that knows them. Any other GPU has a general one, which
sees no specification but through its inputs; a kernel that nobody measured has the middle of the measured ones of its
format, and says so. The interval is what held-out rows of the same regime spread over.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import compress
from math import exp
from operator import or_
from typing import Any, NamedTuple

import msgspec
import numpy as np

from .. import hardware
from ..errors import UnsupportedError
from ..features import Features, features
from ..hardware import GPU, DType
from ..hardware.makers import maker
from ..hardware.rates import rates as rates_of
from ..hardware.twins import kin
from ..kernels import KernelFamily
from ..kernels.base import of_engine, take, values_of
from ..kernels.dispatch import PLAIN, engine_of_rows, measured_as, resolve
from ..numeric import Number, maximum, minimum, where
from ..version import VERSION
from .analytical import LIMITERS, slowest
from .estimate import Estimate
from .inputs import Sustained, inputs, logarithms, sustained
from .nearness import Near
from .network import Network
from .weights import GENERAL, KNOWN, NetworkCard, Regime, Weights, serving, shipped
from .weights import of_tables as larger

ORIGIN = "learned"
STAND_IN = {DType.FP16: DType.BF16}  # formats with the rates and the traffic of another
FAR = 2.5  # times the FLOP per byte of any measured GPU at which networks would be guessing
# A fraction of the least measured one at which they would be. Networks for bf16 that were trained without the GPUs of
# less than 1.7 times the A100's are 21 % off on it, as those that miss it alone are; of less nobody has rows.
FAR_BELOW = 1.75
IN_TURN = "bytes_in_turn"  # over L2: see kernels/gemm_inputs.py
_IN_TURN = "l2: weights took turns while calls were timed, and L2 held those that fit; cold ones take longer"
_NOTHING = frozenset((type(None),))
_NAMES = np.array(LIMITERS)


_Ends = tuple[list[float], np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choice:
    """The network that answers for a GPU, engine and kernel, the group it takes them for, and what is assumed."""

    network: Network
    group: int
    regimes: tuple[Regime, ...]
    ends: _Ends  # of the regimes
    outside: tuple[str, ...]
    assumptions: tuple[str, ...]
    widening: float
    beyond: float  # how much further errors go outside the measured range, as a logarithm
    is_apart: bool  # whether the GPU's balance of math and DRAM is outside that of the measured ones
    near: Near | None  # how much further they go on shapes that are far from measured ones
    digest: str  # the first digits of that of the weights, which name them
    varied: tuple[str, ...]  # fields that measured calls always have at 1, but for those of this network
    is_shipped: bool  # whether the weights are those that come with synperf
    in_turn: bool  # whether an input says what took turns in L2 while rows were timed


@dataclass(slots=True, kw_only=True, eq=False)
class Answer:
    """What an estimate is made of, and what a calibration corrects: of one call, or columns of one length of many."""

    features: Features
    rates: Sustained
    choice: Choice
    base_s: Number
    logs: np.ndarray  # (D,) or (rows, D)
    hidden: np.ndarray  # (Hlast,) or (rows, Hlast)
    correction: Number  # log(time / base)


class Wanted(NamedTuple):
    """What an answer is chosen by: the GPU, its balance and maker, the format, who runs which kernel, the variant."""

    gpu: str
    ridge: float  # FLOP per byte of DRAM at which the GPU is in balance, in the format; 0 where it does not matter
    dtype: DType
    engine: str
    kernel: str
    variant: str
    maker: str = ""  # of the GPU; "" where it does not matter
    kin: str = ""  # what it shares with GPUs that run the same kernels; "" where it does not matter
    measured_as: str = ""  # the kernel's name in measured rows, where it is another


def wanted(kind: KernelFamily, call: Any, gpu: GPU) -> Wanted:
    """What calls of one variant want.

    Raises:
        FieldError: the call names an engine or kernel that does not exist.
    """
    variant = kind.variant(call)
    name = variant if type(variant) is str else str(variant[0]) if len(variant) else ""
    return _wanted(kind, gpu, call.dtype, kind.math(call), call.engine, call.kernel, name)


def as_in_rows(kind: KernelFamily, call: Any, gpu: GPU, measured: Collection[str]) -> Any:
    """The call under the one engine that rows of a user's own are of, where nothing else says which."""
    found = engine_of_rows(kind.name, call.dtype, gpu.compute_capability, call.engine, measured)
    return call if found is None or found == call.engine else of_engine(call, found)


def engines_of(weights: Weights, dtype: DType) -> frozenset[str]:
    """Engines whose rows the networks for a format were trained on."""
    groups = {group for card in weights.card.networks if dtype in card.dtypes for group in card.groups}
    return frozenset(group.split(".")[-2] for group in groups if "*" not in group)


@lru_cache(maxsize=4096)
def _wanted(
    kind: KernelFamily, gpu: GPU, dtype: DType, math: DType, engine: str | None, kernel: str | None, variant: str
) -> Wanted:
    label = resolve(kind.name, dtype, gpu.compute_capability, engine, kernel)
    ridge, kind_of_gpu = rates_of(gpu, math).ridge_flop_per_byte, kin(gpu.compute_capability)
    in_rows = measured_as(kind.name, *label, dtype)
    other = "" if in_rows == label[1] else in_rows
    return Wanted(gpu.key, ridge, dtype, *label, variant, gpu.maker, kind_of_gpu, other)


def of_any_balance(want: Wanted) -> Wanted:
    """The same, where rows of the GPU's own tell how far the network is off: no GPU is too far from measured ones."""
    return want._replace(ridge=0.0, maker="")


def by_variant(kind: KernelFamily, call: Any) -> list[tuple[np.ndarray, Any]]:
    """(rows, calls) of each variant among columns of calls; empty where there is one alone."""
    variant = kind.variant(call)
    names: list[str] = [] if type(variant) is str else sorted(set(variant.tolist()))
    if len(names) < 2:
        return []
    return [(rows, take(call, rows)) for rows in (np.flatnonzero(variant == name) for name in names)]


def estimate(kind: KernelFamily, call: Any, gpu: GPU, weights: Weights | None = None) -> Estimate:
    """Time of one call, or of columns of calls, by the shipped weights or the given ones.

    Raises:
        FieldError: the call names an engine or kernel that does not exist.
        UnsupportedError: no weights for this family or format; else as the analytical estimate.
        FileFormatError: the shipped weights are damaged.
    """
    if parts := by_variant(kind, call):
        return Estimate.gather([(rows, estimate(kind, part, gpu, weights)) for rows, part in parts])
    want = wanted(kind, call, gpu)
    return _estimate(kind, call, gpu, want, _required(kind, call, want, weights or serving(kind.name, want.kernel)))


def known(
    kind: KernelFamily, call: Any, gpu: GPU, weights: Weights | None = None, *, any_balance: bool = False
) -> Estimate | None:
    """As `estimate`, of calls of one variant; None where the weights have no answer for it, its format or the GPU."""
    want = wanted(kind, call, gpu)
    want = of_any_balance(want) if any_balance else want
    weights = weights or serving(kind.name, want.kernel)
    choice = choose(weights, want) if weights else None
    return None if choice is None else _estimate(kind, call, gpu, want, choice)


def of_tables(kind: KernelFamily, call: Any, gpu: GPU) -> Estimate | None:
    """The estimate that measured tables stand on: that of the larger weights, where they know the GPU and kernel.

    Raises: as `known`.
    """
    weights = shipped(larger(kind.name))
    found = None if weights is None else known(kind, call, gpu, weights)
    return known(kind, call, gpu) if found is None else found


def widening(want: Wanted, family: str) -> float:
    """How much further the larger weights err on shapes that they were not fitted to; 1 where they do not answer."""
    weights = shipped(larger(family))
    choice = None if weights is None else choose(weights, want)
    return 1.0 if choice is None else choice.widening


def answer(kind: KernelFamily, call: Any, gpu: GPU, want: Wanted, weights: Weights | None = None) -> Answer:
    """The network's correction of calls of one variant, and what it saw.

    Raises: as `estimate`.
    """
    return _answer(kind, call, gpu, want, _required(kind, call, want, weights or serving(kind.name, want.kernel)))


def _required(kind: KernelFamily, call: Any, want: Wanted, weights: Weights | None) -> Choice:
    """The network for what is wanted.

    Raises:
        UnsupportedError: there is none.
    """
    choice = choose(weights, want) if weights else None
    if choice is None:
        raise UnsupportedError(f"origin: {_why_not(kind, call, want, weights)}; right would be another origin")
    return choice


def _why_not(kind: KernelFamily, call: Any, want: Wanted, weights: Weights | None) -> str:
    """Why there is no learned answer."""
    if want.engine == PLAIN:
        return "no weights for engine=plain, which is the analytical estimate"
    declined_because = declined(weights, want) if weights else ""
    what = f"{kind.name} in {call.dtype}{f', {want.variant}' if want.variant else ''}"
    return declined_because.removeprefix("learned: ") or f"no weights for {what}"


def declined(weights: Weights, want: Wanted) -> str:
    """The sentence on why networks for the format do not answer for this GPU or kernel; empty where it is neither."""
    if choose(weights, want) is not None:
        return ""
    if choose(weights, of_any_balance(want)) is None:
        return _of_other_kernels(weights, want)
    pairs, served = _serving(weights, want)
    measured = _measured([card for card, _ in pairs], served)
    if _is_of_another_maker(want.maker, measured):
        name, known = maker(want.maker).name, "networks answer for the makers of measured ones alone"
        return f"learned: no GPU of {name} was measured in {want.dtype}, and {known}"
    return f"learned: {_balance(want, *_ridges(measured, served))}, too far off for their network"


def _balance(want: Wanted, least: float, most: float) -> str:
    """A GPU's balance of math and DRAM beside that of measured ones."""
    has = f"{want.ridge:.0f} FLOP per byte of DRAM in {want.dtype}"
    return f"this GPU has {has}, measured ones {least:.0f} to {most:.0f}"


def _of_other_kernels(weights: Weights, want: Wanted) -> str:
    """The sentence where networks for the format know other kernels or GPUs alone; empty where there are none."""
    pairs, served = _serving(weights, want)
    groups = {group.rpartition(".")[2] for card, _ in pairs if served in card.dtypes for group in card.groups}
    known = sorted(groups - {"*"})
    if not known or want.engine == "plain":
        return ""
    if {want.kernel, want.measured_as} & set(known):
        gpus = ", ".join(sorted(_measured([card for card, _ in pairs], served)))
        return f"learned: nobody measured {want.kernel} on this GPU; the network for {served} knows {gpus}"
    return f"learned: nobody measured {want.kernel}; the networks for {served} know {', '.join(known)}"


def _answer(kind: KernelFamily, call: Any, gpu: GPU, want: Wanted, choice: Choice) -> Answer:
    f = features(kind, call, gpu)
    rates = sustained(gpu, kind.name, want.kernel, call.dtype)
    base_s, named = inputs(kind, call, gpu, f, rates)
    logs = logarithms(named, base_s)
    see = choice.network.see if type(base_s) is np.ndarray else choice.network.see_one
    hidden, correction = see(logs, choice.group)
    return Answer(
        features=f, rates=rates, choice=choice, base_s=base_s, logs=logs, hidden=hidden, correction=correction
    )


def _estimate(kind: KernelFamily, call: Any, gpu: GPU, want: Wanted, choice: Choice) -> Estimate:
    found = _answer(kind, call, gpu, want, choice)
    return finish(kind, call, gpu, (want.engine, want.kernel), found, found.correction, choice.regimes)


def finish(
    kind: KernelFamily, call: Any, gpu: GPU, label: tuple[str, str], found: Answer,
    correction: Number, regimes: tuple[Regime, ...], origin: str = ORIGIN,
) -> Estimate:  # fmt: skip
    """The estimate that a correction and the regimes of its errors make."""
    f, choice, base_s = found.features, found.choice, found.base_s
    single, floor_s = type(base_s) is not np.ndarray, f.floor_s
    time_s = maximum(base_s * (exp(correction) if single else np.exp(correction)), floor_s)
    limiter, slowest_s = slowest(f, found.rates.launch_s)
    given = _given(kind, call)
    outside = _outside(found, kind, call, given, single)
    low, high = _spread(choice.ends if regimes is choice.regimes else _ends(regimes), time_s, single)
    if choice.near is not None and regimes is choice.regimes:
        wider = choice.near.wider(_extents(kind, call, time_s, single))
        low, high = low**wider, high**wider
    if choice.beyond and regimes is choice.regimes:
        further = _further(choice.beyond, outside, len(choice.outside + given), single)
        low, high = low / further, high * further
    low_s, high_s = time_s * low, time_s * high
    is_apart = _is_apart(choice, kind, call)
    if (is_apart if single else np.any(is_apart)) and regimes is choice.regimes:
        analytical_s = where(is_apart, found.rates.launch_s + slowest_s, time_s)
        low_s, high_s = minimum(low_s, analytical_s), maximum(high_s, analytical_s)
    return Estimate(
        family=kind.name,
        gpu=gpu.key,
        engine=label[0],
        kernel=label[1],
        time_s=time_s,
        low_s=maximum(low_s, floor_s),
        high_s=high_s,
        floor_s=floor_s,
        efficiency=f.roofline_s / time_s,
        limiter=LIMITERS[limiter] if single else _NAMES[limiter],
        origin=origin,
        extrapolating=bool(outside) if single else np.fromiter(map(bool, outside), np.bool_, len(outside)),
        outside=outside,
        assumptions=_said(gpu, found.rates, choice) + kind.assumptions(call, gpu) + _chosen_by_library(given),
        versions={"synperf": VERSION, "weights": choice.digest},
    )


def _spread(ends: _Ends, time_s: Number, single: bool) -> tuple[Number, Number]:
    """Factors from a time to the ends of its interval: 1 lies between them."""
    bounds, low, high = ends
    if single:
        one = bisect_left(bounds, time_s)
        return low.item(one), high.item(one)
    at = np.searchsorted(bounds, time_s)
    return low[at], high[at]


def _extents(kind: KernelFamily, call: Any, time_s: Number, single: bool) -> np.ndarray:
    """(fields,) of the shape of a call, or (rows, fields)."""
    values = values_of(call, kind.shape)
    if single:
        return np.array(values, dtype=np.float64)
    return np.stack([np.broadcast_to(value, np.shape(time_s)) for value in values], axis=1)


def _further(beyond: float, outside: Any, said: int, single: bool) -> Number:
    """Factor on the ends of an interval: of calls with more `outside` than the names said of all, which are their own.

    The others have 1.
    """
    if single:
        return exp(beyond) if len(outside) > said else 1.0
    return np.where(np.fromiter(map(len, outside), np.intp, len(outside)) > said, exp(beyond), 1.0)


@lru_cache(maxsize=4096)
def _ends(regimes: tuple[Regime, ...]) -> _Ends:
    """Where regimes end, and the factors of each."""
    low, high = np.exp([(min(r.low, 0.0), max(r.high, 0.0)) for r in regimes]).T
    return [r.up_to_s for r in regimes[:-1]], low, high


@lru_cache(maxsize=4096)
def widened(choice: Choice, few: Regime) -> Choice:
    """The choice with every interval at least as wide as that of a few rows."""
    regimes = tuple(
        msgspec.structs.replace(r, low=min(r.low, few.low), high=max(r.high, few.high)) for r in choice.regimes
    )
    return replace(choice, regimes=regimes, ends=_ends(regimes))


def _outside(found: Answer, kind: KernelFamily, call: Any, given: tuple[str, ...], single: bool) -> Any:
    """Names of what is outside the training rows, fields and inputs: one tuple, or one per row."""
    network, always = found.choice.network, found.choice.outside + given
    fields = _one_valued(found.choice, kind, call)
    if single:
        for name, value in fields.items():
            if getattr(call, name) != value:
                always += (name,)
        return (*always, *compress(network.inputs, network.outside_of_one(found.logs, found.choice.group)))
    beyond = network.outside(found.logs, found.choice.group)
    columns = [np.broadcast_to(getattr(call, name) != value, len(beyond)) for name, value in fields.items()]
    return _by_pattern(always, (*fields, *network.inputs), [*columns, *beyond.T])


def _one_valued(choice: Choice, kind: KernelFamily, call: Any) -> dict[str, int]:
    """Fields that all rows of the network have at one value, which its inputs tell nothing of."""
    fields = {name: 1 for name in kind.always_one if name not in choice.varied}
    return {**fields, **kind.shipped_at(call)} if choice.is_shipped else fields


def _is_apart(choice: Choice, kind: KernelFamily, call: Any) -> Any:
    """Whether measured rows tell little of a call: of its GPU, or of a field that all of them have at one value."""
    if choice.is_apart or not choice.is_shipped:
        return choice.is_apart
    return reduce(or_, (getattr(call, name) != value for name, value in kind.shipped_at(call).items()), False)


def _given(kind: KernelFamily, call: Any) -> tuple[str, ...]:
    """Given fields of what a library else chooses: measured rows are of its own choice, and so is the answer."""
    values = values_of(call, kind.chosen)
    return (
        ()
        if _NOTHING.issuperset(map(type, values))
        else tuple(name for name, value in zip(kind.chosen, values, strict=True) if value is not None)
    )


def _chosen_by_library(given: tuple[str, ...]) -> tuple[str, ...]:
    if not given:
        return ()
    return (f"{given[0]}: the time is that of the library's own choice; origin analytical has the given one",)


@lru_cache(maxsize=4096)
def _said(gpu: GPU, rates: Sustained, choice: Choice) -> tuple[str, ...]:
    """What every answer of a network on a GPU rests on, and in what state the weights were while rows were timed."""
    said = gpu.assumptions + rates.assumptions + choice.assumptions
    return (*said, _IN_TURN) if choice.in_turn else said


def _by_pattern(always: tuple[str, ...], names: tuple[str, ...], beyond: list[np.ndarray]) -> list[tuple[str, ...]]:
    """The names that are set in each row, which rows of one pattern share; `beyond` has a column per name."""
    found = np.empty(len(beyond[0]), dtype=object)
    found.fill(always)
    some = [i for i, column in enumerate(beyond) if column.any()]
    rows = np.flatnonzero(np.logical_or.reduce([beyond[i] for i in some])) if some else ()
    if not len(rows):
        return list(found)
    bits = np.stack([beyond[i][rows] for i in some])
    _, first, code = np.unique(_codes(bits), return_index=True, return_inverse=True)
    own = tuple(names[i] for i in some)
    shown = np.empty(len(first), dtype=object)
    for i, row in enumerate(first.tolist()):
        shown[i] = (*always, *compress(own, bits[:, row].tobytes()))
    found[rows] = shown[code]
    return list(found)


def _codes(bits: np.ndarray) -> np.ndarray:
    """(rows,) a number for every pattern of the (names, rows) bits."""
    code = np.zeros(bits.shape[1], dtype=np.int64)
    for i, column in enumerate(bits):
        if i and i % 60 == 0:
            code = np.unique(code, return_inverse=True)[1]
        code = 2 * code + column
    return code


@lru_cache(maxsize=4096)
def choose(weights: Weights, want: Wanted) -> Choice | None:
    """The network and group for what is wanted; None where no network has the format and variant.

    First the GPU's own group, then its kernel under the other engines that were measured, then the same two of the
    general network, where GPUs of its kind or of several others ran the kernel, and last the middle of all kernels
    there, in families that have one: a kernel may behave on one kind of GPU as on no other.
    """
    if want.engine == PLAIN and PLAIN not in engines_of(weights, want.dtype):
        return None  # no engine: the analytical estimate by definition, but for rows of a user's own without one
    pairs, served = _serving(weights, want)
    want, renamed = _as_measured(pairs, want)
    gpu, ridge, dtype, engine, kernel, *_ = want
    outside = () if served is dtype else ("dtype",)
    said = renamed if served is dtype else (*renamed, f"learned: {dtype} answers as {served}")
    measured = _measured([card for card, _ in pairs], served)
    away = () if gpu in measured else ("gpu",)
    least, most = _ridges(measured, served)
    is_apart = ridge > 0 and gpu not in measured and not least <= ridge <= most
    is_far = (is_apart and _is_far(ridge, least, most)) or _is_of_another_maker(want.maker, measured)
    if is_apart:
        said = (*said, f"learned: {_balance(want, least, most)}; the interval reaches to the analytical time")
    for group, scope, beyond, sentence in (
        (f"{gpu}.{engine}.{kernel}", KNOWN, (), ""),
        (f"{gpu}.*.{kernel}", KNOWN, (), f"learned: the middle of the engines that run {kernel} stands for {engine}"),
        (f"{engine}.{kernel}", GENERAL, ("gpu",), "learned: this GPU was not measured with this kernel"),
        (f"*.{kernel}", GENERAL, ("gpu",), f"learned: not measured on this GPU, nor in {engine}: {kernel} of others"),
        ("*", GENERAL, (*away, "kernel"), f"learned: {_unknown(pairs, want)}; the middle of the kernels for {served}"),
    ):
        for card, network in pairs:
            is_away = scope == GENERAL and (is_far or _is_of_others_alone(card, group, want))
            if is_away or (group == "*" and not weights.has_middle):
                continue
            if card.scope == scope and served in card.dtypes and group in card.groups:
                notes = said + ((sentence,) if sentence else ())
                at, regimes = card.groups.index(group), card.regimes.get(group) or card.regimes[""]
                return Choice(
                    network=network, group=at, regimes=regimes, ends=_ends(regimes), outside=outside + beyond,
                    assumptions=notes, widening=card.widening.get(group, 1.0), beyond=card.beyond,
                    near=None if card.nearness is None else Near.of(card.nearness), is_apart=is_apart,
                    digest=weights.card.sha256[:12], varied=card.varied,
                    is_shipped=weights is shipped(weights.card.family), in_turn=IN_TURN in network.inputs,
                )  # fmt: skip
    return None


def _as_measured(pairs: Iterable[tuple[NetworkCard, Network]], want: Wanted) -> tuple[Wanted, tuple[str, ...]]:
    """The kernel by its name in measured rows, where no network knows its own, and the sentence that says so."""
    if not want.measured_as or any(f"*.{want.kernel}" in card.groups for card, _ in pairs):
        return want, ()
    said = f"learned: {want.kernel} as {want.measured_as}, whose times hold the launch on an idle GPU"
    return want._replace(kernel=want.measured_as), (said,)


def _is_of_others_alone(card: NetworkCard, group: str, want: Wanted) -> bool:
    """Whether one kind of GPUs alone ran a kernel, in its engine or in all, and the wanted GPU is of another kind.

    The middle of its engines says no more then: theirs differ in what they make of the GPU too.
    """
    if not want.kin or group == "*":
        return False
    return any(card.alone.get(name, want.kin) != want.kin for name in (group, f"{want.engine}.{want.kernel}"))


def _unknown(pairs: Iterable[tuple[NetworkCard, Network]], want: Wanted) -> str:
    """Why no group of a general network stands for a kernel."""
    measured = any(f"*.{want.kernel}" in card.groups for card, _ in pairs if card.scope == GENERAL)
    return (
        f"{want.kernel} was measured on one other kind of GPU alone" if measured else f"nobody measured {want.kernel}"
    )


def _serving(weights: Weights, want: Wanted) -> tuple[list[tuple[NetworkCard, Network]], DType]:
    """The networks of the variant, and the format that answers: the wanted one, or the one that stands in for it."""
    every = zip(weights.card.networks, weights.networks, strict=True)
    pairs = [(card, network) for card, network in every if card.variant == want.variant]
    has_own = any(want.dtype in card.dtypes for card, _ in pairs)
    return pairs, want.dtype if has_own else STAND_IN.get(want.dtype, want.dtype)


def _measured(cards: Iterable[NetworkCard], served: DType) -> set[str]:
    """Keys of the GPUs that the networks for a format know."""
    own = [card for card in cards if card.scope == KNOWN and served in card.dtypes]
    return {group.partition(".")[0] for card in own for group in card.groups}


def _ridges(gpus: Iterable[str], dtype: DType) -> tuple[float, float]:
    """Least and most FLOP per byte among those of the GPUs that the catalog has; 0 and infinity where it has none."""
    found = [hardware.gpu(key).ridge_flop_per_byte(dtype) for key in set(gpus) & set(hardware.keys())]
    return (min(found), max(found)) if found else (0.0, float("inf"))


def _is_of_another_maker(maker: str, gpus: Iterable[str]) -> bool:
    """Whether those of the GPUs that the catalog has are all of other makers."""
    known = sorted(set(gpus) & set(hardware.keys()))
    return bool(maker and known) and all(hardware.gpu(key).maker != maker for key in known)


def _is_far(ridge: float, least: float, most: float) -> bool:
    return ridge * FAR_BELOW < least or ridge > most * FAR
