"""Tables for ``answers.py``: Adult, what installed packages carry, and simulated registers; who of them is a member.

Each table is split at random into members, control records and strangers, from whom fresh releases are drawn. Where one
person has several rows, people are split.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

NAMED = "mail"
"""The column of addresses that a table gets where real identifiers are released."""


@dataclass(frozen=True)
class Source:
    """A table of people."""

    read: Callable[[], pd.DataFrame]
    traits: tuple[str, ...] = ()  # numeric, rare class, missing, dates, several rows
    person: str | None = None  # the column that tells people apart, where they have several rows


@dataclass(frozen=True, eq=False)
class People:
    """The real records of one split; nobody is in two of them."""

    members: pd.DataFrame
    control: pd.DataFrame
    strangers: pd.DataFrame
    person: str | None = None

    def units(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number of the person of each row, (rows,), counted from 0."""
        return np.arange(len(frame)) if self.person is None else pd.factorize(frame[self.person])[0]


def people(name: str, size: int | None, seed: int) -> People:
    """Return ``size`` members, as many control records and as many strangers; a third of the table each unless given.

    Where the table holds too few strangers for that, they are drawn with replacement from those that there are.
    """
    source, rng = TABLES[name], np.random.default_rng([seed, 33])
    table = source.read()
    unit = np.arange(len(table)) if source.person is None else pd.factorize(table[source.person])[0]
    order = rng.permutation(unit.max() + 1)
    one = len(order) // 3 if size is None else size
    if len(order) < 2 * one + 2:
        raise ValueError(f"size must leave strangers in {name}, got {one} of {len(order)} people")
    own = [order[:one], order[one : 2 * one], order[2 * one : 3 * one]]
    parts = [table[np.isin(unit, chosen)].sample(frac=1, random_state=int(seed)) for chosen in own]
    if len(own[2]) < one and source.person is None:
        parts[2] = parts[2].sample(one, replace=True, random_state=int(seed))
    return People(*(part.reset_index(drop=True) for part in parts), source.person)


def with_addresses(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return a table with a mail address of its own for each record, in a first column."""
    letters = np.random.default_rng([seed, len(table)]).integers(97, 123, (len(table), 12)).astype(np.uint8)
    names = [bytes(row).decode() for row in letters]
    return pd.DataFrame({NAMED: [f"{n[:5]}.{n[5:]}{i}@example.org" for i, n in enumerate(names)]}).join(table)


def _adult() -> pd.DataFrame:
    from synthrisk.tasks.data import read

    return read("adult")


def _health() -> pd.DataFrame:
    from synthrisk.tasks.data.example_tables import simulated_health

    return simulated_health(6000, seed=0)


def _statsmodels(name: str) -> Callable[[], pd.DataFrame]:
    def read() -> pd.DataFrame:
        from statsmodels import datasets

        return pd.DataFrame(getattr(datasets, name).load_pandas().data)

    return read


def _sklearn(name: str) -> Callable[[], pd.DataFrame]:
    def read() -> pd.DataFrame:
        from sklearn import datasets

        return pd.DataFrame(getattr(datasets, f"load_{name}")(as_frame=True).frame)

    return read


def laboratory(rows: int = 6000) -> pd.DataFrame:
    """Return a simulated laboratory: ten skewed, correlated values, some missing, and a disease of 2 in 100."""
    rng = np.random.default_rng(1)
    state = rng.normal(size=(rows, 3)) @ rng.normal(size=(3, 10)) + rng.normal(size=(rows, 10))
    values = np.round(np.exp(0.35 * state + rng.uniform(0, 4, 10)), 2)
    values[rng.random(values.shape) < rng.uniform(0, 0.15, 10)] = np.nan
    names = ["sodium", "potassium", "urea", "creatinine", "ferritin", "crp", "alt", "ast", "ldh", "tsh"]
    table = pd.DataFrame(values, columns=names)
    table.insert(0, "age", np.clip(rng.normal(58, 17, rows), 18, 99).astype(int))
    table.insert(1, "sex", rng.choice(["f", "m"], rows))
    sick = state[:, 4] + state[:, 5] + 0.02 * table["age"].to_numpy() + rng.logistic(size=rows)
    return table.assign(disease=np.where(sick > np.quantile(sick, 0.98), "present", "absent"))


def admissions(rows: int = 6000) -> pd.DataFrame:
    """Return a simulated register of admissions: dates of birth and admission, missing cells, rare diagnoses."""
    rng = np.random.default_rng(2)
    born = pd.Timestamp("1930-01-01") + pd.to_timedelta(rng.integers(0, 27000, rows), "D")
    admitted = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 1800, rows), "D")
    age = (admitted - born).days.to_numpy() / 365.25
    ward = rng.choice(["surgery", "medicine", "neurology", "geriatrics"], rows, p=[0.35, 0.4, 0.15, 0.1])
    risk = 0.03 * (age - 55) + (ward == "neurology") * 1.5 + rng.logistic(size=rows)
    names = np.array(["fracture", "pneumonia", "heart failure", "stroke", "sepsis", "tuberculosis"])
    ranks = np.searchsorted(np.quantile(risk, [0.3, 0.6, 0.8, 0.95, 0.985]), risk)
    stay = np.round(np.exp(rng.normal(1.2 + 0.15 * ranks, 0.7))).astype(int)
    table = pd.DataFrame(
        {
            "birth_date": born,
            "sex": rng.choice(["female", "male"], rows),
            "district": rng.choice(
                [f"district {chr(65 + i)}" for i in range(12)], rows, p=rng.dirichlet(np.full(12, 2))
            ),
            "insurance": rng.choice(["public", "private"], rows, p=[0.87, 0.13]),
            "admission_date": admitted,
            "ward": ward,
            "stay_days": stay,
            "diagnosis": names[ranks],
        }
    )
    gaps = pd.DataFrame(rng.random((rows, 3)) < [0.05, 0.12, 0.03], columns=["district", "insurance", "stay_days"])
    return table.assign(**{c: table[c].mask(gaps[c]) for c in gaps})


def prescriptions(patients: int = 1800) -> pd.DataFrame:
    """Return a simulated register of prescriptions: one to seven rows a patient, with dates and missing doses."""
    rng = np.random.default_rng(3)
    own = pd.DataFrame(
        {
            "patient_id": rng.permutation(np.arange(100_000, 100_000 + patients)),
            "age": np.clip(rng.normal(60, 16, patients), 18, 98).astype(int),
            "sex": rng.choice(["f", "m"], patients),
            "region": rng.choice(["north", "south", "east", "west", "centre"], patients),
        }
    )
    table = own.loc[own.index.repeat(1 + rng.binomial(6, 0.35, patients))].reset_index(drop=True)
    rows = len(table)
    drugs = np.array(["statin", "ACE inhibitor", "metformin", "insulin", "opioid", "antidepressant", "antiviral"])
    tilt = (table["age"].to_numpy()[:, None] - 60) / 20 * np.linspace(1, -1, 7) + rng.gumbel(size=(rows, 7))
    drug = drugs[np.argmax(tilt + np.log([0.25, 0.25, 0.2, 0.1, 0.08, 0.1, 0.02]), axis=1)]
    dose = np.round(np.exp(rng.normal(3 + 0.2 * (drug == "insulin"), 0.5)) / 5) * 5
    return table.assign(
        dispensed=pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 730, rows), "D"),
        dose_mg=np.where(rng.random(rows) < 0.06, np.nan, dose),
        medication=drug,
    )


TABLES: Mapping[str, Source] = {
    "adult": Source(_adult, ("missing",)),
    "fair": Source(_statsmodels("fair")),
    "anes96": Source(_statsmodels("anes96")),
    "randhie": Source(_statsmodels("randhie"), ("numeric",)),
    "modechoice": Source(_statsmodels("modechoice"), ("numeric", "several rows"), "individual"),
    "breast_cancer": Source(_sklearn("breast_cancer"), ("numeric",)),
    "diabetes": Source(_sklearn("diabetes"), ("numeric",)),
    "digits": Source(_sklearn("digits"), ("numeric",)),
    "simulated_health": Source(_health),
    "laboratory": Source(laboratory, ("numeric", "rare class", "missing")),
    "admissions": Source(admissions, ("rare class", "missing", "dates")),
    "prescriptions": Source(prescriptions, ("missing", "dates", "several rows"), "patient_id"),
}
"""The tables: Adult, and eleven more at their own size."""
