"""Memorization of single records, and who is vulnerable, by plain loops."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from synthrisk.metrics import InputError
from synthrisk.metrics.exposure.single_records import QUANTILES, quantiles, record_exposure, vulnerable


def cube(seed, repetitions=4, folds=3, n=12):
    rng = np.random.default_rng(seed)
    scores = np.where(rng.random((repetitions, folds, n)) < 0.1, np.nan, rng.random((repetitions, folds, n)))
    held_out = np.stack([np.eye(folds, dtype=bool)[rng.permutation(np.arange(n) % folds)].T for _ in scores])
    unused = held_out & (rng.random(held_out.shape) < 0.2)
    return scores, ~held_out, held_out & ~unused


def known(scores, mask):
    return [s for s, m in zip(scores.ravel(), mask.ravel(), strict=True) if m and s == s]


@pytest.mark.parametrize("seed", range(5))
def test_each_record_by_itself(seed):
    scores, member, control = cube(seed)
    found = record_exposure(scores, member, control, 0.9)
    for i in range(scores.shape[2]):
        own, others = (known(scores[:, :, i], mask[:, :, i]) for mask in (member, control))
        assert found["as_member"][i] == pytest.approx(np.mean(own))
        if not others:
            assert np.isnan(found["memorization"][i])
            continue
        assert found["memorization"][i] == pytest.approx(np.mean(own) - np.mean(others))
        sides = [[known(s[:, i], m[:, i]) for m in (a, b)] for s, a, b in zip(scores, member, control, strict=True)]
        gaps = [np.mean(own) - np.mean(others) for own, others in sides if own and others]
        if len(gaps) < 2:
            assert np.isnan(found["lower"][i])
            continue
        limits = stats.t.interval(0.9, len(gaps) - 1, 0, stats.sem(gaps))
        assert [found[end][i] - found["memorization"][i] for end in ("lower", "upper")] == pytest.approx(limits)


def test_one_repetition_has_no_interval_and_a_record_that_never_varies_one_without_width():
    assert record_exposure(*cube(1, repetitions=1))["lower"].isna().all()
    member = np.tile(np.array([[True], [False]]), (3, 1, 1))
    found = record_exposure(member.astype(float), member, ~member)
    assert found.loc[0].tolist() == [1, 0, 1, 1, 1]


def test_quantiles_of_those_that_are_known():
    assert quantiles(np.array([np.nan])) == ()
    assert quantiles(np.append(np.linspace(0, 1, 101), np.nan)) == pytest.approx(QUANTILES)


KNOWN = ["job", "town"]


def people(seed, n=80):
    rng = np.random.default_rng(seed)
    age = np.where(rng.random(n) < 0.1, np.nan, rng.integers(20, 60, n))
    job = rng.choice(["a", "b", "c", None], n, p=[0.6, 0.2, 0.15, 0.05])
    return pd.DataFrame({"age": age, "job": job, "town": rng.choice(["x", "y", "z"], n, p=[0.8, 0.15, 0.05])})


def orders(table):
    """Return in what order records are outliers, and in what their keys are rare."""
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    ages = [r["age"] for r in rows if r["age"] is not None]
    spread = max(ages) - min(ages)

    def away(a, b):
        cost = float((a["age"] is None) != (b["age"] is None))
        if a["age"] is not None and b["age"] is not None:
            cost = abs(a["age"] - b["age"]) / spread
        return (cost + (a["job"] != b["job"]) + (a["town"] != b["town"])) / 3

    mean = [np.mean(sorted(away(a, b) for j, b in enumerate(rows) if j != i)[:5]) for i, a in enumerate(rows)]
    keys = [(r["job"], r["town"]) for r in rows]
    held = [keys.count(k) for k in keys]
    jobs, towns = [r["job"] for r in rows], [r["town"] for r in rows]
    rare = [jobs.count(j) * towns.count(t) for j, t in keys]
    return [-round(m, 9) for m in mean], list(zip(held, rare, strict=True))


def first(order, share, whose):
    persons = sorted(set(whose))
    best = {person: min(o for o, own in zip(order, whose, strict=True) if own == person) for person in persons}
    last = next(k for k in range(1, len(persons) + 1) if k >= max(share * len(persons), 1))
    return [best[person] <= sorted(best.values())[last - 1] for person in whose]


@pytest.mark.parametrize("seed", range(6))
def test_both_groups_equal_plain_loops(seed):
    table = people(seed)
    entities, due = np.random.default_rng(seed).integers(30, size=len(table)), orders(table)
    for share in (0.01, 0.05, 0.3):
        for given, whose in ((None, range(len(table))), (entities, entities.tolist())):
            found = vulnerable(table, KNOWN, share, given)
            expected = [first(order, share, whose) for order in due]
            assert [found["outliers"].tolist(), found["rare_keys"].tolist()] == expected


def test_rows_that_nothing_tells_apart_are_taken_together_and_without_a_key_there_are_outliers_only():
    assert all(rows.all() for rows in vulnerable(pd.DataFrame({"job": ["a"] * 10}), ["job"]).values())
    assert list(vulnerable(people(1), [])) == ["outliers"]


@pytest.mark.parametrize(
    ("table", "arguments", "said"),
    [
        *((people(1), (KNOWN, share), "share must be") for share in (0, 1, -0.1, True, "a")),
        (people(1).head(1), (KNOWN,), "at least 2 records"),
        (people(1), (["jobs"],), "quasi_identifiers"),
    ],
)
def test_what_makes_no_sense_is_refused(table, arguments, said):
    with pytest.raises(InputError, match=said):
        vulnerable(table, *arguments)
