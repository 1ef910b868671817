"""How long ``synthrisk compare`` takes, start of Python included, on a store of 200 runs of synthesizers.

python benchmarks/compare_runs.py
"""

import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import pandas as pd
from mlflow import MlflowClient

from synthrisk.conf.study import Bootstrap
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, t_test
from synthrisk.metrics.study.comparison import Compared
from synthrisk.metrics.study.findings import Finding, Usefulness
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.results import Limit, StudyResult
from synthrisk.metrics.verdicts.verdicts import Verdict
from synthrisk.tasks.log import log
from synthrisk.tasks.tracking.addresses import Pages
from synthrisk.tasks.tracking.tables import FILE
from synthrisk.tasks.workspace.references import Cut, Estimated, Judged, Sample, store

STUDIES, SYNTHESIZERS, RECORDS = 40, 5, 2000
JUDGED = Measure("zero_cap", "zero_cap", "income")
MEASURES = (JUDGED, Measure("rapid", "rapid", "income"), Measure("membership", "membership"))
SHOWN = ([], ["--all"], ["--history"], ["--history", "--csv"], ["--json"])


def study(number: int, memorized: dict[str, Estimate]) -> StudyResult:
    """Return a small study of all synthesizers."""
    share = Estimate(0.5, 0.4, 0.6)
    found = [Finding(n, "synthesizer", m, share, share, memorized[n]) for n in memorized for m in MEASURES]
    name = f"memorization/{JUDGED.key}"
    verdicts = [
        Verdict(n, name, 0.05, "RISK" if e.lower > 0.05 else "INCONCLUSIVE", "because", e.value, e.lower, e.upper)
        for n, e in memorized.items()
    ]
    useful = [
        Usefulness(n, "synthesizer", Measure("accuracy", "accuracy"), share, NOT_ESTIMABLE, share) for n in memorized
    ]
    return StudyResult(
        f"{20260101 + number}-000000-{number:06d}",
        "many",
        found,
        [],
        verdicts,
        limits={name: Limit(0.05, "benchmark")},
        facts={"data_digest": "one", "records": str(RECORDS), "interval": "moderated, 0.95"},
        settings={n: {"role": "synthesizer", "kind": "cart"} for n in memorized},
        utility=useful,
    )


def contributed(rng: np.random.Generator) -> pd.DataFrame:
    """Return what records add to the judged measure, three repetitions of each synthesizer."""
    records = [f"{i:016x}" for i in range(RECORDS)]
    rows = [(f"synthesizer_{s}", r) for s in range(SYNTHESIZERS) for r in range(3)]
    return pd.concat(
        [
            pd.DataFrame(
                {"synthesizer": name, "record": records, "repetition": repetition}
                | {f"memorization/{JUDGED.key}": rng.normal(0.05, 0.3, RECORDS)}
            )
            for name, repetition in rows
        ],
        ignore_index=True,
    )


def fill(folder: Path) -> None:
    """Log all studies, as a study does."""
    rng, table = np.random.default_rng(0), store(pd.DataFrame({"a": [1, 2, 3]}), folder)
    (folder / "report.html").write_text("<html></html>")
    sample = Sample(table, Cut("unused", "cut", 1, 1, 0.0), str(folder))
    for number in range(STUDIES):
        kept = contributed(rng)
        wide = {n: own.pivot(index="repetition", columns="record") for n, own in kept.groupby("synthesizer")}
        memorized = {str(n): t_test(own[f"memorization/{JUDGED.key}"].to_numpy()).estimate for n, own in wide.items()}
        result = study(number, memorized)
        judged = Judged(result, Estimated(sample, (), (), Bootstrap(), Compared([])))
        logged = log.fn(judged, settings="name: many\n", pages=Pages(str(folder / "report.html")))
        client = MlflowClient(f"sqlite:///{folder / 'mlflow.db'}")
        which = f"tags.role = 'study' and tags.study_id = '{result.study_id}'"
        [run] = client.search_runs([logged.experiment_id], which)
        kept.to_parquet(folder / FILE)
        client.log_artifact(run.info.run_id, str(folder / FILE))


def main() -> None:
    with TemporaryDirectory() as place:
        start = perf_counter()
        fill(Path(place))
        print(f"{STUDIES * SYNTHESIZERS} runs of synthesizers logged in {perf_counter() - start:.0f} s")
        for options in SHOWN:
            command = [sys.executable, "-m", "synthrisk.flows.cli.app", "compare", "many", "--workspace", place]
            times = []
            for _ in range(3):
                start, before = perf_counter(), getrusage(RUSAGE_CHILDREN)
                subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
                after = getrusage(RUSAGE_CHILDREN)
                used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                times.append((perf_counter() - start, used))
            print(f"compare {' '.join(options):<20}{min(times)[0]:>6.1f} s, of the processor {min(times)[1]:.1f} s")


if __name__ == "__main__":
    main()
