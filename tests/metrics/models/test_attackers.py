"""The lasso attacker against independent optima, and what holds for every attacker of the register."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.linear_model import Lasso
from sklearn.model_selection import KFold, StratifiedKFold

from samples.attacked import workers
from synthrisk.metrics import METRICS
from synthrisk.metrics.models.attackers import (
    ATTACKER_MODELS,
    FOLDS,
    PENALTIES,
    LassoLogistic,
    _asked,
    lasso_linear,
)

RAPID = METRICS["rapid"]


def draw(classes, n=240, p=5, seed=0, counts=None):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, p))
    rows -= rows.mean(axis=0)
    logits = rows @ rng.normal(size=(p, classes)) + rng.gumbel(size=(n, classes))
    codes = logits.argmax(axis=1) if counts is None else np.repeat(np.arange(classes), counts)
    return rows * [1, 0.2, 3, 1, 0.1][:p], codes


def objective(coef, intercept, rows, codes, penalty):
    own = log_softmax(rows @ coef + intercept, axis=1)[np.arange(len(rows)), codes]
    return -own.mean() + penalty * np.abs(coef).sum()


def optimum(rows, codes, classes, penalty):
    """Minimise by scipy: coefficients as differences of two parts of at least 0, where the penalty is linear."""
    p, truth = rows.shape[1], np.eye(classes)[codes]

    def value(x):
        up, down, intercept = x[: p * classes], x[p * classes : -classes], x[-classes:]
        coef = (up - down).reshape(p, classes)
        logp = log_softmax(rows @ coef + intercept, axis=1)
        excess = (np.exp(logp) - truth) / len(rows)
        slope = (rows.T @ excess).ravel()
        loss = -logp[np.arange(len(rows)), codes].mean() + penalty * (up + down).sum()
        return loss, np.concatenate([slope + penalty, -slope + penalty, excess.sum(axis=0)])

    bounds = [(0, None)] * (2 * p * classes) + [(None, None)] * classes
    options = {"maxiter": 5000, "maxfun": 10000, "ftol": 1e-15, "gtol": 1e-9}
    found = minimize(value, np.zeros(len(bounds)), jac=True, bounds=bounds, method="L-BFGS-B", options=options).x
    return (found[: p * classes] - found[p * classes : -classes]).reshape(p, classes), found[-classes:]


@pytest.mark.parametrize(
    ("attacker", "target", "records", "trees"),
    [
        ("random_forest", "categorical", 27_000, 500),
        ("random_forest", "categorical", 100_000, 135),
        ("random_forest", "categorical", 1_000_000, 100),
        ("random_forest", "numeric", 5_400, 500),
        ("random_forest", "numeric", 10_000, 270),
        ("ranger", "categorical", 54_000, 250),
    ],
)
def test_forests_of_long_tables_have_fewer_trees(attacker, target, records, trees):
    model = ATTACKER_MODELS[attacker]
    assert model.estimator(target, 0, records).n_estimators == trees
    assert model.trees(target, records) == (trees if trees < 500 else None)


@pytest.mark.parametrize(("target", "question"), [("numeric", "predict"), ("categorical", "predict_proba")])
def test_equal_rows_asked_once_get_the_answers_of_a_forest_that_is_asked_row_by_row(target, question):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 4, (900, 4)).astype(float)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    model = ATTACKER_MODELS["random_forest"].estimator(target, 0).set_params(n_estimators=9)
    model.fit(rows, rng.normal(size=900) if target == "numeric" else rng.integers(0, 3, 900))
    row_by_row = np.concatenate([getattr(model, question)(row[None]) for row in rows[:60]])
    np.testing.assert_array_equal(_asked(model, question, rows)[:60], row_by_row)


def test_settings_name_the_trees_where_they_are_fewer_than_in_the_paper():
    rng = np.random.default_rng(0)
    real = pd.DataFrame({"age": rng.integers(18, 90, 60), "pay": rng.integers(0, 9, 60)})
    roles = {"quasi_identifiers": ["age"], "sensitive": "pay"}
    assert "trees" not in RAPID(real, real, **roles).settings
    assert RAPID(real, pd.concat([real] * 100), **roles).settings["trees"] == 450


@pytest.mark.parametrize(("classes", "n", "seed"), [(2, 150, 0), (4, 150, 0), (2, 240, 1), (3, 240, 1)])
def test_lasso_is_the_optimum(classes, n, seed):
    rows, codes = draw(classes, n=n, seed=seed)
    model = LassoLogistic(0).fit(rows, codes)
    coef, intercept = optimum(rows, codes, classes, model.penalty_)
    best = objective(coef, intercept, rows, codes, model.penalty_)
    found = objective(model.coef_, model.intercept_, rows, codes, model.penalty_)
    assert best - 1e-7 <= found <= best + 1e-6
    expected = np.exp(log_softmax(rows @ coef + intercept, axis=1))
    np.testing.assert_allclose(model.predict_proba(rows), expected, atol=2e-3)


@pytest.mark.proof
@pytest.mark.parametrize(("classes", "seed"), [(2, 2), (2, 3), (3, 4)])
def test_the_penalty_has_the_smallest_held_out_loss(classes, seed):
    rows, codes = draw(classes, n=100, seed=seed)
    slopes = rows.T @ (np.eye(classes)[codes] - np.bincount(codes) / len(codes)) / len(codes)
    penalties = np.abs(slopes).max() * PENALTIES
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=4).split(rows, codes))

    def held_out_loss(penalty):
        fits = [(optimum(rows[train], codes[train], classes, penalty), held) for train, held in folds]
        return sum(len(held) * objective(*fit, rows[held], codes[held], 0) for fit, held in fits)

    losses = {penalty: held_out_loss(penalty) for penalty in penalties}
    penalty = LassoLogistic(4).fit(rows, codes).penalty_
    chosen = min(penalties, key=lambda p: abs(p - penalty))
    assert chosen == pytest.approx(penalty)
    assert losses[chosen] <= min(losses.values()) * 1.0001  # losses that near are ties at the descent's accuracy


def test_noise_gets_no_coefficient():
    rows, _ = draw(2, n=400, seed=3)
    model = LassoLogistic(0).fit(rows, np.random.default_rng(9).permutation(np.repeat([0, 1, 2], [200, 150, 50])))
    assert np.abs(model.coef_).max() < 0.2
    np.testing.assert_allclose(model.predict_proba(rows).mean(axis=0), [0.5, 0.375, 0.125], atol=1e-3)


@pytest.mark.parametrize("counts", [[100, 50, 1], [100, 4, 3], [3, 2, 1], [1, 1, 1], [2, 1], [5, 5, 5, 1, 1]], ids=str)
def test_rare_classes(counts):
    rows, codes = draw(len(counts), n=sum(counts), counts=counts)
    model = LassoLogistic(0).fit(rows, codes)
    probabilities = model.predict_proba(rows)
    assert model.classes_.tolist() == list(range(len(counts)))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(probabilities.mean(axis=0), np.array(counts) / sum(counts), atol=5e-3)


def test_separable_classes_and_constant_columns():
    rows = np.column_stack([np.repeat([-1.0, 1.0], 30), np.zeros(60)])
    model = LassoLogistic(0).fit(rows, np.repeat([0, 1], 30))
    assert (model.predict_proba(rows)[np.arange(60), np.repeat([0, 1], 30)] > 0.95).all()
    assert (model.coef_[1] == 0).all()
    constant = LassoLogistic(0).fit(np.zeros((60, 1)), np.repeat([0, 1], [45, 15]))
    np.testing.assert_allclose(constant.predict_proba(np.zeros((1, 1))), [[0.75, 0.25]], atol=1e-6)


def test_lasso_of_a_number_is_a_plain_cross_validation():
    rows, _ = draw(2, n=80, seed=5)
    target = rows[:, 0] * 2 + np.random.default_rng(6).normal(size=80)
    model = lasso_linear(3).fit(rows, target)
    folds = list(KFold(FOLDS, shuffle=True, random_state=3).split(rows))

    def held_out_error(alpha):
        fits = [(Lasso(alpha).fit(rows[train], target[train]), held) for train, held in folds]
        return np.mean([np.mean((fit.predict(rows[held]) - target[held]) ** 2) for fit, held in fits])

    alpha = min(model.alphas_, key=held_out_error)
    assert model.alpha_ == pytest.approx(alpha)
    np.testing.assert_allclose(model.predict(rows), Lasso(alpha).fit(rows, target).predict(rows), atol=1e-3)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_lasso_of_few_numbers(n):
    found = lasso_linear(0).fit(np.arange(n)[:, None] - (n - 1) / 2, np.arange(n) * 10.0).predict([[0.0]])
    assert found == pytest.approx((n - 1) * 5, abs=1e-6)


KEYS = ["age", "city", "hours"]
CLASSIFIERS, REGRESSORS = (
    [n for n, a in ATTACKER_MODELS.items() if getattr(a, kind)] for kind in ("classifier", "regressor")
)
PAIRS = [*(("band", name) for name in CLASSIFIERS), *(("pay", name) for name in REGRESSORS)]
every_attacker = pytest.mark.parametrize(("sensitive", "attacker"), PAIRS)


def evidence(real, synthetic, sensitive, attacker, keys=KEYS):
    score = RAPID(real, synthetic, quasi_identifiers=keys, sensitive=sensitive, attacker=attacker, seed=5)
    return score.records["gain" if sensitive == "band" else "error"]


@every_attacker
@pytest.mark.parametrize("rows", [1, 4])
def test_a_release_of_few_rows(sensitive, attacker, rows):
    synthetic = workers(60, 2).drop_duplicates("band").iloc[[0, 1, 2, 0]].iloc[:rows]
    assert np.isfinite(evidence(workers(20, 1), synthetic, sensitive, attacker)).all()


@every_attacker
def test_an_attacker_learns(sensitive, attacker):
    real = workers(80, 3)
    noise = real.assign(**{sensitive: real[sensitive].sample(frac=1, random_state=0).to_numpy()})
    sign = 1 if sensitive == "band" else -1
    learned, shuffled = (sign * evidence(real, release, sensitive, attacker).mean() for release in (real, noise))
    assert learned > shuffled + 0.05


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_known_column_without_values_in_the_release_is_no_information(name):
    rng = np.random.default_rng(0)
    real = pd.DataFrame({"a": rng.integers(0, 5, 60).astype(float), "b": rng.random(60)})
    real = real.assign(y=rng.choice(list("xy"), 60))
    release = real.assign(b=np.nan).sample(frac=1, random_state=0)
    options = {"quasi_identifiers": ["a", "b"], "sensitive": "y", "attacker": name, "seed": 1}
    assert RAPID(real, release, **options).value == RAPID(real.assign(b=0.0), release.assign(b=0.0), **options).value
