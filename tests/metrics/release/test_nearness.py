"""The look at a release beside control records: a few who are copied, people who are missing, and strangers alone."""

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.neighbours.nearest import real_to_real, real_to_synthetic
from synthrisk.metrics.release import nearness
from synthrisk.metrics.release.matches import Matched, Verbatim
from synthrisk.metrics.release.nearness import CONFIDENCE, MISSING, NO_STRANGERS, Look
from synthrisk.metrics.release.validity import check_release, summarise
from synthrisk.metrics.tables.tables import Tables
from synthrisk.tasks.data.example_tables import ADULT

read_once = cache(ADULT)


def three(rows: int, seed: int) -> list[pd.DataFrame]:
    """Return members, control records and other people of Adult, so many of each."""
    drawn = read_once().sample(3 * rows, random_state=seed).reset_index(drop=True)
    return [drawn[k * rows : (k + 1) * rows].reset_index(drop=True) for k in range(3)]


def with_the_most_distant(members: pd.DataFrame, others: pd.DataFrame, share: float) -> pd.DataFrame:
    """Return other people, of whom a share gave way to the members who are furthest from all others."""
    count = round(share * len(members))
    alone = real_to_real(Tables(members, others), "gower", k=5).distances[:, 4]
    return pd.concat([members.iloc[np.argsort(-alone)[:count]], others[count:]], ignore_index=True)


def away_from(members: pd.DataFrame, control: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Return other people without those nearer to a member than 35 % of strangers are."""
    strangers, own = (real_to_synthetic(Tables(t, members), "gower").distances[:, 0] for t in (control, others))
    return others[own >= np.quantile(strangers, 0.35)].reset_index(drop=True)


def without(table, flagged, columns):
    """Return a table without the rows that equal one of others in some columns, and which they are."""
    rows = flagged[columns].drop_duplicates()
    equal = table.merge(rows, how="left", indicator=True)["_merge"].eq("both").to_numpy()
    return table[~equal].reset_index(drop=True), equal


@pytest.mark.parametrize("seed", range(3))
def test_a_hundredth_and_a_twentieth_of_the_people_copied_are_seen_for_what_they_are(seed):
    for rows, share in ((3000, 0.01), (2000, 0.05)):
        members, control, others = three(rows, seed)
        found = check_release(members, control, with_the_most_distant(members, others, share)).nearness
        assert found.suspicious
        assert found.excess.lower > 0
        assert share == 0.01 or found.excess.lower <= 0.05 <= found.excess.upper
        if share == 0.01:
            assert 0.007 < found.excess.value < 0.016
            assert found.excess_words.startswith("as if 1")


@pytest.mark.parametrize("rows", [500, 2000])
def test_rows_taken_out_for_being_near_to_members_tell_who_the_members_are(rows):
    members, control, others = three(rows, 1)
    found = check_release(members, control, away_from(members, control, others)).nearness
    assert found.suspicious.startswith(MISSING)
    assert found.excess.upper < -0.005
    assert found.excess_words.startswith(MISSING)


def test_members_who_never_occur_as_they_are_tell_by_that():
    members, control, others = (t[["education", "occupation", "sex", "race"]] for t in three(1000, 1))
    release, _ = without(others, members, list(members))
    assert not check_release(members, control, others).suspicious
    found = check_release(members, control, release)
    assert found.verbatim.members.count == 0
    assert f"{MISSING}: 0.0% of the members occur in the release as they are" in found.nearness.suspicious


@pytest.mark.parametrize("rows", [2000, 3000])
def test_members_whose_equals_were_all_taken_out_tell_by_that_though_everybody_has_a_weight_of_his_own(rows):
    members, control, others = three(rows, 2)
    shared = members.columns.drop("fnlwgt").tolist()
    release, _ = without(others, members, shared)
    _, met = without(control, release, shared)
    assert not check_release(members, control, others).suspicious
    found = check_release(members, control, release).nearness
    told = f"{MISSING}: 0.0% of the members occur in the release as they are, but for columns in which"
    assert told in found.suspicious
    assert found.excess.lower <= -met.mean() <= found.excess.upper < -0.005


def test_of_10_releases_of_strangers_none_stands_out():
    for seed in range(10):
        found = check_release(*three(200, seed)).nearness
        assert not found.suspicious, seed
        assert found.excess_words == "" or abs(found.excess.value) < 0.005


def test_a_small_difference_that_is_no_chance_is_a_number_and_no_suspicion():
    own = Estimate(0.104, 0.101, 0.106)

    def seen(*difference, **both):
        return Look("stand out", own, 0.1, Estimate(*difference), **both)

    assert not seen(0.004, 0.001, 0.006, both=True).suspicious
    assert seen(0.006, 0.001, 0.01, both=True).more
    assert seen(-0.006, -0.01, -0.001, both=True).less
    assert not seen(-0.006, -0.01, -0.001).suspicious


def test_without_strangers_there_is_no_excess_and_a_copy_is_seen_all_the_same():
    members, control, _ = three(200, 1)
    for few in (None, control[:19]):
        found = check_release(members, few, members).nearness
        assert found.suspicious
        assert np.isnan(found.excess.value)
        assert found.excess.note == NO_STRANGERS


def test_records_of_one_person_count_as_one_person():
    people = [t.loc[t.index.repeat(10)].reset_index(drop=True) for t in three(60, 1)]
    (members, control, others), entities = people, np.arange(120).repeat(10)
    release = pd.concat([members[:20], others[20:]], ignore_index=True)
    plain, known = (
        check_release(members, control, release, **given).nearness.excess for given in ({}, {"entities": entities})
    )
    assert known.upper - known.lower > 2 * (plain.upper - plain.lower)


def test_over_many_releases_the_worst_has_an_interval_that_holds_for_all():
    members, control, others = three(500, 1)
    fine, few = (check_release(members, control, r) for r in (others, with_the_most_distant(members, others, 0.1)))
    one, many = summarise([few]), summarise([fine] * 9 + [few])
    own = few.nearness.excess
    assert (one.excess_lower, one.excess_value, one.excess_upper) == (own.lower, own.value, own.upper)
    assert many.excess_value == one.excess_value
    assert many.excess_lower < one.excess_lower
    assert many.excess_upper > one.excess_upper
    assert many.excess_words == one.excess_words == few.nearness.excess_words != ""
    assert np.isnan(summarise([check_release(members, None, others)]).excess_value)


@pytest.mark.parametrize(("members", "controls"), [(200, 40), (1000, 100), (300, 300)])
def test_each_look_at_strangers_is_an_alarm_as_rarely_as_it_says(members, controls):
    rng = np.random.default_rng(1)
    groups, sizes = np.repeat([1, 0], [members, controls]), (float(members), float(controls))
    low = max(0.01, 10 / controls)
    looks = [nearness._at_quantiles(rng.random(len(groups)), groups, sizes, "{}", low) for _ in range(1500)]
    assert sum(look.more for both in looks for look in both) <= 6
    assert sum(look.less for both in looks for look in both) <= 6


@pytest.mark.parametrize(("members", "controls"), [(1000, 100), (10_000, 1000), (300, 300)])
@pytest.mark.parametrize("met", [0.005, 0.03, 0.3])
def test_strangers_who_are_met_by_chance_are_an_alarm_as_rarely_as_it_says(members, controls, met):
    rng, sizes = np.random.default_rng(1), (float(members), float(controls))
    alarms = 0
    for x, k in rng.binomial([members, controls], met, (1500, 2)):
        found = Verbatim(*[Matched(0, 0, 0)] * 2, Matched(x, members, 0), Matched(k, controls, 0), Matched(0, 0, 0))
        alarms += nearness._equal(found, sizes, "are met").suspicious
    assert alarms <= 5


@pytest.mark.parametrize(
    ("n", "c", "met"), [(60, 60, 10), (300, 300, 10), (1000, 100, 0), (1000, 100, 2), (1000, 100, 10)]
)
def test_members_who_are_met_too_seldom_are_told_from_where_counting_all_draws_finds_no_chance(n, c, met):
    def seen(k):
        found = Verbatim(*[Matched(0, 0, 0)] * 2, Matched(met, n, 0), Matched(k, c, 0), Matched(0, 0, 0))
        return nearness._equal(found, (float(n), float(c)), "are met").less

    def chance(k):  # that so few members, or fewer, are among all who are met
        return sum(math.comb(n, i) * math.comb(c, met + k - i) for i in range(met + 1)) / math.comb(n + c, met + k)

    first = next(k for k in range(c) if seen(k))
    assert chance(first) <= (1 - CONFIDENCE) / 2 < chance(first - 1)
