"""What `evaluate` costs as tables grow longer and wider, how long it is silent, and what other tools cost there.

python benchmarks/scale.py                                  # half an hour
python benchmarks/scale.py --shapes 10000x60 100000x15      # some sizes
python benchmarks/scale.py --peers                          # the other tools beside it

A table of 15 columns is like Adult (``million_rows.drawn``). A wider one has two numbers in five columns, and five
latent factors drive its cells, as columns of real tables hang together. Members, control records and released rows are
as many, and all differ. The command is what a user would type: recommended measures, `--limit 0.05`, output to a pipe.
CPU seconds are those of all processes, memory is the largest sum over processes at one time (shared pages counted
once), silence the longest time between two lines.

The other tools do what a user would ask them for, at what they draw themselves: SDMetrics DCROverfittingProtection and
DisclosureProtectionEstimate; Anonymeter singling out (univariate and multivariate), linkability and inference, with 500
attacks each; SynthEval its five measures of distance. Anonymeter and SynthEval need other versions than this package:
ANONYMETER_PYTHON and SYNTHEVAL_PYTHON are the Pythons of environments that have them; without, they are left out.
"""

import argparse
import ctypes
import json
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

import million_rows
import numpy as np
import pandas as pd

SHAPES = ("1000x15", "10000x15", "100000x15", "10000x60", "10000x200")
KNOWN, GUESSED = [f"c{c}" for c in range(5)], "c6"
COMMAND = [sys.executable, "-m", "synthrisk.flows.cli.app", "evaluate"]
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux: processes whose parent has ended become ours
_LIKE_ADULT = 15
_FACTORS = 5
_LEVELS = (2, 3, 5, 8, 16)
_ESTIMATE = re.compile(r"about ([\d.]+) (seconds|minutes?|hours)")
_SECONDS = {"seconds": 1, "minute": 60, "minutes": 60, "hours": 3600}


def roles(columns: int) -> tuple[list[str], str]:
    """Return what the attacker knows of a table of so many columns, and what he guesses."""
    return (million_rows.KEY, "income") if columns == _LIKE_ADULT else (KNOWN, GUESSED)


def drawn(rows: int, columns: int, seed: int) -> pd.DataFrame:
    """Return records like Adult's, or whose cells depend on five latent factors; columns are the same for any seed."""
    if columns == _LIKE_ADULT:
        return million_rows.drawn(rows, seed)
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
    code: int  # with which it ended


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
    most, looked, used, code = 0.0, start, None, 0
    while used is None and time.monotonic() - start < limit:
        if time.monotonic() - looked > 2:  # which takes the system some time
            most, looked = max(most, _held(os.getpid())), time.monotonic()
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        used, code = (usage, os.waitstatus_to_exitcode(status)) if pid else (None, 0)
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
    return Cost(clock, processors, most, float(np.diff(moments).max()), moments[1], estimate, done, code)


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


_READ = """
import json, sys
import pandas as pd
real, released, control = (pd.read_csv(f"{sys.argv[1]}/{name}.csv") for name in ("real", "synthetic", "control"))
known, guessed = json.loads(sys.argv[2])
"""
PEERS = {
    "SDMetrics": (
        None,
        _READ
        + """
from sdmetrics.single_table import DCROverfittingProtection, DisclosureProtectionEstimate
numeric = {c: pd.api.types.is_numeric_dtype(real[c]) for c in real}
columns = {c: {"sdtype": "numerical" if numeric[c] else "categorical"} for c in real}
described = {"tables": {"t": {"columns": columns}}}
print(DCROverfittingProtection.compute_breakdown({"t": real}, {"t": released}, control, described, "t"))
own = [c for c in real if numeric[c] and c in (*known, guessed)]
print(DisclosureProtectionEstimate.compute(real, released, known, [guessed], continuous_column_names=own))
""",
    ),
    "Anonymeter": (
        "ANONYMETER_PYTHON",
        _READ
        + """
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
half = [c for c in real if c not in known]
for mode in ("univariate", "multivariate"):
    made = SinglingOutEvaluator(real, released, 500, n_cols=4, control=control)
    made.evaluate(mode=mode)
    print(made.risk())
for made in (
    LinkabilityEvaluator(real, released, (known, half), 500, control=control),
    InferenceEvaluator(real, released, known, guessed, n_attacks=500, control=control),
):
    made.evaluate(n_jobs=-1)
    print(made.risk())
""",
    ),
    "SynthEval": (
        "SYNTHEVAL_PYTHON",
        _READ
        + """
from syntheval import SynthEval
texts = [c for c in real if not pd.api.types.is_numeric_dtype(real[c])]
judge = SynthEval(real.fillna("missing"), holdout_dataframe=control.fillna("missing"), cat_cols=texts, verbose=False)
print(judge.evaluate(released.fillna("missing"), guessed, dcr={}, nndr={}, nnaa={}, hit_rate={}, eps_risk={}))
""",
    ),
}
"""By name: the variable that names their Python (None: they are installed here), and what they are asked for."""


def write(folder: Path, shape: tuple[int, int]) -> None:
    """Write real table, release and control records."""
    for seed, name in enumerate(("real", "synthetic", "control")):
        drawn(*shape, seed).to_csv(folder / f"{name}.csv", index=False)


def command_of(folder: Path, shape: tuple[int, int]) -> list[str]:
    """Return the command that evaluates the release in a folder."""
    real, released, control = (str(folder / f"{name}.csv") for name in ("real", "synthetic", "control"))
    known, guessed = roles(shape[1])
    asked = ["--quasi-identifiers", ",".join(known), "--sensitive", guessed, "--limit", "0.05"]
    return [*COMMAND, real, released, "--control", control, *asked, "--workspace", str(folder / "w")]


def commands_of_peers(folder: Path, shape: tuple[int, int]) -> dict[str, list[str]]:
    """Return what runs the other tools that are there, by their names."""
    pythons = {name: sys.executable if at is None else os.environ.get(at) for name, (at, _) in PEERS.items()}
    given = [str(folder), json.dumps(roles(shape[1]))]
    return {name: [python, "-c", PEERS[name][1], *given] for name, python in pythons.items() if python}


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


def scale(shapes: Sequence[tuple[int, int]], limit: float, shows: bool, peers: bool) -> None:
    """Print what each shape takes, a line as soon as it is there."""
    print("| table | clock s | CPU s | exponent | MB | first line s | longest silence s | foretold s |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    costs: dict[tuple[int, int], Cost] = {}
    for shape in shapes:
        with TemporaryDirectory() as place:
            folder, name = Path(place), f"{shape[0]:,} x {shape[1]}"
            write(folder, shape)
            found = costs[shape] = cost(command_of(folder, shape), limit, shows)
            _print(name, found, exponent(costs, shape), found.first, found.silence, found.estimate)
            for peer, command in (commands_of_peers(folder, shape) if peers else {}).items():
                found = cost(command, limit, shows)
                _print(f"{name}, {peer}{', failed' if found.code else ''}", found, "", "", "", "")


def _print(name: str, found: Cost, power: str, *told: float | str) -> None:
    ended = "" if found.done else ", stopped"
    cells = [found.clock, found.processors, power, found.memory, *told]
    shown = [each if isinstance(each, str) else f"{each:,.0f}" if each >= 100 else f"{each:.1f}" for each in cells]
    print(f"| {name}{ended} | " + " | ".join(shown) + " |", flush=True)


def _shape(text: str) -> tuple[int, int]:
    rows, _, columns = text.partition("x")
    return int(rows), int(columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", type=_shape, nargs="*", default=[_shape(each) for each in SHAPES])
    parser.add_argument("--limit", type=float, default=900.0, help="seconds after which a command is ended")
    parser.add_argument("--peers", action="store_true", help="run the other tools beside it")
    parser.add_argument("--show", action="store_true", help="print what the command says, and when")
    asked = parser.parse_args()
    scale(asked.shapes, asked.limit, asked.show, asked.peers)


if __name__ == "__main__":
    main()
