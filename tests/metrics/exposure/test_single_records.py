"""Memorization of single records, by plain loops."""

import numpy as np
import pytest
from scipy import stats

from synthrisk.metrics.exposure.single_records import QUANTILES, quantiles, record_exposure


def cube(seed, repetitions=4, folds=3, n=12):
    rng = np.random.default_rng(seed)
    scores = np.where(rng.random((repetitions, folds, n)) < 0.1, np.nan, rng.random((repetitions, folds, n)))
    held_out = np.stack(
        [np.eye(folds, dtype=bool)[rng.permutation(np.arange(n) % folds)].T for _ in range(repetitions)]
    )
    unused = held_out & (rng.random(held_out.shape) < 0.2)
    return scores, ~held_out, held_out & ~unused


@pytest.mark.parametrize("seed", range(5))
def test_each_record_by_itself(seed):
    scores, member, control = cube(seed)
    found = record_exposure(scores, member, control, 0.9)
    for i in range(scores.shape[2]):
        sides = []
        for mask in (member, control):
            sides.append(
                [s for s, m in zip(scores[:, :, i].ravel(), mask[:, :, i].ravel(), strict=True) if m and s == s]
            )
        assert found["as_member"][i] == pytest.approx(np.mean(sides[0]))
        if not sides[1]:
            assert np.isnan(found["memorization"][i])
            continue
        assert found["memorization"][i] == pytest.approx(np.mean(sides[0]) - np.mean(sides[1]))
        gaps = []
        for r in range(len(scores)):
            own = [
                [x for x, m in zip(scores[r, :, i], mask[r, :, i], strict=True) if m and x == x]
                for mask in (member, control)
            ]
            if own[0] and own[1]:
                gaps.append(np.mean(own[0]) - np.mean(own[1]))
        if len(gaps) < 2:
            assert np.isnan(found["lower"][i])
            continue
        low, high = stats.t.interval(0.9, len(gaps) - 1, 0, stats.sem(gaps))
        assert found["lower"][i] - found["memorization"][i] == pytest.approx(low)
        assert found["upper"][i] - found["memorization"][i] == pytest.approx(high)


def test_one_repetition_has_no_interval():
    scores, member, control = cube(1, repetitions=1)
    assert record_exposure(scores, member, control)["lower"].isna().all()


def test_a_record_that_never_varies_has_an_interval_without_width():
    member = np.tile(np.array([[True], [False]]), (3, 1, 1))
    found = record_exposure(member.astype(float), member, ~member)
    assert found.loc[0].tolist() == [1, 0, 1, 1, 1]


def test_quantiles_of_those_that_are_known():
    assert quantiles(np.array([np.nan])) == ()
    assert quantiles(np.append(np.linspace(0, 1, 101), np.nan)) == pytest.approx(QUANTILES)
