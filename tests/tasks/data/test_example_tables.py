import math
import random
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp, norm, truncnorm

import synthrisk.tasks.data
from synthrisk.conf.study import BuiltIn
from synthrisk.metrics import InputError
from synthrisk.tasks.data import read
from synthrisk.tasks.data.example_tables import DISEASE, EDUCATION, factors, simulated_health

REFERENCE = Path(__file__).parents[2] / "reference" / "sdmetrics" / "fair_1000"


def test_the_adult_table_is_the_published_one_without_blanks_and_with_sorted_levels_and_its_credit():
    adult = read("adult")
    assert (adult.shape, adult.income.value_counts().to_dict()) == ((32561, 15), {"<=50K": 24720, ">50K": 7841})
    missing = adult.isna().sum()
    assert missing[missing > 0].to_dict() == {"workclass": 1836, "occupation": 1843, "native_country": 583}
    sums = adult.duplicated().sum(), adult.age.min(), adult.age.max(), adult.fnlwgt.sum()
    assert sums == (24, 17, 90, 6179373392)
    for _, column in adult.select_dtypes("category").items():
        levels = column.cat.categories.tolist()
        assert levels == sorted(level.strip() for level in levels)
    folder = Path(synthrisk.tasks.data.__file__).parent
    credit = (folder / "CREDIT.md").read_text(encoding="utf-8")
    assert all(part in credit for part in ("Becker", "Kohavi", "10.24432/C5XW20", "CC BY 4.0", "Changes made"))
    assert (folder / "adult.parquet").stat().st_size < 1_000_000


def test_the_fair_survey_is_the_published_one_and_needs_statsmodels(monkeypatch):
    fair, sample = read("fair"), pd.read_csv(REFERENCE / "real.csv")
    assert (fair.shape, fair.affairs.mean()) == ((6366, 9), pytest.approx(0.705374, abs=5e-7))
    assert (fair.affairs > 0).sum() == 2053
    assert not fair.isna().any().any()
    fair["age"] = fair["age"] // 1  # the sample holds whole years
    kept = ["rate_marriage", "age", "children", "religious", "educ"]
    assert set(sample[kept].itertuples(index=False, name=None)) <= set(fair[kept].itertuples(index=False, name=None))
    monkeypatch.setitem(sys.modules, "statsmodels.datasets", None)
    with pytest.raises(InputError, match=r"'fair' comes with statsmodels, .*pip install 'synthrisk\[fair\]'"):
        read("fair")


def test_factors_are_as_asked_hang_together_and_a_seed_draws_other_people_of_the_same_population():
    table = factors(rows=2000, numeric=3, categorical=2, rare=0.01, seed=4)
    assert list(table.columns) == ["n1", "n2", "n3", "c1", "c2", "target"]
    assert table["target"].value_counts().to_dict() == {"no": 1980, "yes": 20}
    assert table["c1"].value_counts().to_dict() == dict.fromkeys("abcd", 500)
    numbers = table[["n1", "n2", "n3"]]
    assert np.abs(numbers.corr().to_numpy()[np.triu_indices(3, 1)]).max() > 0.2
    assert numbers.std().to_numpy() == pytest.approx(np.sqrt(1.49), rel=0.1)
    first, again, other = (factors(rows=3000, numeric=3, categorical=0, seed=s) for s in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)
    assert first["target"].dtype == float
    table = factors(rows=3000, numeric=2, categorical=1, records_each=3)
    assert (table["person"].value_counts() == 3).all()
    assert table.groupby("person")["n1"].std().mean() < 0.7 * table["n1"].std()


@pytest.mark.parametrize(
    "options", [{"rows": 1}, {"rare": 1.0}, {"numeric": 0, "categorical": 0}, {"records_each": 0}, {"seed": -1}]
)
def test_options_of_factors_are_checked(options):
    with pytest.raises(InputError, match="must be"):
        factors(**options)


def test_functions_are_sources_with_options():
    assert len(read(BuiltIn(name="factors", options={"rows": 50}))) == 50
    pd.testing.assert_frame_equal(read("simulated_health"), simulated_health())
    options = {"rows": 50, "kappa": 10, "seed": 3}
    pd.testing.assert_frame_equal(read(BuiltIn(name="simulated_health", options=options)), simulated_health(50, 10, 3))


# the simulation of RAPID's Appendix A against its formulae

MANY = 20_000


def looped(rows: int, kappa: float, seed: int, mean: float = 45.0, sd: float = 15.0) -> pd.DataFrame:
    """Draw the appendix record by record, with Python's own random numbers."""
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
        diabetic = -1.5 + kappa * (0.8 * a[i] - 0.3 * inc[i] - 0.2 * e[i])
        logits = [0.0, diabetic, -1.3 + kappa * (1.0 * a[i] - 0.2 * inc[i] - 0.1 * e[i])]
        odds = [math.exp(v - max(logits)) for v in logits]
        disease.append(rng.choices(DISEASE, odds)[0])
        male = 1 / (1 + math.exp(-w * (0.3 * ses[i] - 0.2 * a[i] + 0.2 * e[i])))
        gender.append("male" if rng.random() < male else "female")
    return pd.DataFrame({
        "gender": gender, "age": age, "education": [EDUCATION[v] for v in e],
        "income": [math.exp(10 + v) for v in log_income], "health": [100 / (1 + math.exp(-v)) for v in h],
        "disease": disease,
    })  # fmt: skip


def numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table as numbers, of which means and correlations say how the columns hang together."""
    levels = {"gender": ["male"], "education": ["low", "high"], "disease": ["diabetic", "hypertensive"]}
    own = {level: (table[column] == level).astype(float) for column, each in levels.items() for level in each}
    logit = np.log(table.health / (100 - table.health))
    return pd.DataFrame({**own, "age": table.age, "log_income": np.log(table.income) - 10, "logit_health": logit})


@pytest.mark.parametrize("kappa", [1.0, 10.0])  # without signal there are closed forms, below
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
    correlations[1:3, 1:3] = correlations[3:5, 3:5] = 0  # two levels of one column exclude each other
    assert np.abs(correlations).max() < 4.5 / math.sqrt(100_000)
    total = 1 + math.exp(-1.5) + math.exp(-1.3)
    exact = {"male": 0.5, "low": norm.cdf(-0.3), "high": norm.sf(0.7), "log_income": 0.0, "logit_health": 0.0}
    exact |= {"diabetic": math.exp(-1.5) / total, "hypertensive": math.exp(-1.3) / total}
    exact["age"] = truncnorm(-1.8, 40 / 15, 45, 15).mean()
    for name, expected in exact.items():
        assert table[name].mean() == pytest.approx(expected, abs=4.5 * table[name].std() / math.sqrt(100_000)), name
    assert table[["log_income", "logit_health"]].std().to_numpy() == pytest.approx(1, abs=0.02)


def test_disease_is_a_function_of_the_others_where_kappa_is_endless():
    table = simulated_health(2000, 1e9, 4)
    age, income = ((x - x.mean()) / x.std() for x in (table.age, np.log(table.income)))
    level = table.education.cat.codes
    diabetic, hypertensive = 0.8 * age - 0.3 * income - 0.2 * level, 1.0 * age - 0.2 * income - 0.1 * level
    expected = np.column_stack([0 * age, diabetic, hypertensive]).argmax(axis=1)
    assert (table.disease.cat.codes.to_numpy() == expected).mean() > 0.999


def test_the_simulation_has_its_columns_and_levels_and_one_seed_one_table():
    table = simulated_health(3000, 1, 0)
    assert list(table) == ["gender", "age", "education", "income", "health", "disease"]
    assert table.education.cat.ordered
    levels = table.education.cat.categories.tolist(), set(table.gender), table.disease.cat.categories.tolist()
    assert levels == (EDUCATION, {"female", "male"}, DISEASE)
    assert table.health.between(0, 100).all()
    assert table.notna().all(axis=None)
    one, again, other, more = (simulated_health(100, *each) for each in ((3, 8), (3, 8), (3, 9), (50, 8)))
    pd.testing.assert_frame_equal(one, again)
    assert not one.equals(other)
    assert one.age.equals(more.age)
    age = simulated_health(MANY, 1, 0, age_mean=18, age_sd=40).age
    assert age.between(18, 85).all()
    assert not age.isin([18, 85]).any()
    assert simulated_health(1000, age_mean=60, age_sd=1).age.between(55, 65).all()


@pytest.mark.parametrize(("option", "value", "told"), [
    ("rows", 1, "rows must be a whole number of at least 2, got 1"),
    ("rows", 10.0, "rows must be a whole number"), ("rows", True, "rows must be a whole number"),
    ("seed", -1, "seed must be a whole number in [0, 2^32), got -1"), ("seed", 2**32, "seed must be"),
    ("kappa", -0.1, "kappa must be a number of at least 0, got -0.1"),
    ("kappa", math.nan, "kappa must be a number of at least 0, got nan"), ("kappa", math.inf, "kappa must be"),
    ("kappa", "1", "kappa must be a number of at least 0, got '1'"),
    ("age_mean", 17.9, "age_mean must be a number in [18, 85], got 17.9"),
    ("age_sd", 0, "age_sd must be a number above 0, got 0"), ("age_sd", None, "age_sd must be"),
])  # fmt: skip
def test_bad_options_are_told_by_name_rule_and_value(option, value, told):
    with pytest.raises(InputError) as caught:
        simulated_health(**{option: value})
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize("options", [{"rows": 2}, {"kappa": 1e300}, {"age_sd": 1e-300}, {"age_sd": 1e300}])
def test_ends_of_the_ranges_are_finite(options):
    table = simulated_health(**options)
    assert np.isfinite(table[["age", "income", "health"]].to_numpy()).all()
    assert table.notna().all(axis=None)
