"""The simulation of RAPID's Appendix A against its formulae."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp, norm, truncnorm

from synthrisk.conf.study import BuiltIn
from synthrisk.metrics import InputError
from synthrisk.tasks.data import read
from synthrisk.tasks.data.example_tables import DISEASE, EDUCATION, simulated_health

MANY = 20_000


def looped(rows: int, kappa: float, seed: int, mean: float = 45.0, sd: float = 15.0) -> pd.DataFrame:
    """Draw the appendix record by record, with Python's own random numbers."""
    import random

    rng = random.Random(seed)
    w, u = math.sqrt(kappa / (1 + kappa)), math.sqrt(1 / (1 + kappa))

    def z(values):
        centre = sum(values) / rows
        spread = math.sqrt(sum((v - centre) ** 2 for v in values) / (rows - 1))
        return [(v - centre) / spread for v in values]

    ses = [rng.gauss(0, 1) for _ in range(rows)]
    age = []
    while len(age) < rows:
        drawn = rng.gauss(mean, sd)
        if 18 <= drawn <= 85:
            age.append(drawn)
    a = z(age)
    latent = [w * (0.8 * ses[i] - 0.4 * a[i]) + u * rng.gauss(0, 1) for i in range(rows)]
    e = [0 if v < -0.3 else 1 if v < 0.7 else 2 for v in latent]
    log_income = [w * (0.5 * ses[i] + 0.3 * a[i] + 0.25 * e[i]) + u * rng.gauss(0, 1) for i in range(rows)]
    inc = z(log_income)
    h = [w * (0.6 * ses[i] - 0.5 * a[i] + 0.2 * e[i] + 0.2 * inc[i]) + u * rng.gauss(0, 1) for i in range(rows)]
    disease, gender = [], []
    for i in range(rows):
        logits = [
            0.0,
            -1.5 + kappa * (0.8 * a[i] - 0.3 * inc[i] - 0.2 * e[i]),
            -1.3 + kappa * (1.0 * a[i] - 0.2 * inc[i] - 0.1 * e[i]),
        ]
        odds = [math.exp(v - max(logits)) for v in logits]
        disease.append(rng.choices(DISEASE, odds)[0])
        male = 1 / (1 + math.exp(-w * (0.3 * ses[i] - 0.2 * a[i] + 0.2 * e[i])))
        gender.append("male" if rng.random() < male else "female")
    return pd.DataFrame(
        {
            "gender": gender,
            "age": age,
            "education": [EDUCATION[v] for v in e],
            "income": [math.exp(10 + v) for v in log_income],
            "health": [100 / (1 + math.exp(-v)) for v in h],
            "disease": disease,
        }
    )


def numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table as numbers, of which means and correlations say how the columns hang together."""
    return pd.DataFrame(
        {
            "male": (table.gender == "male").astype(float),
            "age": table.age,
            "low": (table.education == "low").astype(float),
            "high": (table.education == "high").astype(float),
            "log_income": np.log(table.income) - 10,
            "logit_health": np.log(table.health / (100 - table.health)),
            "diabetic": (table.disease == "diabetic").astype(float),
            "hypertensive": (table.disease == "hypertensive").astype(float),
        }
    )


@pytest.mark.parametrize("kappa", [0.0, 1.0, 10.0])
def test_moments_are_those_of_a_plain_loop(kappa):
    ours, plain = numbers(simulated_health(MANY, kappa, 5)), numbers(looped(MANY, kappa, 7))
    error = np.sqrt((ours.var() + plain.var()) / MANY)
    assert ((ours.mean() - plain.mean()).abs() < 4.5 * error).all()
    assert (ours.std() / plain.std() - 1).abs().max() < 0.03
    assert (ours.corr() - plain.corr()).abs().to_numpy().max() < 4.5 * math.sqrt(2 / MANY)
    for column in ("age", "log_income", "logit_health"):
        assert ks_2samp(ours[column], plain[column]).pvalue > 1e-4


def test_without_signal_columns_are_independent_and_have_their_closed_forms():
    table = numbers(simulated_health(100_000, 0, 2))
    correlations = table.corr().to_numpy() - np.eye(8)
    correlations[2:4, 2:4] = correlations[6:8, 6:8] = 0  # two levels of one column exclude each other
    assert np.abs(correlations).max() < 4.5 / math.sqrt(100_000)
    total = 1 + math.exp(-1.5) + math.exp(-1.3)
    exact = {
        "male": 0.5,
        "age": truncnorm(-1.8, 40 / 15, 45, 15).mean(),
        "low": norm.cdf(-0.3),
        "high": norm.sf(0.7),
        "log_income": 0.0,
        "logit_health": 0.0,
        "diabetic": math.exp(-1.5) / total,
        "hypertensive": math.exp(-1.3) / total,
    }
    for name, expected in exact.items():
        assert table[name].mean() == pytest.approx(expected, abs=4.5 * table[name].std() / math.sqrt(100_000)), name
    assert table[["log_income", "logit_health"]].std().to_numpy() == pytest.approx(1, abs=0.02)


def test_more_kappa_is_more_dependence():
    tables = [numbers(simulated_health(5000, kappa, 1)) for kappa in (0, 0.5, 1, 5, 20, 100)]
    ill = [t.age.corr(t.diabetic + t.hypertensive) for t in tables]
    unwell = [-t.age.corr(t.logit_health) for t in tables]
    assert unwell == sorted(unwell)
    assert ill[:4] == sorted(ill[:4])  # beyond, income and education take part in what is left
    assert abs(ill[0]) < 0.05 < 0.6 < ill[-1]


def test_disease_is_a_function_of_the_others_where_kappa_is_endless():
    table = simulated_health(2000, 1e9, 4)
    age, income = ((x - x.mean()) / x.std() for x in (table.age, np.log(table.income)))
    level = table.education.cat.codes
    diabetic, hypertensive = 0.8 * age - 0.3 * income - 0.2 * level, 1.0 * age - 0.2 * income - 0.1 * level
    expected = np.column_stack([0 * age, diabetic, hypertensive]).argmax(axis=1)
    assert (table.disease.cat.codes.to_numpy() == expected).mean() > 0.999


def test_ages_are_cut_off_not_piled_up():
    age = simulated_health(MANY, 1, 0, age_mean=18, age_sd=40).age
    assert age.between(18, 85).all()
    assert not age.isin([18, 85]).any()
    assert simulated_health(1000, age_mean=60, age_sd=1).age.between(55, 65).all()


def test_columns_and_levels():
    table = simulated_health(3000, 1, 0)
    assert list(table) == ["gender", "age", "education", "income", "health", "disease"]
    assert table.education.cat.ordered
    assert table.education.cat.categories.tolist() == EDUCATION
    assert set(table.gender) == {"female", "male"}
    assert table.disease.cat.categories.tolist() == DISEASE
    assert table.health.between(0, 100).all()
    assert table.notna().all(axis=None)


def test_same_seed_same_table():
    pd.testing.assert_frame_equal(simulated_health(100, 3, 8), simulated_health(100, 3, 8))
    assert not simulated_health(100, 3, 8).equals(simulated_health(100, 3, 9))
    assert simulated_health(100, 3, 8).age.equals(simulated_health(100, 50, 8).age)


def test_it_is_a_source():
    pd.testing.assert_frame_equal(read("simulated_health"), simulated_health())
    options = {"rows": 50, "kappa": 10, "seed": 3}
    pd.testing.assert_frame_equal(read(BuiltIn(name="simulated_health", options=options)), simulated_health(50, 10, 3))


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("rows", 1, "rows must be a whole number of at least 2, got 1"),
        ("rows", 10.0, "rows must be a whole number"),
        ("rows", True, "rows must be a whole number"),
        ("seed", -1, "seed must be a whole number in [0, 2^32), got -1"),
        ("seed", 2**32, "seed must be"),
        ("kappa", -0.1, "kappa must be a number of at least 0, got -0.1"),
        ("kappa", math.nan, "kappa must be a number of at least 0, got nan"),
        ("kappa", math.inf, "kappa must be"),
        ("kappa", "1", "kappa must be a number of at least 0, got '1'"),
        ("age_mean", 17.9, "age_mean must be a number in [18, 85], got 17.9"),
        ("age_sd", 0, "age_sd must be a number above 0, got 0"),
        ("age_sd", None, "age_sd must be"),
    ],
)
def test_bad_options_are_told_by_name_rule_and_value(option, value, told):
    with pytest.raises(InputError) as caught:
        simulated_health(**{option: value})
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize("options", [{"rows": 2}, {"kappa": 1e300}, {"age_sd": 1e-300}, {"age_sd": 1e300}])
def test_ends_of_the_ranges_are_finite(options):
    table = simulated_health(**options)
    assert np.isfinite(table[["age", "income", "health"]].to_numpy()).all()
    assert table.notna().all(axis=None)
