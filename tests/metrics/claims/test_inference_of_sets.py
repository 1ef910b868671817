"""Inference where released cells stand for sets of values, against plain loops over pairs of records."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from samples.coarse import BANDS, KEYS, may_be, tables
from synthrisk.metrics import METRICS
from synthrisk.metrics.tables.tables import ValueSet, ValueSets

VOTES = {"*": None, "left": ("left",), "right": ("right",), "not left": ("right", "none"), "none": ("none",)}


def voters(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return people with a vote, and a release that says of some only what they did not vote."""
    rng = np.random.default_rng(seed)
    real, release = tables(seed)
    sets = ValueSets.of(release)
    real = real.assign(vote=rng.choice(["left", "right", "none"], len(real))).drop(columns="pay")
    vote = pd.Series(rng.choice([*VOTES], len(release)), index=release.index, dtype=object)
    columns = {**sets.columns, "vote": {"not left": ValueSet(texts=("right", "none"))}}
    release = release.assign(vote=vote.where(vote != "*")).drop(columns="pay")
    return real, ValueSets(columns, sets.suppressed | {"vote"}).beside(release)


def gap(column: str, released: object, real: object, extent: float) -> float:
    """Return the distance of a real cell to the nearest value that a released one stands for."""
    if column != "age":
        return float(not may_be(column, released, real))
    low, high = BANDS.get(released, (released, released))
    return max(low - real, real - high, 0) / extent


def claim(pool: list[str | None], everywhere: list[str | None]) -> str | None:
    """Return what most of a pool say; of equally many what more say in the whole release."""
    told, overall = Counter(v for v in pool if v is not None), Counter(everywhere)
    best = [v for v, count in told.items() if count == max(told.values())]
    most = max((overall[v] for v in best), default=0)
    best = [v for v in best if overall[v] == most]
    return best[0] if len(best) == 1 else None  # ties are left to the order of the release


@pytest.mark.parametrize("attacker", ["nearest_record", "key_class"])
@pytest.mark.parametrize("seed", range(4))
def test_claims_are_those_of_the_records_that_may_be_the_target(seed: int, attacker: str):
    real, release = voters(seed)
    found = METRICS["inference"](real, release, quasi_identifiers=KEYS, sensitive="vote", attacker=attacker).records
    votes = [None if pd.isna(v) else v for v in release["vote"]]
    extent = max(real["age"].max(), release["age"].max()) - min(real["age"].min(), release["age"].min())
    judged = 0
    for place, person in enumerate(real.to_dict("records")):
        rows = release.to_dict("records")
        far = [sum(gap(c, row[c], person[c], extent) for c in KEYS) / len(KEYS) for row in rows]
        near = 0.0 if attacker == "key_class" else min(far)
        pool = [vote for d, vote in zip(far, votes, strict=True) if abs(d - near) < 1e-9]
        due = claim(pool, votes)
        own = found.iloc[place]
        if not any(pool):
            assert not own["claim"]
        if due is None:
            continue
        judged += 1
        assert (own["guessed"], own["score"]) == (due, person["vote"] in VOTES[due])
        assert own["baseline"] == pytest.approx(real["vote"].isin(VOTES[due]).mean())
        share = sum(v == due for v in pool) / sum(v is not None for v in pool)
        assert own["confidence"] == pytest.approx(share * (1 - near))
    assert judged > 15


def test_a_band_of_numbers_that_is_claimed_is_right_where_it_holds_the_number():
    real = pd.DataFrame({"job": ["cook", "nurse", "clerk", "driver"], "pay": [10.0, 26.0, 31.0, 90.0]})
    release = pd.DataFrame({"job": real["job"], "pay": [15.0, 15.0, 60.0, 91.0]})
    sets = ValueSets({"pay": {15.0: ValueSet(10, 20), 60.0: ValueSet(30, 100)}})
    roles = {"quasi_identifiers": ["job"], "sensitive": "pay"}
    found = METRICS["inference"](real, sets.beside(release), **roles).records
    assert (found["score"].tolist(), found["baseline"].tolist()) == ([1, 0, 1, 1], [0.25, 0.25, 0.5, 0.25])


def test_with_entities_a_set_is_right_where_some_record_of_the_entity_is_in_it():
    real = pd.DataFrame({"who": [1, 1, 2, 3], "job": ["a", "b", "c", "d"], "pay": [10.0, 26.0, 31.0, 90.0]})
    release = pd.DataFrame({"job": ["b", "c"], "pay": [15.0, 15.0]})
    sets = ValueSets({"pay": {15.0: ValueSet(10, 20)}})
    roles = {"quasi_identifiers": ["job"], "sensitive": "pay", "identifier": "who", "attacker": "key_class"}
    found = METRICS["inference"](real, sets.beside(release), **roles).records
    np.testing.assert_array_equal(found["score"], [math.nan, 1, 0, math.nan])
    np.testing.assert_allclose(found["baseline"], [math.nan, 1 / 3, 1 / 3, math.nan])


def test_a_suppressed_secret_is_claimed_of_nobody():
    real, release = voters(0)
    release = release.assign(vote=None)
    score = METRICS["inference"](real, release, quasi_identifiers=KEYS, sensitive="vote")
    assert math.isnan(score.value)
    assert score.reason == "the attack made no claim"
