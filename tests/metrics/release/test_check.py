"""A release looked at before it is judged: each rule on a release made for it, and none on strangers."""

import json
import re
from functools import cache
from math import prod
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial import cKDTree

from synthrisk.metrics import InputError
from synthrisk.metrics.release import nearness
from synthrisk.metrics.release.columns import Grid, folded, second_reading
from synthrisk.metrics.release.nearness import ALONE, below_quantile, by_cells
from synthrisk.metrics.release.validity import (
    AS_EXPECTED,
    NOTHING,
    TWICE,
    WITHOUT,
    as_plain,
    check_release,
    from_plain,
    releases_table,
    summarise,
)
from synthrisk.metrics.tables.tables import Tables
from synthrisk.tasks.data.example_tables import ADULT
from synthrisk.tasks.synthesize.cart import CART
from synthrisk.tasks.synthesize.reference_generators import FRESH, MARGINALS
from synthrisk.tasks.synthesize.synthesizer import Job

N = 400
SECRET = "Zebrafink"


def people(rows: int = N, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"age": rng.integers(18, 90, rows), "big": rng.integers(2**60, 2**62, rows)})
    table["pay"] = np.where(rng.random(rows) < 0.2, np.nan, rng.lognormal(3, 1, rows))
    table["born"] = pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, rows), unit="D")
    table["city"] = pd.Categorical(rng.choice(["", "Wïen", "東京", SECRET], rows))
    table["job"] = pd.Series(rng.choice(["a", "b", None], rows), dtype=object)
    return table.assign(vote=rng.choice([True, False], rows))


MEMBERS, CONTROL, RELEASE = people(seed=1), people(200, seed=2), people(seed=3)


def look(release, members=MEMBERS, control=CONTROL, **others):
    return check_release(members, control, release, **others)


def rules(release, *tables, **others) -> set:
    found = look(release, *tables, **others)
    assert SECRET not in str(found)
    return {(p.rule, p.column, p.severity) for p in found.problems}


def renamed(table, column, names):
    return table.assign(**{column: table[column].cat.rename_categories(names)})


def test_a_release_of_strangers_has_nothing_wrong():
    for control in (CONTROL, CONTROL[:0], None):
        found = look(RELEASE, control=control)
        assert (found.problems, found.invalid, found.suspicious) == ((), "", False)


def with_noise(table, seed=0):
    rng = np.random.default_rng(seed)
    pay, born = table["pay"] * rng.normal(1, 0.002, len(table)), table["born"] + pd.to_timedelta(3, unit="D")
    return table.assign(pay=pay, born=born, age=table["age"] + rng.integers(-1, 2, len(table)))


def means_of_pairs(table):
    numbers = ["age", "pay"]
    return table[numbers].iloc[::2].reset_index(drop=True) / 2 + table[numbers].iloc[1::2].reset_index(drop=True) / 2


EVERYBODY = pd.concat([MEMBERS, CONTROL], ignore_index=True)


@pytest.mark.parametrize("release", [EVERYBODY, with_noise(EVERYBODY), pd.concat([EVERYBODY] * 5, ignore_index=True)])
def test_a_release_that_was_made_from_control_records_too_says_nothing(release):
    assert rules(release) == {("control", "", "broken")}
    told = look(release).invalid
    assert re.match(r"\d+ of 200 control records have a released row four times nearer than any other person: ", told)


def test_members_strangers_and_means_of_people_were_not_made_from_control_records():
    numbers = ["age", "pay"]
    for release in (MEMBERS, with_noise(MEMBERS), RELEASE, pd.concat([MEMBERS, CONTROL[:80]], ignore_index=True)):
        assert ("control", "", "broken") not in rules(release)
    two, means = (MEMBERS[numbers], CONTROL[numbers]), means_of_pairs(EVERYBODY)
    assert ("control", "", "broken") not in rules(means, *two)
    assert ("control", "", "broken") not in rules(EVERYBODY, control=CONTROL[:19])


BROKEN = {
    **{
        f"constant {column}": ("constant", column, value)
        for column, value in (("age", 40), ("born", pd.Timestamp("2000-01-01")), ("big", 2**61), ("vote", True))
    },
    "constant level": ("constant", "city", pd.Categorical(["東京"] * N)),
    "text for numbers": ("type", "age", RELEASE["age"].astype(str)),
    "numbers for dates": ("type", "born", RELEASE["born"].astype("int64")),
    "dates for numbers": ("type", "age", RELEASE["born"]),
    "numbers for text": ("type", "job", np.arange(N)),
    "lists": ("type", "job", [[1]] * N),
    "infinity": ("type", "pay", np.inf),
    "mostly missing": ("missing", "age", RELEASE["age"].where(np.arange(N) % 10 == 0)),
    "none missing": ("", "pay", 1.0 + np.arange(N) % 60),
    "other level names": ("unseen", "city", renamed(RELEASE, "city", list("pqrs"))["city"]),
    "blank for empty": ("unseen", "city", renamed(RELEASE, "city", [f"{c} " for c in "wxyz"])["city"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_column_is_named(case):
    rule, column, cells = BROKEN[case]
    release = RELEASE.assign(**{column: cells})
    assert {p[:2] for p in rules(release) if p[2] == "broken"} == ({(rule, column)} if rule else set())
    invalid = look(release).invalid
    assert (repr(column) in invalid) if rule else (invalid == "")


FAR = {
    "another unit": (RELEASE.assign(age=RELEASE["age"] * 12), ("mean", "age")),
    "another century": (RELEASE.assign(born=RELEASE["born"] + pd.Timedelta(40_000, "D")), ("mean", "born")),
    "upper-case levels": (renamed(RELEASE, "city", str.upper), ("unseen", "city")),
    "one level with a blank": (
        renamed(RELEASE, "city", {RELEASE["city"].mode()[0]: f"{RELEASE['city'].mode()[0]} "}),
        ("unseen", "city"),
    ),
    "spaces and capitals": (renamed(RELEASE, "city", lambda c: f" {c.upper()} "), ("unseen", "city")),
}


@pytest.mark.parametrize("case", FAR)
def test_a_column_that_is_far_off_is_read_twice_and_breaks_no_release(case):
    release, found = FAR[case]
    check = look(release)
    assert check.invalid == ""
    assert {p[:2] for p in rules(release) if p[2] == "far"} == {found}
    second = second_reading(MEMBERS, CONTROL, release, check.far)
    assert look(second).far == ()
    assert second.drop(columns=found[1]).equals(release.drop(columns=found[1]))
    assert TWICE in summarise([check]).notes[0]


@pytest.mark.parametrize(
    ("column", "cell"), [("age", np.nan), ("job", None), ("born", pd.NaT)], ids=["numbers", "texts", "dates"]
)
def test_a_column_of_missing_cells_alone_breaks_no_release(column, cell):
    check = look(RELEASE.assign(**{column: cell}))
    assert (check.invalid, check.blank, check.far) == ("", (column,), ())
    assert summarise([check]).notes[0].endswith(WITHOUT)
    nothing = pd.DataFrame({c: [None] * 50 for c in ("age", "job")})
    assert check_release(MEMBERS[["age", "job"]], None, nothing).invalid == NOTHING


@pytest.mark.parametrize(
    ("column", "cells", "broken"),
    [("age", np.nan, False), ("job", None, False), ("born", pd.NaT, False), ("age", MEMBERS["age"].astype(str), True)],
)
def test_neither_a_column_of_missing_cells_nor_a_broken_one_hides_a_copy(column, cells, broken):
    copy = look(MEMBERS.assign(**{column: cells}))
    assert (copy.verbatim.members.share, bool(copy.suspicious), bool(copy.invalid)) == (1, True, broken)


@pytest.mark.parametrize(
    ("real", "step"),
    [
        *(([1, 2, 3], 1), ([0, 100, 250, np.nan], 50), ([0.5, 2.25], 0.01), ([1 / 3, 2 / 3], 0)),
        *(([0.1, 0.2, 0.3], 0.1), ([np.nan], 0), ([2.0**60, 2.0**61], 0)),
        (pd.to_datetime(["2024-01-01", "2024-02-29"]), 86_400e9),
        (pd.to_datetime(["2024-01-01 10:00", None]), 0),
        (pd.to_timedelta([1, 2], "D"), 0),
    ],
)
def test_the_grid_of_a_column_is_the_coarsest_that_holds_all_its_cells(real, step):
    cells = pd.Series(real)
    found = Grid.of(cells)
    assert found.step == pytest.approx(step)
    assert not found.off(cells).any()
    pd.testing.assert_series_equal(found.rounded(cells), cells, check_dtype=False)


def test_cells_off_the_grid_are_found_and_rounded():
    grid, cells = Grid.of(pd.Series([10.25, 3.5])), pd.Series([1.234, 1.23, np.nan, np.inf])
    assert grid.off(cells).tolist() == [True, False, False, False]
    assert grid.rounded(cells)[:2].tolist() == [1.23, 1.23]
    assert not grid.off(pd.Series([10.25, 0.1], dtype="float32")).any()  # 0.1 as a single is no other number
    days = Grid.of(pd.Series(pd.to_datetime(["2024-01-01", "2024-02-29"])))
    times = pd.Series(pd.to_datetime(["2024-01-01 09:30", "2024-03-01 00:00", None]))
    assert days.off(times).tolist() == [True, False, False]
    assert days.rounded(times).tolist()[:2] == [pd.Timestamp("2024-01-01"), pd.Timestamp("2024-03-01")]


def test_decimals_in_a_column_of_whole_numbers_are_read_twice_from_a_twentieth_on():
    some = RELEASE["age"] + 0.25 * (np.arange(len(RELEASE)) % 10 == 0)
    check = look(RELEASE.assign(age=some))
    assert (check.finer, check.far, check.invalid) == (("age",), (), "")
    (told,) = [p.words for p in check.problems if p.rule == "finer"]
    assert told == f"column 'age' has digits that no real record has in {(N + 9) // 10:,} of {N:,} cells"
    few = RELEASE["age"] + 0.25 * (np.arange(len(RELEASE)) < 3)
    assert look(RELEASE.assign(age=few)).finer == ()
    assert ("finer", "age", "note") in rules(RELEASE.assign(age=few))
    second = second_reading(MEMBERS, CONTROL, RELEASE.assign(age=some), (), ("age",))
    assert second is not None
    assert (second["age"] == RELEASE["age"]).all()


@pytest.mark.parametrize("levels", [[1, 2, 3, 4, 5], [1, 2, 5, 9], [10, 20, 40]])
def test_decimals_among_codes_are_read_as_they_are_and_as_the_nearest_code(levels):
    codes = pd.Series(np.tile(levels, N)[:N])
    real = MEMBERS.assign(job=codes.astype("category"))
    release = real.assign(job=(codes + np.where(np.arange(N) % 2, 0.03, -0.2)).astype("category"))
    found = check_release(real, None, release)
    assert (found.invalid, found.finer, found.far) == ("", ("job",), ())
    assert any(
        p.words == f"column 'job' has digits that no real record has in {N} of {N} cells" for p in found.problems
    )
    second = second_reading(real, None, release.assign(job=release["job"].mask(np.arange(N) == 7)), (), ("job",))
    assert second["job"].drop(7).tolist() == codes.drop(7).tolist()
    assert second["job"].isna().sum() == 1
    others = check_release(
        real, None, real.assign(job=(codes + 20).where(np.arange(N) > 1, codes + 0.1).astype("category"))
    )
    assert others.finer == ()  # two cells have decimals: the column holds other codes


@pytest.mark.parametrize(("hours", "days"), [(0, 0), (9, 0), (15, 0), (23.5, 0), (-0.001, 0), (-11, -1)])
def test_a_time_of_day_among_days_is_of_its_day_but_where_the_next_alone_is_real(hours, days):
    real = pd.DataFrame({"born": pd.date_range("2024-01-01", periods=60, freq="2D" if hours > -1 else "D")})
    moved = real + pd.Timedelta(hours=hours)
    second = second_reading(real, None, moved.iloc[1:], (), ("born",))
    assert (second["born"] == real["born"].iloc[1:] + pd.Timedelta(days=days)).all()


@pytest.mark.parametrize("written", [
    ("M", "F"), ("m.", "f."), ("MALE", "Female"), ("males", "females"), ("'male'", "'female'"),
])  # fmt: skip
def test_levels_in_another_spelling_or_abbreviated_are_read_twice(written):
    real = MEMBERS.assign(city=pd.Categorical(np.where(np.arange(N) % 3, "male", "female")))
    release = real.assign(city=pd.Categorical(np.where(np.arange(N) % 3, *written)))
    found = check_release(real, None, release)
    assert (found.invalid, found.far) == ("", ("city",))
    assert second_reading(real, None, release, ("city",))["city"].tolist() == real["city"].tolist()
    for others in (("x", "y"), ("m", "x"), ("m", "ma")):
        other = check_release(real, None, real.assign(city=pd.Categorical(np.where(np.arange(N) % 3, *others))))
        assert other.far == ()


@pytest.mark.parametrize(
    ("real", "released"),
    [
        *(("Never-married", each) for each in ("Never–married", "never_married", "Never married", "Nevermarried")),
        *(("Bachelor's", each) for each in ("Bachelor’s", "Bachelors", "Bachelor&#39;s")),
        *(("18-29", each) for each in ("18–29", "18 - 29")),
        *(("a&b", "a&amp;b"), ("etc", "etc."), ("U.S.", "US")),
    ],
)
def test_texts_that_differ_in_their_signs_are_read_as_the_real_ones(real, released):
    members = MEMBERS.assign(city=pd.Categorical(np.where(np.arange(N) % 2, real, "other")))
    made = members.assign(city=pd.Categorical(np.where(np.arange(N) % 2, released, "other")))
    assert check_release(members, None, made).far == ("city",)
    assert second_reading(members, None, made, ("city",))["city"].tolist() == members["city"].tolist()


def test_a_level_that_is_a_real_one_stays_beside_those_of_another_spelling():
    cells = ["A-B", "AB", "AB", "C", "co-op", "coop", "coop"] * 5
    members = pd.DataFrame({"c": cells})
    assert second_reading(members, None, members, ("c",))["c"].tolist() == cells
    codes = pd.DataFrame({"c": ["10", "21"] * 5})
    assert second_reading(pd.DataFrame({"c": ["1", "2"] * 5}), None, codes, ("c",))["c"].tolist() == ["10", "21"] * 5


@pytest.mark.parametrize("pair", [("O-", "O+"), ("<50", ">50"), ("1.5", "15"), ("-5", "5"), ("a1-2", "a12")])
def test_texts_whose_signs_tell_are_not_taken_for_each_other(pair):
    assert folded(pair[0]) != folded(pair[1])


def test_moderate_shifts_are_notes():
    assert ("mean", "age", "note") in rules(RELEASE.assign(age=RELEASE["age"] + 10))
    assert ("missing", "pay", "note") in rules(RELEASE.assign(pay=RELEASE["pay"].fillna(20.0)))
    city = RELEASE["city"].astype(object).where(np.arange(N) % 20 > 0, "new")
    assert rules(RELEASE.assign(city=city.astype("category"))) == {("unseen", "city", "note")}
    assert look(RELEASE.assign(city=city.astype("category"))).problems[0].words == (
        f"column 'city' has values in {N // 20} of {N} cells that no real record has"
    )


def _with_token(cells: pd.Series, token: str = "unknown") -> pd.Series:
    texts = cells.astype(str)
    texts[::10] = token
    return texts.astype("category")


@pytest.mark.parametrize(("which", "step"), [("pay", 0.01), ("born", pd.Timedelta("1min"))])
def test_numbers_and_dates_beside_a_few_texts_are_told_where_those_of_the_release_are_others(which, step):
    members, control, release = (t[which].fillna(t[which].max()) for t in (MEMBERS, CONTROL, RELEASE))
    tables = MEMBERS.assign(**{which: _with_token(members)}), CONTROL.assign(**{which: _with_token(control)})
    broken = ("unseen", which, "broken")
    assert broken in rules(MEMBERS.assign(**{which: (members + step).astype(str)}), *tables)
    found = look(RELEASE.assign(**{which: release.astype(str)}), *tables).problems
    (told,) = (p.words for p in found if p.rule == "unseen")
    assert told.endswith("list these texts as missing (--missing)")
    drawn = tables[0][which].astype(str).sample(N, random_state=1, ignore_index=True)
    assert broken not in rules(RELEASE.assign(**{which: drawn}), *tables)


def test_sentences_are_written_as_no_other_and_break_no_column():
    words = np.array(["ill", "well", "B12", "since", "May,", "no", "more."])
    rng = np.random.default_rng(0)
    texts = [
        [" ".join(rng.choice(words, rng.integers(9, 30))) for _ in range(len(t))] for t in (MEMBERS, CONTROL, RELEASE)
    ]
    tables = [t.assign(city=cells) for t, cells in zip((MEMBERS, CONTROL, RELEASE), texts, strict=True)]
    assert rules(tables[2], *tables[:2]) == {("unseen", "city", "note")}


def test_dates_and_amounts_that_are_texts_are_told_where_those_of_the_release_are_written_otherwise():
    days = [t.born for t in (MEMBERS, CONTROL, RELEASE)]
    tables = zip((MEMBERS, CONTROL, RELEASE), days, strict=True)
    own, others, same = (table.assign(city=day.dt.strftime("%m/%d/%Y")) for table, day in tables)
    copy = MEMBERS.assign(city=MEMBERS.born.dt.strftime("%Y-%m-%d"))
    assert ("unseen", "city", "broken") in rules(copy, own, others)
    assert ("unseen", "city", "note") in rules(same, own, others)


def test_codes_beside_a_text_are_no_numbers():
    codes = [pd.Series(np.random.default_rng(k).integers(0, 99_999, N)).map("{:05d}".format) for k in range(3)]
    tables = [t.assign(city=_with_token(c[: len(t)])) for t, c in zip((MEMBERS, CONTROL, RELEASE), codes, strict=True)]
    assert rules(tables[2], *tables[:2]) == {("unseen", "city", "note")}


def test_a_value_of_a_control_record_is_no_unseen_one_and_invented_names_break_no_column():
    own = MEMBERS.assign(city="Graz")
    assert rules(RELEASE.assign(city="Linz"), own, CONTROL.assign(city="Linz")) == set()
    assert rules(RELEASE.assign(city="Linz"), own, CONTROL.assign(city="Graz")) == {("unseen", "city", "broken")}
    named = [t.assign(job=[f"{k}-{i}" for i in range(len(t))]) for k, t in enumerate((MEMBERS, CONTROL, RELEASE))]
    assert rules(named[2], named[0], named[1]) == {("unseen", "job", "note")}


def test_a_rare_value_that_is_gone_by_chance_is_a_note():
    rare = MEMBERS.assign(vote=np.arange(N) == 0)
    assert rules(RELEASE.assign(vote=False), rare) == {("constant", "vote", "note")}
    common = MEMBERS.assign(vote=np.arange(N) % 10 == 0)
    assert ("constant", "vote", "broken") in rules(RELEASE.assign(vote=False), common)
    assert ("constant", "vote", "note") in rules(RELEASE.assign(vote=False), common, people=20)


@pytest.mark.parametrize(("rows", "told"), [(1, True), (9, True), (39, True), (40, False), (4000, False), (4001, True)])
def test_a_very_different_number_of_rows_is_a_note(rows, told):
    found = rules(people(rows, seed=5))
    assert (("rows", "", "note") in found) == told
    assert not {p for p in found if p[2] == "broken"}


def test_one_row_everywhere_and_nothing_that_can_be_compared():
    for members, release in ((MEMBERS[:1], RELEASE), (MEMBERS[:1], RELEASE[:1]), (MEMBERS, RELEASE[:1])):
        found = check_release(members, None, release)
        assert (found.invalid, found.suspicious) == ("", False)
    assert check_release(MEMBERS[:1], None, RELEASE).nearness.reason == ALONE
    found = check_release(pd.DataFrame({"a": [1, 2]}), None, pd.DataFrame({"a": ["x", "y"]}))
    assert (found.nearness.reason, found.verbatim.members.count) == (NOTHING, 0)
    assert found.invalid == "column 'a' holds numbers among the members, but not in the release"


def test_other_columns_are_refused_by_name():
    for release, said in ((RELEASE.drop(columns="age"), "have the columns of real"), (RELEASE[:0], "have rows")):
        with pytest.raises(InputError, match=f"synthetic must {said}"):
            check_release(MEMBERS, None, release)


def test_order_and_names_do_not_matter():
    bad = renamed(RELEASE.assign(age=40), "city", list("pqrs"))
    turned = [t.sample(frac=1, random_state=1)[list(reversed(t.columns))] for t in (MEMBERS, CONTROL, bad)]
    assert check_release(*turned) == look(bad)
    others = [t.assign(city=t["city"].astype(object).map(lambda c: f"~{c}")) for t in (MEMBERS, CONTROL, RELEASE)]
    assert check_release(*others) == look(RELEASE)


def test_the_check_survives_json():
    for control in (CONTROL, None):
        check = look(RELEASE.assign(age=40), control=control)
        again = from_plain(json.loads(json.dumps(as_plain(check))))
        assert str(again) == str(check)  # NaN is not equal to itself
        assert again.invalid == check.invalid


def test_ties_at_the_quantile_count_by_expectation():
    rng = np.random.default_rng(0)
    members, controls = rng.integers(0, 4, 50).astype(float), rng.integers(0, 4, 41).astype(float)
    k, found = 10, []
    for _ in range(4000):
        own, other = members + rng.random(50) * 1e-3, controls + rng.random(41) * 1e-3
        found.append((own < np.sort(other)[k - 1]).sum() / 2 + (own < np.sort(other)[k]).sum() / 2)
    got = below_quantile(members, controls, k / 41)
    assert got == pytest.approx(np.mean(found), abs=0.2)
    assert below_quantile(controls, controls, k / 41) == pytest.approx(k)


def test_nearness_against_a_plain_loop():
    real, control, release = (people(n, s)[["age", "vote", "job"]] for n, s in ((60, 1), (40, 2), (50, 3)))
    ages = pd.concat([real, control, release])["age"]

    def gower(a, b):
        job = (a.job is not b.job) and not (pd.isna(a.job) and pd.isna(b.job)) and a.job != b.job
        return (abs(a.age - b.age) / (ages.max() - ages.min()) + (a.vote != b.vote) + job) / 3

    nearest = [min(gower(a, b) for b in release.itertuples()) for a in pd.concat([real, control]).itertuples()]
    members, controls = np.round(nearest[:60], 12), np.sort(np.round(nearest[60:], 12))
    t = controls[9]
    share = (10 - (controls < t).sum()) / (controls == t).sum()
    expected = ((members < t).sum() + share * (members == t).sum()) / 60
    found = check_release(real, control, release).nearness
    assert (found.expected, found.nearer_members.value) == (0.25, pytest.approx(expected))


def test_without_control_records_against_a_plain_loop():
    real, release = (pd.DataFrame({"x": np.random.default_rng(s).integers(0, 30, n)}) for n, s in ((40, 1), (10, 2)))
    scores = []
    for i, x in enumerate(real["x"]):
        ours, others = (release["x"] - x).abs(), (real["x"].drop(i) - x).abs()
        best = min(ours.min(), others.min())
        scores.append((ours == best).sum() / ((ours == best).sum() + (others == best).sum()))
    found = check_release(real, None, release).nearness
    assert found.nearer_members.value == pytest.approx(np.mean(scores))
    assert found.expected == pytest.approx(10 / 49)


def filtered_by_deviations(seed: int, n: int = 2000) -> list[pd.DataFrame]:
    """Members, control records, and strangers but for the third that is nearest to members; amounts of money."""
    rng = np.random.default_rng(seed)
    amounts = np.exp(0.6 * rng.normal(size=(3 * n, 8)) + rng.normal(size=(3 * n, 1)))
    members, control, fresh = (pd.DataFrame(part).add_prefix("amount ") for part in np.split(amounts, 3))
    scale = members.std().to_numpy()
    gaps = cKDTree(members / scale).query(fresh / scale)[0]
    return [members, control, fresh[gaps > np.quantile(gaps, 0.35)]]


@pytest.mark.parametrize("seed", [1, 3])
def test_rows_that_were_left_out_by_distances_in_standard_deviations_are_missed(seed):
    members, control, release = filtered_by_deviations(seed)
    found = check_release(members, control, release).nearness
    assert found.excess.upper < 0
    seen = found.suspicious.split("; ")
    assert seen
    assert all("by what is missing: 0.0% of the members" in each and "in standard deviations" in each for each in seen)


def test_rows_that_were_left_out_by_distances_of_the_numbers_alone_are_missed():
    members, control, release = (part.reset_index(drop=True) for part in filtered_by_deviations(1))
    rng = np.random.default_rng(1)
    named = [
        part.assign(**{f"level {i}": rng.choice(list("abcdefgh"), len(part)) for i in range(6)})
        for part in (members, control, release)
    ]
    found = check_release(*named[:2], named[2]).nearness
    assert "in standard deviations of the numbers alone" in found.suspicious
    assert found.excess.upper < 0


@pytest.mark.parametrize("orders", [4_000, pytest.param(20_000, marks=pytest.mark.proof)])
def test_the_look_below_the_nearest_member_alarms_of_strangers_as_seldom_as_it_says(orders):
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(orders):
        distances = rng.permutation(100).astype(float)
        look = nearness._below_members(distances[:60], distances[60:], (60.0, 40.0), "{}")
        first = np.sort(distances[60:])[: round(look.expected * 40)]
        assert look.less == (prod((40 - i) / (100 - i) for i in range(len(first))) <= (1 - nearness.CONFIDENCE) / 2)
        alarms += look.less
    assert alarms <= orders * (1 - nearness.CONFIDENCE) / 2 + 3 * np.sqrt(orders * 0.0003)


def test_so_many_rows_that_nothing_could_be_seen_are_told():
    many = pd.concat([RELEASE] * (5 * len(MEMBERS) // len(RELEASE) + 1), ignore_index=True)
    assert look(many, control=None).nearness.blind.startswith("without 20 control records")
    assert look(many).nearness.blind == ""


def test_few_control_records_are_not_compared_with():
    found, without = (look(RELEASE, control=few).nearness for few in (CONTROL[:19], None))
    assert repr(found) == repr(without)  # NaN is not NaN
    assert look(RELEASE, control=CONTROL[:20]).nearness.expected == 0.5


read_once = cache(ADULT)


def adults(rows: int, seed: int) -> pd.DataFrame:
    return read_once().sample(rows, random_state=seed).reset_index(drop=True)


def survey(rows: int, seed: int) -> pd.DataFrame:
    folder = Path(__file__).parents[2] / "reference" / "sdmetrics" / "fair_1000"
    return pd.read_csv(folder / "real.csv").sample(rows, random_state=seed).reset_index(drop=True)


def texts(rows: int, seed: int) -> pd.DataFrame:
    """Return a table of texts alone."""
    return adults(rows, seed).select_dtypes("category")


def twins(rows: int, seed: int) -> pd.DataFrame:
    """Return a table in which most people have a twin."""
    return adults(rows, seed)[["education", "occupation", "sex", "race"]]


def split(table: pd.DataFrame, seed: int) -> Job:
    """Return the training part and the third that is held out."""
    held_out = np.isin(np.arange(len(table)), np.random.default_rng(seed).permutation(len(table))[: len(table) // 3])
    train, rest = (table[own].reset_index(drop=True) for own in (~held_out, held_out))
    return Job(train, rest, len(train), seed)


def looked_at(seed, table, rows, make, with_control=True):
    job = split(table(rows, seed), seed)
    made = make(job)
    control = job.held_out.drop(made.used) if with_control else None
    return check_release(job.train, control, made.synthetic, len(made.used) or None)


def trees(job):
    return CART.function(job, min_samples_leaf=100)


GENERATORS = {"fresh": FRESH.function, "marginals": MARGINALS.function, "trees": trees}
TABLES = [(adults, 60), (survey, 150), (texts, 200), (twins, 100)]


@pytest.mark.parametrize(
    ("table", "rows", "make", "seeds"),
    [
        *((*table, make, range(8)) for table in TABLES for make in ("fresh", "marginals")),
        *((adults, rows, make, range(2)) for rows in (60, 500) for make in GENERATORS if rows > 60 or make == "trees"),
        *(pytest.param(adults, 1500, make, range(2), marks=pytest.mark.proof) for make in GENERATORS),
    ],
)
def test_strangers_and_generators_are_neither_broken_nor_suspicious(table, rows, make, seeds):
    for seed in seeds:
        found = looked_at(seed, table, rows, GENERATORS[make], (table is adults and rows > 60) or seed % 2 == 0)
        assert (found.invalid, found.suspicious) == ("", False)


@pytest.mark.slow
@pytest.mark.parametrize("make", ["fresh", "marginals"])
@pytest.mark.parametrize(("table", "rows"), [*TABLES, (adults, 500)])
def test_of_200_strangers_hardly_any_is_broken_or_suspicious(table, rows, make):
    found = [looked_at(seed, table, rows, GENERATORS[make], seed % 2 == 0) for seed in range(200)]
    assert sum(bool(f.invalid) for f in found) <= 2
    assert sum(f.suspicious for f in found) <= 2


def test_trees_that_know_single_records_show_an_excess_of_members():
    excess = looked_at(1, adults, 1500, CART.function).nearness.excess
    assert 0 < excess.lower < excess.value < 0.25


def numbers(table):
    return [c for c in table.columns if table[c].dtype.kind in "if"]


def near(table: pd.DataFrame, rng) -> pd.DataFrame:
    """Return the table with its numbers jittered by 2 % of their range, and a tenth of its other cells redrawn."""
    made = table.copy()
    for name in table.columns:
        if table[name].dtype.kind in "if":
            made[name] = table[name] + 0.02 * np.ptp(table[name]) * rng.normal(size=len(table))
        else:
            other = table[name].take(rng.integers(len(table), size=len(table))).set_axis(table.index)
            made[name] = table[name].where(rng.random(len(table)) >= 0.1, other)
    return made


def shuffled(column: str):
    return lambda table, rng: table.assign(**{column: table[column].take(rng.permutation(len(table))).to_numpy()})


def rounded(table: pd.DataFrame, rng) -> pd.DataFrame:
    return table.assign(**{c: (table[c] / 10).round() * 10 for c in numbers(table)})


def swapped(column: pd.Series) -> pd.Series:
    """Return a column whose levels have each other's names."""
    levels = list(column.cat.categories)
    return column.map(dict(zip(levels, levels[1:] + levels[:1], strict=True))).astype(column.dtype)


DISGUISES = {
    "copy": lambda table, rng: table,
    "near copy": near,
    "a column shuffled": shuffled("occupation"),
    "the sensitive column shuffled": shuffled("income"),
    "numbers shuffled": shuffled("fnlwgt"),
    "rounded": rounded,
    "two columns shuffled": lambda table, rng: shuffled("occupation")(shuffled("education")(table, rng), rng),
    "a tenth of the cells empty": lambda table, rng: table.mask(rng.random(table.shape) < 0.1),
    "two columns renamed": lambda table, rng: table.assign(
        **{c: swapped(table[c]) for c in ("occupation", "relationship")}
    ),
    "numbers moved by half a deviation": lambda table, rng: table.assign(
        **{c: table[c] + 0.5 * table[c].std() for c in numbers(table)}
    ),
    "half of the members, thrice": lambda table, rng: pd.concat([table[: len(table) // 2]] * 3, ignore_index=True),
    "half of the members": lambda table, rng: table.sample(frac=0.5, random_state=1),
}


@pytest.mark.parametrize("name", DISGUISES)
@pytest.mark.parametrize("rows", [500, pytest.param(3000, marks=pytest.mark.proof)])
def test_copies_in_disguise_are_suspicious(name, rows):
    job = split(adults(rows, 1), 1)
    release = DISGUISES[name](job.train, np.random.default_rng(1))
    asks_control = any(each in name for each in ("columns", "cells", "moved"))
    for controls in (None,) if asks_control else (None, 10, 0):
        found = check_release(job.train, job.held_out[:controls], release)
        assert (found.invalid, bool(found.suspicious)) == ("", True), controls


@pytest.mark.parametrize(
    ("name", "suspicious"), [("two columns shuffled", True), ("two columns renamed", True), ("", False)]
)
def test_of_large_tables_as_many_members_as_control_records_are_drawn(name, suspicious, monkeypatch):
    job = split(adults(3000, 1), 1)
    release = DISGUISES[name](job.train, np.random.default_rng(1)) if name else adults(3000, 7)
    monkeypatch.setattr(nearness, "_MOST_PAIRS", 1)
    monkeypatch.setattr(nearness, "_MANY_RECORDS", 500)
    looked, own = [], nearness._drawn
    monkeypatch.setattr(nearness, "_drawn", lambda *given: looked.append((given[1], own(*given))) or looked[-1][1])
    found = check_release(job.train, job.held_out, release)
    ((groups, rows),) = looked
    assert (np.bincount(groups[rows]).tolist(), len(set(rows))) == ([250, 250], 500)
    assert (found.suspicious, check_release(job.train, job.held_out, release)) == (suspicious, found)


def test_equal_cells_are_those_that_plain_loops_count():
    job = split(adults(300, 1), 1)
    tables = Tables(job.train, job.held_out.mask(np.random.default_rng(1).random(job.held_out.shape) < 0.1))
    edges = {c: np.unique(np.quantile(job.train[c], np.arange(1, 20) / 20)) for c in numbers(job.train)}
    cells = [
        [
            [-1 if pd.isna(v) else sum(v >= e for e in edges[c]) if c in edges else v for c, v in row.items()]
            for _, row in table.iterrows()
        ]
        for table in (tables.real, tables.synthetic)
    ]
    differ = [min(sum(a != b for a, b in zip(one, two, strict=True)) for two in cells[1]) for one in cells[0]]
    assert by_cells(tables, np.arange(len(job.train))).tolist() == [n / job.train.shape[1] for n in differ]


@pytest.mark.parametrize(("table", "rows"), [(survey, 600), (texts, 600), (twins, 900), (adults, 60)])
def test_copies_of_any_table_are_suspicious(table, rows):
    job = split(table(rows, 1), 1)
    for control in (job.held_out, None):
        found = check_release(job.train, control, job.train)
        assert found.suspicious
        assert (found.verbatim.members.share, found.verbatim.rows_of_members.share) == (1, 1)
    if table is survey:
        made = near(job.train, np.random.default_rng(2))
        assert all(check_release(job.train, control, made).suspicious for control in (job.held_out, None))


def test_a_constant_column_that_nothing_guesses_gives_nothing_away_and_breaks_nothing():
    constant, every = RELEASE.assign(vote=True), RELEASE.assign(**RELEASE.iloc[0].to_dict())
    for release, options in ((constant, {}), (constant, {"guessed": ["vote"]}), (every, {"guessed": ["job"]})):
        assert "constant" in look(release, **options).invalid
    found = look(constant, guessed=["job"])
    assert (found.invalid, found.blank, found.far) == ("", ("vote",), ())
    assert any(note.endswith("the worse counts") for note in summarise([found]).notes)


def test_a_broken_release_is_named_and_never_averaged_away():
    fine, bad = look(RELEASE), look(RELEASE.assign(age=40))
    found = summarise([fine, fine, bad, fine, fine, fine])
    assert found.left_out == "1 of 6 releases: column 'age' is constant in the release, but not among the members"
    assert (found.invalid, found.suspicious, found.whole) == ("", "", 5)
    assert (found.status, found.notes) == (found.left_out, (f"left out: {found.left_out}",))
    assert summarise([fine, bad, bad]).invalid.startswith("2 of 3 releases: column 'age' is constant")
    assert (summarise([fine, fine]).status, summarise([bad]).invalid) == (AS_EXPECTED, bad.invalid)
    two = summarise([bad, look(RELEASE.assign(age=40, pay=np.inf))])
    assert two.invalid.startswith("2 of 2 releases: ")
    assert two.invalid.endswith(" (and 1 more)")
    assert two.notes == ("1 of 2 releases: column 'pay' holds infinite numbers in the release",)


def test_a_copy_among_strangers_is_named():
    found = summarise([look(RELEASE), look(MEMBERS)])
    assert found.suspicious.startswith("1 of 2 releases: 100.0% of the members ")
    assert (found.rows_of_members.mean, found.rows_of_members.lowest, found.rows_of_members.highest) == (200, 0, 400)
    table = releases_table({"cart": found}).iloc[0]
    assert table["status"] == found.suspicious
    assert (table["rows_of_members"], table["rows_of_members_highest"], table["releases"]) == (200, 400, 2)


def test_without_control_records_their_counts_are_absent():
    found = summarise([look(RELEASE, control=None)])
    assert np.isnan([found.rows_of_controls.mean, found.controls_released.mean]).all()
    assert found.nearer_expected.mean == pytest.approx(400 / 799)
