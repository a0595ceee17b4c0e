"""How fast traces are analysed, process start and all, and in how much memory; beside HolisticTraceAnalysis.

python benchmarks/traces.py TRACE... [--large BYTES] [--hta PYTHON] [--times NUMBER]

Each command runs once before it is timed, so that none is timed while its modules are compiled, as pip does at install.
Then both take turns that many times, and medians are told: other work on the machine meets both.
--large repeats the events of the first trace, with times and ids moved on, until the file has that many bytes. --hta is
a Python that has HolisticTraceAnalysis 0.5.0 (with pandas 2.2.3): it answers the same files with its breakdowns.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

TIMES_BUDGET, MEMORY_BUDGET, LARGE_BUDGET_BYTES = 10, 1 / 3, 10**9
STEP_US, STEP_IDS = 10**9, 10**8  # that a repetition is moved on by
SHIFTED = re.compile(rb'("(?:ts|correlation|External id|id)"\s*:\s*)(\d+)')
HTA = """
import sys
from hta.trace_analysis import TraceAnalysis
found = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="")
found.get_temporal_breakdown(visualize=False)
found.get_gpu_kernel_breakdown(visualize=False)
found.get_idle_time_breakdown(visualize=False, ranks=[0])
"""


# Runs a command from a small process, since Linux counts what the parent held among the peak of its child.
WAIT = """
import os, sys, time
begin = time.perf_counter()
quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
_, status, used = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet), 0)
print(time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@dataclass(frozen=True)
class Used:
    """By a process: seconds by the clock and of the processor, and bytes at the peak."""

    seconds: float
    cpu_seconds: float
    peak: int


def run(command: Sequence[str]) -> Used:
    """What a process uses, whose answer is not shown."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    told = subprocess.run(
        [sys.executable, "-c", WAIT, *command], stdout=subprocess.PIPE, text=True, check=True, env=kept
    )
    seconds, cpu_seconds, peak = told.stdout.split()
    return Used(float(seconds), float(cpu_seconds), int(peak))


def in_turns(commands: Sequence[Sequence[str]], times: int) -> list[Used]:
    """The medians of what each command uses."""
    for command in commands:
        run(command)
    rounds = [[run(command) for command in commands] for _ in range(times)]
    return [
        Used(median(one.seconds for one in own), median(one.cpu_seconds for one in own), max(one.peak for one in own))
        for own in zip(*rounds, strict=True)
    ]


def text_of(path: Path) -> bytes:
    """The unpacked text."""
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def write_large(source: Path, size: int, path: Path) -> None:
    """A trace of that many bytes."""
    text = text_of(source)
    begin, end = text.index(b"[", text.index(b'"traceEvents"')) + 1, text.rindex(b"]")
    with path.open("wb") as file:
        file.write(text[:begin])
        for number in range(max(1, -(-size // (end - begin)))):
            file.write(b"," * (number > 0) + SHIFTED.sub(lambda found, by=number: moved(found, by), text[begin:end]))
        file.write(text[end:])


def moved(found: re.Match[bytes], by: int) -> bytes:
    """A time or an id, moved on."""
    return found[1] + b"%d" % (int(found[2]) + by * (STEP_US if b'"ts"' in found[1] else STEP_IDS))


def show(path: Path, name: str, used: Used) -> None:
    size = len(text_of(path)) if path.stat().st_size < 2**28 else path.stat().st_size
    rate = f"{size / 1e6 / used.seconds:7.1f} MB/s of JSON"
    times = f"{used.seconds:7.2f} s, {used.cpu_seconds:7.2f} s of the processor"
    print(f"{path.name[:40]:40} {name:8} {times} {rate} {used.peak / 1e6:7.0f} MB at the peak")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--large", type=int, default=0)
    parser.add_argument("--hta")
    parser.add_argument("--times", type=int, default=5)
    asked = parser.parse_args()
    script = Path(sys.executable).with_name("synperf")  # what people call
    ours = [*([str(script)] if script.exists() else [sys.executable, "-m", "synperf"]), "analyze"]
    for path in asked.traces:
        commands = [[*ours, str(path)], *([[asked.hta, "-c", HTA, str(path.resolve())]] if asked.hta else [])]
        try:
            used, *others = in_turns(commands, asked.times)
        except subprocess.CalledProcessError as error:
            print(f"{path.name}: {'HTA' if asked.hta in error.cmd else 'synperf'} ends with an error")
            continue
        show(path, "synperf", used)
        for theirs in others:
            show(path, "HTA", theirs)
            print(f"  {theirs.seconds / used.seconds:.1f} times by the clock (budget {TIMES_BUDGET}),"
                  f" {theirs.cpu_seconds / used.cpu_seconds:.1f} times of the processor,"
                  f" {used.peak / theirs.peak:.2f} of its memory (budget {MEMORY_BUDGET:.2f})")  # fmt: skip
    if asked.large:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "large.json"
            write_large(asked.traces[0], asked.large, path)
            show(path, "synperf", run([*ours, str(path)]))
            print(f"  budget {LARGE_BUDGET_BYTES / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
