"""Marginal effects and interactions against a maximum likelihood fit by other means, and on awkward tables."""

import math
import re
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import f, t

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.exposure.attribution import FITTED_PAIRS, attribution, risk_gaps
from synthrisk.metrics.exposure.risk_terms import LEVELS, RARE

ADULT = Path(__file__).parents[3] / "tasks" / "data" / "adult.parquet"


def people(n, seed=0, at_risk=None):
    """Return a table of two categorical columns and a number, the flags, and P(at risk)."""
    rng = np.random.default_rng(seed)
    school, sex = rng.choice(["none", "short", "long"], n, p=[0.5, 0.3, 0.2]), rng.choice(["f", "m"], n, p=[0.6, 0.4])
    table = pd.DataFrame({"school": school, "sex": sex, "age": rng.integers(18, 90, n)})
    p = (at_risk or chance)(table)
    return table, (rng.random(n) < p).astype(float), p


def chance(table):
    school = table["school"].map({"none": 0.0, "short": 0.6, "long": -0.7})
    eta = -0.4 + school + 0.5 * (table["sex"] == "m") + 0.02 * (table["age"] - 50)
    return 1 / (1 + np.exp(-eta.to_numpy(dtype=float)))


def explained(y, table, **options):
    return attribution(y, table, list(table.columns), **options)


class Reference:
    """Logit by a general minimiser, its sandwich and the effects by differences; rows of floats, no matrix algebra.

    Effects of school, sex (against none, f) and age; ``products`` adds columns to the design.
    """

    def __init__(self, table, y, entities=None, products=()):
        self.table, self.y = table.reset_index(drop=True), y
        self.center, self.spread = table["age"].mean(), table["age"].std(ddof=0)
        self.products = products
        self.X = self.design(self.table)
        start = np.zeros(self.X.shape[1])
        self.beta = minimize(self.loss, start, jac=self.slope, method="BFGS", options={"gtol": 1e-9}).x
        for _ in range(3):  # the minimiser stops where the loss has no more digits
            self.beta = self.beta - np.linalg.solve(self.curvature(), self.slope(self.beta))
        self.covariance = self.sandwich(range(len(y)) if entities is None else entities)
        self.freedom = len(y) - len(self.beta) if entities is None else len(set(entities)) - 1

    def design(self, table):
        columns = {"one": np.ones(len(table)), "age": (table["age"] - self.center) / self.spread}
        columns |= {level: table["school"] == level for level in ("long", "short")} | {"m": table["sex"] == "m"}
        for a, b in self.products:
            columns[a, b] = columns[a] * columns[b]
        return np.column_stack(list(columns.values())).astype(float)

    def loss(self, beta):
        eta = self.X @ beta
        return float(np.sum(np.logaddexp(0, eta) - self.y * eta))

    def slope(self, beta):
        return self.X.T @ (1 / (1 + np.exp(-self.X @ beta)) - self.y)

    def curvature(self):
        return self.by_differences(self.slope)

    def by_differences(self, function):
        steps = 1e-5 * np.eye(len(self.beta))
        return np.array([(function(self.beta + each) - function(self.beta - each)) / 2e-5 for each in steps])

    def sandwich(self, entities):
        bread, sums = np.linalg.inv(self.curvature()), {}
        for x, y, entity in zip(self.X, self.y, entities, strict=True):
            residual = y - 1 / (1 + math.exp(-float(x @ self.beta)))
            sums[entity] = sums.get(entity, 0) + residual * x
        meat = sum(np.outer(s, s) for s in sums.values())
        n, k, groups = len(self.y), len(self.beta), len(sums)
        factor = n / (n - k) if groups == n else groups / (groups - 1) * (n - 1) / (n - k)
        return factor * bread @ meat @ bread

    def mean_risk(self, beta, **changes):
        return float(np.mean(1 / (1 + np.exp(-self.design(self.table.assign(**changes)) @ beta))))

    def effect(self, beta, name):
        if name in ("long", "short"):
            return self.mean_risk(beta, school=name) - self.mean_risk(beta, school="none")
        if name == "m":
            return self.mean_risk(beta, sex="m") - self.mean_risk(beta, sex="f")
        h, age = self.spread if name == "one_sd" else 1e-4, self.table["age"]
        if name == "one_sd":
            return self.mean_risk(beta, age=age + h) - self.mean_risk(beta, age=age)
        return (self.mean_risk(beta, age=age + h) - self.mean_risk(beta, age=age - h)) / (2 * h)

    def interval(self, function, confidence=0.95):
        value, gradient = function(self.beta), self.by_differences(function)
        half = t.ppf(0.5 + confidence / 2, self.freedom) * math.sqrt(gradient @ self.covariance @ gradient)
        return value, value - half, value + half

    def risk(self, **changes):
        """Return the mean risk with these changes, and its limits made on the logit scale."""
        risk, low, _ = self.interval(lambda beta: self.mean_risk(beta, **changes))
        half, logit = (risk - low) / (risk * (1 - risk)), math.log(risk / (1 - risk))
        return [risk, *(1 / (1 + math.exp(-logit - sign * half)) for sign in (-1, 1))]

    def wald(self, own):
        """Return the joint Wald statistic of the last ``own`` coefficients, and its p-value."""
        b, v = self.beta[-own:], self.covariance[-own:, -own:]
        found = float(b @ np.linalg.solve(v, b))
        return found, f.sf(found / own, own, self.freedom)


NAMES = ("long", "short", "m", "one_sd", "per_unit")


def effects(found):
    """Return {level or kind: (effect, lower, upper)}."""
    rows = found.effects
    names = rows["level"].where(rows["kind"] == "level", rows["kind"])
    return {name: tuple(row) for name, row in zip(names, rows[["effect", "lower", "upper"]].to_numpy(), strict=True)}


def agree(found, reference, tolerance=1e-4, confidence=0.95):
    got = effects(found)
    assert set(got) == set(NAMES)
    for name in NAMES:
        expected = reference.interval(lambda beta, name=name: reference.effect(beta, name), confidence)
        assert got[name] == pytest.approx(expected, abs=tolerance), name


@pytest.mark.parametrize(
    ("n", "seed", "releases", "confidence", "tolerance"),
    [(120, 1, 1, 0.95, 5e-4), (600, 2, 1, 0.95, 1e-4), (500, 4, 4, 0.95, 1e-4), (300, 7, 1, 0.8, 1e-4)],
)
def test_effects_and_limits_are_those_of_maximum_likelihood(n, seed, releases, confidence, tolerance):
    table, y, p = people(n, seed)
    if releases > 1:
        y = np.random.default_rng(seed).binomial(releases, p) / releases
    agree(explained(y, table, confidence=confidence), Reference(table, y), tolerance, confidence)


def test_entities_are_clusters_and_one_record_an_entity_is_none():
    table, y, _ = people(150, 5)
    single = explained(y, table)
    pd.testing.assert_frame_equal(single.effects, explained(y, table, entities=range(150)).effects)
    many, threefold, entities = pd.concat([table] * 3), np.tile(y, 3), [f"e{i}" for i in range(150)] * 3
    found = explained(threefold, many, entities=entities)
    agree(found, Reference(many, threefold, entities))
    for name in NAMES:  # three copies of a record tell no more than one
        width, alone = (effects(each)[name][2] - effects(each)[name][1] for each in (found, single))
        assert width == pytest.approx(alone, rel=0.02)


def test_predictions_are_mean_risks_at_a_level_or_value():
    table, y, _ = people(600, 8)
    rows, reference = explained(y, table).predictions, Reference(table, y)
    for _, row in pd.concat([rows[rows["column"] != "age"], rows[rows["column"] == "age"].iloc[::6]]).iterrows():
        expected = reference.risk(**{row["column"]: row["level"] if row["column"] != "age" else row["value"]})
        assert list(row[["risk", "lower", "upper"]]) == pytest.approx(expected, abs=1e-4)
    curve = rows.loc[rows["column"] == "age", "value"].to_numpy()
    assert np.diff(curve) == pytest.approx(np.full(len(curve) - 1, curve[1] - curve[0]))
    assert np.quantile(table["age"], 0.005) <= curve[0] < curve[-1] <= np.quantile(table["age"], 0.995)


PRODUCTS = {
    ("age", "school"): [("age", "long"), ("age", "short")],
    ("age", "sex"): [("age", "m")],
    ("school", "sex"): [("long", "m"), ("short", "m")],
}
THREE = [*(pair for each in PRODUCTS.values() for pair in each), (("age", "long"), "m"), (("age", "short"), "m")]


def crossed(table):
    eta = 0.5 * (table["sex"] == "m") * (table["school"] == "short") + 0.012 * (table["sex"] == "m") * table["age"]
    return expit(eta.to_numpy(dtype=float) - 0.5)


def tripled(table):
    return expit(0.02 * np.where((table["sex"] == "m") == (table["school"] == "short"), 1, -1) * (table["age"] - 50))


def test_interactions_are_joint_wald_tests_with_holms_adjustment():
    table, y, _ = people(800, 9, crossed)
    found = explained(y, table).interactions
    assert set(zip(found["first"], found["second"], strict=True)) == set(PRODUCTS)
    for _, row in found.iterrows():
        products = PRODUCTS[row["first"], row["second"]]
        wald, p = Reference(table, y, products=products).wald(len(products))
        assert (row["statistic"], row["freedom"]) == pytest.approx((wald, len(products)), rel=1e-3)
        assert (row["p_value"], row["left_out"]) == (pytest.approx(p, rel=5e-3), 0)
    p = list(found["p_value"])
    assert p == sorted(p)
    assert p[0] * 3 < 1 > p[1] * 2
    held, adjusted = 0.0, []
    for i, each in enumerate(p):
        held = max(held, min(1.0, each * (len(p) - i)))
        adjusted.append(held)
    assert list(found["p_holm"]) == pytest.approx(adjusted)


def test_a_three_way_interaction_is_a_joint_wald_test_beside_all_products_of_two():
    table, y, _ = people(900, 12, tripled)
    (row,) = explained(y, table).triples.to_dict("records")
    assert {row["first"], row["second"], row["third"]} == {"age", "school", "sex"}
    wald, p = Reference(table, y, products=THREE).wald(2)
    assert (row["statistic"], row["freedom"], row["left_out"]) == pytest.approx((wald, 2, 0), rel=2e-3)
    assert row["p_value"] == row["p_holm"] == pytest.approx(p, rel=2e-2)
    assert row["p_value"] < 1e-3


@pytest.mark.parametrize(
    ("known", "products", "seed", "rows", "tolerance"),
    [
        (("age", "school"), PRODUCTS["age", "school"], 10, 9 * 3, 2e-4),
        (("age", "sex"), PRODUCTS["age", "sex"], 10, 9 * 2, 2e-4),
        (("school", "sex"), PRODUCTS["school", "sex"], 10, 3 * 2, 2e-4),
        (("age", "school", "sex"), THREE, 12, 9 * 3 * 2, 5e-4),
    ],
)
def test_grids_are_predictions_of_the_model_with_the_products(known, products, seed, rows, tolerance):
    table, y, _ = people(800 + 50 * (seed - 10), seed, tripled if seed == 12 else None)
    found, reference, places = explained(y, table), Reference(table, y, products=products), ["first", "second", "third"]
    grids, places = (found.grids, places[:2]) if len(known) == 2 else (found.triple_grids, places)
    part = grids[[set(row) == set(known) for row in grids[places].to_numpy()]]
    assert len(part) == rows
    for _, row in part.iloc[:: 4 if len(known) == 2 else 7].iterrows():
        change = {row[p]: row[f"{p}_value" if row[p] == "age" else f"{p}_level"] for p in places}
        assert row["first"] == known[0]
        assert (row["risk"], row["lower"]) == pytest.approx(tuple(reference.risk(**change)[:2]), abs=tolerance)
        assert row["records"] == np.logical_and.reduce([table[c] == v for c, v in change.items() if c != "age"]).sum()


def test_triples_keep_their_level_where_only_pairs_interact():
    p = []
    for seed in range(20):
        table, y, _ = people(300, 100 + seed)
        p += list(explained(y, table).triples["p_value"])
    assert len(p) == 20
    assert sum(each < 0.05 for each in p) <= 4  # P(more | 20, 0.05) = 0.003


def test_three_categories_and_a_combination_of_one_flag():
    rng = np.random.default_rng(5)
    table = pd.DataFrame({c: rng.choice(["o", level], 900, p=[0.6, 0.4]) for c, level in ("ap", "bq", "cr")})
    all_three = (table["a"] == "p") & (table["b"] == "q") & (table["c"] == "r")
    y = np.where(all_three, 1.0, rng.random(900) < 0.4)
    found = explained(y, table)
    assert found.triples["p_value"].iloc[0] < 0.05
    grid = found.triple_grids.set_index(["first_level", "second_level", "third_level"])
    cell = grid.loc["p", "q", "r"]
    assert (len(grid), cell["records"]) == (8, all_three.sum())
    assert 0.8 < cell["lower"] < 0.95 < cell["risk"] < 1
    few = table.assign(a=np.where(all_three & (np.cumsum(all_three) > 9), "o", table["a"]))
    without = explained(rng.random(900) < 0.4, few)
    assert without.triples.empty  # nine records of the combination: no product of their own


@pytest.mark.proof
def test_intervals_cover_the_effects_and_tests_keep_their_level():
    covered, small = {name: [] for name in NAMES}, []
    for seed in range(300):
        table, y, p = people(250, 1000 + seed)
        found = explained(y, table, interactions=seed < 100)
        changed = {name: chance(table.assign(school=name)) for name in ("none", "long", "short")}
        changed |= {name: chance(table.assign(sex=name)) for name in ("f", "m")}
        truth = {name: np.mean(changed[name] - changed[base]) for name, base in (("long", "none"), ("short", "none"))}
        truth |= {"m": np.mean(changed["m"] - changed["f"]), "per_unit": np.mean(0.02 * p * (1 - p))}
        truth["one_sd"] = np.mean(chance(table.assign(age=table["age"] + table["age"].std(ddof=0))) - p)
        for name, (_, lower, upper) in effects(found).items():
            covered[name].append(lower <= truth[name] <= upper)
        small += list(found.interactions["p_value"] < 0.05)
    assert all(0.91 <= np.mean(each) <= 0.985 for each in covered.values()), covered
    assert 0.02 <= np.mean(small) <= 0.09


def test_a_level_of_one_flag_has_an_effect_with_an_honest_interval():
    table, y, _ = people(400, 12)
    table["town"] = np.where(np.arange(400) < 15, "small", "large")
    for flag, words in ((1.0, "all at risk"), (0.0, "none at risk")):
        y[:15] = flag
        found = explained(y, table)
        row = found.effects[found.effects["column"] == "town"].iloc[0]
        assert row["note"] == words
        risk = found.predictions[found.predictions["level"] == "small"].iloc[0]
        assert 0.005 < abs(risk["risk"] - flag) < 0.06
        assert 0.08 < max(flag - risk["lower"], risk["upper"] - flag) < 0.5  # Wilson: 0.204 of 15 of 15
        assert row["upper"] - row["lower"] > 0.08
        assert (row["lower"] > 0) == (flag == 1)
        below, above = row["effect"] - row["lower"], row["upper"] - row["effect"]
        assert (below > 1.5 * above) if flag else (above > 1.5 * below)


def test_a_combination_of_one_flag_is_not_taken_for_an_interaction():
    rng, hits = np.random.default_rng(13), 0
    for _ in range(20):
        a, b = rng.choice(["p", "q"], 400, p=[0.9, 0.1]), rng.choice(["r", "s"], 400, p=[0.8, 0.2])
        y = np.where((a == "q") & (b == "s"), 1.0, rng.random(400) < np.where(a == "q", 0.9, 0.6))  # 8 of about 8
        found = attribution(y, pd.DataFrame({"a": a, "b": b}), ["a", "b"])
        hits += int((found.interactions["p_value"] < 0.01).sum())
    assert hits <= 2


def test_a_combination_of_one_flag_with_a_reference_level_is_not_told_for_certain():
    a, b = ["p"] * 100 + ["q"] * 60, ["r"] * 70 + ["s"] * 30 + ["r"] * 30 + ["s"] * 30
    y = [0.0, 1.0] * 35 + [1.0] * 30 + [0.0, 1.0] * 30
    grid = attribution(y, pd.DataFrame({"a": a, "b": b}), ["a", "b"]).grids
    cell = grid[(grid["first_level"] == "p") & (grid["second_level"] == "s")].iloc[0]
    assert cell["risk"] == pytest.approx(30.5 / 31, abs=2e-3)
    assert 0.75 < cell["lower"] < 0.9


def test_one_flag_where_risk_depends_on_another_column_is_not_told_too_surely():
    rng = np.random.default_rng(27)
    table = pd.DataFrame({"dose": rng.normal(size=500), "town": ["small"] * 12 + ["large"] * 488})
    y = (rng.random(500) < 1 / (1 + np.exp(-2 * table["dose"]))).astype(float)
    y[:12] = 1.0
    row = attribution(y, table, ["dose", "town"]).predictions.query("level == 'small'").iloc[0]
    wide = math.log(row["upper"] / (1 - row["upper"])) - math.log(row["lower"] / (1 - row["lower"]))
    assert wide / 2 / 1.96 > 1.0


def test_a_level_of_one_flag_with_an_extreme_record_is_not_told_too_surely():
    rng = np.random.default_rng(28)
    gain = np.where(rng.random(3000) < 0.02, rng.exponential(1.0, 3000), 0.0)
    town = np.where(np.arange(3000) < 50, "small", "large")
    gain[:50] = [5.0] + [0.0] * 49
    y = (rng.random(3000) < 1 / (1 + np.exp(2 - 2 * gain))).astype(float)
    y[:50] = 0.0
    found = attribution(y, pd.DataFrame({"gain": gain, "town": town}), ["gain", "town"])
    row = found.predictions.query("level == 'small'").iloc[0]
    assert row["risk"] < 0.005
    assert 0.03 < row["upper"] < 0.1  # Wilson: 0.071 of 0 of 50
    effect = found.effects.query("level == 'small'").iloc[0]
    assert effect["upper"] - effect["effect"] > 0.03


def test_a_large_combination_of_one_flag_is_an_interaction():
    rng = np.random.default_rng(14)
    a, b = rng.choice(["p", "q"], 1000), rng.choice(["r", "s"], 1000)
    y = np.where((a == "q") & (b == "s"), 1.0, rng.random(1000) < 0.5)
    found = explained(y, pd.DataFrame({"a": a, "b": b}))
    assert found.interactions["p_value"].iloc[0] < 1e-5
    cell = found.grids[(found.grids["first_level"] == "q") & (found.grids["second_level"] == "s")].iloc[0]
    assert 0.9 < cell["lower"] < 0.99 < cell["risk"] < cell["upper"] <= 1


def test_a_number_that_tells_every_flag():
    table, _, _ = people(300, 15)
    found = explained((table["age"] > 50).astype(float), table)
    assert any("tell every flag" in note for note in found.notes)
    assert effects(found)["one_sd"][0] > 0.2
    assert np.isfinite(found.effects[["effect", "lower", "upper"]].to_numpy()).all()


def test_columns_that_others_determine_are_left_out_and_the_others_lose_nothing():
    table, y, _ = people(500, 16)
    plain, years = explained(y, table), table["school"].map({"none": 0, "short": 8, "long": 14})
    more = table.assign(years=years, gender=table["sex"], months=table["age"] * 12)
    found = explained(y, more)
    out = found.left_out.set_index("column")["reason"]
    determined = {"months": "age", "sex": "gender", "years": "school"}
    assert dict(out) == {name: f"determined by {by}" for name, by in determined.items()}
    got, expected = effects(found), effects(plain)
    assert all(got[name] == pytest.approx(expected[name], abs=1e-5) for name in NAMES)


def test_columns_missing_together_are_marked_and_the_other_levels_are_not():
    table, y, _ = people(500, 17)
    gone = np.arange(500) % 10 == 0
    table["work"] = np.where(gone, None, np.where(np.arange(500) % 2, "x", "y"))
    table["trade"] = np.where(gone, None, np.where(np.arange(500) % 3, "v", "w"))
    found = explained(y, table)
    rows = found.effects.set_index(["column", "level"])
    for column, other in (("work", "trade"), ("trade", "work")):
        row = rows.loc[(column, "missing")]
        assert (row["note"], row["lower"], row["upper"]) == (f"collinear with {other}", -1, 1)
        assert found.columns.set_index("column")["collinear_with"][column] == other
    own = rows.loc[("trade", "w")]
    assert own["note"] == ""
    assert own["upper"] - own["lower"] < 0.3
    alone = explained(y[~gone], table[~gone]).effects  # the levels are told apart by the records that have both
    expected = alone.set_index(["column", "level"]).loc[("trade", "w")]["effect"]
    assert own["effect"] == pytest.approx(expected, abs=0.02)


def test_rare_levels_are_merged_and_listed_under_a_name_that_no_level_has():
    table = pd.DataFrame({"c": ["a"] * 200 + ["b"] * 80 + ["x"] * 9 + ["y"] * 6 + ["other"] * 5, "d": [1, 2, 3] * 100})
    found = explained(np.random.default_rng(18).integers(0, 2, 300).astype(float), table)
    listed = [("c", "other", 5, "other"), ("c", "x", 9, "other"), ("c", "y", 6, "other")]
    assert [tuple(row) for row in found.merged.to_numpy()] == listed
    rows = found.effects.loc[found.effects["column"] == "c", ["level", "reference", "records"]]
    assert rows.to_numpy().tolist() == [["b", "a", 80], ["other", "a", 20]]
    table = pd.DataFrame({"c": ["other"] * 50 + ["a"] * 60 + ["b"] * 3})
    rows = explained(np.tile([0.0, 1.0, 1.0], 38)[:113], table).effects[["level", "note"]]
    assert rows.to_numpy().tolist() == [["other", ""], ["(other)", "fewer than 10 records"]]


def test_many_levels_keep_the_most_frequent_and_of_equals_the_first_is_the_reference():
    codes = np.repeat(np.arange(30), np.arange(30) + 12)
    table = pd.DataFrame({"c": [f"v{code:02}" for code in codes]})
    y = np.random.default_rng(19).integers(0, 2, len(codes)).astype(float)
    found, at_most = explained(y, table), explained(y[codes >= 10], table[codes >= 10])
    assert list(found.merged["level"]) == [f"v{code:02}" for code in range(11)]
    assert len(found.predictions) == LEVELS == len(at_most.predictions)
    assert found.columns["reference"].iloc[0] == "v29"
    assert at_most.merged.empty
    equals = explained([0.0, 1.0, 1.0, 0.0] * 15, pd.DataFrame({"c": list("zab") * 20}))
    assert equals.columns["reference"].iloc[0] == "a"


def test_missing_numbers_are_a_level_against_the_mean():
    table, y, _ = people(400, 20)
    age = table["age"].astype(float).mask(np.arange(400) % 5 == 0)
    found = explained(y, table.assign(age=age))
    row = found.effects[found.effects["level"] == "missing"].iloc[0]
    assert (row["column"], row["reference"], row["records"]) == ("age", "mean", 80)
    curve = found.predictions[found.predictions["column"] == "age"]
    level = curve[curve["value"].isna()]
    assert list(level["level"]) == ["missing"]
    nearest = curve.iloc[[int((curve["value"] - age.mean()).abs().argmin())]]
    assert level["risk"].iloc[0] - nearest["risk"].iloc[0] == pytest.approx(row["effect"], abs=0.02)
    assert found.effects.set_index("kind").loc["one_sd", "records"] == 320
    few = table.assign(age=age.where(age.isna().cumsum() > 75, age.fillna(50.0)))
    merged = attribution(y, few, "age").merged
    assert [tuple(row) for row in merged.to_numpy()] == [("age", "missing", 5, "the mean")]


def test_dates_count_in_days():
    table, y, _ = people(300, 21)
    day = pd.Timestamp("2001-01-01") + pd.to_timedelta(table["age"], unit="D")
    number, date = attribution(y, table, "age"), attribution(y, pd.DataFrame({"age": day}), "age")
    zoned = attribution(y, pd.DataFrame({"age": day.dt.tz_localize("Europe/Vienna")}), "age")
    span = attribution(y, pd.DataFrame({"age": day - pd.Timestamp("2001-01-01")}), "age")
    for each, kind in ((date, "date"), (span, "duration"), (zoned, "date")):
        assert each.columns["kind"].iloc[0] == kind
        assert list(each.effects["effect"]) == pytest.approx(list(number.effects["effect"]), abs=1e-4)
    assert list(date.effects["level"])[1] == "per day"
    assert date.predictions["level"].iloc[0].startswith("2001-01-")


def test_unscored_records_are_left_out():
    table, y, _ = people(300, 22)
    scores = np.where(np.arange(300) % 4 == 0, np.nan, y)
    kept, units = ~np.isnan(scores), np.arange(300) // 2
    found = explained(scores, table, entities=units)
    expected = explained(y[kept], table[kept], entities=units[kept])
    assert found.records == kept.sum()
    for name in ("effects", "interactions", "grids", "predictions"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(expected, name))


NO_LEVELS, SAME = "no quasi-identifier has two levels of enough records", "every scored record has the same score"


@pytest.mark.parametrize(
    ("column", "y", "reason"),
    [
        (list("ab") * 20, [1.0] * 40, SAME),
        (list("ab") * 20, [0.5] * 40, SAME),
        (["a"], [1.0], SAME),
        (["a"] * 40, [0.0, 1.0] * 20, NO_LEVELS),
        (range(2), [0.0, 1.0], NO_LEVELS),
        ([None] * 40, [0.0, 1.0] * 20, NO_LEVELS),
    ],
)
def test_nothing_to_explain_is_said(column, y, reason):
    found = attribution(y, pd.DataFrame({"c": column}), "c")
    assert found.reason.startswith(reason)
    frames = (found.effects, found.predictions, found.columns, found.interactions, found.grids)
    assert all(frame.empty and len(frame.columns) for frame in frames)
    assert found.risk == np.mean(y)
    table, y, _ = people(50, 23)
    assert "one entity" in attribution(y, table, "age", entities=["e"] * 50).reason


def test_what_is_left_out_is_listed():
    rng = np.random.default_rng(24)
    table = pd.DataFrame({f"c{i:02}": rng.choice(list("ab"), 300) for i in range(14)})
    table["many"] = rng.choice(list("abcdefgh"), 300)
    table["same"], table["empty"] = 1, np.nan
    y = rng.integers(0, 2, 300).astype(float)
    found = explained(y, table)
    assert len(found.interactions) == FITTED_PAIRS
    why = found.left_out.groupby("reason")["column"].agg(list)
    assert (why["constant"], why[f"fewer than {RARE} records have a value"]) == (["same"], ["empty"])
    assert len(why["interactions: not among the 12 strongest columns"]) == 3
    weaker = "interactions: not among the 12 strongest pairs by their score tests"
    assert len(why[weaker]) == 12 * 11 / 2 - FITTED_PAIRS
    assert len(explained(y, table, interactions=False).interactions) == 0
    few = attribution(y, table, ["c00", "c01", "many"])
    assert list(few.left_out["reason"]) == ["interactions of levels beyond the 6 most frequent"]
    assert few.interactions.set_index(["first", "second"]).loc[("many", "c00"), "freedom"] == 5


def crossed_people(seed: int, kind: str) -> tuple[np.ndarray, pd.DataFrame, np.ndarray | None]:
    """Return flags or shares of people of eight columns, some of which interact, and their entities."""
    rng, n = np.random.default_rng(seed), 1500
    table = pd.DataFrame({f"c{i}": rng.choice(list("abcd"), n, p=[0.4, 0.3, 0.2, 0.1]) for i in range(6)})
    table["age"], table["gain"] = rng.integers(18, 90, n), rng.exponential(size=n)
    logit = -0.5 + 0.5 * (table["c0"] == "a") + 0.01 * table["age"]
    logit += 1.2 * ((table["c0"] == "a") & (table["c1"] == "b")) - 0.03 * (table["age"] - 50) * (table["c2"] == "c")
    logit += 0.4 * ((table["c3"] == "a") & (table["c4"] == "a"))
    p = 1 / (1 + np.exp(-logit.to_numpy()))
    if kind == "shares":
        return rng.binomial(4, p) / 4, table, None
    flags = (rng.random(n) < p).astype(float)
    if kind == "one flag":
        flags[(table["c1"] == "d") & (table["c5"] == "d")] = 1.0  # a combination that is told completely
    return flags, table, rng.integers(0, n // 2, n) if kind == "entities" else None


@pytest.mark.parametrize(("kind", "seed"), [("shares", 2), ("entities", 1), ("one flag", 2)])
def test_screening_pairs_leaves_what_is_reported_as_it_is(kind, seed, monkeypatch):
    y, table, entities = crossed_people(seed, kind)
    few = explained(y, table, entities=entities)
    monkeypatch.setattr("synthrisk.metrics.exposure.attribution.FITTED_PAIRS", 10**6)
    every = explained(y, table, entities=entities)
    assert (len(few.interactions), len(every.interactions)) == (FITTED_PAIRS, 8 * 7 / 2)
    pairs = ["first", "second"]
    kept = few.interactions[pairs].merge(every.interactions, on=pairs)
    assert kept.drop(columns="p_holm").equals(few.interactions.drop(columns="p_holm"))
    assert few.interactions.head(6).equals(every.interactions.head(6))  # the figures draw three of them
    significant = every.interactions[every.interactions["p_holm"] < 0.05]
    assert set(map(tuple, significant[pairs].to_numpy())) <= set(map(tuple, few.interactions[pairs].to_numpy()))
    assert len(significant) >= 1
    assert few.triples.equals(every.triples)
    assert few.triple_grids.equals(every.triple_grids)
    grids = every.grids.merge(few.interactions[pairs], on=pairs)
    assert few.grids.equals(grids[few.grids.columns])


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ({"yr": 60, "xr": 45, "ys": 40, "xs": 5}, "no combination of interacting levels has 10 records"),
        ({"yr": 80, "xr": 20, "ys": 0, "xs": 20}, "the products add nothing to the main effects"),
    ],
)
def test_pairs_that_cannot_be_tested_are_listed(counts, reason):
    cells = [cell for cell, count in counts.items() for _ in range(count)]
    table = pd.DataFrame([list(cell) for cell in cells], columns=["a", "b"])
    found = attribution(np.tile([0.0, 1.0, 1.0], 50)[: len(table)], table, ["a", "b"])
    assert found.left_out.to_numpy().tolist() == [["a", "b", reason]]
    assert found.interactions.empty
    assert len(found.effects) == 2


UGLY = {
    "flag": lambda rng, n: rng.choice([True, False], n),
    "category": lambda rng, n: pd.Categorical(rng.choice(["<b>x</b>", "$y$", '"q"', "ü\n合"], n)),
    "mixed": lambda rng, n: pd.Series(rng.choice(np.array([1, "1", None, 2.5, True], dtype=object), n)),
    "huge": lambda rng, n: rng.integers(2**60, 2**62, n),
    "float": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.standard_cauchy(n) * 1e200),
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-200,
    "date": lambda rng, n: pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**6, n), unit="s"),
    "constant": lambda rng, n: np.ones(n),
    "empty": lambda rng, n: np.full(n, np.nan),
    "unique": lambda rng, n: [f"v{i}" for i in range(n)],
    "spike": lambda rng, n: np.where(rng.random(n) < 0.97, 0, 1e9),
    "nullable": lambda rng, n: pd.Series(rng.integers(0, 3, n), dtype="Int64").mask(rng.random(n) < 0.2),
}


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 11, 25, 60, 200]), st.sets(st.sampled_from(sorted(UGLY))))
def test_ugly_tables_give_numbers_or_a_reason(seed, n, names):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({name: UGLY[name](rng, n) for name in sorted(names | {"flag"})})
    table["copy"] = table["flag"]
    flags = (table["flag"].to_numpy(), rng.random(n) < 0.5, rng.random(n), rng.random(n) < 0.03)[rng.integers(4)]
    y = np.where(rng.random(n) < 0.1, np.nan, flags.astype(float))
    y[0] = 1.0
    entities = rng.integers(0, max(2, n // 3), n) if rng.random() < 0.3 else None
    found = explained(y, table, entities=entities)
    assert found.reason or len(found.effects)
    for frame, value in ((found.effects, "effect"), (found.predictions, "risk"), (found.grids, "risk")):
        if len(frame):
            numbers = frame[["lower", value, "upper"]].to_numpy(dtype=float)
            assert not np.isnan(numbers).any()
            assert (np.diff(numbers, axis=1) >= -1e-9).all()
    assert not found.interactions.isna().any(axis=None)


@pytest.mark.proof
@given(st.integers(0, 2**32 - 1))
def test_order_of_rows_columns_and_categories_and_index_labels_move_nothing(seed):
    rng = np.random.default_rng(seed)
    table, y, _ = people(150, seed)
    table["place"] = pd.Categorical(rng.choice(list("pqr"), 150), categories=list("pqr"))
    table["gain"] = np.where(rng.random(150) < 0.2, np.nan, rng.normal(size=150))
    units, order = rng.integers(0, 60, 150), rng.permutation(150)
    other = table.iloc[order][["gain", "place", "age", "sex", "school"]]
    other = other.assign(place=other["place"].cat.reorder_categories(list("rpq")))
    other.index = rng.integers(0, 3, 150)
    a, b = explained(y, table, entities=units), explained(y[order], other, entities=units[order])
    frames = [name for name, value in vars(a).items() if isinstance(value, pd.DataFrame)]
    assert len(frames) == 9
    for name in frames:
        pd.testing.assert_frame_equal(getattr(a, name), getattr(b, name), rtol=1e-5, atol=1e-7)
    assert (a.risk, a.notes) == (b.risk, b.notes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scores": [1, 0]}, "scores must hold one number a record, got 2 for 40 records"),
        ({"scores": [2] * 40}, "scores must lie in [0, 1], got 2 to 2"),
        ({"scores": [np.nan] * 40}, "scores must hold at least one scored record, got none of 40"),
        ({"quasi_identifiers": ["sx"]}, "must name columns of the table, got 'sx' (did you mean 'sex'"),
        ({"confidence": 0}, "confidence must be a number in (0, 1), got 0"),
        ({"entities": [1, 2]}, "entities must name one entity a record, got 2 for 40 records"),
        ({"entities": [None] + [1] * 39}, "entities must name an entity for each record, got 1 missing"),
    ],
)
def test_bad_input_is_told_in_a_sentence(change, words):
    table, y, _ = people(40, 25)
    with pytest.raises(InputError, match=re.escape(words)):
        attribution(**({"scores": y, "table": table, "quasi_identifiers": ["sex"]} | change))


def test_a_combination_that_another_column_settles_gives_no_p_of_1e_50():
    rng = np.random.default_rng(26)
    a, b = rng.choice(["p", "q"], 1500, p=[0.8, 0.2]), rng.choice(["r", "s"], 1500, p=[0.85, 0.15])
    gain = np.where(rng.random(1500) < 0.05, 10.0, 0.0)
    y = np.where(gain > 0, 1.0, rng.random(1500) < 0.1)
    both = np.flatnonzero((a == "q") & (b == "s"))
    gain[both], y[both] = 0.0, 0.0
    gain[both[0]], y[both[0]] = 10.0, 1.0
    found = attribution(y, pd.DataFrame({"a": a, "b": b, "gain": gain}), ["a", "b", "gain"])
    assert found.interactions.set_index(["first", "second"]).loc[("a", "b"), "p_value"] > 1e-4


@pytest.mark.slow
def test_adult_with_twelve_quasi_identifiers_takes_seconds():
    table = pd.read_parquet(ADULT)
    known = [c for c in table.columns if c not in ("income", "fnlwgt", "capital_loss")]
    started = time.process_time()
    found = attribution(table["income"] == table["income"].cat.categories[1], table, known)
    assert time.process_time() - started < 15
    assert (len(known), len(found.interactions)) == (12, FITTED_PAIRS)
    assert found.left_out.iloc[0].tolist() == ["education_num", "", "determined by education"]


def workers(n=2000):
    rng = np.random.default_rng(0)
    job, sex = rng.choice(["cook", "nurse", "smith"], n), rng.choice(["f", "m"], n)
    return pd.DataFrame({"job": job, "sex": sex, "age": rng.normal(40, 10, n)})


def test_the_gap_of_one_column_alone_is_that_of_its_means():
    table = workers()
    risk = table["job"].map({"cook": 0.1, "nurse": 0.3, "smith": 0.6})
    flags = (np.random.default_rng(1).random(len(table)) < risk).astype(float)
    (found,) = risk_gaps(flags, table, ["job"])
    means = [flags[table["job"] == job].mean() for job in ("cook", "smith")]
    assert [found.lowest.value, found.highest.value] == pytest.approx(means, abs=1e-4)
    assert found.highest.lower < means[1] < found.highest.upper
    assert found.rises is None


def test_gaps_of_columns_that_do_not_matter_are_left_out_and_the_widest_is_first():
    table, rng = workers(), np.random.default_rng(2)
    risk = 0.1 + 0.5 * (table["job"] == "nurse") + 0.2 * (table["age"] > 45)
    found = risk_gaps((rng.random(len(table)) < risk).astype(float), table, ["sex", "age", "job"])
    assert [gap.column for gap in found] == ["job", "age"]
    assert found[1].rises is True
    assert risk_gaps(np.ones(100), workers(100), ["job"]) == []


def test_levels_of_few_records_have_no_gap():
    table = workers()
    table.loc[:4, "job"] = "spy"
    flags = (table["job"] == "spy").astype(float) + (table["sex"] == "f") * 0.3
    found = risk_gaps(np.clip(flags, 0, 1), table, ["job", "sex"])
    assert all(gap.highest.value < 0.6 for gap in found)
