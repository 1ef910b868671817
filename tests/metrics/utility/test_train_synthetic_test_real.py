"""Train on synthetic, test on real: extremes known by construction, and the model run by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError

TSTR = METRICS["train_synthetic_test_real"]


def draw(seed, n, noise=0.5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(2)
    kind = np.where(x + rng.normal(0, noise, n) > 1, "high", np.where(x < -0.5, "low", "middle"))
    return pd.DataFrame({"x": x, "z": rng.normal(size=n).round(2), "kind": kind, "y": 3 * x + rng.normal(0, 1, n)})


MEMBERS, RELEASE, CONTROL = draw(0, 300), draw(1, 200), draw(2, 100)


def test_the_auc_is_that_of_the_model_run_by_hand():
    real, release = MEMBERS, RELEASE
    model = DecisionTreeClassifier(max_depth=3, random_state=0)
    score = TSTR(real, release, sensitive="kind", features=["x", "z"], model=model)
    fitted = DecisionTreeClassifier(max_depth=3, random_state=0).fit(release[["x", "z"]], release["kind"])
    guess, p = fitted.predict(real[["x", "z"]]), fitted.predict_proba(real[["x", "z"]])
    expected = {
        "auc": roc_auc_score(real["kind"], p, multi_class="ovr", average="weighted"),
        "accuracy": accuracy_score(real["kind"], guess),
        "balanced_accuracy": balanced_accuracy_score(real["kind"], guess),
    }
    assert score.details == pytest.approx(expected)
    assert score.value == score.published == pytest.approx(expected["auc"])


def test_r_squared_is_that_of_the_model_run_by_hand():
    real, release = MEMBERS, RELEASE
    score = TSTR(real, release, sensitive="y", features=["x", "z"], model="linear")
    guess = LinearRegression().fit(release[["x", "z"]], release["y"]).predict(real[["x", "z"]])
    assert score.value == pytest.approx(r2_score(real["y"], guess))
    gaps = real["y"] - guess
    assert score.details["rmse"] == pytest.approx(float(np.sqrt(np.mean(gaps**2))))
    worse = TSTR(real, real.assign(y=-real["y"]), sensitive="y", model="linear")  # than the mean is worth nothing
    assert worse.value == 0
    assert worse.published == worse.details["r2"] < -1


@pytest.mark.proof
def test_independent_columns_teach_nothing():
    real, release = draw(0, 2000), draw(1, 2000)
    shuffled = release.apply(lambda c: c.sample(frac=1, random_state=len(c.name)).to_numpy())
    assert TSTR(real, shuffled, sensitive="kind").value == pytest.approx(0.5, abs=0.05)
    assert TSTR(real, release, sensitive="kind").value > 0.9


def test_a_class_that_the_release_does_not_hold_counts_one_half():
    real = draw(0, 400, noise=0)
    release = real[real["kind"] != "high"]
    score = TSTR(real, release, sensitive="kind", features=["x"], model="cart")
    shares = real["kind"].value_counts(normalize=True)
    low = roc_auc_score(real["kind"] == "low", real["x"] < -0.5)
    middle = roc_auc_score(real["kind"] == "middle", real["x"] >= -0.5)
    expected = shares["high"] * 0.5 + shares["low"] * low + shares["middle"] * middle
    assert score.value == pytest.approx(expected, abs=1e-12)
    one_class = TSTR(real, real.assign(kind="low"), sensitive="kind")
    assert one_class.value == 0.5


def test_control_records_are_tested_and_the_members_give_the_ceiling():
    given = {"sensitive": "kind", "features": ["x", "z"], "model": "cart"}
    score = TSTR(MEMBERS, RELEASE, control=CONTROL, **given)
    assert score.value == TSTR(CONTROL, RELEASE, **given).value  # whoever is tested is real
    assert (score.details["thinned"], score.details["ceiling_rows"]) == (score.value, 200)
    turned = TSTR(MEMBERS.iloc[::-1], RELEASE.iloc[::-1], control=CONTROL.iloc[::-1], **given)
    assert turned.details == pytest.approx(score.details, abs=1e-9)
    copied = TSTR(MEMBERS, MEMBERS, control=CONTROL, **given)
    assert copied.value == copied.details["ceiling"] == copied.details["thinned"]
    more = TSTR(MEMBERS, pd.concat([MEMBERS, RELEASE]), control=CONTROL, **given)
    assert (more.details["ceiling_rows"], more.details["ceiling"]) == (300, copied.value)


def test_missing_numbers_are_neither_learned_nor_tested():
    real, release = draw(0, 200), draw(1, 200)
    given = {"sensitive": "y", "model": "linear"}
    before = TSTR(real.iloc[50:], release.iloc[:150], **given)
    tables = (
        t.assign(y=t["y"].where(there)) for t, there in ((real, np.arange(200) >= 50), (release, np.arange(200) < 150))
    )
    gone = TSTR(*tables, **given)
    assert gone.value == pytest.approx(before.value, abs=0.05)  # features are standardised on other rows
    with pytest.raises(InputError, match="must have values in the synthetic table"):
        TSTR(real, release.assign(y=np.nan), **given)


def test_one_class_among_the_tested_is_not_defined():
    real = draw(0, 50)
    score = TSTR(real.assign(kind="low"), real, sensitive="kind")
    assert math.isnan(score.value)
    assert "single value of kind" in score.reason
    assert math.isnan(TSTR(real.assign(y=1.0), real, sensitive="y").value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sensitive": "kindd"}, "sensitive must name columns.*did you mean 'kind'"),
        ({"sensitive": ["kind", "y"]}, "sensitive must be one column to predict, got 2"),
        ({"features": []}, "features must be a list of at least one column"),
        ({"features": "x"}, "features must be a list of at least one column, got 'x'"),
        ({"features": ["xx"]}, "features must name columns of the table, got 'xx'"),
        ({"features": ["x", "kind"]}, "features must not hold the column that is predicted, got 'kind'"),
        ({"model": "forest"}, "^model must be one of .*'forest'"),
        ({"model": "linear"}, "^model must be able to guess a categorical attribute"),
    ],
)
def test_bad_options_are_refused(options, words):
    table = draw(0, 30)
    with pytest.raises(InputError, match=words):
        TSTR(table, table, **{"sensitive": "kind"} | options)
    alone = table[["kind"]]
    with pytest.raises(InputError, match="at least one column beside"):
        TSTR(alone, alone, sensitive="kind")
