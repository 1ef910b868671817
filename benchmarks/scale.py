"""What `evaluate` costs as tables grow longer and wider, and how long it is silent.

python benchmarks/scale.py                                  # a quarter of an hour
python benchmarks/scale.py --shapes 10000x60 100000x15      # some sizes

A table of n records and p columns has two numbers in five. Five latent factors drive its cells, as columns of real
tables hang together. Members, control records and released rows are as many, and all differ. The command is what a user
would type: recommended measures, `--limit 0.05`, output to a pipe. CPU seconds are those of all processes, memory is
the largest sum over processes at one time (shared pages counted once), silence the longest time between two lines.
"""

import argparse
import ctypes
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import NamedTuple

import numpy as np
import pandas as pd

SHAPES = ("1000x15", "10000x15", "100000x15", "10000x60", "10000x200")
KNOWN, GUESSED = 5, "c5"
COMMAND = [sys.executable, "-m", "synthrisk.flows.cli.app", "evaluate"]
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux: processes whose parent has ended become ours
_FACTORS = 5
_LEVELS = (2, 3, 5, 8, 16)
_ESTIMATE = re.compile(r"about ([\d.]+) (seconds|minutes?|hours)")
_SECONDS = {"seconds": 1, "minute": 60, "minutes": 60, "hours": 3600}


def drawn(rows: int, columns: int, seed: int) -> pd.DataFrame:
    """Return records whose cells depend on five latent factors; the columns are the same for every seed."""
    design, rng = np.random.default_rng(columns), np.random.default_rng(seed)
    factors = rng.standard_normal((rows, _FACTORS))
    table = {}
    for c in range(columns):
        cells = factors @ design.standard_normal(_FACTORS) + rng.standard_normal(rows)
        if c % 5 in (0, 2):
            table[f"c{c}"] = np.round(10 * cells).astype(int) if c % 2 else np.round(cells, 2)
        else:
            levels = _LEVELS[c % len(_LEVELS)] if c != int(GUESSED[1:]) else 3
            cuts = np.sort(design.normal(0, 2, levels - 1))
            table[f"c{c}"] = np.char.add("level ", np.searchsorted(cuts, cells).astype(str))
    return pd.DataFrame(table)


class Cost(NamedTuple):
    """What a command took."""

    clock: float  # seconds
    processors: float  # seconds, of all processes
    memory: float  # MB, of all processes at one time
    silence: float  # seconds, the longest between two lines
    first: float  # seconds until the first line
    estimate: float  # seconds that the first estimate gave, NaN if there was none
    done: bool


def cost(command: Sequence[str], limit: float, shows: bool = False) -> Cost:
    """Run a command, for at most ``limit`` seconds, and return what it took."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
    start, told, texts = time.monotonic(), [], []

    def read() -> None:
        for line in process.stdout or ():
            told.append(time.monotonic() - start)
            texts.append(line)
            if shows:
                print(f"{told[-1]:7.1f}  {line}", end="", flush=True)

    reader = Thread(target=read, daemon=True)
    reader.start()
    most, looked, used = 0.0, start, None
    while used is None and time.monotonic() - start < limit:
        if time.monotonic() - looked > 2:  # which takes the system some time
            most, looked = max(most, _held(os.getpid())), time.monotonic()
        pid, _, usage = os.wait4(process.pid, os.WNOHANG)
        used = usage if pid else None
        time.sleep(0.5)
    clock, done = time.monotonic() - start, used is not None
    alive = 0.0 if done else sum(map(_seconds, _descendants(os.getpid())))
    if not done:
        for each in _descendants(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(each, 9)
    processors = alive + (used.ru_utime + used.ru_stime if used else 0.0)
    with suppress(ChildProcessError):  # until none is left: workers, and whom they come from, are ours then
        while True:
            usage = os.wait4(-1, 0)[2]
            processors += usage.ru_utime + usage.ru_stime if done else 0.0
    reader.join()
    moments = [0.0, *told, clock]
    foretold = [match for match in map(_ESTIMATE.search, texts) if match]
    estimate = float(foretold[0][1]) * _SECONDS[foretold[0][2]] if foretold else float("nan")
    return Cost(clock, processors, most, float(np.diff(moments).max()), moments[1], estimate, done)


def _descendants(pid: int) -> list[int]:
    found = []
    with suppress(OSError):
        for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found += [int(each), *_descendants(int(each))]
    return found


def _held(pid: int) -> float:
    total = 0.0
    for each in _descendants(pid):
        with suppress(OSError, IndexError):
            total += int(Path(f"/proc/{each}/smaps_rollup").read_text().partition("Pss:")[2].split()[0]) / 1024
    return total


def _seconds(pid: int) -> float:
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def command_of(folder: Path, shape: tuple[int, int]) -> list[str]:
    """Return the command that evaluates a release, whose files it writes to a folder."""
    files = [folder / f"{name}.csv" for name in ("real", "synthetic", "control")]
    for seed, path in enumerate(files):
        drawn(*shape, seed).to_csv(path, index=False)
    known = ",".join(f"c{c}" for c in range(KNOWN))
    roles = ["--quasi-identifiers", known, "--sensitive", GUESSED, "--limit", "0.05"]
    return [
        *COMMAND,
        str(files[0]),
        str(files[1]),
        "--control",
        str(files[2]),
        *roles,
        "--workspace",
        str(folder / "w"),
    ]


def exponent(costs: dict[tuple[int, int], Cost], shape: tuple[int, int]) -> str:
    """Return by which power of records or columns the processors' time has grown since the next smaller shape."""
    rows, columns = shape
    for place, other in (
        (0, [s for s in costs if s[1] == columns and s[0] < rows]),
        (1, [s for s in costs if s[0] == rows and s[1] < columns]),
    ):
        if other and costs[shape].done:
            last = max(other)
            ratio = costs[shape].processors / costs[last].processors
            return f"{log(ratio) / log(shape[place] / last[place]):.2f}"
    return ""


def scale(shapes: Sequence[tuple[int, int]], limit: float, shows: bool) -> None:
    """Print what each shape takes, a line as soon as it is there."""
    print("| table | clock s | CPU s | exponent | MB | first line s | longest silence s | foretold s |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    costs: dict[tuple[int, int], Cost] = {}
    for shape in shapes:
        with TemporaryDirectory() as folder:
            found = costs[shape] = cost(command_of(Path(folder), shape), limit, shows)
        cells = [found.clock, found.processors, exponent(costs, shape), found.memory, found.first, found.silence]
        shown = [
            f"{each:,.0f}"
            if isinstance(each, float) and each >= 100
            else f"{each:.1f}"
            if isinstance(each, float)
            else each
            for each in (*cells, found.estimate)
        ]
        name = f"{shape[0]:,} x {shape[1]}" + ("" if found.done else ", stopped")
        print(f"| {name} | " + " | ".join(shown) + " |", flush=True)


def _shape(text: str) -> tuple[int, int]:
    rows, _, columns = text.partition("x")
    return int(rows), int(columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", type=_shape, nargs="*", default=[_shape(each) for each in SHAPES])
    parser.add_argument("--limit", type=float, default=900.0, help="seconds after which a command is ended")
    parser.add_argument("--show", action="store_true", help="print what the command says, and when")
    asked = parser.parse_args()
    scale(asked.shapes, asked.limit, asked.show)


if __name__ == "__main__":
    main()
