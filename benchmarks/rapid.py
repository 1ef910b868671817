"""What RAPID costs beside its model in scikit-learn: 5 folds x 2 repetitions on Adult.

Each release is a resample of four fifths of Adult and all of Adult is attacked, as in a study. The bare run fits
scikit-learn's estimator and predicts on arrays that are there already; both take turns in one process. Times are
seconds of one core. The line below each says what a release's call is made of; "rest" is negative where the metric's
fit is faster than the bare one: the forest is our own, and sorted rows are quicker than the release's own order.

    python benchmarks/rapid.py                                   # random forest, cart, gradient boosting
    python benchmarks/rapid.py --attackers cart --sensitive marital_status
"""

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_limits

from synthrisk.metrics import METRICS, Tables
from synthrisk.metrics.models.attackers import ATTACKER_MODELS
from synthrisk.metrics.models.features import level_codes
from synthrisk.tasks.data import read

LEFT_OUT = ("fnlwgt", "education_num")
FOLDS, REPETITIONS = 5, 2


def releases(real: pd.DataFrame) -> list[pd.DataFrame]:
    """Return one release a fold and repetition: the training rows, drawn with replacement."""
    made = []
    for repetition in range(REPETITIONS):
        rng = np.random.default_rng(repetition)
        fold = rng.permutation(len(real)) % FOLDS
        for k in range(FOLDS):
            train = np.flatnonzero(fold != k)
            made.append(real.iloc[rng.choice(train, len(train))].reset_index(drop=True))
    return made


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = process_time()
    found = work()
    return process_time() - start, found


def scikit_learn(name: str) -> Any:
    """Return scikit-learn's estimator of an attacker model."""
    ours = ATTACKER_MODELS[name].estimator("categorical", 0)
    return RandomForestClassifier(max_features="sqrt", **ours.get_params()) if name == "random_forest" else ours


def compare(
    name: str, real: pd.DataFrame, made: list[pd.DataFrame], sensitive: str
) -> tuple[np.ndarray, dict[str, float]]:
    """Return seconds of (metric, bare) for each release, and the parts of the metric's seconds, summed."""
    known = [c for c in real.columns if c not in (sensitive, *LEFT_OUT)]
    times = np.zeros((len(made), 2))
    parts = dict.fromkeys(("tables", "design", "target", "sort", "fit + predict"), 0.0)
    for place, release in enumerate(made):
        spent, tables = seconds(lambda r=release: Tables(real, r))
        parts["tables"] += spent
        spent, design = seconds(lambda t=tables: ATTACKER_MODELS[name].design(t, known, [*known, sensitive]))
        parts["design"] += spent
        spent, (_, target, _) = seconds(lambda t=tables: level_codes(t, sensitive, [*known, sensitive]))
        parts["target"] += spent
        rows = design.synthetic
        parts["sort"] += seconds(lambda x=rows, y=target: x[np.lexsort((y, *x.T[::-1]))])[0]

        def bare(x: np.ndarray = rows, y: np.ndarray = target, new: np.ndarray = design.real) -> Any:
            return scikit_learn(name).fit(x, y).predict_proba(new)

        def metric(release: pd.DataFrame = release) -> Any:
            return METRICS["rapid"](real, release, quasi_identifiers=known, sensitive=sensitive, attacker=name)

        for run in (0, 1) if place % 2 else (1, 0):
            times[place, run] = seconds((metric, bare)[run])[0]
    parts["fit + predict"] = times[:, 1].sum()
    return times, parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attackers", nargs="+", default=["random_forest", "cart", "gradient_boosting"])
    parser.add_argument("--sensitive", default="income")
    options = parser.parse_args()
    real = read("adult")
    made = releases(real)
    print(f"{len(made)} releases of {len(made[0]):,} rows, {len(real):,} attacked, guessed: {options.sensitive}")
    print(f"{'attacker':<20}{'rapid s':>10}{'bare s':>10}{'ratio':>8}{'per release (min-max)':>24}")
    for name in options.attackers:
        with threadpool_limits(1):
            times, parts = compare(name, real, made, options.sensitive)
        each = times[:, 0] / times[:, 1]
        total, bare = times.sum(axis=0)
        print(f"{name:<20}{total:>10.2f}{bare:>10.2f}{total / bare:>8.3f}{f'{each.min():.2f}-{each.max():.2f}':>24}")
        parts["rest"] = total - sum(parts.values())
        print("    a release: " + ", ".join(f"{n} {s / len(made):.3f}" for n, s in parts.items()), flush=True)


if __name__ == "__main__":
    main()
