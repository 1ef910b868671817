"""The real records are the same for every release: they are kept, recognised, and divided into boxes once."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.neighbours import box_search, nearest, records
from synthrisk.metrics.neighbours.box_search import Boxes
from synthrisk.metrics.neighbours.nearest import Pass, real_to_real, real_to_synthetic, synthetic_to_real
from synthrisk.metrics.neighbours.records import Plain, even, mixed, scale, space_of
from synthrisk.metrics.tables.tables import Tables


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch):
    monkeypatch.setattr(records, "_LAST", [])
    monkeypatch.setattr(nearest, "_REAL", [])
    monkeypatch.setattr(nearest, "_KEPT", type(nearest._KEPT)())
    monkeypatch.setattr(nearest, "_LAST", [])


def people(seed, n=300):
    rng = np.random.default_rng(seed)
    age, pay = rng.integers(18, 40, n), rng.normal(size=n).round(1)
    return pd.DataFrame({"age": age, "pay": pay, "job": rng.choice([*"abc"], n)})


def records_of(real, release, space="gower"):
    tables = Tables(real, release)
    return mixed(tables, space_of(tables, space))


def test_the_same_real_records_are_one_object_in_both_spaces_and_for_every_release():
    first, second = records_of(people(0), people(1)), records_of(people(0), people(2), "euclid")
    assert first.real is second.real
    assert first.synthetic is not first.real


@pytest.mark.parametrize("cell", [(0, "age"), (299, "pay"), (150, "job")])
def test_one_other_cell_makes_other_records(cell):
    changed = people(0)
    changed.loc[cell] = "b" if cell[1] == "job" and changed.loc[cell] != "b" else ("c" if cell[1] == "job" else 33)
    first, second = records_of(people(0), people(1)), records_of(changed, people(1))
    assert second.real is not first.real
    assert not all(np.array_equal(*pair) for pair in zip(first.real, second.real, strict=True))


def test_records_with_missing_numbers_are_not_kept_for_they_differ_by_space():
    real = people(0)
    real.loc[3, "pay"] = np.nan
    assert records_of(real, people(1)).real is not records_of(real, people(1)).real


@pytest.mark.parametrize("release", ["copy", "other"])
@pytest.mark.parametrize("space", ["gower", "euclid"])
def test_what_is_found_is_what_a_look_at_every_pair_finds(release, space):
    real_to_real(Tables(people(0), people(5)), space)  # from now on the real records are known
    tables = Tables(people(0), people(0) if release == "copy" else people(1))
    where = space_of(tables, space)
    both = mixed(tables, where)
    assert (both.synthetic is both.real) == (release == "copy")
    for find, side in ((real_to_synthetic, "synthetic"), (real_to_real, "real")):
        searched, own = getattr(both, side), Pass(tables, f"real_to_{side}", where).own
        sums, rows = Plain(searched, scale(tables, where, side)).nearest(both.real, own, 2)
        found = find(tables, space, k=2)
        assert np.array_equal(found.rows, rows)
        assert np.array_equal(found.distances, np.sqrt(sums) if space == "euclid" else sums / 3)


def test_real_records_are_divided_once_for_all_releases(monkeypatch):
    divided, split = [], box_search.split
    monkeypatch.setattr(box_search, "split", lambda *given: divided.append(given[0]) or split(*given))
    for seed in (1, 2, 0):  # the last is a copy of the real records
        release = people(seed).assign(age=lambda t, seed=seed: t["age"] + 5 * seed)  # ranges of their own
        tables = Tables(people(0), release)
        for space in ("gower", "euclid"):
            real_to_real(tables, space)
            real_to_synthetic(tables, space)
    assert len(divided) == 3


def test_records_stand_where_a_way_through_the_boxes_leads_them():
    real = records_of(people(0, 3000), people(1)).real
    boxes = Boxes(real, even(real, np.array([0, 4])))
    assert all(np.array_equal(*pair) for pair in zip(boxes._own_places(), boxes._places(real), strict=True))


def test_of_a_release_that_is_gone_nothing_is_kept():
    for seed in (1, 2):
        tables = Tables(people(0), people(seed))
        synthetic_to_real(tables, "gower")
        real_to_real(tables, "gower")
    kept, both = nearest._REAL[0][1]._boxes._placed, mixed(tables, space_of(tables, "gower"))
    assert {id(queries) for queries, _ in kept} <= {id(both.real), id(both.synthetic)}
