"""Recurrent layers: each step multiplies the input and the last state by weights of 1, 3 or 4 gates.

The products with the input are one for all steps; those with the state wait for one another, so that every step reads
its weights again, unless a persistent kernel keeps them on chip. FLOP are those of the products.
Source: PyTorch documentation, RNN, GRU and LSTM; Diamos et al., "Persistent RNNs", ICML 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ...hardware import DType
from ...kernels.base import Call
from ...kernels.fields import set_dtype, set_numbers, truth
from ...numeric import Number
from .base import Operator, own_format


@dataclass(frozen=True, slots=True, kw_only=True)
class Rnn(Call):
    """`layers` layers of `hidden` values over `seq_len` steps of `batch` sequences of `input_size` values."""

    batch: Any
    seq_len: Any
    input_size: Any
    hidden: Any
    layers: Any = 1
    persistent: bool = False
    dtype: DType = DType.BF16

    GATES: ClassVar[int] = 1
    STATES: ClassVar[int] = 1

    def __post_init__(self) -> None:
        set_numbers(self, ("batch", "seq_len", "input_size", "hidden", "layers"))
        object.__setattr__(self, "persistent", truth("persistent", self.persistent))
        set_dtype(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gru(Rnn):
    """As `Rnn`, with three gates."""

    GATES: ClassVar[int] = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Lstm(Rnn):
    """As `Rnn`, with four gates and a cell beside the state."""

    GATES: ClassVar[int] = 4
    STATES: ClassVar[int] = 2


def weights(p: Rnn) -> tuple[Number, Number]:
    """Weights that meet inputs, and those that meet states, of all layers."""
    own = 1.0 * p.GATES * p.hidden
    return own * (p.input_size + (p.layers - 1) * p.hidden), own * p.hidden * p.layers


def flop(p: Rnn) -> Number:
    """A multiply and an add for each weight, step and sequence."""
    return 2.0 * sum(weights(p)) * p.batch * p.seq_len


def compulsory_bytes(p: Rnn) -> Number:
    """Weights, inputs and results of layers; of what is not persistent, weights and states of every step."""
    of_input, of_state = weights(p)
    steps = 1 if p.persistent else p.seq_len
    values = p.batch * p.seq_len * (p.input_size + (2.0 * p.layers - 1) * p.hidden)
    states = 2.0 * p.STATES * p.batch * p.hidden * p.layers * steps
    return (of_input + of_state * steps + values + states) * p.dtype.bytes


OPERATORS = tuple(
    Operator(name=name, call_type=kind, flop=flop, compulsory_bytes=compulsory_bytes, math=own_format)
    for name, kind in (("rnn", Rnn), ("gru", Gru), ("lstm", Lstm))
)
