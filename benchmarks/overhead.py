"""What a study costs beside its fits and attacks: as a bare loop over its functions, and as users run it.

python benchmarks/overhead.py              # smoke, some minutes
python benchmarks/overhead.py demo
python benchmarks/overhead.py demo split.folds=11 split.repetitions=1    # 88 releases

A row is the quickest of three runs (or of as many as the variable RUNS says), each in a process and a workspace of its
own: seconds of the clock and of the processors, with workers and server; the peak of memory of the largest process.
"""

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from resource import struct_rusage
from tempfile import TemporaryDirectory
from typing import NamedTuple

RUNS = int(os.environ.get("RUNS", "3"))
BARE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from _in_process import studied
from synthrisk.conf import load
from synthrisk.tasks.data import read
study = load(sys.argv[1], [f"workspace={sys.argv[2]}", *sys.argv[4:]])
table = read(study.data.source, study.data.missing, study.data.columns)
studied(study.model_dump(mode="json"), table, Path(sys.argv[2]))
"""
IMPORTS = """
import synthrisk.flows.cli.benchmark, synthrisk.flows.study_course
import synthrisk.tasks.report, synthrisk.tasks.expose, synthrisk.tasks.log, mlflow.store.tracking.sqlalchemy_store
from synthrisk.metrics import METRICS
[METRICS[name] for name in METRICS]
"""
"""What a study imports of which everything is found again."""
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux: processes whose parent has ended become ours
COMMAND = [sys.executable, "-m", "synthrisk.flows.cli.app"]


class Cost(NamedTuple):
    """What a command took."""

    clock: float  # seconds
    processors: float  # seconds
    memory: float  # MB, of the largest process


def cost(command: Sequence[str]) -> Cost:
    """Run a command and return what it took."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1)
    _ended()  # those of commands before this one
    start, pid = (
        time.perf_counter(),
        os.posix_spawn(
            command[0],
            command,
            {k: v for k, v in os.environ.items() if k != "PREFECT_API_URL"},
            file_actions=[(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)],
        ),
    )
    used = [os.wait4(pid, 0)[2]]
    clock = time.perf_counter() - start
    used += _ended()
    processors = sum(each.ru_utime + each.ru_stime for each in used)
    return Cost(clock, processors, max(each.ru_maxrss for each in used) / 1024)


def _ended() -> list[struct_rusage]:
    """Wait for processes that outlive their command for a moment: workers, and whom they come from, are ours then."""
    used = []
    with suppress(ChildProcessError):  # none is left
        while True:
            used.append(os.wait4(-1, 0)[2])
    return used


def least(command: Sequence[str], again: bool = False) -> Cost:
    """Return the least cost of several runs, each in a workspace of its own; ``again``: the second run in it."""
    costs = []
    for _ in range(RUNS):
        with TemporaryDirectory() as folder:
            filled = [part.replace("{folder}", folder) for part in command]
            if again:
                cost(filled)
            costs.append(cost(filled))
    return min(costs, key=lambda each: each.clock)


def show(name: str, found: Cost, bare: Cost | None = None) -> None:
    """Print a row."""
    ratio = f"{found.processors / bare.processors:>8.2f}" if bare else ""
    print(f"{name:<40}{found.clock:>8.1f}{found.processors:>10.1f}{found.memory:>9.0f}{ratio}", flush=True)


def bare_loop(study: str, settings: Sequence[str] = ()) -> list[str]:
    """Return the command that runs the functions of a study one after the other."""
    return [sys.executable, "-c", BARE, study, "{folder}", str(Path(__file__).parent), *settings]


def compile_searches() -> None:
    """Compile what a first run on a machine would, so that no row has it."""
    prepare = "from synthrisk.metrics.neighbours.nearest import prepare; prepare(walks=True)"
    subprocess.run([sys.executable, "-c", prepare], check=True)


def main() -> None:
    compile_searches()
    study, settings = sys.argv[1] if len(sys.argv) > 1 else "smoke", sys.argv[2:]
    print(f"{study:<40}{'clock':>8}{'CPU s':>10}{'MB':>9}{'of bare':>8}")
    bare = least(bare_loop(study, settings))
    show("bare loop", bare)
    show("imports alone", least([sys.executable, "-c", IMPORTS]))
    given = [part for each in ("workspace={folder}", *settings) for part in ("--set", each)]
    whole = [*COMMAND, "benchmark", study, *given]
    for kind, more in (("without Prefect", []), ("with Prefect", ["--prefect"])):
        for workers in (1, 2):
            chosen = [*whole, *more, "--set", f"runner.workers={workers}"]
            show(f"{kind}, {workers} worker{'s' * (workers > 1)}", least(chosen), bare)
        show(f"{kind}, all found again", least([*whole, *more], again=True))
    for workers in (1, 2):
        chosen = [*whole, "--set", "runner.kind=dask", "--set", f"runner.workers={workers}"]
        show(f"with Prefect, Dask, {workers} worker{'s' * (workers > 1)}", least(chosen), bare)


if __name__ == "__main__":
    main()
