"""Membership claims: by hand, against loops that share no code, extremes known by construction."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier

from samples.distances import distance_of, rows_of
from samples.mixed import drawn
from synthrisk.metrics import ATTACKS, METRICS, Attack, InputError
from synthrisk.metrics.claims.membership import classifier, combined, density_ratio, distance_difference
from synthrisk.metrics.tables.tables import Tables
from synthrisk.tasks.data import read

# groups of several sizes are meant; that it is told is tested with other warnings of control records
pytestmark = pytest.mark.filterwarnings("ignore:membership. .* reads as .* at most:UserWarning")

MEMBERSHIP = METRICS["membership"]
OURS = ["combined", "distance_difference", "density_ratio", "classifier"]


def told(**confidence):
    """Return the attack that says what it is told of each value of x."""

    def attack(release, known, rng):
        return pd.DataFrame({"confidence": [confidence[x] for x in known["x"]]}, index=known.index)

    return Attack("told", "membership", attack)


def by_hand(**confidence):
    """Return scores of the members a, b, c, d, beside control records e, f, and details."""
    real, control = pd.DataFrame({"x": [*"abcd"]}), pd.DataFrame({"x": [*"ef"]})
    found = MEMBERSHIP(real, real, control=control, attacker=told(**confidence))
    assert found.published == found.value == found.records["score"].mean()
    return found.records["score"].tolist(), found.details, found.records["claim"].tolist()


def test_claims_by_hand():
    scores, d, claims = by_hand(a=9, b=8, c=1, d=2, e=7, f=0)
    assert (scores, claims) == ([1, 1, 0, 0], [True, True, False, False])
    due = {"control": 0.5, "control_difference": 0, "attempts": 6, "claims": 3, "correct": 2, "confidence": 2 / 3}
    due |= {"statistical_confidence": 4 / 6, "confidence_improvement": 0, "claim_probability": 0.5}
    due |= {"prior_knowledge": 2, "work": 4 / 3, "auc": (2 + 2 + 1 + 1) / 8, "advantage": 0.5, "tpr_at_0.1": math.nan}
    assert {name: d[name] for name in due} == pytest.approx(due, nan_ok=True)


def test_equal_ones_at_the_cut_share_what_is_left_and_who_abstains_is_never_claimed_and_ranks_last():
    scores, d, _ = by_hand(a=9, b=5, c=5, d=1, e=5, f=5)
    assert (scores, d["control"], d["correct"]) == ([1, 0.5, 0.5, 0], 0.5, 2)
    n = math.nan
    scores, d, _ = by_hand(a=9, b=n, c=n, d=n, e=n, f=0)
    assert (scores, d["control"], d["claims"]) == ([1, 0, 0, 0], 0.5, 2)
    assert d["auc"] == pytest.approx((2 + 3 * 0.5) / 8)
    scores, d, _ = by_hand(**dict.fromkeys("abcdef", n))
    assert (scores, d["claims"], d["auc"], math.isnan(d["confidence"])) == ([0] * 4, 0, 0.5, True)


def test_a_study_tells_the_groups_apart_and_those_that_are_neither_count_nowhere():
    everyone = pd.DataFrame({"x": [*"agbcehdf"]})
    groups = np.array([1, -1, 1, 1, 0, -1, 1, 0])
    attack = told(a=9, b=8, c=1, d=2, e=7, f=0, g=10, h=6)
    found = MEMBERSHIP.score(Tables(everyone, everyone[:4], groups=groups), attacker=attack)
    np.testing.assert_array_equal(found.records["score"], [1, np.nan, 1, 0, 1, np.nan, 0, 0])
    assert [MEMBERSHIP.records.reduce(found.records[groups == g]).value for g in (1, 0)] == [0.5, 0.5]
    assert (found.details["attempts"], "control" in found.details) == (6, False)
    alone = MEMBERSHIP.score(Tables(everyone, everyone[:4], groups=np.array([1, -1] * 4)), attacker=attack)
    assert (math.isnan(alone.value), alone.reason) == (True, "no members or no control records")


@pytest.mark.parametrize("attacker", OURS)
def test_a_study_and_a_call_say_the_same(attacker):
    real, control, release = drawn(4, 60, 30, 50)
    called = MEMBERSHIP(real, release, control=control, attacker=attacker, seed=3)
    order = np.random.default_rng(5).permutation(90)
    everyone = pd.concat([real, control], ignore_index=True).iloc[order]
    groups = np.repeat([1, 0], [60, 30])[order]
    study = MEMBERSHIP.score(Tables(everyone, release, groups=groups), attacker=attacker, seed=3)
    assert MEMBERSHIP.records.reduce(study.records[groups == 1]).value == pytest.approx(called.value, abs=1e-9)
    assert {name: called.details[name] for name in study.details} == pytest.approx(study.details, nan_ok=True)


def test_the_attack_sees_distinct_rows_of_the_declared_columns_in_an_order_that_says_nothing():
    real, control = (table[["c", "flag", "x"]].round(0) for table in drawn(7, 40, 30))
    release, seen = real.iloc[::-1], []

    def spy(release, known, rng):
        seen.append((known, release))
        return pd.DataFrame({"confidence": rng.random(len(known))}, index=known.index)

    attack = Attack("spy", "membership", spy)
    first = MEMBERSHIP(real, release, control=control, attacker=attack, columns=["flag", "c"])
    ((shown, released),) = seen
    distinct = len(pd.concat([real, control])[["c", "flag"]].drop_duplicates())
    assert (shown.columns.tolist(), shown.duplicated().any()) == (["c", "flag"], False)
    assert (shown.index.tolist(), released.index.tolist()) == (list(range(distinct)), list(range(len(release))))
    together = pd.concat([real.assign(group=1), control.assign(group=0)], ignore_index=True)
    together = together.sample(frac=1, random_state=2)
    tables = Tables(together[["x", "flag", "c"]], release.sample(frac=1, random_state=3), groups=together["group"])
    MEMBERSHIP.score(tables, attacker=attack, columns=["c", "flag"])
    for before, after in zip(*seen, strict=True):
        pd.testing.assert_frame_equal(before, after)  # who is a member has no part in it
    key = real[["c", "flag"]].map(str).agg("|".join, axis=1)
    assert first.records.groupby(key)["confidence"].nunique().max() == 1


def brute(known, release):
    away, rows, others = distance_of(known, release, "gower"), rows_of(known), rows_of(release)
    to_release = [sorted(away(a, b) for b in others) for a in rows]
    return to_release, [sorted(away(a, b) for j, b in enumerate(rows) if j != i) for i, a in enumerate(rows)]


@pytest.mark.parametrize("seed", range(4))
def test_distance_difference_equals_plain_loops(seed):
    known, release = drawn(seed, 30, 25)
    release.iloc[:6] = known.iloc[:6]
    to_release, to_targets = brute(known, release)
    found = distance_difference(release, known, np.random.default_rng(0))["confidence"]
    np.testing.assert_allclose(found, [t[0] - s[0] for s, t in zip(to_release, to_targets, strict=True)], atol=1e-10)


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_density_ratio_equals_plain_loops(seed, k):
    known, release = drawn(seed, 30, 25)
    release.iloc[:6] = known.iloc[:6]
    release.iloc[6:9] = known.iloc[0]  # so that the k nearest may all be equal to the target
    to_release, to_targets = brute(known, release)
    radii = [d[k - 1] for d in (*to_release, *to_targets) if d[k - 1] > 0]

    def log_density(distances, n):
        radius = max(distances[k - 1], min(radii) / 2)
        within = sum(d <= distances[k - 1] + 1e-9 for d in distances)
        return math.log(within / n) - 5 * math.log(radius)

    expected = [log_density(s, 25) - log_density(t, 29) for s, t in zip(to_release, to_targets, strict=True)]
    found = density_ratio(release, known, np.random.default_rng(0), neighbours=k)["confidence"]
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_density_ratio_of_levels_alone_is_a_ratio_of_counts():
    known, release = pd.DataFrame({"c": [*"ab"]}), pd.DataFrame({"c": [*"aaaaaabbb"]})
    found = density_ratio(release, known, np.random.default_rng(0), neighbours=2)["confidence"]
    assert found[0] - found[1] == pytest.approx(math.log(6 / 3))


def test_the_classifier_is_sure_of_copies_and_takes_no_part_in_its_own_fold():
    (known,) = drawn(0, 120)
    found = classifier(known.iloc[:60], known, np.random.default_rng(1))["confidence"]
    assert (found[:60] > 0).mean() > 0.95
    assert found[60:].mean() < found[:60].min() + 1
    assert np.isfinite(found).all()
    assert classifier(known, known[:1], np.random.default_rng(1))["confidence"].isna().all()


def test_combined_is_fishers_combination_of_the_ranks_of_the_other_three():
    known, release = drawn(3, 40, 30)
    release.iloc[:8] = known.iloc[:8]
    first, again = (combined(release, known, np.random.default_rng(1)) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    total = first["confidence"] * 3
    for attack in (distance_difference, density_ratio):
        sure = attack(release, known, np.random.default_rng(0))["confidence"]
        total += np.log(1 - (sure.rank() - 0.5) / 40)
    left = total.round(9)
    assert left.between(0, math.log(80)).all()
    # -log(1 - rank) of the third: its ranks again, ties at their mean
    np.testing.assert_allclose(left, -np.log(1 - (left.rank() - 0.5) / 40), atol=1e-6)


@pytest.mark.parametrize(("records", "trees"), [(30_000, 25), (60_000, 20), (150_000, 8)])
def test_long_tables_grow_fewer_trees_and_copies_still_rank_first(records, trees, monkeypatch):
    grown = []

    class Counted(ExtraTreesClassifier):
        def fit(self, rows, labels):
            grown.append(self.n_estimators)
            return super().fit(rows, labels)

    monkeypatch.setattr("synthrisk.metrics.claims.membership.ExtraTreesClassifier", Counted)
    cells = np.random.default_rng(0).random((records + records // 2, 2))
    known, release = pd.DataFrame(cells[:records]), pd.DataFrame(cells[records:])
    release.iloc[: records // 100] = known.iloc[: records // 100]
    found = combined(release, known, np.random.default_rng(1))["confidence"].rank()
    assert grown == [trees, trees]
    assert (found[: records // 100] > 0.95 * records).mean() > 0.95


def test_one_attack_is_the_default_and_details_say_both_directions():
    table, control = drawn(0, 30, 30)
    settings = MEMBERSHIP(table, table, control=control).settings
    assert settings["attacker"] == MEMBERSHIP.default("attacker") == "combined"
    real, control = pd.DataFrame({"x": np.arange(200)}), pd.DataFrame({"x": np.arange(200) + 1000})
    attack = Attack("low", "membership", lambda release, known, rng: known[["x"]].rename(columns={"x": "confidence"}))
    found = MEMBERSHIP(real, control, control=control, attacker=attack).details
    assert (found["tpr_at_0.1"], found["missing_tpr_at_0.1"]) == (0, 1)
    assert found["missing_tpr_at_0.1_lower"] > 0.9


@pytest.mark.parametrize("attack", [combined, distance_difference, density_ratio, classifier])
def test_one_target_one_record(attack):
    (table,) = drawn(0, 4)
    for known, release in ((table[:1], table[1:2]), (table[:1], table), (table, table[:1]), (table[:2], table[:2])):
        found = attack(release, known, np.random.default_rng(0))
        assert (np.isinf(found["confidence"]).any(), found.index.equals(known.index)) == (False, True)


def people(kind, n):
    """Return people without twins: of Adult, with levels alone, or with numbers alone."""
    rng = np.random.default_rng(8)
    if kind == "adult":
        return read("adult").drop_duplicates().sample(n, random_state=0).reset_index(drop=True)
    if kind == "levels":
        group = rng.integers(0, 3, (n, 1))
        codes = (group + rng.integers(0, 4, (n, 12))) % 6
        return pd.DataFrame(np.array([*"abcdef"])[codes], columns=[f"c{i}" for i in range(12)])
    return pd.DataFrame(rng.normal(size=(n, 1)) + rng.normal(size=(n, 6)), columns=[*"uvwxyz"])


@pytest.mark.parametrize("attacker", [name for name, attack in ATTACKS.items() if attack.kind == "membership"])
@pytest.mark.parametrize(("kind", "members"), [("adult", 200), ("levels", 320), ("numbers", 320)])
def test_every_installed_attack_sees_a_copy(kind, attacker, members):
    table = people(kind, 400)
    assert not table.duplicated().any()
    release = table[:members].sample(frac=1, random_state=1)
    found = MEMBERSHIP(table[:members], release, control=table[members:], attacker=attacker)
    assert found.details["auc"] >= 0.95


@pytest.mark.proof
@pytest.mark.parametrize(
    ("attacker", "seeds"), [("distance_difference", 60), ("density_ratio", 40), ("classifier", 16), ("combined", 25)]
)
@pytest.mark.parametrize("controls", [20, 60])
def test_a_release_made_of_others_shows_no_difference(attacker, seeds, controls):
    found = []
    for seed in range(seeds):
        real, release, control = drawn([seed, controls], 60, 60, controls)
        score = MEMBERSHIP(real, release, control=control, attacker=attacker, claim_share=0.3, seed=seed)
        found.append((score.value, score.details["control"], score.details["auc"]))
    members, control, auc = np.array(found).T
    error = (members - control).std() / math.sqrt(seeds)
    assert abs((members - control).mean()) < 3.5 * error
    assert abs(auc.mean() - 0.5) < 3.5 * auc.std() / math.sqrt(seeds)


@pytest.mark.parametrize("attacker", ["distance_difference", "classifier", "combined"])
def test_more_members_released_is_more_risk(attacker):
    real, other, control = drawn(4, 150, 150, 150)
    releases = [pd.concat([real[:k], other[k:]]) for k in (0, 50, 150)]
    scores = [MEMBERSHIP(real, release, control=control, attacker=attacker) for release in releases]
    for values in ([s.value for s in scores], [s.details["auc"] for s in scores]):
        assert values == sorted(values)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"attacker": "distance"}, "attacker must be one of classifier, .*did you mean"),
        ({"attacker": "key_class"}, "attacker must be one of classifier, .*, got 'key_class'"),
        ({"neighbours": 2}, "attack combined takes no option 'neighbours'"),
        ({"attacker": "density_ratio", "neighbours": 0}, "neighbours must be a whole number"),
        ({"claim_share": 0}, r"claim_share must be a number in \(0, 1\), got 0"),
        *(({"claim_share": share}, "claim_share must be") for share in (1.0, True, math.nan)),
        ({"columns": ["z"]}, "columns must name columns of the table, got 'z'"),
        ({"columns": []}, "columns must name at least one"),
    ],
)
def test_bad_options(options, says):
    (table,) = drawn(0, 10)
    with pytest.raises(InputError, match=says):
        MEMBERSHIP(table, table, control=table, **options)


def test_at_most_the_claims_can_be_members_and_without_control_there_is_nobody_to_tell_from():
    real, control = drawn(2, 160, 40)
    assert MEMBERSHIP(real, real, control=control).value == pytest.approx(0.5 / 0.8)
    assert MEMBERSHIP(real, real, control=control, claim_share=0.8).details["control_difference"] > 0.95
    (table,) = drawn(0, 10)
    with pytest.raises(InputError, match="membership needs the argument control"):
        MEMBERSHIP(table, table)
    found = MEMBERSHIP.score(Tables(table, table))
    assert (math.isnan(found.value), found.reason) == (True, "no members or no control records")
