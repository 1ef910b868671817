"""Cross-validated RAPID against the folds done by hand, and on generators with a known answer."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.rapid.rapid import cross_validated

RNG = np.random.default_rng(8)
REAL = pd.DataFrame({"age": RNG.integers(20, 60, 200), "job": RNG.choice(list("abc"), 200)})
REAL["vote"] = np.where((REAL["age"] > 40) ^ (RNG.random(200) < 0.1), "yes", "no")
OPTIONS = {"sensitive": "vote", "quasi_identifiers": ["age", "job"], "attacker": "cart"}


def test_each_fold_is_attacked_by_a_release_that_never_saw_it():
    seen = []

    def copy(train, seed):
        seen.append((train, seed))
        return train

    found = cross_validated(REAL, copy, folds=4, seed=3, **OPTIONS)
    assert len({seed for _, seed in seen}) == 4
    assert {len(train) for train, _ in seen} == {150}
    values = []
    keys = [tuple(row) for row in REAL.itertuples(index=False)]
    for train, _ in seen:
        left = list(map(tuple, train.itertuples(index=False)))
        held_out = keys.copy()
        for row in left:
            held_out.remove(row)
        shares = REAL["vote"].value_counts(normalize=True)
        out = pd.DataFrame(held_out, columns=REAL.columns)
        records = METRICS["rapid"](out, train, **OPTIONS).records
        gain = (records["confidence"] - out["vote"].map(shares)) / (1 - out["vote"].map(shares))
        values.append((gain > 0.3).mean())
    assert found.folds == pytest.approx(values, abs=1e-12)
    assert found.value == pytest.approx(np.mean(values))
    half = stats.t.ppf(0.975, 3) * np.std(values, ddof=1) / 2
    assert (found.lower, found.upper) == pytest.approx((found.value - half, found.value + half))


def test_folds_are_stratified_and_repeatable():
    counts = []

    def count(train, seed):
        counts.append((train["vote"] == "yes").sum())
        return train

    first, again, other = (cross_validated(REAL, count, seed=s, **OPTIONS) for s in (1, 1, 2))
    assert max(counts) - min(counts) <= 1
    assert first == again != other


def test_a_numeric_secret_and_a_rare_class_are_cut_without_strata():
    real = REAL.assign(pay=RNG.lognormal(8, 1, 200))
    found = cross_validated(real, lambda t, _: t, sensitive="pay", quasi_identifiers=["age"], attacker="linear")
    assert 0 <= found.value <= 1
    rare = REAL.assign(vote=["rare", *REAL["vote"][1:]])
    assert len(cross_validated(rare, lambda t, _: t, **OPTIONS).folds) == 5


@pytest.mark.parametrize("folds", [1, 0, 201, 2.0, True, "5"])
def test_a_number_of_folds_that_is_none_is_refused(folds):
    with pytest.raises(InputError, match="folds must be a whole number"):
        cross_validated(REAL, lambda t, _: t, folds=folds, **OPTIONS)


def test_an_absent_secret_is_refused():
    with pytest.raises(InputError, match="sensitive must be a column"):
        cross_validated(REAL, lambda t, _: t, sensitive="vota", quasi_identifiers=["age"])


def test_modes_of_one_release():
    members, controls = REAL.iloc[:120], REAL.iloc[120:]
    with pytest.raises(InputError, match="control must be given for the mode holdout"):
        METRICS["rapid"](members, members, **OPTIONS, mode="holdout")
    with pytest.raises(InputError, match=r"mode must be match or holdout, got 'cross_validated'.*cross_validated"):
        METRICS["rapid"](members, members, **OPTIONS, mode="cross_validated")
    match, holdout = (
        METRICS["rapid"](members, members, **OPTIONS, control=controls, mode=m) for m in ("match", "holdout")
    )
    assert (len(match.records), len(holdout.records)) == (120, 80)
    assert holdout.value == match.details["control"]
    shares = REAL["vote"].value_counts(normalize=True)
    assert holdout.records["baseline"].tolist() == pytest.approx(controls["vote"].map(shares).tolist())


def test_baseline_among_the_records_scored():
    members, controls = REAL.iloc[:120], REAL.iloc[120:]
    score = METRICS["rapid"](members, members, **OPTIONS, control=controls, baseline="scored", mode="holdout")
    shares = controls["vote"].value_counts(normalize=True)
    assert score.records["baseline"].tolist() == pytest.approx(controls["vote"].map(shares).tolist())
    with pytest.raises(InputError, match="baseline must be real or scored, got 'synthetic'"):
        METRICS["rapid"](members, members, **OPTIONS, baseline="synthetic")
