"""Small logs and tables as programs and profilers write them."""

from pathlib import Path


def _text(name):
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


DEEPSPEED = _text("deepspeed.txt")
LOG = _text("nccl_debug.txt")
LONG = _text("ncu_long.csv")
MEGATRON = _text("megatron.txt")
SUMMARY = _text("ncu_summary.csv")
TITAN = _text("torchtitan.txt")
WIDE = _text("ncu_wide.csv")
