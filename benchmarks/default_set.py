"""Do the measures that `synthrisk init` writes see small leaks? 5,000 records of Adult, 3 folds x 3 repetitions.

python benchmarks/default_set.py --studies 20    # a row a leak: in what share of the studies each measure sees it

A measure sees a leak where the interval of memorization lies above 0, or that of the true-positive rate above the
false-positive rate. Intervals are crossed ones, wider than the moderated ones of a study. RAPID, the one measure of the
set that costs minutes, is left out: the others need not be helped.
"""

import argparse
from collections.abc import Callable

import numpy as np
import pandas as pd
from null_and_power import samples

from synthrisk.conf import load
from synthrisk.conf.plan import plan
from synthrisk.conf.study import Split
from synthrisk.metrics import METRICS
from synthrisk.metrics.exposure.single_records import vulnerable
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.intervals.rates import pooled_rates
from synthrisk.metrics.study.findings import Attacked, find
from synthrisk.metrics.study.ledger import Cell, Planned
from synthrisk.metrics.study.scoring import attack_release
from synthrisk.metrics.study.split import split_table
from synthrisk.tasks.propose.measures import measures
from synthrisk.tasks.propose.proposal import Given, look
from synthrisk.tasks.synthesize.reference_generators import fresh, leaky, near_copy
from synthrisk.tasks.synthesize.synthesizer import Job, Release

KEY, SECRET = ["age", "education", "occupation", "sex", "race"], "income"


def one_percent(job: Job) -> Release:
    """Release new people, and one training record in a hundred as it is."""
    return leaky(job, share=0.01)


def near_five_percent(job: Job) -> Release:
    """Release new people, and near copies of one training record in twenty."""
    return _mixed(job, near_copy(job).synthetic.sample(frac=0.05, random_state=job.seed))


def rarest_two_percent(job: Job) -> Release:
    """Release new people, and the 2 % of the training records that lie farthest from all others."""
    return _mixed(job, job.train[vulnerable(job.train, [], 0.02)["outliers"]])


def _mixed(job: Job, leaked: pd.DataFrame) -> Release:
    others = fresh(job)
    rows = pd.concat([leaked, others.synthetic.iloc[len(leaked) :]], ignore_index=True)
    return Release(rows.sample(frac=1, random_state=job.seed).reset_index(drop=True), others.used)


GENERATORS: dict[str, Callable[[Job], Release]] = {
    "1 % exact copies": one_percent,
    "5 % near copies": near_five_percent,
    "copies of the 2 % rarest": rarest_two_percent,
    "fresh": fresh,
}


def default_measures(columns: list[str]) -> tuple[Split, list[Planned]]:
    """Return the split and the risk measures of the study that ``init`` writes for Adult."""
    proposal = look("adult", Given(quasi_identifiers=KEY, sensitive=[SECRET]))
    study = load(
        {
            "name": "adult",
            "data": proposal.data.model_dump(exclude_unset=True),
            "split": {"folds": 3, "repetitions": 3},
            "synthesizers": ["cart"],
            "metrics": [*measures(proposal.table, proposal.data)],
        }
    )
    risks = [
        p
        for p in plan(study.metrics, columns, study.data.quasi_identifiers, study.data.sensitive)
        if not METRICS[p.measure.metric].is_utility
    ]
    return study.split, [p for p in risks if p.measure.metric != "rapid"]


def seen(
    table: pd.DataFrame, split: Split, planned: list[Planned], release: Callable[[Job], Release], seed: int
) -> dict[str, bool]:
    """Return which measures see the release, in one study."""
    shape = (split.repetitions, split.releases, len(table))
    parts = split_table(table, split, None, seed)
    member, control = np.zeros(shape, bool), np.zeros(shape, bool)
    cubes = {(p.measure.label, c): np.full(shape, np.nan) for p in planned for c in ("score", _column(p))}
    for r, k in np.ndindex(*shape[:2]):
        out = parts[r] == k
        train, rest = table[~out].reset_index(drop=True), table[out].reset_index(drop=True)
        made = release(Job(train, rest, len(train), seed * 1000 + 10 * r + k))
        groups = pd.array(~out, dtype="boolean")
        groups[np.flatnonzero(out)[made.used]] = pd.NA
        member[r, k], control[r, k] = groups.fillna(False), (~groups).fillna(False)
        ledger, _ = attack_release(table, made.synthetic, groups, planned, seed, Cell("x", r, k))
        for (label, column), cube in cubes.items():
            cube[r, k] = ledger.loc[ledger["metric"] == label, column].astype(float)
    found = {}
    for p in planned:
        own = Attacked(cubes[p.measure.label, "score"], member, control)
        found[p.measure.label] = find("x", "synthesizer", p.measure, own, Interval()).memorization.lower > 0
        if ranking := METRICS[p.measure.metric].study.ranking:
            ranked = cubes[p.measure.label, _column(p)] * (-1 if ranking.startswith("-") else 1)
            ranked = np.where(np.isnan(ranked) & ~np.isnan(own.scores), -np.inf, ranked)
            for rate, each in pooled_rates(ranked, member, control, Interval(seed=seed)).items():
                found[f"{p.measure.label}, tpr at {rate:g}"] = each.lower > rate
    return found


def _column(planned: Planned) -> str:
    return (METRICS[planned.measure.metric].study.ranking or "score").lstrip("-")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=3)
    parser.add_argument("--rows", type=int, default=5000)
    chosen = parser.parse_args()
    tables = list(samples(chosen.rows, chosen.studies))
    split, planned = default_measures(list(tables[0][1].columns))
    rows = {}
    for name, release in GENERATORS.items():
        every = pd.DataFrame([seen(table, split, planned, release, seed) for seed, table in tables])
        rows[name] = {**every.mean(), "any of them": every.any(axis=1).mean()}
        told = ", ".join(f"{measure} {share:.0%}" for measure, share in rows[name].items())
        print(f"{name}: {told}", flush=True)


if __name__ == "__main__":
    main()
