"""Verbatim rows, and control records that are few or no strangers, against plain loops and draws, and in a call."""

import math
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS, InputError, Tables
from synthrisk.metrics.release.matches import chance_of_twin, strangers, verbatim


def equal(a, b):
    return (pd.isna(a) and pd.isna(b)) or a == b


def has_equal(row, table):
    return any(all(equal(row[c], other[c]) for c in table.columns) for _, other in table.iterrows())


def ugly(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"n": rng.choice([1.5, np.nan, -0.0], rows), "big": rng.choice([2**60, 2**60 + 1], rows)})
    table["text"] = pd.Series(rng.choice(["", " ", "ä\u0308", "ä", None], rows), dtype=object)
    table["flag"] = rng.choice([True, False], rows)
    return table.assign(day=pd.to_datetime(rng.choice(["2020-01-01", "2020-01-02"], rows)))


@pytest.mark.parametrize("seed", range(3))
def test_counts_against_a_plain_loop(seed):
    members, control, release = ugly(30, seed), ugly(20, seed + 10), ugly(40, seed + 20)
    found = verbatim(Tables(members, release, control).with_control())
    for told, rows, others in (
        *((found.rows_of_members, release, members), (found.rows_of_controls, release, control)),
        *((found.members, members, release), (found.controls, control, release)),
    ):
        assert (told.count, told.of) == (sum(has_equal(row, others) for _, row in rows.iterrows()), len(rows))


def test_chance_of_a_twin_against_all_ways_to_draw_others():
    people = list("aaabbc")
    sizes = np.array([people.count(p) for p in people])
    for k in range(1, 6):
        hits = [
            people[i] in {people[j] for j in chosen}
            for i in range(6)
            for chosen in combinations([j for j in range(6) if j != i], k)
        ]
        assert chance_of_twin(sizes, k) == pytest.approx(np.mean(hits), abs=1e-12)
    assert (chance_of_twin(sizes, 99), chance_of_twin(sizes[:1], 5)) == (chance_of_twin(sizes, 5), 0.0)


def test_members_in_a_thinned_release_against_all_draws():
    members, release = pd.DataFrame({"x": list("aabc")}), pd.DataFrame({"x": list("aaabbz")})
    found = verbatim(Tables(members, release)).members_thinned
    draws = list(combinations(release["x"], 3))  # as many as there are other people
    assert found.count == pytest.approx(np.mean([members["x"].isin(d).sum() for d in draws]))
    assert found.expected == pytest.approx(2)  # the two that are alike, among all three others


def test_twins_explain_what_strangers_have_in_common_with_members():
    rng, gaps = np.random.default_rng(0), []
    for _ in range(200):
        everyone = pd.DataFrame(rng.integers(0, 6, (260, 3)), columns=list("abc"))
        members, control, release = everyone[:100], everyone[100:160], everyone[160:]
        found = verbatim(Tables(members, release, control).with_control())
        every = (found.rows_of_members, found.rows_of_controls, found.members, found.controls, found.members_thinned)
        gaps.append([each.share - each.expected_share for each in every])
    mean, error = np.mean(gaps, axis=0), np.std(gaps, axis=0) / np.sqrt(200)
    assert (np.abs(mean) < 3 * error + 1e-4).all()
    assert (error < 0.006).all()


def test_without_control_records_theirs_are_none():
    found = verbatim(Tables(ugly(9, 1), ugly(9, 1)))
    assert (found.members.count, found.controls.count, found.controls.of) == (9, 0, 0)
    assert np.isnan(found.controls.share)


def people(rows: int, seed: int, first: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"who": np.arange(first, first + rows), "age": rng.integers(18, 90, rows)})
    return table.assign(pay=rng.normal(30, 9, rows), sex=rng.choice(["f", "m"], rows))


MEMBERS, OTHERS = people(300, 1), people(200, 2, first=1000)
BARE = MEMBERS.drop(columns="who")


def test_strangers_are_neither_refused_nor_warned_of():
    for release in (None, people(300, 3).drop(columns="who")):
        found = strangers(MEMBERS, OTHERS, release, identifier="who")
        assert (found.refuse, found.warning, found.same_identifier) == ("", "", 0)


@pytest.mark.parametrize("rows", [4, 100, 300])
def test_members_given_as_control_records_are_refused(rows):
    found = strangers(BARE, BARE.sample(rows, random_state=0))
    assert found.members.count == rows
    assert found.refuse.endswith("they are no strangers")
    renumbered = MEMBERS.assign(who=MEMBERS["who"] + 5000)  # the same people under new numbers
    assert strangers(MEMBERS, renumbered[:rows], identifier="who").refuse


def test_identifiers_of_members_are_told_and_more_than_half_refused():
    few = OTHERS.assign(who=[*MEMBERS["who"][:30], *OTHERS["who"][30:]])
    found = strangers(MEMBERS, few, identifier="who")
    assert (found.same_identifier, found.refuse) == (30, "")
    assert found.warning == "30 of 200 control records have the identifier of a member: they may be no strangers"
    many = OTHERS.assign(who=[*MEMBERS["who"][:101], *OTHERS["who"][101:]])
    assert strangers(MEMBERS, many, identifier="who").refuse
    nameless = OTHERS.assign(who=None)
    assert strangers(MEMBERS.assign(who=None), nameless, identifier="who").same_identifier == 0


def test_some_members_among_the_control_records_are_warned_of_and_natural_duplicates_are_not():
    found = strangers(BARE, pd.concat([BARE[:20], OTHERS.drop(columns="who")]))
    assert found.refuse == ""
    assert found.warning.startswith("20 of 220 control records equal a member in all columns")
    rng, warned = np.random.default_rng(0), 0
    for k in range(400):
        own, other = (pd.DataFrame(rng.integers(0, (2, 5, 12)[k % 3], (n, 3)), columns=list("abc")) for n in (200, 150))
        found = strangers(own, other)
        assert found.refuse == ""
        warned += bool(found.warning)
    assert warned <= 2


def test_a_table_of_twins_is_expected_to_repeat_itself():
    own = pd.DataFrame({"sex": ["f", "m"] * 100})
    found = strangers(own, own)
    assert (found.members.count, found.members.expected, found.refuse, found.warning) == (200, 200.0, "", "")


def test_tables_that_do_not_fit_are_refused_by_name():
    with pytest.raises(InputError, match="control must have the columns"):
        strangers(BARE, BARE[["age"]])
    with pytest.raises(InputError, match="identifier must be a column of real and control"):
        strangers(BARE, BARE, identifier="who")


def test_the_release_given_as_control_records_is_refused_in_whatever_order_of_rows_and_columns():
    release = people(200, 3)[["age", "pay", "sex"]]
    first = strangers(BARE, release, release)
    assert "200 of 200 control records equal a released row" in first.refuse
    assert "equal a member" not in first.refuse
    assert strangers(BARE[::-1], release.sample(frac=1, random_state=1)[["sex", "age", "pay"]], release[::-1]) == first


def plane(n, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"x": rng.normal(size=n), "y": rng.normal(size=n), "c": rng.choice([*"abcd"], n)})


@pytest.mark.parametrize("name", ["membership", "membership_inference_risk"])
def test_too_few_control_records_give_no_value_of_membership(name):
    members = plane(600)
    with pytest.warns(UserWarning, match="5 control records for 600 members are too few: at least 20 are needed"):
        found = METRICS[name](members, members, control=plane(5, 1))
    assert math.isnan(found.value)
    assert found.reason.startswith("nothing can be compared: 5 control records for 600 members")
    assert all(math.isnan(each) for each in found.details.values())


def test_few_control_records_are_told_and_too_few_leave_the_value_of_a_measure_that_stands_without():
    members = plane(600)
    with pytest.warns(UserWarning, match="40 control records for 600 members are few"):
        assert METRICS["membership_inference_risk"](members, members, control=plane(40, 1)).value > 0.3
    with pytest.warns(UserWarning, match="too few"):
        found = METRICS["common_rows_proportion"](members, members, control=plane(5, 1))
    assert found.value == 1
    assert math.isnan(found.details["control"])


def test_a_copy_that_cannot_read_as_one_is_told_and_can_with_as_many_claims_as_members():
    members, control = plane(600), plane(300, 1)
    with pytest.warns(UserWarning, match="300 control records for 600 members: a copy .* reads as 0.750 at most"):
        found = METRICS["membership"](members, members, control=control)
    assert found.value == pytest.approx(0.75)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = METRICS["membership"](members, members, control=control, claim_share=2 / 3)
        METRICS["membership"](members, members, control=plane(590, 1))
    assert whole.value == 1.0


@pytest.mark.parametrize("name", ["membership", "membership_inference_risk"])
def test_control_records_half_of_which_are_members_are_told(name):
    members = plane(300)
    control = pd.concat([members[:50], plane(51, 1)], ignore_index=True)
    with pytest.warns(UserWarning, match="50 of 101 control records equal a member in all columns"):
        assert not math.isnan(METRICS[name](members, members, control=control).value)
    with pytest.warns(UserWarning, match="they are no strangers"):
        assert math.isnan(METRICS[name](members, members, control=members[:60]).value)
