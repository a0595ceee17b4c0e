"""FLOP of training a transformer: of its matrices, of the scores of attention, and of what is computed again.

Sources: J. Kaplan et al., "Scaling Laws for Neural Language Models", arXiv:2001.08361 (6 P a token); D. Narayanan et
al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC 2021, appendix (attention,
head); Dao-AILab/flash-attention#573 (causal halves).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import FieldError, UnknownNameError
from .activations import FULL, NONE, RECOMPUTES, SELECTIVE
from .amounts import count, positive

_BACKWARD = 2  # over the FLOP of the forward pass: gradients of inputs and of weights
_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """FLOP of `tokens`; `model` is what a step is for, `hardware` what it computes, with passes that are done again."""

    forward: float
    backward: float
    again: float

    @property
    def model(self) -> float:
        """Forward and backward."""
        return self.forward + self.backward

    @property
    def hardware(self) -> float:
        """With what is computed again."""
        return self.model + self.again


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """What the FLOP of attention scores follow from: `seq` tokens see each other, under a causal mask half of them."""

    layers: int
    hidden: int
    seq: int
    is_causal: bool = True

    def __post_init__(self) -> None:
        """Checks the fields.

        Raises:
            FieldError: one is no whole number from 1 on.
        """
        for name in ("layers", "hidden", "seq"):
            object.__setattr__(self, name, count(name, getattr(self, name), _MOST))

    def forward(self, tokens: float) -> float:
        """FLOP of scores and of the values that they weigh, in a forward pass."""
        return 4 * self.layers * self.hidden * self.seq * tokens * (0.5 if self.is_causal else 1.0)


def work(parameters: float, tokens: float, attention: Attention | None = None, recompute: str = NONE) -> Work:
    """FLOP of training on so many tokens: 2 P forward and 4 P backward for each, and the scores of attention if known.

    Raises:
        FieldError: a number is not above 0, there is no such recomputation, or it needs attention that is not known.
    """
    positive(parameters=parameters, tokens=tokens)
    if recompute not in RECOMPUTES:
        raise FieldError(f"recompute: {UnknownNameError.among('recomputation', recompute[:40], RECOMPUTES)}")
    if recompute == SELECTIVE and attention is None:
        raise FieldError("recompute selective is of attention, which needs layers, hidden and seq")
    scores = 0.0 if attention is None else attention.forward(tokens)
    forward = 2 * parameters * tokens + scores
    again = {NONE: 0.0, SELECTIVE: scores, FULL: forward}[recompute]
    return Work(forward=forward, backward=_BACKWARD * forward, again=again)


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """Megatron's formula of a model: FLOP relative to those of its layers' matrices, 1 + attention + head.

    `attention_full` is s/(6h), of a whole matrix of scores; `attention_causal` half of it; `head` V/(12 h L).
    """

    attention_full: float
    attention_causal: float
    head: float

    @property
    def overcount(self) -> float:
        """The formula over what a kernel with a causal mask computes."""
        return (1 + self.attention_full + self.head) / (1 + self.attention_causal + self.head)

    @property
    def attention_share(self) -> float:
        """Of all FLOP of the formula."""
        return self.attention_full / (1 + self.attention_full + self.head)


def formula(attention: Attention, vocab: int | None) -> Formula:
    """The terms of the formula for a model.

    Raises:
        FieldError: the vocabulary is no whole number from 1 on.
    """
    hidden, layers = attention.hidden, attention.layers
    words = 0 if vocab is None else count("vocab", vocab, _MOST)
    full = attention.seq / (6 * hidden)
    return Formula(attention_full=full, attention_causal=full / 2, head=words / (12 * hidden * layers))
