"""Who is vulnerable, by plain loops."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import InputError
from synthrisk.metrics.exposure.single_records import vulnerable

KNOWN = ["job", "town"]


def people(seed, n=80):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(20, 60, n)),
            "job": rng.choice(["a", "b", "c", None], n, p=[0.6, 0.2, 0.15, 0.05]),
            "town": rng.choice(["x", "y", "z"], n, p=[0.8, 0.15, 0.05]),
        }
    )


def brute(table, share, whose):
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    ages = [r["age"] for r in rows if r["age"] is not None]
    spread = max(ages) - min(ages)

    def away(a, b):
        cost = 0.0
        if a["age"] is None or b["age"] is None:
            cost += (a["age"] is None) != (b["age"] is None)
        else:
            cost += abs(a["age"] - b["age"]) / spread
        return (cost + (a["job"] != b["job"]) + (a["town"] != b["town"])) / 3

    mean = [np.mean(sorted(away(a, b) for j, b in enumerate(rows) if j != i)[:5]) for i, a in enumerate(rows)]
    keys = [(r["job"], r["town"]) for r in rows]
    held = [keys.count(k) for k in keys]
    jobs, towns = [r["job"] for r in rows], [r["town"] for r in rows]
    rare = [jobs.count(j) * towns.count(t) for j, t in keys]
    persons = sorted(set(whose))
    size = share * len(persons)

    def first(order):
        best = {person: min(o for o, own in zip(order, whose, strict=True) if own == person) for person in persons}
        last = next(k for k in range(1, len(persons) + 1) if k >= max(size, 1))
        limit = sorted(best.values())[last - 1]
        return [best[person] <= limit for person in whose]

    return first([-round(m, 9) for m in mean]), first(list(zip(held, rare, strict=True)))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [0.01, 0.05, 0.3])
def test_both_groups_equal_plain_loops(seed, share):
    table = people(seed)
    for whose in (None, np.random.default_rng(seed).integers(30, size=len(table))):
        found = vulnerable(table, KNOWN, share, whose)
        outliers, rare = brute(table, share, list(range(len(table)) if whose is None else whose))
        assert found["outliers"].tolist() == outliers
        assert found["rare_keys"].tolist() == rare


def test_rows_that_nothing_tells_apart_are_taken_together():
    table = pd.DataFrame({"job": ["a"] * 10})
    assert vulnerable(table, ["job"])["rare_keys"].all()
    assert vulnerable(table, ["job"])["outliers"].all()


def test_without_a_key_there_are_outliers_only():
    assert list(vulnerable(people(1), [])) == ["outliers"]


@pytest.mark.parametrize("share", [0, 1, -0.1, True, "a"])
def test_bad_share(share):
    with pytest.raises(InputError, match="share must be"):
        vulnerable(people(1), KNOWN, share)


def test_one_record():
    with pytest.raises(InputError, match="at least 2 records"):
        vulnerable(people(1).head(1), KNOWN)


def test_column_that_is_not_there():
    with pytest.raises(InputError, match="quasi_identifiers"):
        vulnerable(people(1), ["jobs"])
