"""What membership attacks see of generators with a known answer, and which statistic of a study sees most.

Each generator is released in all folds and repetitions of a table, as a study does. Of a sample of Adult: pooled rates,
AUC, and the lower bound of epsilon, by attack.

    python benchmarks/membership.py --rows 4000 --folds 2 --repetitions 5

Of the tables of the atlas (``conf.grid``), what is made of the scores of ``combined``, at equal false positives:

* ``combined``: the score as it is;
* ``less mean``: less its mean over the releases of other repetitions that the record was held out of;
* ``less part``: less the best linear prediction from that mean;
* ``continuous``: memorization of the score itself, in place of the claims that are made of it;
* ``log KDE``: the log density of the release at the record (Gaussian kernel of width .4) in place of the score, ranked
  ``less part``; its memorization is that of the log density itself.

    python benchmarks/membership.py statistics                 # 1,000 rows, 2 and 6 repetitions, ten CPU minutes
    python benchmarks/membership.py null --studies 200         # intervals where nothing is learnt, simulated

How many trees `combined` needs, of half of Adult beside the other half (a minute):

    python benchmarks/membership.py trees
"""

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import logsumexp
from scipy.stats import rankdata

import synthrisk.metrics.claims.membership as membership_attacks
from synthrisk.conf.grid import FULL, GridTable, grid_of
from synthrisk.conf.study import Split
from synthrisk.metrics.intervals.epsilon import released_epsilon
from synthrisk.metrics.intervals.estimates import Interval, effects, paired, t_test
from synthrisk.metrics.intervals.rates import RATE, attack_summary, placements, pooled_rates
from synthrisk.metrics.study.ledger import Cell, Measure, Planned
from synthrisk.metrics.study.scoring import attack_release
from synthrisk.metrics.study.split import split_table
from synthrisk.metrics.tables.entities import entity_numbers
from synthrisk.metrics.tables.tables import Tables
from synthrisk.tasks.data import read, typed
from synthrisk.tasks.synthesize.cart import cart
from synthrisk.tasks.synthesize.leaks import leaky_near
from synthrisk.tasks.synthesize.reference_generators import copy, fresh, leaky, marginals, near_copy
from synthrisk.tasks.synthesize.synthesizer import Job, Release

GENERATORS: dict[str, Callable[[Job], Release]] = {
    "copy": copy,
    "leaky, 5 %": partial(leaky, share=0.05),
    "cart, leaves of 5": cart,
    "fresh": fresh,
    "marginals": marginals,
}
ATTACKS = ("distance_difference", "density_ratio")
GROWN_ON: dict[str, Callable[[Job], Release]] = {
    "near copies": near_copy,
    "3 % copied": partial(leaky, share=0.03),
    "cart, leaves of 5": cart,
    "cart, leaves of 20": partial(cart, min_samples_leaf=20),
    "10 % near copies": partial(leaky_near, share=0.1),
}


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


COMPARED: dict[str, Callable[[Job], Release]] = {
    "fresh": fresh,
    "CART, leaves of 100": partial(cart, min_samples_leaf=100),
    "CART, leaves of 5": cart,
    "smoothed copies": partial(near_copy, jitter=0.2, redrawn=0.3),
    "5 % copies": partial(leaky, share=0.05),
    "20 % copies": partial(leaky, share=0.2),
    "5 % near copies": partial(leaky_near, share=0.05),
}
BANDWIDTH = 0.4
STATISTICS = ("combined", "less mean", "less part", "continuous", "log KDE")


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of one study, (R, K, n) each; NaN where a record is no target."""

    combined: np.ndarray
    density: np.ndarray
    member: np.ndarray
    control: np.ndarray
    entities: np.ndarray | None

    def first(self, repetitions: int) -> "Scored":
        """Return what a study of fewer repetitions would have found."""
        cubes = {name: getattr(self, name)[:repetitions] for name in ("combined", "density", "member", "control")}
        return replace(self, **cubes)


def scored(own: GridTable, release: Callable[[Job], Release], rows: int, repetitions: int, seed: int) -> Scored:
    """Return the scores of one study of one generator."""
    grid = replace(grid_of(FULL, tables=[own.name], rows=rows), repetitions=repetitions)
    study = grid.study(own, seed, ".", 1)
    table = typed(read(study.data.source), study.data, study.split, seed)
    name = study.data.identifier
    identifier, table = (None, table) if name is None else (table[name], table.drop(columns=[name]))
    entities = None if identifier is None else entity_numbers(identifier)
    parts = split_table(table, study.split, identifier, seed)
    shape = (repetitions, study.split.releases, len(table))
    found = Scored(
        np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, bool), np.zeros(shape, bool), entities
    )
    planned = [Planned(Measure("membership", "membership"))]
    points = _points(table)
    for r, k in np.ndindex(shape[:2]):
        out = parts[r] == k
        groups = [table[each].reset_index(drop=True) for each in (~out, out)]
        held = None if entities is None else entities[out]
        made = release(Job(*groups, int((~out).sum()), seed * 1000 + 10 * r + k, held_out_entities=held))
        whose = pd.array(~out, dtype="boolean")
        whose[np.flatnonzero(out)[made.used]] = pd.NA
        ledger, _ = attack_release(table, made.synthetic, whose, planned, seed, Cell("x", r, k), entities)
        sure = ledger["confidence"].to_numpy(dtype=float)
        is_target = ~np.isnan(sure) & ~np.asarray(whose.isna())
        found.combined[r, k] = np.where(is_target, sure, np.nan)
        found.density[r, k] = np.where(is_target, _log_density(points, table, made.synthetic, entities), np.nan)
        found.member[r, k] = is_target & np.asarray(whose.fillna(False), dtype=bool)
        found.control[r, k] = is_target & ~np.asarray(whose.fillna(True), dtype=bool)
    found.density[:] -= np.nanmean(found.density, axis=2, keepdims=True)
    return found


def _points(table: pd.DataFrame, like: pd.DataFrame | None = None) -> np.ndarray:
    """Return records as points: numbers in standard deviations of the real table, a level as 1/sqrt(2) or 0."""
    like = table if like is None else like
    blocks = []
    for name in like.columns:
        if isinstance(like[name].dtype, pd.CategoricalDtype) or like[name].dtype == object:
            levels = like[name].astype(object).dropna().unique()
            blocks.append((table[name].astype(object).to_numpy()[:, None] == levels[None, :]) / np.sqrt(2))
        else:
            values, base = (each[name].to_numpy(dtype=float, na_value=np.nan) for each in (table, like))
            blocks.append(np.nan_to_num((values - np.nanmean(base)) / (np.nanstd(base) or 1.0))[:, None])
    return np.hstack(blocks)


def _log_density(
    points: np.ndarray, table: pd.DataFrame, release: pd.DataFrame, entities: np.ndarray | None
) -> np.ndarray:
    other = _points(release, table)
    squares = (points**2).sum(axis=1)[:, None] + (other**2).sum(axis=1)[None, :] - 2 * points @ other.T
    found = logsumexp(-np.maximum(squares, 0) / (2 * BANDWIDTH**2), axis=1)
    return found if entities is None else pd.Series(found).groupby(entities).transform("max").to_numpy()


def less_held_out(scores: np.ndarray, control: np.ndarray, *, shrunk: bool) -> np.ndarray:
    """Return scores less each record's mean over the releases of other repetitions that it was held out of.

    In repetition r a member and a control record have as many such releases, and none of them knows who is which in r:
    so the null stays level. A record without one is compared with the mean of all records. ``shrunk``: less
    m s2_rec / (m s2_rec + s2_in) of the record's deviation from that mean, m its number of releases, s2_rec and s2_in
    the variances between and within records.
    """
    held = np.where(control, scores, np.nan)
    sums, counts = np.nansum(held, axis=1), (~np.isnan(held)).sum(axis=1)  # (R, n)
    sums, counts = sums.sum(axis=0) - sums, counts.sum(axis=0) - counts  # of the other repetitions
    grand = np.nanmean(held)
    mean = np.divide(sums, counts, out=np.full(sums.shape, grand), where=counts > 0)
    if not shrunk:
        return scores - mean[:, None, :]
    within, between = _variances(held)
    part = counts * between / np.maximum(counts * between + within, 1e-300)
    return scores - (part * (mean - grand))[:, None, :]


def _variances(held: np.ndarray) -> tuple[float, float]:
    """Return the variance within records and between them, of scores (R, K, n): one-way analysis of variance."""
    flat = held.reshape(-1, held.shape[2])
    flat = flat[:, (~np.isnan(flat)).any(axis=0)]
    times = (~np.isnan(flat)).sum(axis=0)
    means, grand = np.nanmean(flat, axis=0), np.nanmean(flat)
    within = np.nansum((flat - means) ** 2) / max(times.sum() - len(times), 1)
    each = (times.sum() - (times**2).sum() / times.sum()) / (len(times) - 1)
    between = ((times * (means - grand) ** 2).sum() / (len(times) - 1) - within) / each
    return float(within), max(float(between), 0.0)


def claimed(scores: np.ndarray) -> np.ndarray:
    """Return 1 for the half of the targets of each release that score highest (ties: their share), 0 for others."""
    middle = np.nanmedian(scores, axis=2, keepdims=True)
    above, tied = scores > middle, scores == middle
    targets = (~np.isnan(scores)).sum(axis=2, keepdims=True)
    share = (targets / 2 - above.sum(axis=2, keepdims=True)) / np.maximum(tied.sum(axis=2, keepdims=True), 1)
    return np.where(np.isnan(scores), np.nan, np.where(above, 1.0, np.where(tied, np.clip(share, 0, 1), 0.0)))


def memorization(scores: np.ndarray, own: Scored) -> tuple[float, float]:
    """Return a study's memorization of such scores, and its standard error."""
    found = t_test(paired(effects(scores, own.member), effects(scores, own.control)), entities=own.entities).estimate
    return found.value, found.parts.spread if found.parts else float("nan")


def statistics(own: Scored) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return by statistic how records are ranked, and the scores whose memorization is taken."""
    less, part = (less_held_out(own.combined, own.control, shrunk=s) for s in (False, True))
    return {
        "combined": (own.combined, claimed(own.combined)),
        "less mean": (less, claimed(less)),
        "less part": (part, claimed(part)),
        "continuous": (own.combined, own.combined),
        "log KDE": (less_held_out(own.density, own.control, shrunk=True), own.density),
    }


def seen(own: Scored) -> dict[str, tuple[float, float, float, bool]]:
    """Return AUC, true-positive rate at 1 %, z of memorization, and whether the rate's interval lies above 1 %."""
    found = {}
    for name, (ranked, scores) in statistics(own).items():
        said = attack_summary(ranked[own.member], ranked[own.control])
        value, error = memorization(scores, own)
        pooled = pooled_rates(ranked, own.member, own.control, Interval(0.9, resamples=200), own.entities, (RATE,))[
            RATE
        ]
        found[name] = said.auc, said.rates[RATE].value, value / error, bool(pooled.lower > RATE)
    return found


def compare(tables: Sequence[GridTable], rows: int, repetitions: Sequence[int], seeds: Sequence[int]) -> None:
    """Print what each statistic sees of each generator, in each table and on average."""
    lines = []
    for table in tables:
        for generator, release in COMPARED.items():
            for seed in seeds:
                every = scored(table, release, rows, max(repetitions), seed)
                for count in repetitions:
                    for name, numbers in seen(every.first(count)).items():
                        lines.append((table.name, generator, count, seed, name, *numbers))
                        print(
                            "|",
                            " | ".join(
                                str(each) if not isinstance(each, float) else f"{each:.4f}" for each in lines[-1]
                            ),
                            "|",
                            flush=True,
                        )
    columns = ["table", "generator", "repetitions", "seed", "statistic", "auc", "tpr", "z", "above"]
    found = pd.DataFrame(lines, columns=columns)
    print_means(found)


def print_means(found: pd.DataFrame) -> None:
    """Print the means over tables, and in how many tables each statistic sees more than the score as it is."""
    head = ["generator", "repetitions", *(f"{s}: AUC, TPR at 1 %, z" for s in STATISTICS)]
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for (generator, count), own in found.groupby(["generator", "repetitions"], sort=False):
        means = own.groupby("statistic")[["auc", "tpr", "z", "above"]].mean()
        cells = [f"{m.auc:.3f} {m.tpr:.4f} {m.z:.2f} ({m.above:.2f})" for m in (means.loc[s] for s in STATISTICS)]
        print(f"| {generator} | {count} | " + " | ".join(cells) + " |")
    places = ["table", "generator", "repetitions", "seed"]
    wide = {q: found.pivot(index=places, columns="statistic", values=q) for q in ("auc", "tpr", "z")}
    print("\nstudies in which it is larger than of `combined` as it is:\n")
    for (generator, count), _ in found.groupby(["generator", "repetitions"], sort=False):
        cells = []
        for name in STATISTICS[1:]:
            counts = []
            for each in wide.values():
                rows = each.xs((generator, count), level=("generator", "repetitions"))
                counts.append(f"{int((rows[name] > rows['combined']).sum())}")
            cells.append(f"{name} {', '.join(counts)}")
        print(f"{generator}, {count}: " + "; ".join(cells) + f" of {len(rows)}")


def null(studies: int, rows: int = 500) -> None:
    """Print how often 90 % intervals hold 0, and .01, in simulated studies of a generator that learnt nothing."""
    print("| repetitions | scores | statistic | memorization holds 0 | TPR at 1 %, mean | its lower limit above 1 % |")
    print("|---|---|---|---|---|---|")
    for count in (2, 3, 6):
        for words, spread, heavy in (
            ("noise alone", 0.0, False),
            ("hard and easy", 1.0, False),
            ("heavy tails", 1.0, True),
        ):
            _print_null(studies, rows, count, words, spread, heavy)


def _print_null(studies: int, rows: int, count: int, words: str, spread: float, heavy: bool) -> None:
    kept: dict[str, list[tuple[bool, float, bool]]] = {
        "combined": [],
        "less mean": [],
        "less part": [],
        "continuous": [],
    }
    for seed in range(studies):
        rng = np.random.default_rng([seed, count])
        noise = rng.standard_t(3, (count, 2, rows)) if heavy else rng.normal(size=(count, 2, rows))
        # records lie together: the releases of one repetition move neighbours alike
        scores = (
            noise + spread * rng.exponential(size=rows) + 0.3 * rng.normal(size=(count, 2, 1)) * rng.normal(size=rows)
        )
        fold = np.stack([rng.permutation(rows) % 2 for _ in range(count)])
        control = np.stack([fold == k for k in range(2)], axis=1)
        own = Scored(scores, scores, ~control, control, None)
        for name, (ranked, values) in statistics(own).items():
            if name in kept:
                e = t_test(paired(effects(values, own.member), effects(values, own.control)), 0.9).estimate
                rate = pooled_rates(ranked, own.member, own.control, Interval(0.9, resamples=200), rates=(RATE,))[RATE]
                kept[name].append((e.lower <= 0 <= e.upper, rate.value, rate.lower > RATE))
    for name, each in kept.items():
        holds, value, above = np.nanmean(np.array(each, dtype=float), axis=0)
        print(f"| {count} | {words} | {name} | {holds:.3f} | {value:.4f} | {above:.3f} |", flush=True)


def rates(given: argparse.Namespace) -> None:
    """Print what each attack sees of each generator in a sample of Adult."""
    table = read("adult").sample(given.rows or 4000, random_state=0).reset_index(drop=True)
    print("| generator | attack | found at FPR 1 % | found at FPR 0.1 % | AUC | epsilon at least |")
    print("|---|---|---|---|---|---|")
    for name, release in GENERATORS.items():
        split = Split(folds=given.folds, repetitions=(given.repetitions or [5])[0])
        found, member, control = ranked(table, split, release, given.attackers, 1)
        for attacker, sure in found.items():
            rates = [
                f"{e.value:.4f} [{e.lower:.4f}, {e.upper:.4f}]" for e in pooled_rates(sure, member, control).values()
            ]
            auc = placements(sure[member], sure[control]).mean()
            bound = released_epsilon(sure, member, control)
            said = "-" if bound is None else f"{bound.epsilon:.2f}"
            print(f"| {name} | {attacker} | {' | '.join(rates)} | {auc:.3f} | {said} |", flush=True)


def trees(records: int) -> None:
    """Print what `combined` and its classifier see with fewer trees, and what these cost."""
    table = read("adult").sample(2 * records, random_state=0).reset_index(drop=True)
    groups = [part.reset_index(drop=True) for part in (table[:records], table[records:])]
    print(
        "| generator | trees | CPU s | classifier: AUC, TPR at 1 % | combined: AUC, TPR at 1 % |\n|---|---|---|---|---|"
    )
    for name, release in GROWN_ON.items():
        made = release(Job(*groups, records, 1))
        targets = table.drop(index=records + made.used).sample(frac=1, random_state=1)
        member, view = np.asarray(targets.index < records), Tables(targets.reset_index(drop=True), made.synthetic)
        others = [membership_attacks._nearer(view), membership_attacks._denser(view, 1)]
        for count in (25, 12, 8, 6):
            start = time.process_time()
            own = membership_attacks._more_like_the_release(view, np.random.default_rng(1), count, 2)
            cost = time.process_time() - start
            ranks = (rankdata(np.stack([*others, own]), axis=1) - 0.5) / len(member)
            sure = [np.round(each, 12) for each in (own, -np.log1p(-ranks).mean(axis=0))]
            seen = [attack_summary(each[member], each[~member]) for each in sure]
            cells = [f"{each.auc:.4f}, {each.rates[RATE].value:.4f}" for each in seen]
            print(f"| {name} | {count} | {cost:.2f} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("rates", "statistics", "null", "trees"), default="rates")
    parser.add_argument("--rows", type=int, help="4,000 of Adult, 1,000 of each table of the atlas, unless given")
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--repetitions", type=int, nargs="+", help="5, or 2 and 6 of the atlas")
    parser.add_argument("--attackers", nargs="+", default=list(ATTACKS))
    parser.add_argument("--tables", nargs="+", default=[])
    parser.add_argument("--studies", type=int, default=200)
    given, _ = parser.parse_known_args()
    if given.what == "rates":
        rates(given)
        return
    if given.what == "trees":
        trees(given.rows or 16_000)
        return
    warnings.simplefilter("ignore", RuntimeWarning)  # means over records that are no targets
    if given.what == "null":
        null(given.studies)
    else:
        compare(grid_of(FULL, tables=given.tables).tables, given.rows or 1000, given.repetitions or [2, 6], [1])


if __name__ == "__main__":
    main()
