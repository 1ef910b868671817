"""The same attack by someone who knows less, against calling the metric with the changed columns; bands of a column."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from synthrisk.metrics import METRICS, InputError, Tables
from synthrisk.metrics.exposure.what_if import Change, bands, names_none, rounded, what_if
from synthrisk.metrics.tables.coarsen import binned

RNG = np.random.default_rng(3)
REAL = pd.DataFrame({"age": RNG.integers(20, 60, 300), "job": RNG.choice(["nurse", "cook", "pilot"], 300)})
REAL["vote"] = RNG.choice(["a", "b"], 300)
RELEASE = REAL.sample(200, replace=True, random_state=1).reset_index(drop=True)
ROLES = {"quasi_identifiers": ["age", "job"], "sensitive": "vote"}
CAP = METRICS["zero_cap"]


def changed(*changes, real=REAL, release=RELEASE, metric=CAP, **options):
    return what_if(metric, real, release, list(changes), **ROLES, **options)


def noisy(real, release, column, share, sensitive="vote"):
    known = [c for c in REAL if c != sensitive]
    return binned(Tables(real, release), known, [sensitive], {column: share}, "quantile")


def cap(real, release):
    """CAP by plain loops: mean share of the released records with a real record's key that have its vote."""
    real, release = ([tuple(row) for row in table.itertuples(index=False)] for table in (real, release))
    shares = []
    for *key, vote in real:
        votes = [r[-1] for r in release if list(r[:-1]) == key]
        shares.append(votes.count(vote) / len(votes) if votes else 0.0)
    return np.mean(shares)


def test_each_row_is_the_metric_called_with_the_changed_columns():
    by_age, by_job = ({**ROLES, "quasi_identifiers": [name]} for name in ("age", "job"))
    found = changed(Change(drop=["age"]), Change(bins={"age": 3}), Change(["job"], bins={"age": 2}, binning="width"))
    by_hand = [CAP(REAL, RELEASE, **ROLES), CAP(REAL, RELEASE, **by_job), CAP(REAL, RELEASE, **ROLES, bins={"age": 3})]
    by_hand.append(CAP(REAL, RELEASE, **by_age, bins={"age": 2}, binning="width"))
    assert found["change"].tolist() == ["as it is", "without-age", "age-in-3", "without-job-age-in-2"]
    assert Change(drop=["net pay (€)"], bins={"a.b": 3}).name == "without-net_pay____-a_b-in-3"
    assert found["value"].tolist() == [s.value for s in by_hand]
    for row, score in zip(found.itertuples(), by_hand, strict=True):
        gaps = score.records["score"] - by_hand[0].records["score"]
        assert row.difference == pytest.approx(gaps.mean(), abs=1e-12)
        half = stats.t.ppf(0.975, len(gaps) - 1) * gaps.std() / np.sqrt(len(gaps))
        assert (row.lower, row.upper) == pytest.approx((gaps.mean() - half, gaps.mean() + half))


def test_a_forest_is_compared_under_one_seed():
    found = changed(Change(drop=["job"]), metric=METRICS["rapid"], attacker="cart", seed=5)
    alone = METRICS["rapid"](REAL, RELEASE, **{**ROLES, "quasi_identifiers": ["age"]}, attacker="cart", seed=5)
    assert found["value"].iloc[1] == alone.value


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change(), "what_if must name columns under drop, bins"),
        (Change(drop=["aeg"]), r"columns to leave out must be quasi-identifiers, got 'aeg' \(did you mean 'age'\?\)"),
        (Change(bins={"vote": 2}), "columns to coarsen must be quasi-identifiers, got 'vote'"),
        (Change(drop=["age", "job"]), "must leave a quasi-identifier"),
        (Change(bins={"age": 1}), "bins must be a whole number of at least 2"),
        (Change(noise={"job": 0.1}), "noise must be of numeric quasi-identifiers, got 'job'"),
        (Change(noise={"age": 1.5}), "noise of 'age' must be a number above 0 and at most 1, got 1.5"),
        (Change(noise={"age": 0}), "noise of 'age' must be"),
        (
            Change(noise={"voet": 0.1}),
            "columns for noise must be quasi-identifiers or the sensitive",
        ),
        (Change(noise={"age": 0.1}, bins={"age": 2}), "change each quasi-identifier in one way, got 'age'"),
        (Change(drop=["job"], merge={"job": 2}), "in one way, got 'job'"),
        (Change(merge={"job": {"low": ["cook", "secret"]}}), "levels of 'job', got 1 of 2 that it does not have"),
        (Change(merge={"job": {"low": ["cook"], "high": ["cook"]}}), "each level once"),
        *((Change(merge={"job": each}), "to a list of levels") for each in ({"low": "cook"}, {})),
        (Change(merge={"job": {"nurse": ["cook"]}}), "must give new names in 'job'"),
        (Change(merge={"age": {"low": [20]}}), "merge must name categorical columns, got 'age'"),
        (Change(merge={"job": 1}), "bins must be a whole number of at least 2"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(change, said):
    with pytest.raises(InputError, match=said) as caught:
        changed(change)
    assert not [word for word in ("secret", "cook", "nurse") if word in str(caught.value)]


def test_noise_on_a_sensitive_date_and_a_metric_without_quasi_identifiers_are_refused():
    real = REAL.assign(vote=pd.Timestamp("2020-01-01"))
    with pytest.raises(InputError, match="must be on numbers or categories, got 'vote'"):
        changed(Change(noise={"vote": 0.1}), real=real, release=real)
    with pytest.raises(InputError, match="what_if needs a metric with quasi_identifiers"):
        what_if(METRICS["distance_to_closest_record"], REAL, RELEASE, [Change(drop=["age"])])


def test_merged_levels_are_those_of_tables_merged_by_hand():
    found = changed(Change(merge={"job": {"hands": ["cook", "nurse"]}}), Change(merge={"job": 2}))
    assert found["change"].tolist() == ["as it is", "job-merged-1", "job-in-2"]
    rare = set(REAL["job"].value_counts().index[1:])
    for value, merged in zip(found["value"][1:], ({"cook", "nurse"}, rare), strict=True):
        by_hand = [t.assign(job=t["job"].where(~t["job"].isin(merged), "one")) for t in (REAL, RELEASE)]
        assert value == pytest.approx(cap(*by_hand))


@pytest.mark.parametrize("share", [0.05, 0.4])
def test_noise_is_on_what_is_known_of_people_and_not_on_the_release(share):
    known = noisy(REAL, RELEASE, "age", share)
    off, width = known.real["age"] - REAL["age"], REAL["age"].max() - REAL["age"].min()
    assert off.abs().max() <= round(share * width)
    assert off.abs().mean() == pytest.approx(share * width / 2, rel=0.25)
    assert abs(off.mean()) < share * width / 8
    assert (off == off.round()).all()  # whole years
    assert known.synthetic["age"].tolist() == RELEASE["age"].tolist()
    before, value = changed(Change(noise={"age": share}))["value"]
    assert value == pytest.approx(cap(REAL.assign(age=known.real["age"]), RELEASE))
    assert value < before


def test_noise_is_the_same_against_every_release_and_in_any_order():
    def known(real, release):
        return noisy(real, release, "age", 0.2).real["age"]

    first, order = known(REAL, RELEASE), RNG.permutation(len(REAL))
    assert known(REAL, REAL).equals(first)
    moved = known(REAL.iloc[order], RELEASE)
    pairs = [sorted(zip(*(REAL[c].loc[k.index] for c in REAL), k, strict=True)) for k in (first, moved)]
    assert pairs[0] == pairs[1]  # equal records change places
    renamed = [t.assign(job=t["job"].map({"nurse": "x", "cook": "a", "pilot": "k"})) for t in (REAL, RELEASE)]
    assert sorted(known(*renamed)) == sorted(first)


def test_noise_on_dates_and_gaps():
    born = pd.Timestamp("1980-01-01") + pd.to_timedelta(REAL["age"] * 100, unit="D")
    real = REAL.assign(age=born.where(REAL.index > 9))
    known = noisy(real, real, "age", 0.1)
    assert known.real["age"].isna().tolist() == real["age"].isna().tolist()
    gap = np.abs(known.real["age"] - known.synthetic["age"]).dropna() / 86400e9
    assert 0 < gap.max() <= 0.1 * (born[10:].max() - born[10:].min()).days + 1


def test_noise_on_the_sensitive_column_is_on_the_release_alone_and_lowers_the_risk():
    before, little, much = changed(*(Change(noise={"vote": share}) for share in (0.2, 1.0)))["value"]
    assert before > little > much
    known = noisy(REAL, RELEASE, "vote", 0.2)
    assert known.real["vote"].tolist() == REAL["vote"].tolist()
    assert known.synthetic[["age", "job"]].equals(RELEASE[["age", "job"]])
    moved = known.synthetic["vote"].to_numpy() != RELEASE["vote"].to_numpy()
    assert moved.mean() == pytest.approx(0.2 / 2, abs=0.06)  # half of the draws are the value that was there
    assert little == pytest.approx(cap(REAL, known.synthetic[list(REAL)]))
    known = noisy(REAL, RELEASE, "age", 0.1, sensitive="age")  # a number moves by a share of the range
    assert known.real["age"].tolist() == REAL["age"].tolist()
    assert 0 < (known.synthetic["age"] - RELEASE["age"]).abs().max() <= round(0.1 * np.ptp(REAL["age"]))


@pytest.mark.parametrize("column", ["vote", "age"])
def test_noise_on_the_release_does_not_depend_on_the_order_of_its_rows(column):
    moved = RELEASE.sample(frac=1, random_state=2, ignore_index=True)
    found, other = (noisy(REAL, release, column, 0.3, sensitive=column).synthetic for release in (RELEASE, moved))
    assert sorted(map(str, found.itertuples(index=False))) == sorted(map(str, other.itertuples(index=False)))


DAYS = np.random.default_rng(0)
BORN = pd.Series(pd.Timestamp("1930-01-01") + pd.to_timedelta(DAYS.integers(0, 27_000, 1500), unit="D"))
YEARS = pd.to_datetime(BORN.dt.year.astype(str) + "-01-01")


def test_dates_are_bands_of_round_years():
    found = bands(BORN)
    assert list(found.cat.categories)[::4] == ["before 1940", "from 1990"]
    edges = [1940, *(int(name[-4:]) for name in found.cat.categories[1:-1])]
    assert all(edge % 10 == 0 for edge in edges)
    assert found.value_counts().min() > 100
    for first, last, name in zip(edges, edges[1:], found.cat.categories[1:-1], strict=False):
        assert name == f"{first} to before {last}"
        assert ((found == name) == BORN.dt.year.between(first, last - 1)).all()


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%d/%m/%Y", "%Y/%m/%d", "%d %b %Y", "%d. %B %Y", "%Y-%m-%d %H:%M"])
def test_texts_that_are_all_dates_are_taken_by_their_year(form):
    found = bands(BORN.dt.strftime(form))
    assert list(found) == list(bands(YEARS))


def test_numbers_are_cut_at_round_places_and_many_zeros_are_a_band_of_their_own():
    ages = pd.Series(DAYS.integers(18, 90, 1500))
    found = bands(ages)
    names = ["under 30", "30 to under 50", "50 to under 60", "60 to under 80", "80 and more"]
    assert list(found.cat.categories) == names
    assert ((found == "30 to under 50") == ((ages >= 30) & (ages < 50))).all()
    zeros = bands(pd.Series(np.r_[np.zeros(900), np.arange(100, 200)]))
    assert zeros.value_counts().tolist() == [900, 100]
    with pytest.raises(InputError, match="parts must be"):
        bands(ages, parts=1)


def test_the_commonest_values_are_kept_and_the_rest_counted_under_a_name_that_no_value_has():
    towns = pd.Series([f"t{i:02}" for i in range(20) for _ in range(30 - i)] + [None] * 3)
    found = bands(towns, most=4)
    assert list(found.cat.categories) == ["t00", "t01", "t02", "t03", "all others (16 values)", "missing"]
    assert (found == "missing").sum() == 3
    found = bands(pd.Series(["all others (2 values)"] * 12 + ["a", "b"]))
    assert list(found.cat.categories) == ["all others (2 values)", "(all others (2 values))"]
    found = bands(pd.Series([f"P{i}" for i in range(500)]))  # an identifier
    assert (list(found.cat.categories), names_none(found)) == (["all values (500)"], True)


@given(
    st.lists(st.one_of(st.none(), st.floats(-1e9, 1e9), st.integers(-5, 5).map(float)), min_size=30, max_size=80),
    st.integers(2, 6),
)
def test_no_band_of_numbers_is_of_few_records_and_all_are_in_order(values, parts):
    column = pd.Series(values, dtype=float)
    found, there = bands(column, parts=parts, fewest=10), column.notna()
    named = [c for c in found.cat.categories if c != "missing" and not c.startswith(("all ", "(all "))]
    counts = found[there].value_counts()
    assert all(counts[name] >= 10 for name in named)
    assert len(found) == len(column)
    assert found.notna().all()
    if column.nunique() > 12:
        codes = found.cat.codes[there].to_numpy()[np.argsort(column[there].to_numpy(), kind="stable")]
        assert (np.diff(codes) >= 0).all()


def test_rounded_numbers_and_dates_are_nobodys_own():
    incomes = pd.Series(DAYS.lognormal(10, 1, 1500).round(2))
    found = rounded(incomes)
    assert not set(found) & set(incomes)
    assert (found % 1000 == 0).all()
    assert (found - incomes).abs().max() <= 500
    assert (rounded(BORN) == YEARS).all()
    days = pd.Series(pd.to_timedelta(DAYS.exponential(3, 500), unit="D"))
    assert (rounded(days) - days).abs().max() <= pd.Timedelta("1.2 hours")
    for few in (pd.Series(DAYS.integers(18, 90, 500)), pd.Series([1.5, np.nan, 2.5])):
        assert rounded(few).equals(few)
