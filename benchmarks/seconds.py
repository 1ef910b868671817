"""Seconds to an answer: what each command takes that people wait for, studies beside a bare loop over their functions.

RUNS=1 python benchmarks/seconds.py           # some five minutes
RUNS=1 python benchmarks/seconds.py --full    # and ``adult.yaml`` as it is, half an hour

Help, lists, ``evaluate`` of 10,000 records and ``ui`` are those of ``first_answers``, columns those of ``overhead``.
The million records are those of ``million_rows``, evaluated by the command. What is found again was computed before.
"Cold" is the first run on a machine: what Python and numba have compiled, and our own files of the kind, are not there.

RUNS=1 python benchmarks/seconds.py --cold    # those alone
"""

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import first_answers
from million_rows import KEY, METRICS, drawn
from overhead import COMMAND, RUNS, Cost, bare_loop, compile_searches, cost, least, show

ROWS = 1_000_000
FEW = 3_000  # records of the first evaluation
CACHES = ("PYTHONPYCACHEPREFIX", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "MPLCONFIGDIR")


def million(folder: Path) -> list[str]:
    """Return the command that evaluates a release of a million records, which it writes to a folder."""
    files = [folder / f"{name}.csv" for name in ("real", "synthetic")]
    for seed, path in enumerate(files):
        drawn(ROWS, seed).to_csv(path, index=False)
    roles = ["--quasi-identifiers", ",".join(KEY), "--sensitive", "income"]
    measures = [part for metric in METRICS for part in ("--metric", metric)]
    return [*COMMAND, "evaluate", *map(str, files), *roles, *measures, "--workspace", "{folder}"]


def cold(command: list[str]) -> Cost:
    """Return the least cost of a command that is the first on its machine."""
    before, costs = dict(os.environ), []
    for _ in range(RUNS):
        with TemporaryDirectory() as folder:
            os.environ.update({name: f"{folder}/{name}" for name in CACHES})
            try:
                costs.append(cost([part.replace("{folder}", f"{folder}/work") for part in command]))
            finally:
                os.environ.clear()
                os.environ.update(before)
    return min(costs, key=lambda each: each.clock)


def first_runs() -> None:
    """Print what the first commands on a machine cost."""
    with TemporaryDirectory() as place:
        first_answers.tables(Path(place), FEW)
        show(f"cold: synthrisk evaluate, {FEW:,} records", cold(first_answers.evaluation(Path(place))))
    show("cold: make demo", cold([*COMMAND, "benchmark", "demo", "--prefect", "--set", "workspace={folder}"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="adult.yaml too")
    parser.add_argument("--cold", action="store_true", help="the first runs on a machine alone")
    full, alone = vars(parser.parse_args()).values()
    if alone:
        print(f"{'':<40}{'clock':>8}{'CPU s':>10}{'MB':>9}")
        first_runs()
        return
    compile_searches()
    first_answers.main()
    print(f"{'':<40}{'clock':>8}{'CPU s':>10}{'MB':>9}{'of bare':>8}")
    for study in ("smoke", "demo", *["adult"] * full):
        bare, whole = least(bare_loop(study)), [*COMMAND, "benchmark", study, "--set", "workspace={folder}"]
        show(f"bare loop over {study}", bare)
        show(f"synthrisk benchmark {study}", least(whole), bare)
        if study == "demo":
            show("the same, found again", least(whole, again=True), bare)
    first_runs()
    with TemporaryDirectory() as place:
        show(f"synthrisk evaluate, {ROWS:,} records", least(million(Path(place))))


if __name__ == "__main__":
    main()
