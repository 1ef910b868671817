"""How rare keys are, against plain loops."""

import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from samples.coarse import KEYS, may_be, tables
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.release.k_anonymity import (
    SIZES,
    KeySizes,
    ReleaseKeys,
    key_sizes,
    keys_from_plain,
    keys_of_real,
    keys_of_release,
    mean_keys,
    values_of_real,
)
from synthrisk.metrics.tables.tables import Tables

RANGES = [(1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 10**9)]


def drawn(seed, n):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"age": rng.geometric(0.15, n), "city": rng.choice(["a", "b", None], n, p=[0.7, 0.2, 0.1])})
    return table.assign(secret=rng.random(n))


def counted(sizes):
    return tuple(float(sum(low <= k <= high for k in sizes)) for low, high in RANGES)


def test_every_range_is_counted_where_it_belongs():
    k = np.array([1, 2, 3, 4, 5, 9, 10, 19, 20, 1000, 0, 0])
    found = key_sizes(k)
    assert (found, found.records) == (KeySizes((1, 1, 2, 2, 2, 2), 1, 2), len(k))
    assert (len(found.counts), key_sizes(np.array([0, 0]))) == (len(SIZES), KeySizes((0,) * 6, 0, 2))


def with_votes(seed, n):
    rng = np.random.default_rng(seed + 100)
    return drawn(seed, n).assign(vote=rng.choice(["a", "b", None], n), ill=rng.choice([0, 1], n, p=[0.9, 0.1]))


def texts(table, columns):
    """Return the values of some columns of each record, a missing cell as a word."""
    return [tuple("missing" if pd.isna(cell) else cell for cell in row) for row in table[columns].to_numpy(object)]


def different(table, known, hidden, asked):
    """Return how many different values the table has for the key of each record of ``asked``: by plain loops.

    Where nothing is hidden, it is the number of rows.
    """
    rows = list(zip(texts(table, known), texts(table, hidden) if hidden else range(len(table)), strict=True))
    return [len({value for key, value in rows if key == own}) for own in texts(asked, known)]


@pytest.mark.parametrize("of_entities", [False, True])
def test_real_keys_are_those_of_a_loop_and_entities_are_counted_once_a_key(of_entities):
    real = drawn(1, 300)
    entities = np.random.default_rng(3).integers(60, size=300)
    sizes = different(real.assign(e=entities), ["age", "city"], ["e"] if of_entities else [], real)
    assert of_entities or min(counted(sizes)) > 0  # each range is tested
    found = keys_of_real(real, ["age", "city"], entities if of_entities else None)
    assert found == KeySizes(counted(sizes), min(sizes), 0)


TARGETS = {"vote": ["vote"], "ill": ["ill"], "vote and ill": ["vote", "ill"]}


@pytest.mark.parametrize(("name", "hidden"), {"keys": [], **TARGETS}.items())
def test_sizes_of_keys_and_values_of_each_key_are_those_of_a_loop(name, hidden):
    real, release, known = with_votes(11, 200), with_votes(12, 150), ["age", "city"]
    targets, own = ["vote", "ill", ["vote", "ill"]], different(real, known, hidden, real)
    assert not hidden or values_of_real(real, known, targets)[name] == KeySizes(counted(own), min(own), 0)
    groups = np.random.default_rng(6).choice([1, 0, -1], 200, p=[0.5, 0.3, 0.2])
    every = keys_of_release(Tables(real, release, groups=groups), known, targets)
    assert list(every.values) == list(TARGETS)
    found = every.values[name] if hidden else every
    own = different(release, known, hidden, release)
    assert found.release == KeySizes(counted(own), min(own), 0)
    looked = np.array(different(release, known, hidden, real))
    for group, told in ((1, found.members), (0, found.controls)):
        asked = looked[groups == group]
        assert told == KeySizes(counted(asked), min(k for k in asked if k), list(asked).count(0))
        assert told.absent > 0
    assert keys_of_release(Tables(real, release), ["age"]).controls is None


def test_what_is_guessed_is_no_part_of_the_key():
    real, known = with_votes(13, 80), ["age", "vote"]
    own = different(real, ["age"], ["vote"], real)
    assert values_of_real(real, known, ["vote"]) == {"vote": KeySizes(counted(own), min(own), 0)}
    assert values_of_real(real, ["vote"], ["vote"]) == {}


def test_keys_survive_a_journey_and_are_averaged_over_releases():
    found = keys_of_release(Tables(with_votes(1, 60), with_votes(2, 50)), ["age"], ["vote", ["vote", "ill"]])
    assert keys_from_plain(json.loads(json.dumps(asdict(found)))) == found
    assert mean_keys([found, found]) == found
    one, two = KeySizes((1, 2, 3, 0, 0, 0), 1, 4), KeySizes((0, 4, 0, 5, 0, 0), 2, 0)
    mean = KeySizes((0.5, 3.0, 1.5, 2.5, 0, 0), 1, 2)
    assert mean_keys([ReleaseKeys(one, two, None), ReleaseKeys(two, one, one)]) == ReleaseKeys(mean, mean, one)


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="quasi_identifiers"):
        keys_of_release(Tables(drawn(1, 5), drawn(1, 5)), ["agee"])


def test_a_coarse_row_has_the_key_of_every_record_that_lies_in_it():
    real, release = tables(8)
    groups = np.repeat([1, 0], [25, 15])
    found = keys_of_release(Tables(real, release, groups=groups), KEYS, ["pay"])
    rows = [
        [row["pay"] for row in release.to_dict("records") if all(may_be(c, row[c], own[c]) for c in KEYS)]
        for own in real.to_dict("records")
    ]
    for sizes, each in ((found, map(len, rows)), (found.values["pay"], (len(set(pays)) for pays in rows))):
        each = np.array([*each])
        assert sizes.members == key_sizes(each[groups == 1])
        assert sizes.controls == key_sizes(each[groups == 0])
