"""Seconds to an answer: what each command takes that people wait for, studies beside a bare loop over their functions.

RUNS=1 python benchmarks/seconds.py           # some five minutes
RUNS=1 python benchmarks/seconds.py --full    # and ``adult.yaml`` as it is, half an hour

Help, lists, ``evaluate`` of 10,000 records and ``ui`` are those of ``first_answers``, columns those of ``overhead``.
The million records are those of ``million_rows``, evaluated by the command. What is found again was computed before.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import first_answers
from million_rows import KEY, METRICS, drawn
from overhead import COMMAND, bare_loop, compile_searches, least, show

ROWS = 1_000_000


def million(folder: Path) -> list[str]:
    """Return the command that evaluates a release of a million records, which it writes to a folder."""
    files = [folder / f"{name}.csv" for name in ("real", "synthetic")]
    for seed, path in enumerate(files):
        drawn(ROWS, seed).to_csv(path, index=False)
    roles = ["--quasi-identifiers", ",".join(KEY), "--sensitive", "income"]
    measures = [part for metric in METRICS for part in ("--metric", metric)]
    return [*COMMAND, "evaluate", *map(str, files), *roles, *measures, "--workspace", "{folder}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="adult.yaml too")
    full = parser.parse_args().full
    compile_searches()
    first_answers.main()
    print(f"{'':<40}{'clock':>8}{'CPU s':>10}{'MB':>9}{'of bare':>8}")
    for study in ("smoke", "demo", *["adult"] * full):
        bare, whole = least(bare_loop(study)), [*COMMAND, "benchmark", study, "--set", "workspace={folder}"]
        show(f"bare loop over {study}", bare)
        show(f"synthrisk benchmark {study}", least(whole), bare)
        if study == "demo":
            show("the same, found again", least(whole, again=True), bare)
    with TemporaryDirectory() as place:
        show(f"synthrisk evaluate, {ROWS:,} records", least(million(Path(place))))


if __name__ == "__main__":
    main()
