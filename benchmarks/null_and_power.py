"""Does a study see leaks, and nothing where nothing is? Fresh releases, leaks of known size, copies of Adult.

python benchmarks/null_and_power.py null      # 200 fresh releases a design: how often is RISK called?
python benchmarks/null_and_power.py power     # 100 studies a share: how often is a leak seen? draws docs/power.png
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from synthrisk.conf.study import Split
from synthrisk.metrics import METRICS
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.study.findings import Attacked, Finding, find
from synthrisk.metrics.study.ledger import Cell, Measure, Planned
from synthrisk.metrics.study.scoring import attack_release
from synthrisk.metrics.study.split import split_table
from synthrisk.tasks.data import read
from synthrisk.tasks.synthesize.reference_generators import copy, fresh, leaky
from synthrisk.tasks.synthesize.synthesizer import Job, Release

KEY = ["age", "education", "occupation", "sex", "race"]
SECRET = "income"
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)
FIGURE = Path(__file__).parents[1] / "docs" / "power.png"


@dataclass(frozen=True)
class Fast:
    """An attack that takes milliseconds."""

    name: str
    metric: str
    known: Sequence[str] | None  # None: all other columns

    def planned(self, columns: Sequence[str]) -> Planned:
        """Return it as a study plans it."""
        metric = METRICS[self.metric]
        options = {}
        if "sensitive" in metric.needs:
            known = [c for c in columns if c != SECRET] if self.known is None else list(self.known)
            options = {"quasi_identifiers": known, "sensitive": SECRET}
        secret = SECRET if options else None
        return Planned(
            Measure(self.name, self.metric, secret, "nearest_record" if self.metric == "inference" else None), options
        )


ATTACKS = (
    Fast("zero_cap, 5 keys", "zero_cap", KEY),
    Fast("zero_cap, all columns", "zero_cap", None),
    Fast("nearest record", "inference", None),
    Fast("distance", "distance_to_closest_record", None),
)


def studied(
    table: pd.DataFrame, split: Split, release: Callable[[Job], Release], attacks: Sequence[Fast], seed: int
) -> list[Finding]:
    """Return the findings of one study of one generator, as the flow would make them."""
    planned = [a.planned(list(table.columns)) for a in attacks]
    made = attacked(table, split, release, planned, seed)
    return [find("x", "synthesizer", p.measure, own, Interval()) for p, own in zip(planned, made, strict=True)]


def attacked(
    table: pd.DataFrame, split: Split, release: Callable[[Job], Release], planned: Sequence[Planned], seed: int
) -> list[Attacked]:
    """Return all scores of one study of one generator, for each attack."""
    parts = split_table(table, split, None, seed)
    places = [(r, k) for r in range(split.repetitions) for k in range(split.releases)]
    shape = (split.repetitions, split.releases, len(table))
    scores = [np.full(shape, np.nan) for _ in planned]
    member, control = np.zeros(shape, bool), np.zeros(shape, bool)
    for r, k in places:
        out = parts[r] == k
        job = Job(
            table[~out].reset_index(drop=True),
            table[out].reset_index(drop=True),
            int((~out).sum()),
            seed * 1000 + 10 * r + k,
        )
        made = release(job)
        groups = pd.array(~out, dtype="boolean")
        groups[np.flatnonzero(out)[made.used]] = pd.NA
        ledger, _ = attack_release(table, made.synthetic, groups, planned, seed, Cell("x", r, k))
        member[r, k] = groups.fillna(False)
        control[r, k] = (~groups).fillna(False)
        for cube, each in zip(scores, planned, strict=True):
            cube[r, k] = ledger.loc[ledger["metric"] == each.measure.label, "score"]
    return [Attacked(cube, member, control) for cube in scores]


def samples(rows: int, count: int) -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield samples of Adult."""
    adult = read("adult")
    for seed in range(count):
        yield seed, adult.sample(rows, random_state=seed).reset_index(drop=True)


def null(studies: int) -> None:
    """Print how often a fresh release is called RISK at a limit of 0, by design."""
    designs = {
        **{
            f"1 release, {rows} rows, {share:.0%} held out": (rows, Split(holdout=share, repetitions=1))
            for rows in (1000, 3000)
            for share in (0.2, 0.5, 0.8)
        },
        "3 folds x 2, 1500 rows": (1500, Split(folds=3, repetitions=2)),
    }
    print(f"fresh releases called RISK (the lower limit of memorization above 0), {studies} studies a design;")
    allowed = 0.05 + 2 * np.sqrt(0.05 * 0.95 / studies)
    print(f"nominal 2.5 % (one end of a 95 % interval), allowed 5 % and two standard errors: {allowed:.1%}\n")
    print(f"{'design':42s}" + "".join(f"{a.name:>24s}" for a in ATTACKS))
    trend: dict[str, list[tuple[float, float]]] = {a.name: [] for a in ATTACKS}
    for words, (rows, split) in designs.items():
        found = [studied(t, split, fresh, ATTACKS, s) for s, t in samples(rows, studies)]
        cells = []
        for i, attack in enumerate(ATTACKS):
            each = [f[i].memorization for f in found]
            cells.append(f"{np.mean([e.lower > 0 for e in each]):.1%} ({np.mean([e.value for e in each]):+.4f})")
            if split.holdout:
                trend[attack.name] += [(split.holdout * rows / 2, e.value) for e in each]
        print(f"{words:42s}" + "".join(f"{c:>24s}" for c in cells), flush=True)
    print("\ntrend of memorization with the number of control records (Spearman, p)")
    for name, pairs in trend.items():
        found_ = stats.spearmanr(*np.transpose(pairs))
        print(f"  {name:24s}{found_.statistic:+.3f}  p = {found_.pvalue:.2f}")


def power(studies: int, rows: int) -> None:
    """Print how often a leak is seen, by its share, and draw it."""
    split = Split(folds=3, repetitions=2)
    kinds: dict[float, Callable[[Job], Release]] = {0.0: fresh, 1.0: copy}
    kinds |= {share: (lambda job, share=share: leaky(job, share=share)) for share in SHARES}
    seen: dict[str, dict[float, tuple[float, float]]] = {a.name: {} for a in ATTACKS}
    pairs: dict[str, list[tuple[float, float]]] = {a.name: [] for a in ATTACKS}
    print(f"leaks seen (lower limit of memorization above 0) in {studies} studies of {rows} records, 3 folds x 2\n")
    print(f"{'share leaked':>14s}" + "".join(f"{a.name:>28s}" for a in ATTACKS))
    for share, release in sorted(kinds.items()):
        found = [
            studied(t, split, release, ATTACKS, s) for s, t in samples(rows, studies if share < 1 else min(studies, 20))
        ]
        for i, attack in enumerate(ATTACKS):
            each = [f[i].memorization for f in found]
            seen[attack.name][share] = (
                float(np.mean([e.lower > 0 for e in each])),
                float(np.mean([e.value for e in each])),
            )
            pairs[attack.name] += [(share, e.value) for e in each]
        cells = [f"{seen[a.name][share][0]:.0%} ({seen[a.name][share][1]:+.4f})" for a in ATTACKS]
        words = {0.0: "0 (fresh)", 1.0: "1 (copy)"}.get(share, f"{share:g}")
        print(f"{words:>14s}" + "".join(f"{c:>28s}" for c in cells), flush=True)
        if share == 1:
            whole = [(f[1].memorization, 1 - f[1].risk_control.value) for f in found]
            held = np.mean([e.lower <= truth <= e.upper for e, truth in whole])
            print(f"\ncopy, {ATTACKS[1].name}: memorization holds 1 - risk_control in {held:.0%} of studies")
    print("\nshare leaked against memorization, all studies (Spearman)")
    for name, each_ in pairs.items():
        print(f"  {name:24s}{stats.spearmanr(*np.transpose(each_)).statistic:.3f}")
    _draw(seen, studies, rows)


def _draw(seen: dict[str, dict[float, tuple[float, float]]], studies: int, rows: int) -> None:
    figure = Figure(figsize=(8.4, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for (name, points), colour in zip(seen.items(), ("#0072b2", "#d55e00", "#009e73", "#b0578d"), strict=True):
        shares = [s for s in sorted(points) if s < 1]
        left.plot(shares, [points[s][0] for s in shares], "o-", color=colour, label=name, ms=4)
        right.plot(shares, [points[s][1] for s in shares], "o-", color=colour, label=name, ms=4)
    left.axhline(0.8, color="#6b7280", lw=0.8, ls=(0, (3, 2)))
    left.set_ylabel("studies that see the leak")
    right.set_ylabel("memorization")
    for axes in (left, right):
        axes.set_xlabel("share of the release that is training records")
        axes.spines[["top", "right"]].set_visible(False)
    left.set_ylim(-0.03, 1.03)
    right.legend(frameon=False, fontsize=8)
    figure.suptitle(f"{studies} studies a point, {rows:,} records of Adult, 3 folds x 2 repetitions", fontsize=9)
    figure.savefig(FIGURE, dpi=150)
    print(f"\ndrawn: docs/{FIGURE.name}")


def main() -> None:
    """Run one of the two, or both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("null", "power", "both"), nargs="?", default="both")
    parser.add_argument("--studies", type=int, default=0, help="studies a design: 200 (null), 100 (power)")
    parser.add_argument("--rows", type=int, default=5000, help="records of a study of power")
    options = parser.parse_args()
    if options.what != "power":
        null(options.studies or 200)
    if options.what != "null":
        power(options.studies or 100, options.rows)


if __name__ == "__main__":
    main()
