"""Membership claims: by hand, against loops that share no code, extremes known by construction."""

import math

import numpy as np
import pandas as pd
import pytest

from samples.distances import distance_of, rows_of
from synthrisk.metrics import ATTACKS, METRICS, Attack, InputError
from synthrisk.metrics.claims.membership import classifier, combined, density_ratio, distance_difference
from synthrisk.metrics.tables.tables import Tables
from synthrisk.tasks.data import read

# groups of several sizes are meant; that it is told is tested with other warnings of control records
pytestmark = pytest.mark.filterwarnings("ignore:membership. .* reads as .* at most:UserWarning")

MEMBERSHIP = METRICS["membership"]
OURS = ["combined", "distance_difference", "density_ratio", "classifier"]


def draw(rng, n):
    x = rng.normal(size=n)
    return pd.DataFrame(
        {
            "x": x.round(2),
            "y": np.where(rng.random(n) < 0.1, np.nan, (x + rng.normal(size=n)).round(2)),
            "c": np.where(rng.random(n) < 0.1, None, rng.choice([*"abc"], n)),
            "flag": rng.random(n) < 0.5,
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D"),
        }
    )


def told(**confidence):
    """Return the attack that says what it is told of each value of x."""

    def attack(release, known, rng):
        return pd.DataFrame({"confidence": [confidence[x] for x in known["x"]]}, index=known.index)

    return Attack("told", "membership", attack)


def test_claims_by_hand():
    real, control = pd.DataFrame({"x": [*"abcd"]}), pd.DataFrame({"x": [*"ef"]})
    attack = told(a=9, b=8, c=1, d=2, e=7, f=0)
    found = MEMBERSHIP(real, real, control=control, attacker=attack)
    assert found.records["score"].tolist() == [1, 1, 0, 0]
    assert found.records["claim"].tolist() == [True, True, False, False]
    d = found.details
    assert found.value == found.published == 0.5
    assert (d["control"], d["control_difference"], d["attempts"], d["claims"], d["correct"]) == (0.5, 0, 6, 3, 2)
    assert (d["confidence"], d["statistical_confidence"]) == (pytest.approx(2 / 3), pytest.approx(4 / 6))
    assert (d["confidence_improvement"], d["claim_probability"]) == (pytest.approx(0), 0.5)
    assert (d["prior_knowledge"], d["work"]) == (2, pytest.approx(4 / 3))
    assert (d["auc"], d["advantage"]) == (pytest.approx((2 + 2 + 1 + 1) / 8), 0.5)
    assert math.isnan(d["tpr_at_0.1"])


def test_equal_ones_at_the_cut_share_what_is_left():
    real, control = pd.DataFrame({"x": [*"abcd"]}), pd.DataFrame({"x": [*"ef"]})
    found = MEMBERSHIP(real, real, control=control, attacker=told(a=9, b=5, c=5, d=1, e=5, f=5))
    assert (found.records["score"].tolist(), found.value) == ([1, 0.5, 0.5, 0], 0.5)
    assert (found.details["control"], found.details["correct"]) == (0.5, 2)


def test_who_abstains_is_never_claimed_and_ranks_last():
    real, control = pd.DataFrame({"x": [*"abcd"]}), pd.DataFrame({"x": [*"ef"]})
    n = math.nan
    found = MEMBERSHIP(real, real, control=control, attacker=told(a=9, b=n, c=n, d=n, e=n, f=0))
    assert (found.records["score"].tolist(), found.details["control"]) == ([1, 0, 0, 0], 0.5)
    assert (found.details["claims"], found.details["auc"]) == (2, pytest.approx((2 + 3 * 0.5) / 8))
    silent = MEMBERSHIP(real, real, control=control, attacker=told(**dict.fromkeys("abcdef", n)))
    assert (silent.value, silent.details["claims"]) == (0, 0)
    assert math.isnan(silent.details["confidence"])
    assert silent.details["auc"] == 0.5


def test_a_study_tells_the_groups_apart_and_those_that_are_neither_count_nowhere():
    everyone = pd.DataFrame({"x": [*"agbcehdf"]})
    groups = np.array([1, -1, 1, 1, 0, -1, 1, 0])
    attack = told(a=9, b=8, c=1, d=2, e=7, f=0, g=10, h=6)
    found = MEMBERSHIP.score(Tables(everyone, everyone[:4], groups=groups), attacker=attack)
    scores = found.records["score"].to_numpy()
    np.testing.assert_array_equal(scores, [1, np.nan, 1, 0, 1, np.nan, 0, 0])
    assert MEMBERSHIP.records.reduce(found.records[groups == 1]).value == 0.5
    assert (MEMBERSHIP.records.reduce(found.records[groups == 0]).value, found.details["attempts"]) == (0.5, 6)
    assert "control" not in found.details
    alone = MEMBERSHIP.score(Tables(everyone, everyone[:4], groups=np.array([1, -1] * 4)), attacker=attack)
    assert math.isnan(alone.value)
    assert alone.reason == "no members or no control records"


def test_a_study_and_a_call_say_the_same():
    rng = np.random.default_rng(4)
    real, control, release = draw(rng, 60), draw(rng, 30), draw(rng, 50)
    for attacker in OURS:
        called = MEMBERSHIP(real, release, control=control, attacker=attacker, seed=3)
        order = rng.permutation(90)
        everyone = pd.concat([real, control], ignore_index=True).iloc[order]
        groups = np.repeat([1, 0], [60, 30])[order]
        study = MEMBERSHIP.score(Tables(everyone, release, groups=groups), attacker=attacker, seed=3)
        assert MEMBERSHIP.records.reduce(study.records[groups == 1]).value == pytest.approx(called.value, abs=1e-9)
        for name, value in study.details.items():
            assert called.details[name] == pytest.approx(value, nan_ok=True), name


SEEN = {}


def spy(release, known, rng):
    SEEN.update(release=release, known=known)
    return pd.DataFrame({"confidence": rng.random(len(known))}, index=known.index)


def test_the_attack_sees_distinct_rows_of_the_declared_columns_in_an_order_that_says_nothing():
    rng = np.random.default_rng(7)
    real, control, release = draw(rng, 40)[["c", "flag", "x"]].round(0), draw(rng, 30)[["c", "flag", "x"]].round(0), 0
    release = real.iloc[::-1]
    attack = Attack("spy", "membership", spy)
    first = MEMBERSHIP(real, release, control=control, attacker=attack, columns=["flag", "c"])
    shown, released = SEEN["known"], SEEN["release"]
    assert shown.columns.tolist() == ["c", "flag"]
    assert not shown.duplicated().any()
    assert len(shown) == len(pd.concat([real, control])[["c", "flag"]].drop_duplicates())
    assert (shown.index.tolist(), released.index.tolist()) == (list(range(len(shown))), list(range(len(release))))
    together = pd.concat([real.assign(group=1), control.assign(group=0)], ignore_index=True).sample(
        frac=1, random_state=2
    )
    tables = Tables(together[["x", "flag", "c"]], release.sample(frac=1, random_state=3), groups=together["group"])
    MEMBERSHIP.score(tables, attacker=attack, columns=["c", "flag"])
    pd.testing.assert_frame_equal(SEEN["known"], shown)  # who is a member has no part in it
    pd.testing.assert_frame_equal(SEEN["release"], released)
    key = real[["c", "flag"]].map(str).agg("|".join, axis=1)
    assert first.records.groupby(key)["confidence"].nunique().max() == 1


def brute(known, release):
    away, rows, others = distance_of(known, release, "gower"), rows_of(known), rows_of(release)
    to_release = [sorted(away(a, b) for b in others) for a in rows]
    return to_release, [sorted(away(a, b) for j, b in enumerate(rows) if j != i) for i, a in enumerate(rows)]


@pytest.mark.parametrize("seed", range(4))
def test_distance_difference_equals_plain_loops(seed):
    rng = np.random.default_rng(seed)
    known, release = draw(rng, 30), draw(rng, 25)
    release.iloc[:6] = known.iloc[:6]
    to_release, to_targets = brute(known, release)
    found = distance_difference(release, known, rng)["confidence"]
    np.testing.assert_allclose(found, [t[0] - s[0] for s, t in zip(to_release, to_targets, strict=True)], atol=1e-10)


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_density_ratio_equals_plain_loops(seed, k):
    rng = np.random.default_rng(seed)
    known, release = draw(rng, 30), draw(rng, 25)
    release.iloc[:6] = known.iloc[:6]
    release.iloc[6:9] = known.iloc[0]  # so that the k nearest may all be equal to the target
    to_release, to_targets = brute(known, release)
    radii = [d[k - 1] for d in (*to_release, *to_targets) if d[k - 1] > 0]

    def log_density(distances, n):
        radius = max(distances[k - 1], min(radii) / 2)
        within = sum(d <= distances[k - 1] + 1e-9 for d in distances)
        return math.log(within / n) - 5 * math.log(radius)

    expected = [log_density(s, 25) - log_density(t, 29) for s, t in zip(to_release, to_targets, strict=True)]
    found = density_ratio(release, known, rng, neighbours=k)["confidence"]
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_density_ratio_of_levels_alone_is_a_ratio_of_counts():
    known, release = pd.DataFrame({"c": [*"ab"]}), pd.DataFrame({"c": [*"aaaaaabbb"]})
    found = density_ratio(release, known, np.random.default_rng(0), neighbours=2)["confidence"]
    assert found[0] - found[1] == pytest.approx(math.log(6 / 3))


def test_the_classifier_is_sure_of_copies_and_takes_no_part_in_its_own_fold():
    rng = np.random.default_rng(0)
    known = draw(rng, 120)
    found = classifier(known.iloc[:60], known, np.random.default_rng(1))["confidence"]
    assert (found[:60] > 0).mean() > 0.95
    assert found[60:].mean() < found[:60].min() + 1
    assert np.isfinite(found).all()
    assert classifier(known, known[:1], np.random.default_rng(1))["confidence"].isna().all()


def test_combined_is_fishers_combination_of_the_ranks_of_the_other_three():
    rng = np.random.default_rng(3)
    known, release = draw(rng, 40), draw(rng, 30)
    release.iloc[:8] = known.iloc[:8]
    total = combined(release, known, np.random.default_rng(1))["confidence"] * 3
    for attack in (distance_difference, density_ratio):
        sure = attack(release, known, rng)["confidence"]
        total += np.log(1 - (sure.rank() - 0.5) / 40)
    left = total.round(9)
    assert left.between(0, math.log(80)).all()
    assert left.groupby(left).size().sum() == 40
    votes = left.rank()  # -log(1 - rank) of the third: its ranks again, ties at their mean
    np.testing.assert_allclose(left, -np.log(1 - (votes - 0.5) / 40), atol=1e-6)
    again = combined(release, known, np.random.default_rng(1))
    pd.testing.assert_frame_equal(again, combined(release, known, np.random.default_rng(1)))


def test_one_attack_is_the_default_wherever_none_is_named():
    table = draw(np.random.default_rng(0), 30)
    assert MEMBERSHIP(table, table, control=draw(np.random.default_rng(1), 30)).settings["attacker"] == "combined"
    assert MEMBERSHIP.default("attacker") == "combined"


def test_details_say_both_directions():
    real, control = pd.DataFrame({"x": np.arange(200)}), pd.DataFrame({"x": np.arange(200) + 1000})
    attack = Attack("low", "membership", lambda release, known, rng: known[["x"]].rename(columns={"x": "confidence"}))
    found = MEMBERSHIP(real, control, control=control, attacker=attack).details
    assert (found["tpr_at_0.1"], found["missing_tpr_at_0.1"]) == (0, 1)
    assert found["missing_tpr_at_0.1_lower"] > 0.9


@pytest.mark.parametrize("attack", [combined, distance_difference, density_ratio, classifier])
def test_one_target_one_record(attack):
    table = draw(np.random.default_rng(0), 4)
    for known, release in ((table[:1], table[1:2]), (table[:1], table), (table, table[:1]), (table[:2], table[:2])):
        found = attack(release, known, np.random.default_rng(0))
        assert not np.isinf(found["confidence"]).any()
        assert found.index.equals(known.index)


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
    real, control = table[:members], table[members:]
    release = real.sample(frac=1, random_state=1)
    assert MEMBERSHIP(real, release, control=control, attacker=attacker).details["auc"] >= 0.95


def test_at_most_the_claims_can_be_members():
    rng = np.random.default_rng(2)
    real, control = draw(rng, 160), draw(rng, 40)
    assert MEMBERSHIP(real, real, control=control).value == pytest.approx(0.5 / 0.8)
    assert MEMBERSHIP(real, real, control=control, claim_share=0.8).details["control_difference"] > 0.95


@pytest.mark.proof
@pytest.mark.parametrize(
    ("attacker", "seeds"), [("distance_difference", 60), ("density_ratio", 40), ("classifier", 16), ("combined", 25)]
)
@pytest.mark.parametrize("controls", [20, 60])
def test_a_release_made_of_others_shows_no_difference(attacker, seeds, controls):
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, controls])
        score = MEMBERSHIP(
            draw(rng, 60), draw(rng, 60), control=draw(rng, controls), attacker=attacker, claim_share=0.3, seed=seed
        )
        found.append((score.value, score.details["control"], score.details["auc"]))
    members, control, auc = np.array(found).T
    error = (members - control).std() / math.sqrt(seeds)
    assert abs((members - control).mean()) < 3.5 * error
    assert abs(auc.mean() - 0.5) < 3.5 * auc.std() / math.sqrt(seeds)


@pytest.mark.parametrize("attacker", ["distance_difference", "classifier", "combined"])
def test_more_members_released_is_more_risk(attacker):
    rng = np.random.default_rng(4)
    real, other, control = draw(rng, 150), draw(rng, 150), draw(rng, 150)
    scores = [
        MEMBERSHIP(real, pd.concat([real[:k], other[k:]]), control=control, attacker=attacker) for k in (0, 50, 150)
    ]
    for values in ([s.value for s in scores], [s.details["auc"] for s in scores]):
        assert values == sorted(values)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"attacker": "distance"}, "attacker must be one of classifier, .*did you mean"),
        ({"attacker": 3}, "attacker must be an attack of the kind membership, got int"),
        ({"attacker": "key_class"}, "attacker must be one of classifier, .*, got 'key_class'"),
        ({"neighbours": 2}, "attack combined takes no option 'neighbours'"),
        ({"attacker": "density_ratio", "neighbours": 0}, "neighbours must be a whole number"),
        ({"claim_share": 0}, r"claim_share must be a number in \(0, 1\), got 0"),
        ({"claim_share": 1.0}, "claim_share must be"),
        ({"claim_share": True}, "claim_share must be"),
        ({"claim_share": math.nan}, "claim_share must be"),
        ({"columns": ["z"]}, "columns must name columns of the table, got 'z'"),
        ({"columns": []}, "columns must name at least one"),
    ],
)
def test_bad_options(options, says):
    table = draw(np.random.default_rng(0), 10)
    with pytest.raises(InputError, match=says):
        MEMBERSHIP(table, table, control=table, **options)


def test_without_control_there_is_nobody_to_tell_from():
    table = draw(np.random.default_rng(0), 10)
    with pytest.raises(InputError, match="membership needs the argument control"):
        MEMBERSHIP(table, table)
    found = MEMBERSHIP.score(Tables(table, table))
    assert math.isnan(found.value)
    assert found.reason == "no members or no control records"
