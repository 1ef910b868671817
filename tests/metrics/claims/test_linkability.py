"""Linkability claims: by hand, against plain loops that share no code, and what a foreign attack may and may not do."""

import numpy as np
import pandas as pd
import pytest

from samples.awkward import ALIKE, APART
from samples.cells import same
from samples.distances import distances_between
from synthrisk.metrics import METRICS, Attack, InputError
from synthrisk.metrics.claims.linkability import shared_neighbour
from synthrisk.tasks.data import read

LINKABILITY = METRICS["linkability"]
A, B = ["age", "job"], ["town", "pay"]
BOTH = {"columns_a": A, "columns_b": B}


def tables(seed, n=30, m=25):
    rng = np.random.default_rng(seed)

    def table(rows):
        ages, jobs = rng.integers(20, 26, rows), rng.choice(["a", "b", "c", None], rows, p=[0.4, 0.3, 0.2, 0.1])
        towns = rng.choice(["Ulm", "Łódź", 'O"Hara'], rows)
        pay = np.where(rng.random(rows) < 0.1, np.nan, rng.integers(0, 5, rows) * 100.0)
        return pd.DataFrame({"age": ages, "job": jobs, "town": towns, "pay": pay})

    return table(n), table(m)


def of_letters(real, release, **options):
    """Return the score of linking a column ``a`` with a column ``b``."""
    return LINKABILITY(real, release, columns_a=["a"], columns_b=["b"], **options)


def spied(shown, match=None, confidence=np.nan):
    """Return an attack that keeps what it is shown, and claims the same of everybody."""

    def spy(release, part_a, part_b, rng):
        shown.append((part_a, part_b, release))
        return pd.DataFrame({"match": match, "confidence": confidence}, index=part_a.index)

    return Attack("spy", "linkability", spy)


def nearest(away, k):
    limit = sorted(away)[k - 1] + 1e-9
    return {i: d for i, d in enumerate(away) if d <= limit}


def brute(part_a, part_b, release, k):
    """Return for each A part the B parts that may be claimed, and the confidence, by plain loops."""
    to_a, to_b = (distances_between(part, release, "gower", list(part)) for part in (part_a, part_b))
    of_b = [nearest(away, k) for away in to_b]
    found = []
    for away in to_a:
        own = nearest(away, k)
        ways = [{i: own[i] + rows[i] for i in own if i in rows} for rows in of_b]
        if not any(ways):
            found.append(([], np.nan))
            continue
        shortest = min(way for to_b in ways for way in to_b.values()) + 1e-9
        leading = [{i for i, way in to_b.items() if way <= shortest} for to_b in ways]
        most = max(map(len, leading))
        confidence = most / len(set().union(*leading)) * (1 - shortest / 2)
        found.append(([j for j, rows in enumerate(leading) if len(rows) == most], confidence))
    return found


@pytest.mark.parametrize("neighbours", [1, 2, 7, 25])
@pytest.mark.parametrize("seed", range(5))
def test_the_attack_equals_plain_loops(seed, neighbours):
    real, release = tables(seed)
    part_a, part_b = (real[c].drop_duplicates(ignore_index=True) for c in (A, B))
    found = shared_neighbour(release, part_a, part_b, np.random.default_rng(0), neighbours=neighbours)
    due = brute(part_a, part_b, release, neighbours)
    for (best, confidence), match, given in zip(due, found["match"], found["confidence"], strict=True):
        assert match in best if best else pd.isna(match)
        assert not best or given == pytest.approx(confidence, abs=1e-8)


def test_equal_matches_are_drawn_evenly():
    release = pd.DataFrame({"a": ["x"] * 4, "b": ["p", "p", "q", "q"]})
    parts = pd.DataFrame({"a": ["x"]}), pd.DataFrame({"b": ["p", "q", "r"]})  # r is in no record: the way is longer
    drawn = [shared_neighbour(release, *parts, np.random.default_rng(s))["match"].item() for s in range(200)]
    assert 70 < sum(drawn) < 130
    assert set(drawn) == {0, 1}


def wide(rows, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({c: rng.normal(size=rows).round(1) for c in "abcd"} | {"e": rng.choice(list("xyz"), rows)})


def adult(rows, seed):
    columns = ["age", "education", "hours_per_week", "sex", "occupation", "race", "marital_status", "native_country"]
    return read("adult")[columns].sample(rows, random_state=seed, ignore_index=True)


@pytest.mark.parametrize("made", [wide, adult])
def test_of_a_copy_more_neighbours_link_as_many(made):
    table = made(500, 1)
    real, control, columns = table.iloc[:300], table.iloc[300:], list(table.columns)
    half = len(columns) // 2
    options = {"columns_a": columns[:half], "columns_b": columns[half:], "control": control}
    one = LINKABILITY(real, real, **options)
    assert one.details["control_lower"] > 0
    for k in (2, 10):
        assert LINKABILITY(real, real, neighbours=k, **options).value >= 0.9 * one.value


@pytest.mark.parametrize("k", [1, 5])
def test_of_new_people_members_are_linked_no_oftener(k):
    differences = []
    for seed in range(12):
        table = wide(240, seed)
        real, control, release = table[:80], table[80:160], table[160:]
        options = {"columns_a": ["a", "e"], "columns_b": ["b", "c"], "neighbours": k, "control": control}
        differences.append(LINKABILITY(real, release, **options).details["control_difference"])
    assert abs(np.mean(differences)) < 3 * np.std(differences) / np.sqrt(12) + 1e-9
    assert np.std(differences) > 0


def test_pairs_are_held_a_block_at_a_time(monkeypatch):
    real, release = tables(2)
    before = LINKABILITY(real, release, **BOTH, neighbours=5)
    monkeypatch.setattr("synthrisk.metrics.claims.linkability._PAIRS", 40)
    after = LINKABILITY(real, release, **BOTH, neighbours=5)
    pd.testing.assert_frame_equal(before.records.drop(columns="score"), after.records.drop(columns="score"))


@pytest.mark.parametrize("seed", range(6))
def test_the_framework_counts_by_value(seed):
    real, release = tables(seed)
    seen = {}

    def odd(release, part_a, part_b, rng):
        seen.update(part_b=part_b)
        match = [int(x) % len(part_b) if x % 2 else None for x in part_a["age"]]
        return pd.DataFrame({"match": match, "confidence": 0.5}, index=part_a.index)

    found = LINKABILITY(real, release, **BOTH, attacker=Attack("odd", "linkability", odd))
    part_b, right, shares, rows = seen["part_b"], [], [], real.to_dict("records")
    for i, row in enumerate(rows):
        record = found.records.iloc[i]
        assert record["claim"] == (row["age"] % 2 == 1)
        if not row["age"] % 2:
            assert record[["score", "baseline"]].isna().all()
            continue
        claimed = part_b.iloc[int(row["age"]) % len(part_b)]
        right.append(all(same(claimed[c], row[c]) for c in B))
        shares.append(np.mean([all(same(claimed[c], r[c]) for c in B) for r in rows]))
        told = record["score"], record["baseline"], record["confidence"]
        assert told == (right[-1], pytest.approx(shares[-1]), 0.5)
    c, s, n, claims = np.mean(right), np.mean(shares), len(real), len(right)
    assert found.value == found.published == pytest.approx(c)
    due = {"attempts": n, "claims": claims, "correct": sum(right), "statistical_confidence": s, "guess": s}
    due |= {"confidence_improvement": (c - s) / (1 - s), "claim_probability": claims / n, "susceptibility": 1}
    due |= {"prior_knowledge": 4 * n / claims, "work": release.size / claims}
    due |= {"constant_guess": real[B].value_counts(dropna=False).max() / n}
    assert {name: found.details[name] for name in due} == pytest.approx(due)


def test_control_parts_are_candidates_too():
    (real, release), (control, _), seen = tables(8), tables(9, n=12), []
    found = LINKABILITY(real, release, **BOTH, control=control)
    d, c = found.details, found.details["control"]
    assert d["control_gain"] == pytest.approx((found.value - c) / (1 - c))
    assert d["control_lower"] < found.value - c < d["control_upper"]
    assert "control_claims" in d
    LINKABILITY(real, release, **BOTH, control=control, attacker=spied(seen, 0, 0.5))
    both = pd.concat([real, control])
    for (*parts, shown), people, released in zip(seen, (both, real), (release, control), strict=True):
        assert len(shown) == len(released)  # where control is the release, its parts are no candidates
        for part, columns in zip(parts, (A, B), strict=True):
            distinct = len(people[columns].drop_duplicates())
            assert (part.columns.tolist(), part.index.tolist()) == (columns, list(range(distinct)))
            assert not part.duplicated().any()


def test_what_an_attack_is_shown_says_nothing_of_who_belongs_to_whom():
    (real, release), shown = tables(4), []
    other = pd.concat([real[A], real[B].sample(frac=1, random_state=0).set_axis(real.index)], axis=1)
    for each in (real, other):
        assert np.isnan(LINKABILITY(each, release, **BOTH, attacker=spied(shown)).value)
    for one, two in zip(*shown, strict=True):
        pd.testing.assert_frame_equal(one, two)


def test_a_sample_of_targets_is_the_same_in_any_order():
    real, release = tables(5)
    options = BOTH | {"attempts": 10, "seed": 7}
    first = LINKABILITY(real, release, **options)
    order = np.random.default_rng(1).permutation(len(real))
    second = LINKABILITY(real.iloc[order], release.sample(frac=1, random_state=3), **options)
    assert (first.details["attempts"], first.details) == (10, second.details)
    assert LINKABILITY(real, release, **(options | {"attempts": 10**6})).details["attempts"] == len(real)


PARTS = {name: table for name, table in (ALIKE | APART).items() if "b" in table}


@pytest.mark.parametrize("name", PARTS)
def test_awkward_tables(name):
    real = PARTS[name]
    found = of_letters(real, real, control=real.iloc[:1])
    assert found.details["attempts"] == len(real)
    if name in ALIKE or len(real) == 1:
        assert (found.value, found.details["statistical_confidence"]) == (1, 1)
    elif len(real) == 2:
        assert found.value == 1
        assert found.records["baseline"].tolist() in ([1 / 3, 2 / 3], [2 / 3, 1 / 3])


def test_where_no_record_is_shared_it_abstains_and_unseen_levels_are_near_nothing_in_particular():
    real = pd.DataFrame({"a": [1, 9], "b": [1, 9]})
    # a = 1 has row 0, which b = 9 has too; a = 9 has row 1, which b = 1 has
    found = of_letters(real, pd.DataFrame({"a": [1, 9], "b": [9, 5]}))
    assert found.records["score"].tolist() == [0, 0]
    assert of_letters(real.iloc[:1], pd.DataFrame({"a": [1, 9], "b": [4, 6]})).value == 1
    found = of_letters(real.iloc[:1], pd.DataFrame({"a": [9, 1], "b": [1, 9]}))
    assert (np.isnan(found.value), found.reason) == (True, "the attack made no claim")
    real = pd.DataFrame({"a": ["new", "x"], "b": ["p", "q"]})
    found = of_letters(real, pd.DataFrame({"a": ["x", "y"], "b": ["q", "p"]})).records
    assert (found["score"].tolist()[1], found["confidence"].tolist()) == (1, [0.5 * 0.5, 1])


LABELS = "index labels of part_b"
WRONG = ("one too many", "Ulm", 0.5, ["Ulm"])


@pytest.mark.parametrize(
    ("match", "says"), [("no frame", "DataFrame"), ("no match", "'match'"), *((each, LABELS) for each in WRONG)]
)
def test_a_foreign_attack_is_checked(match, says):
    def bad(release, part_a, part_b, rng):
        if match == "no frame":
            return [1]
        given = len(part_b) if match == "one too many" else match
        matches = {} if match == "no match" else {"match": pd.Series([given] * len(part_a), part_a.index)}
        return pd.DataFrame({"confidence": 1.0} | matches, part_a.index)

    with pytest.raises(InputError, match=says) as caught:
        LINKABILITY(*tables(1), **BOTH, attacker=Attack("bad", "linkability", bad))
    assert "Ulm" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"attacker": "key_class"}, "attacker must be one of shared_neighbour"),
        ({"neighbours": 0}, "neighbours must be a whole number"),
        ({"neighbours": 26}, "neighbours must be a whole number, 1 to the number of synthetic records, 25"),
        ({"attempts": 0}, "attempts must be"),
        ({"columns_a": ["age", "town"]}, "columns_a and columns_b must be different columns, got 'town' in both"),
        ({"columns_a": []}, "columns_a must name at least one column"),
        ({"columns_b": ["twon"]}, "columns_b must name columns of the table, got 'twon'.*did you mean 'town'"),
        ({"columns_a": None}, "linkability needs the argument columns_a"),
    ],
)
def test_bad_options(options, says):
    real, release = tables(1)
    with pytest.raises(InputError, match=says):
        LINKABILITY(real, release, **(BOTH | options))


def test_options_are_checked_before_there_are_tables():
    for columns, options in ((["x"], {}), (["y"], {"neighbours": 0})):
        with pytest.raises(InputError):
            LINKABILITY.check_choices({"columns_a": ["x"], "columns_b": columns} | options)
