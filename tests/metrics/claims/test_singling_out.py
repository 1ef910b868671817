"""Singling out: by hand, against plain loops that share no code, and what a foreign attack may and may not do."""

import math

import numpy as np
import pandas as pd
import pytest

from samples.awkward import ALIKE, APART
from synthrisk.metrics import METRICS, Attack, InputError, Tables
from synthrisk.metrics.claims.judging import selective_curve
from synthrisk.metrics.claims.predicates import distinct_rows, predicates_of, unique_combinations, unique_values
from synthrisk.metrics.claims.singling_out import isolated as isolated_flags
from synthrisk.metrics.study.ledger import Cell, Measure, Planned
from synthrisk.metrics.study.scoring import attack_release

SINGLING_OUT = METRICS["singling_out"]
MODES = ("univariate", "multivariate")


def table(seed, n):
    rng = np.random.default_rng(seed)
    ages, jobs = rng.integers(20, 40, n), rng.choice(["a", "b", "it's", None], n, p=[0.4, 0.3, 0.2, 0.1])
    pay = np.where(rng.random(n) < 0.1, np.nan, rng.integers(-9, 30, n) / 2)
    flags, days = rng.random(n) < 0.3, pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 30, n), unit="D")
    return pd.DataFrame({"age": ages, "job": jobs, "pay": pay, "flag": flags, "day": days})


def fulfils(cell, operator, value):
    if operator == "missing" or pd.isna(value) or pd.isna(cell):
        return pd.isna(cell) and (operator == "missing" or pd.isna(value))
    return {"==": cell == value, "<=": cell <= value, ">=": cell >= value}[operator]


def holds(row, predicate):
    """Whether a record, as a dict, fulfils all conditions."""
    return all(fulfils(row[column], operator, value) for column, operator, value in predicate)


def count(frame, predicate):
    return sum(holds(row, predicate) for row in frame.to_dict("records"))


def luck(frame, predicate):
    """n w (1 - w)^(n - 1), w the product of the shares of records that fulfil each column's conditions."""
    n, weight = len(frame), 1.0
    for column in {c for c, _, _ in predicate}:
        own = [condition for condition in predicate if condition[0] == column]
        weight *= count(frame, own) / n
    return n * weight * (1 - weight) ** (n - 1)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(2))
def test_claims_are_counted_as_by_plain_loops(mode, seed):
    real, release = table(seed, 40), table(seed + 50, 45)
    found = SINGLING_OUT(real, release, mode=mode, seed=seed)
    claims = found.records[found.records["claim"]]
    assert len(claims) > 5
    assert claims["predicate"].is_unique
    for _, record in claims.iterrows():
        assert record["score"] == (count(real, record["predicate"]) == 1)
        assert record["baseline"] == pytest.approx(luck(real, record["predicate"]), abs=1e-12)
        assert 0 <= record["confidence"] <= 1
    assert found.records["score"][~found.records["claim"]].isna().all()
    c, s, d = claims["score"].mean(), claims["baseline"].mean(), found.details
    assert found.value == found.published == pytest.approx(c)
    attempts = len(found.records) if mode == "univariate" else 45
    due = {"statistical_confidence": s, "confidence_improvement": (c - s) / (1 - s), "attempts": attempts}
    due |= {"claims": len(claims), "claim_probability": len(claims) / attempts, "prior_knowledge": 0}
    due |= {"work": release.size / len(claims)}
    assert {name: d[name] for name in due} == pytest.approx(due)
    assert found.records.index.unique().tolist() == release.index.tolist()


@pytest.mark.parametrize("attack", [unique_values, unique_combinations])
@pytest.mark.parametrize("seed", range(4))
def test_own_attacks_claim_where_one_release_record_fulfils_it(attack, seed):
    release = table(seed, 30)
    found = attack(release, np.random.default_rng(seed))
    assert found.index.tolist() == release.index.tolist()
    for row, named in zip(release.to_dict("records"), found["predicate"], strict=True):
        for predicate in predicates_of(named):
            assert holds(row, predicate)
            assert count(release, predicate) == 1


@pytest.mark.parametrize("seed", range(3))
def test_unique_values_knows_all_unique_values_and_extremes(seed):
    release = table(seed, 12)
    rows = release.to_dict("records")
    expected = []
    for row in rows:
        own = set()
        for column in release:
            cell, cells = row[column], [r[column] for r in rows if not pd.isna(r[column])]
            if pd.isna(cell):
                own |= {(column, "missing", None)} if len(cells) == len(rows) - 1 else set()
            elif cells.count(cell) == 1:
                own.add((column, "==", cell))
                if column in ("age", "pay", "day"):
                    own |= {(column, "<=", cell)} if cell == min(cells) else set()
                    own |= {(column, ">=", cell)} if cell == max(cells) else set()
        expected.append(own)
    seen = [set() for _ in rows]
    for draw in range(60):
        found = unique_values(release, np.random.default_rng(draw))["predicate"]
        for own, due, named in zip(seen, expected, found, strict=True):
            conditions = [condition for predicate in predicates_of(named) for condition in predicate]
            assert [column for column, *_ in conditions] == sorted({column for column, *_ in due})
            own |= set(conditions)
    assert seen == expected


def test_unique_values_claims_what_one_person_alone_has_in_one_column_beside_columns_of_unique_numbers():
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(600, 12)), columns=[f"x{i}" for i in range(12)])
    jobs = pd.Series([f"job {i}" if i < 60 else "clerk" for i in range(600)])
    found = SINGLING_OUT(numbers.assign(job=jobs), (numbers + 1).assign(job=jobs), mode="univariate").records
    assert sum(predicate[0][0] == "job" for predicate in found["predicate"][found["score"] == 1]) == 60


@pytest.mark.parametrize("size", [1, 2, 4, 5])
def test_unique_combinations_draws_columns_and_sides_of_the_median(size):
    release = table(1, 25)
    medians = {c: release[c].dropna().median() for c in ("age", "pay", "day")}
    chosen, sided = set(), 0
    for draw in range(20):
        found = unique_combinations(release, np.random.default_rng(draw), size=size)["predicate"]
        for row, predicate in zip(release.to_dict("records"), found, strict=True):
            if predicate is None:
                continue
            assert len({c for c, _, _ in predicate}) == len(predicate) >= size
            chosen.add(tuple(sorted(c for c, _, _ in predicate)))
            for column, operator, value in predicate:
                if pd.isna(row[column]):
                    assert (operator, value) == ("missing", None)
                else:
                    assert value == row[column]
            sides = {(column, operator) for column, operator, _ in predicate if operator in ("<=", ">=")}
            expected = {(c, ">=" if row[c] >= medians[c] else "<=") for c, _, _ in predicate if c in medians}
            assert sides in (set(), {(c, operator) for c, operator in expected if not pd.isna(row[c])})
            sided += bool(sides)
    assert sided > 20
    assert {len(c) for c in chosen} <= set(range(size, 6))
    assert (len(chosen) > 1) == (size < 5)


def test_a_predicate_grows_no_longer_than_it_must():
    release = wide(0, 60).assign(other=np.random.default_rng(0).normal(size=60))
    found, lengths = unique_combinations(release, np.random.default_rng(0), size=2)["predicate"], set()
    shares = {c: count(release, [c]) / 60 for predicate in found.dropna() for c in predicate}
    for predicate in found.dropna():
        assert len(predicate) == release.shape[1] or 60 * math.prod(shares[c] for c in predicate) <= 0.01
        shorter = [[c for c in predicate if c is not last] for last in predicate]
        grown = (60 * math.prod(shares[c] for c in rest) > 0.01 or count(release, rest) > 1 for rest in shorter)
        assert len(predicate) == 2 or any(grown)
        lengths.add(len(predicate))
    assert len(lengths) > 1


def test_nearly_all_rows_end_in_a_claim():
    assert SINGLING_OUT(wide(1, 200), wide(2, 200)).details["claim_probability"] > 0.99
    middle = pd.DataFrame({c: [1, 2, 3, 4, 5] for c in "xyz"})
    found = unique_combinations(middle, np.random.default_rng(0))["predicate"]
    assert found[2] == (("x", "==", 3), ("y", "==", 3), ("z", "==", 3))
    assert found[4] == (("x", ">=", 5), ("y", ">=", 5), ("z", ">=", 5))


def test_rows_that_chance_does_not_make_equal_are_one_record():
    once = wide(3, 40)
    repeated = once.iloc[np.arange(160) % 40].reset_index(drop=True)
    assert distinct_rows(repeated).tolist() == list(range(40))
    for mode in MODES:
        found = SINGLING_OUT(once, repeated, mode=mode, control=wide(4, 40)).details
        assert (found["claims"] > 20, found["control_gain"]) == (True, 1)
    alike = pd.DataFrame({"a": [1, 1, 1, 2], "b": list("xxyy")})
    assert distinct_rows(alike).tolist() == [0, 1, 2, 3]
    moved = repeated.iloc[np.random.default_rng(0).permutation(160), ::-1].reset_index(drop=True)
    assert len(distinct_rows(moved)) == 40


def same_everywhere(predicate):
    def attack(release, rng):
        predicates = pd.Series([predicate] * len(release), index=release.index, dtype=object)
        return pd.DataFrame({"predicate": predicates, "confidence": rng.random(len(release))}, index=release.index)

    return Attack("same", "singling_out", attack)


def test_a_predicate_counts_once_whatever_the_order_of_its_conditions():
    real, release = table(1, 20), table(2, 15)

    def attack(release, rng):
        one, other = ("age", ">=", 39), ("flag", "==", True)
        turned = [((one, other), (other, one), (("flag", "==", 1), ("age", ">=", 39.0)))[i % 3] for i in release.index]
        return pd.DataFrame({"predicate": pd.Series(turned), "confidence": 0.5}, index=release.index)

    attacker = Attack("turned", "singling_out", attack)
    found = SINGLING_OUT(real, release, attacker=attacker)
    assert found.details["claims"] == found.records["claim"].sum() == found.records["score"].notna().sum() == 1
    assert found.details["attempts"] == 15
    again = SINGLING_OUT(real, release.sample(frac=1, random_state=0), attacker=attacker).records["score"]
    np.testing.assert_array_equal(again.loc[release.index], found.records["score"])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("n", "m"), [(20, 20), (30, 12), (12, 30), (1, 8), (8, 1)])
def test_isolated_records_are_counted_among_members_and_controls_together(mode, n, m):
    real, control, release = table(3, n), table(4, m), table(5, 40)
    release.iloc[:8] = real.iloc[np.arange(8) % n].to_numpy()
    release = release.astype(real.dtypes.to_dict())
    found = SINGLING_OUT(real, release, mode=mode, control=control)
    alone = SINGLING_OUT(real, release, mode=mode)
    assert found.value == alone.value
    pd.testing.assert_frame_equal(found.records, alone.records)
    people = real.to_dict("records") + control.to_dict("records")
    isolated = set()
    for predicate in (p for p in found.records["predicate"] if p is not None):
        fulfilling = [i for i, row in enumerate(people) if holds(row, predicate)]
        isolated |= set(fulfilling) if len(fulfilling) == 1 else set()
    x, k, d = sum(i < n for i in isolated), len(isolated), found.details
    assert (d["isolated"], d["isolated_members"], d["control"]) == (k, x, n / (n + m))
    flags = isolated_flags(Tables(real, release, control), mode=mode)
    assert (set(np.flatnonzero(flags)), len(flags)) == (isolated, n + m)
    if not k:
        assert math.isnan(d["control_gain"])
        return
    share, chance = x / k, n / (n + m)
    told = d["isolated_share"], d["control_difference"], d["control_gain"]
    assert told == pytest.approx((share, share - chance, (share - chance) / (1 - chance)))
    assert -n / m - 1e-9 <= d["control_gain_lower"] <= d["control_gain"] <= d["control_gain_upper"] <= 1
    assert d["control_lower"] == pytest.approx(d["control_gain_lower"] * (1 - chance))


def test_beside_control_stands_the_guess_with_gain_and_difference():
    found = SINGLING_OUT(table(1, 60), table(2, 50), control=table(3, 40), mode="univariate")
    d, s = found.details, found.details["statistical_confidence"]
    assert (d["guess"], d["guess_difference"]) == (s, pytest.approx(found.value - s))
    assert d["guess_gain"] == pytest.approx(d["confidence_improvement"])
    assert d["guess_lower"] < d["guess_difference"] < d["guess_upper"]
    assert d["guess_gain_lower"] < d["guess_gain"] < d["guess_gain_upper"]


@pytest.mark.parametrize("mode", MODES)
def test_a_sample_of_rows_is_the_same_in_any_order(mode):
    real, release = table(1, 60), table(2, 50)
    options = {"mode": mode, "attempts": 20, "seed": 3}
    first = SINGLING_OUT(real, release, **options)
    attempt, claim = first.records["attempt"], first.records["claim"]
    assert first.details["attempts"] == attempt.sum()
    assert (first.records.index[attempt].nunique(), claim[~attempt].any()) == (20, False)
    moved = real.sample(frac=1, random_state=0).iloc[:, ::-1], release.sample(frac=1, random_state=1)
    second = SINGLING_OUT(*moved, **options)
    assert first.details == second.details
    np.testing.assert_array_equal(second.records["score"].loc[release.index], first.records["score"])
    assert SINGLING_OUT(real, release, **(options | {"attempts": 10**6})).records["attempt"].all()


def wide(seed, n):
    """A table of which about half of the rows have a value of their own."""
    return table(seed, n).assign(number=np.random.default_rng(seed).integers(0, n, n))


@pytest.mark.parametrize("mode", MODES)
def test_the_selective_curve_is_that_of_the_attempts(mode):
    found = SINGLING_OUT(wide(1, 200), wide(2, 150), mode=mode, attempts=120, seed=4)
    made = found.records[found.records["attempt"]]
    assert 30 < made["claim"].sum() <= len(made)
    assert set(made["half"]) == {0, 1}
    sure = made["confidence"].where(made["claim"]).to_numpy(dtype=float)
    points = selective_curve(sure, *(made[c].to_numpy(dtype=float) for c in ("score", "baseline", "half")))
    told = [[found.details[f"selective_{p.share:g}{end}"] for end in ("", "_baseline")] for p in points]
    np.testing.assert_allclose(told, [[p.precision, p.baseline] for p in points], atol=1e-12)
    assert not np.isnan(told).all()


def test_equal_rows_of_the_release_are_in_one_half_that_the_seed_decides():
    real, release = table(1, 60), table(2, 40).iloc[np.arange(120) % 40].reset_index(drop=True)
    made = (SINGLING_OUT(real, release, mode="univariate", seed=s).records for s in (0, 1))
    found, other = (each.groupby(level=0)["half"].first().to_numpy() for each in made)
    assert (found != other).any()
    np.testing.assert_array_equal(found.reshape(3, 40), np.tile(found[:40], (3, 1)))
    assert 0 < found.mean() < 1


def test_default_number_of_attempts():
    release = pd.DataFrame(np.random.default_rng(0).normal(size=(10_100, 2)), columns=["x", "y"])
    given = {10_000: {"attacker": same_everywhere(None)}, 20_200: {"mode": "univariate"}}
    for attempts, options in (given | {10_100: given[10_000] | {"attempts": 10_100}}).items():
        assert SINGLING_OUT(release.iloc[:50], release, **options).details["attempts"] == attempts


def test_many_predicates_are_counted_a_block_at_a_time(monkeypatch):
    real, release = table(1, 37), table(2, 60)
    before = SINGLING_OUT(real, release)
    monkeypatch.setattr("synthrisk.metrics.claims.predicates._CELLS", 300)
    pd.testing.assert_frame_equal(before.records, SINGLING_OUT(real, release).records)


def test_columns_restrict_what_is_seen():
    real, release, seen = table(1, 30), table(2, 30), []

    def spy(release, rng):
        seen.append(release)
        return pd.DataFrame({"predicate": None, "confidence": np.nan}, index=release.index)

    given = {"columns": ["job", "age"], "attacker": Attack("spy", "singling_out", spy)}
    found = SINGLING_OUT(real, release, **given)
    assert (math.isnan(found.value), found.reason) == (True, "the attack made no claim")
    assert (seen[0].columns.tolist(), seen[0].index.tolist()) == (["job", "age"], list(range(30)))
    SINGLING_OUT(table(9, 30), release.sample(frac=1, random_state=0), **given)
    pd.testing.assert_frame_equal(*seen)  # neither real records nor positions are in its order
    for mode in MODES:
        used = SINGLING_OUT(real, release, columns=["age", "pay"], mode=mode).records["predicate"].dropna()
        assert {c for p in used for c, _, _ in p} == {"age", "pay"}


@pytest.mark.parametrize("name", ALIKE | APART)
@pytest.mark.parametrize("mode", MODES)
def test_awkward_tables(name, mode):
    real = (ALIKE | APART)[name]
    found = SINGLING_OUT(real, real, mode=mode, control=real.iloc[:1])
    if name in ALIKE:
        assert (math.isnan(found.value), found.reason) == (True, "the attack made no claim")
        assert np.isnan(found.details["control_difference"])
    else:
        assert found.value == 1


def test_conditions_on_a_column_weigh_together_and_values_unseen_are_nobodys():
    real = pd.DataFrame({"x": range(10)})
    found = SINGLING_OUT(real, real, attacker=same_everywhere((("x", ">=", 3), ("x", "<=", 3))))
    assert (found.value, found.details["statistical_confidence"]) == (1, pytest.approx(10 * 0.1 * 0.9**9))
    real = pd.DataFrame({"c": ["a", "b"], "x": [1, 2]})
    release = pd.DataFrame({"c": ["new", "a", "a"], "x": [7, 1, 1]})
    for condition, value in ((("c", "==", "new"), 0), (("x", ">=", 1.5), 1), (("x", "==", "1"), 0)):
        found = SINGLING_OUT(real, release, attacker=same_everywhere((condition,)))
        assert found.value == value
        assert value or found.details["statistical_confidence"] == 0


def test_a_release_of_other_dtypes_is_compared_by_value():
    real = pd.DataFrame({"c": pd.Categorical([1, 2, 3]), "x": pd.array([1, 2, None], dtype="Int64")})
    release = pd.DataFrame({"c": [1, 2, 2], "x": [1.0, 5.0, np.nan]})
    for mode in MODES:
        found = SINGLING_OUT(real, release, mode=mode)
        for predicate, score in zip(found.records["predicate"], found.records["score"], strict=True):
            if predicate is not None:
                assert score == (count(real.astype({"c": object}), predicate) == 1)
                assert all(operator in ("==", "missing") for c, operator, _ in predicate if c == "c")


SECRET = "Zanzibar"
BAD = {
    "no frame": (lambda release, rng: [SECRET], "DataFrame"),
    "no predicate": (lambda release, rng: pd.DataFrame({"confidence": 1.0}, release.index), "'predicate'"),
    "a text": (SECRET, "predicate"),
    "empty": ((), "predicate"),
    "no conditions": ((SECRET,), "conditions"),
    "a pair": ((("age", SECRET),), "conditions"),
    "no such column": (((SECRET, "==", 1),), "columns that it was handed"),
    "unhashable column": ((([SECRET], "==", 1),), "columns that it was handed"),
    "no such operator": ((("age", SECRET, 1),), "==, <=, >=, missing"),
    "order of words": ((("job", "<=", SECRET),), "'job'"),
    "text as number": ((("age", "<=", SECRET),), "'age'"),
    "a list": ((("job", "==", [SECRET]),), "'job'"),
    "date as number": ((("age", ">=", pd.Timestamp("1999-01-01")),), "'age'"),
}


@pytest.mark.parametrize(("given", "says"), BAD.values(), ids=BAD)
def test_a_foreign_attack_is_checked(given, says):
    real, release = table(1, 10), table(2, 10)
    attack = Attack("bad", "singling_out", given) if callable(given) else same_everywhere(given)
    with pytest.raises(InputError, match=says) as caught:
        SINGLING_OUT(real, release, attacker=attack)
    assert not [word for word in (SECRET, "1999", "\n") if word in str(caught.value)]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mode": "both"}, "mode must be univariate or multivariate, got 'both'"),
        ({"attacker": "nearest_record"}, "attacker must be one of unique_combinations, unique_values, or"),
        ({"size": 2, "mode": "univariate"}, "attack unique_values takes no option 'size'"),
        ({"size": 0}, "size must be a whole number"),
        ({"size": 6}, "size must be a whole number, 1 to the number of columns, 5, got 6"),
        *(({"size": True}, "size must be"), ({"attempts": 0}, "attempts must be")),
        ({"columns": []}, "columns must name at least one column"),
        ({"columns": ["aeg"]}, "columns must name columns of the table, got 'aeg'.*did you mean 'age'"),
    ],
)
def test_bad_options(options, says):
    real, release = table(1, 10), table(2, 10)
    with pytest.raises(InputError, match=says):
        SINGLING_OUT(real, release, **options)


ONE = METRICS["one_person_values"]
JOBS = ["clerk", "clerk", "bishop", "diver", None, "nurse", "nurse"]
PEOPLE = pd.DataFrame({"job": JOBS, "town": ["Ulm"] * 3 + ["Bonn", "Ulm", "Ulm", "Trier"], "age": range(1, 8)})


def jobs(n, *others):
    return pd.DataFrame({"job": [*(f"job {i}" for i in range(n)), *others]})


def test_a_person_counts_where_any_own_level_is_in_the_release_once_an_entity_and_no_number_or_missing_cell():
    release = pd.DataFrame({"job": ["bishop", "clerk", None], "town": ["Ulm", "Trier", "Köln"], "age": [4, 4, 4]})
    score = ONE(PEOPLE, release)
    assert score.records["alone"].tolist() == [False, False, True, True, False, False, True]
    assert (score.records["score"].tolist(), score.value) == ([0, 0, 1, 0, 0, 0, 1], 2 / 7)
    assert (score.details["alone_share"], score.details["released_share"]) == (3 / 7, 2 / 3)
    release = pd.DataFrame({"job": [None, "clerk"], "town": ["Ulm", "Ulm"], "age": [1, 2]})
    assert (ONE(PEOPLE, release).value, ONE(PEOPLE[["age"]], release[["age"]]).value) == (0, 0)
    real = pd.DataFrame({"who": [1, 1, 2, 3], "job": ["bishop", "bishop", "clerk", "clerk"]})
    score = ONE(real, pd.DataFrame({"job": ["bishop"]}), identifier="who")
    assert score.records["score"].tolist() == [1, 1, 0, 0]


def test_one_person_values_of_members_are_told_beside_those_of_control_records():
    own = jobs(400)
    for share in (0.0, 0.5, 1.0):
        release = pd.concat([own[: int(share * 200)], jobs(0, *["clerk"] * 200)])
        score = ONE(own[:200], release, control=own[200:])
        assert (score.value, score.details["control"]) == (share, 0)
        assert score.details["control_gain"] == pytest.approx(share)
    score = ONE(own[:200], own, control=own[200:])  # a list that everybody knows shows no difference
    assert (score.value, score.details["control"]) == (1, 1)
    people, even = jobs(60, *["clerk"] * 40), np.arange(100) % 2 == 0
    planned = [Planned(Measure("one_person_values", "one_person_values"), {})]
    member = pd.array(even, dtype="boolean")
    ledger, _ = attack_release(people, people[even], member, planned, 0, Cell("cart", 0, 0))
    assert ledger.groupby("member")["score"].mean().to_dict() == {True: 0.6, False: 0.0}
