"""Measured passes of whole models by PyTorch in fp32, operator by operator: NeuSight's labels, in milliseconds.

A training pass is forward and backward, without an optimizer. What is not such a pass is set aside by a named rule.
Source: github.com/sitar-lab/NeuSight (MIT), ASPLOS 2025.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import FileFormatError
from .parquet_rows import rows

COLUMNS = frozenset({"model", "mode", "seq_len", "batch", "gpu", "option", "e2e_ms", "neusight_pred_e2e_ms"})
INFERENCE, TRAINING = MODES = ("inf", "train")
_RULES: Mapping[str, Any] = {
    "compiled: which operators are fused is not known": lambda row: row["option"] == "fusion",
    "several GPUs: of a pass of training": lambda row: row["option"] not in ("", "fusion"),
    "Switch Transformer: an encoder and decoder with experts, as eager operators": lambda row: "switch" in row["model"],
}
_MS = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class EagerPass:
    """One measured pass of `batch` sequences of `seq_len` tokens; `published_s` is NeuSight's prediction."""

    model: str
    mode: str
    gpu: str
    batch: int
    seq_len: int
    measured_s: float
    published_s: float | None


def read(path: Path) -> tuple[list[EagerPass], dict[str, int]]:
    """The passes of a file, and the rows that are set aside by rule.

    Raises:
        FileFormatError: it is not such a file.
        MissingExtraError: the extra [data] is not installed.
    """
    found = rows(path)
    if lacking := sorted(COLUMNS - set(found[0] if found else ())):
        raise FileFormatError(f"rows: {path.name} lacks {', '.join(lacking)}; right would be a file of passes")
    reasons = [_reason(row) for row in found]
    kept = [_pass(row) for row, reason in zip(found, reasons, strict=True) if not reason]
    return kept, dict(Counter(reason for reason in reasons if reason))


def _reason(row: Mapping[str, Any]) -> str:
    return next((name for name, is_met in _RULES.items() if is_met(row)), "")


def _pass(row: Mapping[str, Any]) -> EagerPass:
    published = row["neusight_pred_e2e_ms"]
    return EagerPass(
        model=row["model"], mode=row["mode"], gpu=row["gpu"], batch=row["batch"], seq_len=row["seq_len"],
        measured_s=row["e2e_ms"] * _MS, published_s=None if published is None else published * _MS,
    )  # fmt: skip
