"""What membership attacks see of generators with a known answer: pooled rates, AUC, and the lower bound of epsilon.

Each generator is released in all folds and repetitions of a sample of Adult, as a study does.

    python benchmarks/membership.py --rows 4000 --folds 2 --repetitions 5
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from synthrisk.conf.study import Split
from synthrisk.metrics.intervals.epsilon import released_epsilon
from synthrisk.metrics.intervals.pooled_rates import pooled_rates
from synthrisk.metrics.intervals.roc import placements
from synthrisk.metrics.study.ledger import Cell, Measure
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.study.scoring import attack_release
from synthrisk.metrics.study.split import split_table
from synthrisk.tasks.data import read
from synthrisk.tasks.synthesize.cart import cart
from synthrisk.tasks.synthesize.reference_generators import copy, fresh, leaky, marginals
from synthrisk.tasks.synthesize.synthesizer import Job, Release

GENERATORS: dict[str, Callable[[Job], Release]] = {
    "copy": copy,
    "leaky, 5 %": partial(leaky, share=0.05),
    "cart, leaves of 5": cart,
    "fresh": fresh,
    "marginals": marginals,
}
ATTACKS = ("distance_difference", "density_ratio")


def ranked(
    table: pd.DataFrame, split: Split, release: Callable[[Job], Release], attackers: Sequence[str], seed: int
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Return the confidence of each attack in each record, (R, K, n), and who is member and control record."""
    planned = [Planned(Measure(a, "membership", None, a), {"attacker": a}) for a in attackers]
    parts = split_table(table, split, None, seed)
    shape = (split.repetitions, split.releases, len(table))
    sure = {a: np.full(shape, np.nan) for a in attackers}
    member, control = np.zeros(shape, bool), np.zeros(shape, bool)
    for r, k in np.ndindex(shape[:2]):
        out = parts[r] == k
        groups = [table[own].reset_index(drop=True) for own in (~out, out)]
        made = release(Job(*groups, int((~out).sum()), seed * 1000 + 10 * r + k))
        whose = pd.array(~out, dtype="boolean")
        whose[np.flatnonzero(out)[made.used]] = pd.NA
        ledger, _ = attack_release(table, made.synthetic, whose, planned, seed, Cell("x", r, k))
        member[r, k], control[r, k] = whose.fillna(False), (~whose).fillna(False)
        for a in attackers:
            sure[a][r, k] = ledger.loc[ledger["metric"] == a, "confidence"]
    return sure, member, control


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--attackers", nargs="+", default=list(ATTACKS))
    given, _ = parser.parse_known_args()
    table = read("adult").sample(given.rows, random_state=0).reset_index(drop=True)
    print("| generator | attack | found at FPR 1 % | found at FPR 0.1 % | AUC | epsilon at least |")
    print("|---|---|---|---|---|---|")
    for name, release in GENERATORS.items():
        split = Split(folds=given.folds, repetitions=given.repetitions)
        found, member, control = ranked(table, split, release, given.attackers, 1)
        for attacker, sure in found.items():
            rates = [
                f"{e.value:.4f} [{e.lower:.4f}, {e.upper:.4f}]" for e in pooled_rates(sure, member, control).values()
            ]
            auc = placements(sure[member], sure[control]).mean()
            bound = released_epsilon(sure, member, control)
            said = "-" if bound is None else f"{bound.epsilon:.2f}"
            print(f"| {name} | {attacker} | {' | '.join(rates)} | {auc:.3f} | {said} |", flush=True)


if __name__ == "__main__":
    main()
