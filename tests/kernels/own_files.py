"""Files of families of one's own, as text."""

import importlib
import sys
from pathlib import Path

PLAIN = '''"""A row for each CTA."""

FIELDS = {"rows": int, "dim": int}


def decompose(params, gpu):
    return {"count": params.rows, "fma_flop": 4 * params.dim, "load_bytes": 2 * params.dim, "store_bytes": params.dim}


def scheduling_policy():
    return "HW"
'''


def write(folder: Path, text: str = PLAIN, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def returning(given: str) -> str:
    """The plain file with another result of `decompose`, which is on line 7."""
    head, _, tail = PLAIN.partition("    return {")
    return f"{head}    return {given}\n{tail.partition(chr(10))[2]}"


def install(folder: Path, monkeypatch) -> Path:
    """A package that offers `theirs`, `broken` and `number`, the last two no families."""
    about = folder / "their_kernels-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: their-kernels\nVersion: 1.0\n")
    points = "theirs = their_kernels\nbroken = their_broken_kernels\nnumber = their_kernels:FIELDS\n"
    (about / "entry_points.txt").write_text(f"[synperf.families]\n{points}")
    write(folder, PLAIN, "their_kernels.py")
    write(folder, "\n1 / 0\n", "their_broken_kernels.py")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "their_kernels", raising=False)
    importlib.invalidate_caches()
    return folder
