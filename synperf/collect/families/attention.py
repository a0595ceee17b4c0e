"""Attention as torch's `scaled_dot_product_attention`: prefill of whole prompts, encoders, and decode of one query."""

from __future__ import annotations

from ..timed import Fields, Timed, made_by

_LENGTHS = (128, 512, 1024, 2048, 4096, 8192, 16384, 32768)


def _flop(f: Fields) -> float:
    pairs = f["q_len"] * f["kv_len"] * (0.5 if f["causal"] and f["q_len"] > 1 else 1.0)
    return float(4 * pairs * f["batch"] * f["heads"] * f["head_dim"])


def _keep(f: Fields) -> bool:
    """Masks of torch are those of the family where queries are as many as keys, or one."""
    whole = f["q_len"] == f["kv_len"]
    return (whole or (f["q_len"] == 1 and f["causal"] is True)) and f["heads"] % f["kv_heads"] == 0


TIMED = (
    Timed(
        name="attention",
        grid={
            "batch": (1, 4, 16, 64), "q_len": (1, *_LENGTHS), "kv_len": _LENGTHS, "heads": (8, 16, 32, 64),
            "kv_heads": (1, 4, 8, 16, 32), "head_dim": (64, 128, 256), "causal": (True, False),
        },
        formats=("fp32", "fp16", "bf16"),
        make=made_by("attention", "attention"),
        flop=_flop,
        keep=_keep,
        rule="as many queries as keys, or one under a causal mask, and kv_heads that divide heads",
    ),
)  # fmt: skip
