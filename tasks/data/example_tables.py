"""The tables that come with the package: UCI Adult, Fair's survey, and two simulations whose dependences are known."""

from importlib.resources import as_file, files

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.errors import ABOVE_0, BELOW_1, InputError, check_range, check_whole


def read_adult() -> pd.DataFrame:
    """Return the Adult training table: 15 columns, missing cells in three of them."""
    with as_file(files("synthrisk.tasks.data") / "adult.parquet") as path:
        return pd.read_parquet(path)


ADULT = read_adult


def read_fair() -> pd.DataFrame:
    """Return the survey: 6,366 records, 9 numeric columns of which 7 are steps of a scale.

    Source: Fair, R. 1978, A Theory of Extramarital Affairs, Journal of Political Economy 86(1), 45-61.

    Raises:
        InputError: statsmodels is not installed.
    """
    try:
        from statsmodels.datasets import fair
    except ImportError:
        text = "table 'fair' comes with statsmodels, which is not installed: pip install 'synthrisk[fair]'"
        raise InputError(text) from None
    survey: pd.DataFrame = fair.load_pandas().data
    return survey


FAIR = read_fair

_HIDDEN = 4
_LEVELS = 4
_NOISE = 0.7


def factors(
    rows: int = 1000, numeric: int = 4, categorical: int = 4, rare: float = 0.3, records_each: int = 1, seed: int = 0
) -> pd.DataFrame:
    """Draw a table of which all columns follow from four hidden standard normal factors, and noise.

    Each person has factors f. A numeric column is a.f + .7 e, rounded to two digits, a categorical one the quarter
    (``a`` .. ``d``) in which such a number falls; a is a direction of length 1 of the column's own. ``target`` is
    ``yes`` for the share ``rare`` of the records with the largest such number, otherwise ``no``; in a table without
    categorical columns it is the number itself. The records of one person share f, and differ by e.

    Args:
        rows: Number of records, at least 2.
        numeric: Numeric columns ``n1``, ``n2`` ..., beside the target.
        categorical: Categorical columns ``c1``, ``c2`` ...; there is one column at least beside the target.
        rare: Share of the records whose target is ``yes``, in (0, 1).
        records_each: Records of each person, at least 1; from 2 on a column ``person`` names it.
        seed: Seed of all draws, in [0, 2^32).

    Raises:
        InputError: An argument breaks its rule.

    Example:
        >>> factors(rows=100, numeric=1, categorical=2, rare=0.1)["target"].value_counts().to_dict()
        {'no': 90, 'yes': 10}
    """
    check_whole("rows", rows, 2)
    check_whole("numeric", numeric, 0)
    check_whole("categorical", categorical, 0 if numeric else 1)
    check_range("rare", rare, ABOVE_0, BELOW_1, "a share in (0, 1)")
    check_whole("records_each", records_each, 1)
    check_whole("seed", seed, 0, 2**32 - 1, "a whole number in [0, 2^32)")
    of_columns, rng = (np.random.default_rng([seed, part]) for part in (0, 1))
    person = np.arange(rows) // records_each
    hidden = rng.standard_normal((person[-1] + 1, _HIDDEN))[person]

    def signal() -> np.ndarray:
        direction = of_columns.standard_normal(_HIDDEN)
        return np.asarray(hidden @ (direction / np.linalg.norm(direction)) + _NOISE * rng.standard_normal(rows))

    columns: dict[str, object] = {"person": [f"p{i}" for i in person]} if records_each > 1 else {}
    columns |= {f"n{i + 1}": signal().round(2) for i in range(numeric)}
    for i in range(categorical):
        codes = np.argsort(np.argsort(signal())) * _LEVELS // rows
        columns[f"c{i + 1}"] = pd.Categorical.from_codes(codes, pd.Index(list("abcd")))
    target = signal()
    if categorical:
        yes = np.argsort(np.argsort(-target)) < max(1, round(rare * rows))
        columns["target"] = pd.Categorical(np.where(yes, "yes", "no"), ["no", "yes"])
    else:
        columns["target"] = target.round(2)
    return pd.DataFrame(columns)


FACTORS = factors

AGES = 18.0, 85.0
GENDER = ["female", "male"]
EDUCATION = ["low", "medium", "high"]
DISEASE = ["healthy", "diabetic", "hypertensive"]


def simulated_health(
    rows: int = 1000, kappa: float = 1.0, seed: int = 0, age_mean: float = 45.0, age_sd: float = 15.0
) -> pd.DataFrame:
    """Draw a table in which one number, kappa, sets how strongly all columns depend on each other.

    With ``w = sqrt(kappa/(1 + kappa))`` (signal), ``u = sqrt(1/(1 + kappa))`` (noise), S a latent standard
    normal (socio-economic status), e standard normal noise, and ``z(x) = (x - mean)/sd`` of the drawn column::

        age        ~ N(age_mean, age_sd^2) truncated to [18, 85], in years
        education  = low if L < -0.3, high if L >= 0.7, else medium;  L = w (0.8 S - 0.4 z(age)) + u e
        income     = exp(10 + l),  l = w (0.5 S + 0.3 z(age) + 0.25 E) + u e    (E = 0, 1, 2; a currency)
        health     = 100/(1 + exp(-h)),  h = w (0.6 S - 0.5 z(age) + 0.2 E + 0.2 z(l)) + u e
        gender     = male with probability 1/(1 + exp(-w (0.3 S - 0.2 z(age) + 0.2 E))), else female
        disease:  log P(diabetic)/P(healthy)     = -1.5 + kappa (0.8 z(age) - 0.3 z(l) - 0.2 E)
                  log P(hypertensive)/P(healthy) = -1.3 + kappa (1.0 z(age) - 0.2 z(l) - 0.1 E)

    ``disease`` is the sensitive attribute. Tables of one seed are drawn from the same random numbers whatever kappa is,
    so that they differ by the dependence alone.

    Two choices. The appendix prints ``age_sd = 12``; the default is 15. The paper's Figure 4 hardly tells them apart:
    RAPID (cart, random forest, 20 tables a kappa) is on average 0.004 above its curve with 15 and 0.001 below with 12
    for kappa 1 .. 15; with ``stopping: rpart``, at six kappas in 1 .. 10, 0.003 above and 0.007 below (standard errors
    0.002). z takes the moments of the drawn column, as the figure does; with those before truncation RAPID (12) is
    0.010 below it.

    Args:
        rows: Number of records, at least 2.
        kappa: Strength of dependence, 0 (none) or more; 1: as much signal as noise.
        seed: Seed of all draws, in [0, 2^32).
        age_mean: Mean of the age before truncation, in [18, 85] years.
        age_sd: Standard deviation of the age before truncation, above 0 years.

    Returns:
        ``gender`` (category), ``age`` (years, not rounded), ``education`` (category, low < medium < high),
        ``income``, ``health`` (0 to 100, a high score is good) and ``disease`` (category).

    Raises:
        InputError: An argument breaks its rule.

    Reference:
        Templ, Thees and Mueller, "RAPID: Risk of Attribute Prediction-Induced Disclosure in Synthetic
        Microdata", Appendix A.

    Example:
        >>> simulated_health(rows=1000, kappa=0, seed=1)["disease"].value_counts(normalize=True).round(2).tolist()
        [0.66, 0.2, 0.14]
    """
    largest = np.finfo(float).max
    check_whole("rows", rows, 2)
    check_whole("seed", seed, 0, 2**32 - 1, "a whole number in [0, 2^32)")
    check_range("kappa", kappa, 0, largest, "a number of at least 0")
    check_range("age_mean", age_mean, *AGES, "a number in [18, 85]")
    check_range("age_sd", age_sd, ABOVE_0, largest, "a number above 0")
    rng = np.random.default_rng(seed)
    signal, noise = np.sqrt(kappa / (1 + kappa)), np.sqrt(1 / (1 + kappa))
    status = rng.standard_normal(rows)
    ends = [(end - age_mean) / age_sd for end in AGES]
    age = np.clip(scipy.stats.truncnorm.ppf(rng.uniform(size=rows), *ends, loc=age_mean, scale=age_sd), *AGES)
    old = _standardised(age)
    level = np.digitize(signal * (0.8 * status - 0.4 * old) + noise * rng.standard_normal(rows), [-0.3, 0.7])
    log_income = signal * (0.5 * status + 0.3 * old + 0.25 * level) + noise * rng.standard_normal(rows)
    rich = _standardised(log_income)
    score = signal * (0.6 * status - 0.5 * old + 0.2 * level + 0.2 * rich) + noise * rng.standard_normal(rows)
    diabetic = -1.5 + kappa * (0.8 * old - 0.3 * rich - 0.2 * level)
    hypertensive = -1.3 + kappa * (1.0 * old - 0.2 * rich - 0.1 * level)
    illness = _drawn(np.column_stack([np.zeros(rows), diabetic, hypertensive]), rng)
    male = rng.uniform(size=rows) < _logistic(signal * (0.3 * status - 0.2 * old + 0.2 * level))
    return pd.DataFrame(
        {
            "gender": pd.Categorical.from_codes(male.astype(int), pd.Index(GENDER)),
            "age": age,
            "education": pd.Categorical.from_codes(level, pd.Index(EDUCATION), ordered=True),
            "income": np.exp(10 + log_income),
            "health": 100 * _logistic(score),
            "disease": pd.Categorical.from_codes(illness, pd.Index(DISEASE)),
        }
    )


def _standardised(values: np.ndarray) -> np.ndarray:
    spread = values.std(ddof=1)
    return (values - values.mean()) / (spread if spread > 0 else 1.0)


def _logistic(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def _drawn(logits: np.ndarray, rng: np.random.Generator) -> np.ndarray:  # a class for each row
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    passed = rng.uniform(size=len(odds))[:, None] * odds.sum(axis=1, keepdims=True) > odds.cumsum(axis=1)[:, :-1]
    return np.asarray(passed.sum(axis=1))


SIMULATED_HEALTH = simulated_health
