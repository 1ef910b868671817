"""What RAPID's random forest costs: ours beside scikit-learn's and what else was tried, and what fewer trees would do.

First table: one CART release of 26,048 Adult records, 32,561 attacked; each model fits and predicts, taking turns, on
one thread; CPU seconds, least of several turns. scikit-learn-intelex and LightGBM are shown where they are installed.
Second table (``--trees``): RAPID(0.3) by number of trees: its standard deviation over seeds of the forest, its distance
from the mean of 1,000 trees, and the value under permuted released values, on Adult and on the two reference tables
that have a value of R's ranger.

Third table (``--long``): what RAPID says of the members and of the control records of a table of so many records by
number of trees, for a class and for a number, beside the half width of a 90 % interval of the difference.

    python benchmarks/forests.py
    python benchmarks/forests.py --trees
    python benchmarks/forests.py --long 27000 100000
"""

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numba
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from threadpoolctl import threadpool_limits

from synthrisk.metrics import METRICS, Tables
from synthrisk.metrics.models.attackers import ATTACKER_MODELS, AttackerModel
from synthrisk.metrics.models.features import level_codes, one_hot, ordinal
from synthrisk.metrics.models.forest import RandomForest
from synthrisk.metrics.rapid.null_distribution import permutation_null
from synthrisk.tasks.data import read
from synthrisk.tasks.synthesize.cart import cart
from synthrisk.tasks.synthesize.synthesizer import Job

REFERENCE = Path(__file__).parents[1] / "tests" / "reference" / "rapid"
NUMBERS = (50, 100, 150, 250, 500, 1000)
THRESHOLD = 0.3
Fit = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def adult() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return all of Adult, and a CART release of four fifths of it."""
    real = read("adult")
    members = np.sort(np.random.default_rng(0).permutation(len(real))[: len(real) * 4 // 5])
    train = real.iloc[members].reset_index(drop=True)
    return real, cart(Job(train, train.head(0), rows=len(train), seed=1)).synthetic


def attempts() -> dict[str, tuple[Fit, bool]]:
    """Return how each model is fitted and asked, and whether it sees dummies."""

    def plain(make: Callable[[], Any]) -> Fit:
        return lambda x, y, q: np.asarray(make().fit(x, y).predict_proba(q))

    def library(trees: int = 500, **options: Any) -> Fit:
        return plain(lambda: RandomForestClassifier(trees, min_samples_split=11, random_state=0, **options))

    def distinct(x: np.ndarray, y: np.ndarray, q: np.ndarray) -> np.ndarray:
        rows, place = np.unique(q, axis=0, return_inverse=True)
        return library()(x, y, rows)[place]

    found = {
        "scikit-learn, 500 trees": (library(), False),
        "ours, 500 trees": (plain(lambda: RandomForest(500, 11, 0)), False),
        "distinct rows predicted": (distinct, False),
        "max_samples 0.3": (library(max_samples=0.3), False),
        "one-hot": (library(), True),
        "scikit-learn, 150 trees": (library(150), False),
        "ours, 150 trees": (plain(lambda: RandomForest(150, 11, 0)), False),
    }
    try:
        from sklearnex.ensemble import RandomForestClassifier as Intel

        found["scikit-learn-intelex"] = (plain(lambda: Intel(500, min_samples_split=11, random_state=0)), False)
    except ImportError:
        print("scikit-learn-intelex is not installed")
    try:
        from lightgbm import LGBMClassifier

        rule = {"boosting_type": "rf", "n_estimators": 500, "bagging_freq": 1, "bagging_fraction": 0.632}
        rule |= {"feature_fraction_bynode": 0.3, "num_leaves": 4000, "min_child_samples": 1, "verbose": -1}
        found["LightGBM, rf mode"] = (plain(lambda: LGBMClassifier(**rule, n_jobs=1, random_state=0)), False)
    except ImportError:
        print("LightGBM is not installed")
    return found


def compare(real: pd.DataFrame, release: pd.DataFrame, hidden: str, turns: int) -> None:
    tables = Tables(real, release)
    known = [c for c in real.columns if c != hidden]
    among = [*known, hidden]
    truth, target, _ = level_codes(tables, hidden, among)
    designs = ordinal(tables, known, among), one_hot(tables, known, among)
    order = np.lexsort((target, *designs[0].synthetic.T[::-1]))
    base = np.bincount(truth)[truth] / len(truth)
    seconds: dict[str, list[float]] = {}
    shares: dict[str, np.ndarray] = {}
    for _ in range(turns):
        for name, (fit, dummies) in attempts().items():
            x, q = designs[dummies].synthetic[order], designs[dummies].real
            start = process_time()
            shares[name] = fit(x, target[order], q)
            seconds.setdefault(name, []).append(process_time() - start)
    first = next(iter(seconds))
    print(f"\n{hidden}: {len(release):,} records of {len(known)} columns learned, {len(real):,} attacked")
    print(f"{'model':<26}{'CPU s':>8}{'times':>8}{'accuracy':>10}{'RAPID(.3)':>11}{'largest difference':>20}")
    for name, spent in seconds.items():
        gain = (shares[name][np.arange(len(truth)), truth] - base) / (1 - base)
        right, value = np.mean(shares[name].argmax(axis=1) == truth), np.mean(gain > THRESHOLD)
        apart = np.abs(shares[name] - shares[first]).max()
        least, times = min(spent), min(seconds[first]) / min(spent)
        print(f"{name:<26}{least:>8.2f}{times:>8.1f}{right:>10.4f}{value:>11.4f}{apart:>20.2g}", flush=True)


def references() -> dict[str, tuple[pd.DataFrame, pd.DataFrame, list[str], str, float]]:
    """Return real table, release, known columns, guessed column and R's value (NaN: none)."""
    real, release = adult()
    found = {"adult": (real, release, [c for c in real.columns if c != "income"], "income", float("nan"))}
    for case in ("cat3_mixed", "paper_appendix_B"):
        told = json.loads((REFERENCE / case / "expected.json").read_text())
        sides = (pd.read_csv(REFERENCE / case / f"{side}.csv") for side in ("original", "synthetic"))
        theirs = told["attackers"]["rf"]["ten_seeds"]["confidence_rate_mean"]
        found[case] = (*sides, told["quasi_identifiers"], told["sensitive_attribute"], theirs)
    return found


def by_trees(seeds: int) -> None:
    rule = ATTACKER_MODELS["random_forest"]
    print(
        f"{'table':<18}{'trees':>6}{'value':>9}{'sd over seeds':>15}{'from 1,000':>12}{'from R':>9}{'null':>8}{'sd':>8}"
    )
    for case, (real, release, known, hidden, theirs) in references().items():
        tables, values = Tables(real, release), {}
        for trees in NUMBERS:

            def make(seed: int, trees: int = trees) -> RandomForest:
                return RandomForest(trees, 11, seed)

            model = type(rule)(f"{trees} trees", make, None, rule.design)
            roles = {"quasi_identifiers": known, "sensitive": hidden, "attacker": model}
            values[trees] = [METRICS["rapid"].function(tables, **roles, seed=s).value for s in range(seeds)]
            values[trees].append(permutation_null(tables, **roles, permutations=5, seed=0))
        for trees in NUMBERS:
            *own, null = values[trees]
            apart = np.mean(own) - np.mean(values[NUMBERS[-1]][:-1])
            print(
                f"{case:<18}{trees:>6}{np.mean(own):>9.4f}{np.std(own, ddof=1):>15.4f}{apart:>12.4f}"
                f"{np.mean(own) - theirs:>9.4f}{null.mean:>8.4f}{null.sd:>8.4f}",
                flush=True,
            )


def of_long_tables(rows: int) -> None:
    from scale import drawn

    real, control, fresh = (drawn(rows, 15, seed) for seed in range(3))
    some = np.random.default_rng(0).choice(rows, rows // 10, replace=False)
    known = ["age", "workclass", "education", "education_num", "marital_status", "occupation", "relationship", "race"]
    known += ["sex", "native_country"]
    print(f"{'records':>8} {'release':<8}{'sensitive':<14}{'trees':>6}", end="")
    print(f"{'members':>9}{'control':>9}{'difference':>12}{'+-':>8}{'CPU s':>8}")
    for name, released in {"fresh": fresh, "a tenth": fresh, "copy": real}.items():
        released = released.copy()
        if name == "a tenth":
            released.iloc[some] = real.iloc[some]
        tables = Tables(real, released, control).with_control().without_groups()
        for hidden in ("income", "capital_gain"):
            for trees in (500, 250, 135, 100, 50):
                forests = partial(RandomForest, trees, 11), partial(_numbers, trees)
                attacker = AttackerModel("forest", *forests)
                start = process_time()
                score = METRICS["rapid"].function(
                    tables, quasi_identifiers=known, sensitive=hidden, attacker=attacker, seed=1
                )
                took, found = process_time() - start, score.records["score"].to_numpy(dtype=float)
                member, other = found[:rows], found[rows:]
                half = 1.645 * np.sqrt((np.nanvar(member) + np.nanvar(other)) / rows)
                print(f"{rows:>8} {name:<8}{hidden:<14}{trees:>6}", end="")
                own, others = np.nanmean(member), np.nanmean(other)
                print(f"{own:>9.4f}{others:>9.4f}{own - others:>12.4f}{half:>8.4f}{took:>8.1f}", flush=True)


def _numbers(trees: int, seed: int) -> RandomForestRegressor:
    return RandomForestRegressor(trees, max_features="sqrt", min_samples_split=6, random_state=seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", action="store_true", help="the second table")
    parser.add_argument("--long", type=int, nargs="+", metavar="ROWS", help="the third table")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--sensitive", nargs="+", default=["income", "marital_status"])
    options = parser.parse_args()
    if options.trees:
        by_trees(options.seeds)
        return
    if options.long:
        with threadpool_limits(1):
            for rows in options.long:
                of_long_tables(rows)
        return
    real, release = adult()
    RandomForest(1).fit(np.eye(2), np.arange(2)).predict_proba(np.eye(2))  # compiled before the clock runs
    numba.set_num_threads(1)
    with threadpool_limits(1):
        for hidden in options.sensitive:
            compare(real, release, hidden, options.turns)


if __name__ == "__main__":
    main()
