"""`python -m tests.traces.fuzz COUNT [SEED]`: that many mutants of Kineto's files, and what is told wrong of them."""

import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from . import mutants
from .ages import AGES
from .judged import broken, in_full, in_short, shown, silent

_IN_FULL = 20


def main(count: int, seed: str) -> int:
    """How many are told wrong; each is printed with what made it."""
    documents, wrong = [mutants.made(age) for age in AGES], 0
    with TemporaryDirectory() as folder:
        path = Path(folder) / "mutant.json"
        for number in range(count):
            how, text = mutants.of_kineto(Random(f"{seed} {number}"), documents)
            path.write_bytes(text)
            said = (in_short if number % _IN_FULL else in_full)(path)
            found = [*broken(said), *silent(text, said)]
            wrong += bool(found)
            if found:
                print(f"{seed} {number}, {how}: {'; '.join(found)}: {shown(said)}", flush=True)
    print(f"{count:,} mutants, {wrong} told wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "0")))
