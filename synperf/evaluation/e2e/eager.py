"""Passes of models by PyTorch in fp32, operator by operator, as NeuSight timed them: what eager code launches.

The calls of a pass, but that attention is two products with a scaled, masked and normalised matrix of scores between
them, heads are copied apart and together, sums are operators of their own, logits are of all tokens, and nothing goes
to a cache. A backward pass has two products for each product, and every other operator once more with an input more.
Times of the operators come from the weights of NeuSight's rows, whose names of kernels and sizes are others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ... import hardware, models
from ...api import predict
from ...errors import FieldError
from ...hardware import GPU, DType
from ...kernels.attention_call import Attention
from ...kernels.elementwise import Elementwise
from ...kernels.gemm_call import Gemm
from ...kernels.layernorm import LayerNorm
from ...kernels.softmax import Softmax
from ...measurements.eager_passes import TRAINING, EagerPass, read
from ...models import Entry, Model, Plan, calls, prefill
from ..metrics import Errors

ALL = "all"
LABELS: Mapping[str, Callable[[EagerPass], str]] = {
    ALL: lambda _: ALL,
    "mode": lambda run: run.mode,
    "gpu": lambda run: hardware.gpu(run.gpu).key,
    "model": lambda run: run.model,
}
_CONFIGS = Path(__file__).with_name("configs")  # of NeuSight's own models
_NAMES = {"opt_13": "opt-1.3b"}
_FP32: Mapping[str, Any] = {"dtype": DType.FP32, "engine": "torch"}
_PRODUCT: Mapping[str, Any] = {**_FP32, "kernel": "torch_fp32"}
_NOT_RUN = ("kv_append", "sampling")
_HEAD_COPIES = 4  # queries, keys and values apart, results together
_GELU = 8  # kernels of gelu_new, written out. Source: transformers, activations.py, NewGELUActivation
_LAUNCHES = {"gpt2_large": _GELU, "gpt3_xl": _GELU, "gpt3_27": _GELU}  # of an activation


class Operator(NamedTuple):
    """An operator of a pass, and how often it is there."""

    call: Any
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EagerScore:
    """Errors of a group of passes, and those that NeuSight published of the same, where it did."""

    group: str
    rows: int
    estimate: Errors
    published: Errors | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EagerReport:
    """Scores by label; `below_floor` counts measured passes below the floors of their operators."""

    source: str
    scores: Mapping[str, tuple[EagerScore, ...]]
    rows: int
    below_floor: int
    set_aside: Mapping[str, int]


class _Answer(NamedTuple):
    run: EagerPass
    time_s: float
    floor_s: float


def evaluate(path: Path, gpus: Iterable[str] = ()) -> EagerReport:
    """Errors on the passes of a file, of some GPUs or of all.

    Raises:
        FileFormatError: it is no such file.
        UnknownNameError: no such GPU.
        FieldError: there are no passes of these GPUs.
    """
    keys = {hardware.gpu(name).key for name in gpus}
    runs, set_aside = read(path)
    wanted = [run for run in runs if not keys or hardware.gpu(run.gpu).key in keys]
    if not wanted:
        raise FieldError(f"gpu: {path.name} has no pass of {', '.join(sorted(keys))}")
    return report(path.name, [_answer(run) for run in wanted], set_aside)


def report(source: str, answers: list[_Answer], set_aside: Mapping[str, int]) -> EagerReport:
    """The scores of passes."""
    return EagerReport(
        source=source,
        scores={label: tuple(_scores(answers, label)) for label in LABELS},
        rows=len(answers),
        below_floor=sum(one.run.measured_s < one.floor_s for one in answers),
        set_aside=dict(set_aside),
    )


def _scores(answers: list[_Answer], label: str) -> Iterator[EagerScore]:
    groups: dict[str, list[_Answer]] = {}
    for one in answers:
        groups.setdefault(LABELS[label](one.run), []).append(one)
    for name, group in sorted(groups.items()):
        both = [one for one in group if one.run.published_s is not None]
        yield EagerScore(
            group=name,
            rows=len(group),
            estimate=Errors.of(*_columns(group, [one.time_s for one in group])),
            published=Errors.of(*_columns(both, [one.run.published_s or 0.0 for one in both])) if both else None,
        )


def _columns(group: list[_Answer], predicted: list[float]) -> tuple[np.ndarray, np.ndarray]:
    return np.array(predicted), np.array([one.run.measured_s for one in group])


def _answer(run: EagerPass) -> _Answer:
    gpu, found = hardware.gpu(run.gpu), operators(run)
    estimates = [(predict(_on(one.call, gpu), gpu), one.times) for one in found]
    return _Answer(
        run, sum(one.time_s * times for one, times in estimates), sum(one.floor_s * times for one, times in estimates)
    )


def _on(call: Any, gpu: GPU) -> Any:
    """The call on a GPU of any maker: what PyTorch's weights do not know there has no engine."""
    is_known = gpu.maker == "nvidia" or isinstance(call, Gemm)
    return call if is_known else replace(call, engine="plain", kernel=None)


def operators(run: EagerPass) -> list[Operator]:
    """The operators of a pass."""
    found = list(forward(_model(run.model), run.batch, run.seq_len, _LAUNCHES.get(run.model, 1)))
    return found + [each for one in found for each in backward(one)] if run.mode == TRAINING else found


def _model(name: str) -> Model:
    path = _CONFIGS / f"{name}.json"
    return models.model(str(path) if path.exists() else _NAMES.get(name, name))


def forward(model: Model, batch: int, seq_len: int, launches: int) -> Iterator[Operator]:
    """The operators of a forward pass; `launches` are those of an activation."""
    for entry in calls(model, Plan(**_FP32), prefill([seq_len] * batch)):
        if entry.part not in _NOT_RUN:
            yield from _eager(entry, batch, seq_len, launches)


def _eager(entry: Entry, batch: int, seq_len: int, launches: int) -> Iterator[Operator]:
    call: Any = entry.call
    if isinstance(call, Attention):
        yield from (Operator(one, entry.count) for one in _attention(call, batch, seq_len))
        heads = Elementwise(elements=batch * seq_len * call.heads * call.head_dim, **_FP32)
        yield Operator(heads, _HEAD_COPIES * entry.count)
    elif isinstance(call, Gemm):
        rows = batch * seq_len if entry.part == "lm_head" else call.m
        yield Operator(replace(call, m=rows, **_PRODUCT), entry.count)
    elif isinstance(call, LayerNorm) and call.residual:
        yield Operator(replace(call, residual=False), entry.count)
        yield Operator(Elementwise(elements=call.rows * call.dim, inputs=2, **_FP32), entry.count)
    else:
        yield Operator(call, entry.count * (launches if entry.part == "activation" else 1))


def _attention(call: Attention, batch: int, seq_len: int) -> Iterator[Any]:
    """Scores, which are scaled, masked and normalised, and their product with the values."""
    groups, scores = batch * call.heads, batch * call.heads * seq_len * seq_len
    yield Gemm(batch=groups, m=seq_len, n=seq_len, k=call.head_dim, **_PRODUCT)
    yield Elementwise(elements=scores, **_FP32)
    yield Elementwise(elements=scores, **_FP32)
    yield Softmax(rows=groups * seq_len, dim=seq_len, **_FP32)
    yield Gemm(batch=groups, m=seq_len, n=call.head_dim, k=seq_len, **_PRODUCT)


def backward(one: Operator) -> Iterator[Operator]:
    """The operators of the gradients of an operator's inputs and weights."""
    call = one.call
    if isinstance(call, Gemm):
        yield Operator(replace(call, n=call.k, k=call.n), one.times)
        yield Operator(replace(call, m=call.k, k=call.m), one.times)
    elif isinstance(call, Elementwise):
        yield Operator(replace(call, inputs=call.inputs + 1), one.times)
    else:
        yield one
