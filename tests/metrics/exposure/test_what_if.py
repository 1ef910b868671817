"""The same attack by someone who knows less, against calling the metric with the changed columns."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from synthrisk.metrics import METRICS, InputError, Tables
from synthrisk.metrics.exposure.what_if import Change, what_if
from synthrisk.metrics.tables.coarsen import binned

RNG = np.random.default_rng(3)
REAL = pd.DataFrame(
    {
        "age": RNG.integers(20, 60, 300),
        "job": RNG.choice(["nurse", "cook", "pilot"], 300),
        "vote": RNG.choice(["a", "b"], 300),
    }
)
RELEASE = REAL.sample(200, replace=True, random_state=1).reset_index(drop=True)
ROLES = {"quasi_identifiers": ["age", "job"], "sensitive": "vote"}
CHANGES = [Change(drop=["age"]), Change(bins={"age": 3}), Change(drop=["job"], bins={"age": 2}, binning="width")]


def test_each_row_is_the_metric_called_with_the_changed_columns():
    found = what_if(METRICS["zero_cap"], REAL, RELEASE, CHANGES, **ROLES)
    by_hand = [
        METRICS["zero_cap"](REAL, RELEASE, **ROLES),
        METRICS["zero_cap"](REAL, RELEASE, **{**ROLES, "quasi_identifiers": ["job"]}),
        METRICS["zero_cap"](REAL, RELEASE, **ROLES, bins={"age": 3}),
        METRICS["zero_cap"](REAL, RELEASE, **{**ROLES, "quasi_identifiers": ["age"]}, bins={"age": 2}, binning="width"),
    ]
    assert found["change"].tolist() == ["as it is", "without-age", "age-in-3", "without-job-age-in-2"]
    assert found["value"].tolist() == [s.value for s in by_hand]
    for row, score in zip(found.itertuples(), by_hand, strict=True):
        gaps = score.records["score"] - by_hand[0].records["score"]
        assert row.difference == pytest.approx(gaps.mean(), abs=1e-12)
        half = stats.t.ppf(0.975, len(gaps) - 1) * gaps.std() / np.sqrt(len(gaps))
        assert (row.lower, row.upper) == pytest.approx((gaps.mean() - half, gaps.mean() + half))


def test_a_forest_is_compared_under_one_seed():
    found = what_if(METRICS["rapid"], REAL, RELEASE, [Change(drop=["job"])], **ROLES, attacker="cart", seed=5)
    alone = METRICS["rapid"](REAL, RELEASE, **{**ROLES, "quasi_identifiers": ["age"]}, attacker="cart", seed=5)
    assert found["value"].iloc[1] == alone.value


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change(), "what_if must name columns under drop, bins"),
        (Change(drop=["aeg"]), r"drop must name quasi-identifiers, got 'aeg' \(did you mean 'age'\?\)"),
        (Change(bins={"vote": 2}), "bins must name quasi-identifiers, got 'vote'"),
        (Change(drop=["age", "job"]), "must leave a quasi-identifier"),
        (Change(bins={"age": 1}), "bins must be a whole number of at least 2"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(change, said):
    with pytest.raises(InputError, match=said):
        what_if(METRICS["zero_cap"], REAL, RELEASE, [change], **ROLES)


def credit(known, target, release):
    """CAP by plain loops: share of the release's records with this key that have the target's vote."""
    same = [r for r in release if r[:-1] == known]
    return sum(r[-1] == target for r in same) / len(same) if same else 0.0


GROUPS = {"hands": ["cook", "nurse"]}


def test_merged_levels_are_those_of_tables_merged_by_hand():
    found = what_if(
        METRICS["zero_cap"], REAL, RELEASE, [Change(merge={"job": GROUPS}), Change(merge={"job": 2})], **ROLES
    )
    assert found["change"].tolist() == ["as it is", "job-merged-1", "job-in-2"]
    rare = set(REAL["job"].value_counts().index[1:])
    for value, merged in zip(found["value"][1:], ({"cook", "nurse"}, rare), strict=True):
        real, release = (
            [(age, "one" if job in merged else job, vote) for age, job, vote in t.itertuples(index=False)]
            for t in (REAL, RELEASE)
        )
        assert value == pytest.approx(np.mean([credit(r[:-1], r[-1], release) for r in real]))


@pytest.mark.parametrize("share", [0.05, 0.4])
def test_noise_is_on_what_is_known_of_people_and_not_on_the_release(share):
    options = Change(noise={"age": share}).options(ROLES)
    known = binned(Tables(REAL, RELEASE), ROLES["quasi_identifiers"], ["vote"], options["bins"], options["binning"])
    off = known.real["age"] - REAL["age"]
    width = REAL["age"].max() - REAL["age"].min()
    assert off.abs().max() <= round(share * width)
    assert off.abs().mean() == pytest.approx(share * width / 2, rel=0.25)
    assert abs(off.mean()) < share * width / 8
    assert (off == off.round()).all()  # whole years
    assert known.synthetic["age"].tolist() == RELEASE["age"].tolist()
    release = [tuple(r) for r in RELEASE.itertuples(index=False)]
    by_hand = [credit((a, j), v, release) for a, j, v in zip(known.real["age"], REAL["job"], REAL["vote"], strict=True)]
    found = what_if(METRICS["zero_cap"], REAL, RELEASE, [Change(noise={"age": share})], **ROLES)
    assert found["value"].iloc[1] == pytest.approx(np.mean(by_hand))
    assert found["value"].iloc[1] < found["value"].iloc[0]


def test_noise_is_the_same_against_every_release_and_in_any_order():
    def known(real, release):
        return binned(Tables(real, release), ["age", "job"], ["vote"], {"age": 0.2}, "quantile").real["age"]

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
    known = binned(Tables(real, real), ["age"], ["vote"], {"age": 0.1}, "quantile")
    assert known.real["age"].isna().tolist() == real["age"].isna().tolist()
    gap = np.abs(known.real["age"] - known.synthetic["age"]).dropna() / 86400e9
    assert 0 < gap.max() <= 0.1 * (born[10:].max() - born[10:].min()).days + 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change(noise={"job": 0.1}), "noise must be of numeric quasi-identifiers, got 'job'"),
        (Change(noise={"age": 1.5}), "noise of 'age' must be a number above 0 and at most 1, got 1.5"),
        (Change(noise={"age": 0}), "noise of 'age' must be"),
        (Change(noise={"voet": 0.1}), "noise must name quasi-identifiers or the sensitive column, got 'voet'"),
        (Change(noise={"age": 0.1}, bins={"age": 2}), "change each quasi-identifier in one way, got 'age'"),
        (Change(drop=["job"], merge={"job": 2}), "in one way, got 'job'"),
        (Change(merge={"job": {"low": ["cook", "secret"]}}), "levels of 'job', got 1 of 2 that it does not have"),
        (Change(merge={"job": {"low": ["cook"], "high": ["cook"]}}), "each level once"),
        (Change(merge={"job": {"low": "cook"}}), "to a list of levels"),
        (Change(merge={"job": {}}), "to a list of levels"),
        (Change(merge={"job": {"nurse": ["cook"]}}), "must give new names in 'job'"),
        (Change(merge={"age": {"low": [20]}}), "merge must name categorical columns, got 'age'"),
        (Change(merge={"job": 1}), "bins must be a whole number of at least 2"),
    ],
)
def test_noise_and_groups_that_make_no_sense_are_refused(change, said):
    with pytest.raises(InputError, match=said) as caught:
        what_if(METRICS["zero_cap"], REAL, RELEASE, [change], **ROLES)
    assert not [word for word in ("secret", "cook", "nurse") if word in str(caught.value)]


def test_a_metric_without_quasi_identifiers_is_refused():
    with pytest.raises(InputError, match="what_if needs a metric with quasi_identifiers"):
        what_if(METRICS["distance_to_closest_record"], REAL, RELEASE, CHANGES)


def test_names_fit_into_labels():
    assert Change(drop=["net pay (€)"], bins={"a.b": 3}).name == "without-net_pay____-a_b-in-3"


def test_noise_on_the_sensitive_column_is_on_the_release_alone_and_lowers_the_risk():
    found = what_if(METRICS["zero_cap"], REAL, RELEASE, [Change(noise={"vote": s}) for s in (0.2, 1.0)], **ROLES)
    before, little, much = found["value"]
    assert before > little > much
    tables = Tables(REAL, RELEASE)
    noisy = binned(tables, ROLES["quasi_identifiers"], ["vote"], {"vote": 0.2}, "quantile")
    assert noisy.real["vote"].tolist() == REAL["vote"].tolist()
    assert noisy.synthetic[["age", "job"]].equals(RELEASE[["age", "job"]])
    changed = noisy.synthetic["vote"].to_numpy() != RELEASE["vote"].to_numpy()
    assert changed.mean() == pytest.approx(0.2 / 2, abs=0.06)  # half of the draws are the value that was there
    release = [tuple(r) for r in noisy.synthetic.itertuples(index=False)]
    by_hand = np.mean([credit(r[:-1], r[-1], release) for r in REAL.itertuples(index=False, name=None)])
    assert little == pytest.approx(by_hand)


def test_noise_on_a_sensitive_number_moves_released_numbers_by_a_share_of_the_range():
    roles = {"quasi_identifiers": ["job", "vote"], "sensitive": "age"}
    noisy = binned(Tables(REAL, RELEASE), roles["quasi_identifiers"], ["age"], {"age": 0.1}, "quantile")
    off = (noisy.synthetic["age"] - RELEASE["age"]).abs()
    assert 0 < off.max() <= round(0.1 * (REAL["age"].max() - REAL["age"].min()))
    assert noisy.real["age"].tolist() == REAL["age"].tolist()


@pytest.mark.parametrize("column", ["vote", "age"])
def test_noise_on_the_release_does_not_depend_on_the_order_of_its_rows(column):
    known = [c for c in REAL if c != column]
    order = RNG.permutation(len(RELEASE))
    both = [
        binned(Tables(REAL, r), known, [column], {column: 0.3}, "quantile").synthetic
        for r in (RELEASE, RELEASE.iloc[order].reset_index(drop=True))
    ]
    assert sorted(map(str, both[0].itertuples(index=False))) == sorted(map(str, both[1].itertuples(index=False)))


def test_noise_on_a_sensitive_date_is_refused():
    real = REAL.assign(vote=pd.Timestamp("2020-01-01"))
    with pytest.raises(InputError, match="must be on numbers or categories, got 'vote'"):
        what_if(METRICS["zero_cap"], real, real, [Change(noise={"vote": 0.1})], **ROLES)
