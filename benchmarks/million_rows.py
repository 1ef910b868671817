"""One release evaluated at 10,000, 100,000 and 1,000,000 records: CPU seconds and peak memory of each stage.

python benchmarks/million_rows.py

Records of Adult drawn with replacement, their numbers jittered and one categorical cell in ten drawn anew, as CSV: as
many real as synthetic ones, without control records; ``--control`` gives a tenth as many of these. The stages are the
functions of the flow ``evaluate``, called one after the other in one process, each size in a process of its own, which
keeps freed memory as a command does; with ``--give-back`` it goes back to the system.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
import pandas as pd

ROWS = (10_000, 100_000, 1_000_000)
METRICS = ("zero_cap", "generalized_cap", "distance_to_closest_record")
KEY = ["age", "education", "occupation", "sex", "race"]
_T = TypeVar("_T")


def drawn(rows: int, seed: int) -> pd.DataFrame:
    """Return records like those of Adult."""
    from synthrisk.tasks.data.example_tables import read_adult

    rng, source = np.random.default_rng(seed), read_adult()
    table = source.iloc[rng.integers(len(source), size=rows)].reset_index(drop=True)
    for name in table.columns:
        if pd.api.types.is_numeric_dtype(table[name]):
            jitter = rng.normal(0, 0.02 * float(source[name].std()), rows).round().astype(np.int64)
            table[name] = np.maximum(table[name].to_numpy(np.int64) + jitter * (rng.random(rows) < 0.5), 0)
        else:
            anew = rng.random(rows) < 0.1
            table.loc[anew, name] = source[name].sample(int(anew.sum()), replace=True, random_state=seed).to_numpy()
    return table


class Stages:
    """CPU seconds of the stages so far, and the peak of the process after each."""

    def __init__(self) -> None:
        self.told: list[tuple[str, float, float]] = []

    def __call__(self, name: str, work: Callable[[], _T]) -> _T:
        """Run one stage."""
        before = _seconds()
        made = work()
        self.told.append((name, _seconds() - before, getrusage(RUSAGE_SELF).ru_maxrss / 1024))
        return made


def _seconds() -> float:
    used = getrusage(RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def evaluated(folder: Path, give_back: bool = False) -> list[tuple[str, float, float]]:
    """Evaluate ``real.csv`` and ``synthetic.csv`` of a folder, ``control.csv`` where there is one."""
    from synthrisk.flows.evaluate_settings import check_strangers, study_of, understood, with_fresh
    from synthrisk.flows.execution.signals import keep_freed_memory
    from synthrisk.flows.execution.workers import compute_with_one_thread
    from synthrisk.flows.preflight import check_on, foreseen
    from synthrisk.flows.study_course import attacks_of
    from synthrisk.metrics.neighbours.nearest import prepare
    from synthrisk.tasks.attack import attack
    from synthrisk.tasks.bootstrap import bootstrap
    from synthrisk.tasks.compare import compare
    from synthrisk.tasks.data.task import given
    from synthrisk.tasks.expose import expose
    from synthrisk.tasks.judge import judge
    from synthrisk.tasks.log import log
    from synthrisk.tasks.report import report
    from synthrisk.tasks.synthesize.task import synthesize
    from synthrisk.tasks.tracking.addresses import Pages
    from synthrisk.tasks.workspace.folders import open_workspace
    from synthrisk.tasks.workspace.references import Sample

    if not give_back:
        keep_freed_memory()
    compute_with_one_thread()
    prepare(walks=True)
    stage = Stages()
    stage.told.append(("import", _seconds(), getrusage(RUSAGE_SELF).ru_maxrss / 1024))
    control = str(folder / "control.csv") if (folder / "control.csv").exists() else None
    said: dict[str, Any] = {"quasi_identifiers": KEY, "sensitive": ["income"]}
    meant = understood(str(folder / "real.csv"), control, None, list(METRICS), {}, **said)
    release = str(folder / "synthetic.csv")
    study = study_of(meant, release, None, "limited", "evaluate", None, str(folder / "ws"), 1)
    place = str(open_workspace(folder / "ws"))
    table, cut = stage("read, type, store", lambda: given.fn(study.data, control, study.seed, place))
    sample = Sample.of(study.data, table, cut, place, study.seed)
    study = with_fresh(study, sample)
    if control:
        stage("control records", lambda: check_strangers(sample, release))
    planned, every = stage("check", lambda: check_on(study, sample))
    warnings = stage("foresee", lambda: foreseen(sample, planned)).warnings
    attacks = attacks_of(study, sample, planned, every)
    made = {g.name: stage("make releases", lambda g=g: synthesize.fn(sample, g, 0, 0)) for g, _ in attacks}
    ledgers = {g.name: stage("attack", lambda g=g, m=m: attack.fn(made[g.name], m)) for g, m in attacks}
    found = [stage("bootstrap", lambda o=own: bootstrap.fn([o], study.bootstrap)) for own in ledgers.values()]
    generators = [g for g, _ in attacks]
    estimated = stage("compare", lambda: compare.fn(found, sample, generators, study.bootstrap))
    judged = stage("judge", lambda: judge.fn(estimated, study.thresholds, name=study.name, warnings=warnings))
    result = judged.result
    page = stage("exposure page", lambda: expose.fn(found[0], result.study_id, study.bootstrap.confidence))
    written = stage("report", lambda: report.fn(judged, "asked: this"))
    pages = Pages(written, {found[0].name: page})
    stage("log", lambda: log.fn(judged, experiment="evaluate", settings="asked: this", pages=pages))
    return stage.told


def run_of(rows: int, control: bool, give_back: bool) -> list[tuple[str, float, float]]:
    """Return the stages of an evaluation in a process of its own, those of one name added up."""
    with TemporaryDirectory() as folder:
        for seed, (name, count) in enumerate((("real", rows), ("synthetic", rows), ("control", rows // 10 * control))):
            if count:
                drawn(count, seed).to_csv(Path(folder) / f"{name}.csv", index=False)
        command = [sys.executable, __file__, "--of", folder, *["--give-back"] * give_back]
        stages = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    seconds: dict[str, float] = {}
    peaks: dict[str, float] = {}
    for name, took, peak in stages:
        seconds[name], peaks[name] = seconds.get(name, 0.0) + took, peak
    return [(name, seconds[name], peaks[name]) for name in seconds]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--of", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--give-back", action="store_true")
    asked = parser.parse_args()
    if asked.of:
        print(json.dumps(evaluated(asked.of, asked.give_back)))
        return
    every = {rows: run_of(rows, asked.control, asked.give_back) for rows in asked.rows}
    print("| stage | " + " | ".join(f"{rows:,}: CPU s | peak MB" for rows in every) + " |")
    print("|---|" + "---|---|" * len(every))
    names = list(dict.fromkeys(name for stages in every.values() for name, _, _ in stages))
    for name in names:
        cells = [next(f"{s:.2f} | {m:,.0f}" for n, s, m in stages if n == name) for stages in every.values()]
        print(f"| {name} | " + " | ".join(cells) + " |")
    sums = [f"{sum(s for _, s, _ in own):.1f} | {max(m for _, _, m in own):,.0f}" for own in every.values()]
    print("| all | " + " | ".join(sums) + " |")


if __name__ == "__main__":
    main()
