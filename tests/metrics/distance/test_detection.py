"""A network that tells real from synthetic records: against PrivEval's spread, and extremes known by construction."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError

REFERENCE = Path(__file__).parents[2] / "reference" / "priveval"
DETECTION = METRICS["detection_mlp"]


def draw(rng, n):
    return pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(1)),
            "c": np.where(rng.random(n) < 0.1, None, rng.choice([*"abc"], n)),
            "flag": rng.random(n) < 0.5,
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D"),
            "one": 7,
        }
    )


@pytest.mark.parametrize("data", ["mixed_120", "ugly_80x50"])
def test_the_auc_is_within_the_spread_of_priveval(data):
    """Its five runs are the same network under five orders of columns: sd about 0.03 to 0.04."""
    folder = REFERENCE / data
    kinds = json.loads((folder / "schema.json").read_text())["columns"]
    dtypes = {c: "float64" if kind == "numeric" else "object" for c, kind in kinds.items()}
    real, synthetic = (pd.read_csv(folder / f"{t}.csv", dtype=dtypes) for t in ("real", "synthetic"))
    expected = json.loads((folder / "expected.json").read_text())["metrics"]["DMLP"]
    scores = [DETECTION(real, synthetic, seed=seed) for seed in range(2)]
    assert np.mean([s.published for s in scores]) == pytest.approx(
        np.mean(expected["auc_over_5_column_orders"]), abs=0.07
    )
    assert np.mean([s.value for s in scores]) == pytest.approx(expected["value"], abs=0.1)


def test_tables_apart_are_told_apart():
    rng = np.random.default_rng(0)
    real = draw(rng, 60)
    score = DETECTION(real, draw(rng, 40).assign(x=lambda t: t["x"] + 30, c="other"))
    assert score.published == 1
    assert score.value == 0
    assert (score.records["score"] == 0).all()


def test_an_independent_draw_is_not_told():
    rng = np.random.default_rng(0)
    found = [DETECTION(draw(rng, 80), draw(rng, 80), seed=s, folds=2).published for s in range(6)]
    assert np.mean(found) == pytest.approx(0.5, abs=0.05)


def test_the_value_is_made_from_the_auc():
    rng = np.random.default_rng(1)
    score = DETECTION(draw(rng, 60), draw(rng, 50).assign(one=7.0, x=lambda t: t["x"] + 0.8))
    assert score.value == pytest.approx(np.clip(2 * (1 - score.published), 0, 1))
    assert score.records["placement"].mean() == pytest.approx(score.published)
    np.testing.assert_allclose(score.records["score"], 1 - score.records["placement"])
    assert 0.55 < score.published < 0.95


def test_the_seed_decides_the_net():
    rng = np.random.default_rng(2)
    real, synthetic = draw(rng, 40), draw(rng, 30)
    one, other = (DETECTION(real, synthetic, seed=seed, folds=2).records["score"] for seed in (1, 2))
    assert not np.array_equal(one, other)


def test_the_number_of_threads_moves_nothing(monkeypatch):
    rng = np.random.default_rng(4)
    real, synthetic = draw(rng, 600), draw(rng, 500)
    found = []
    for threads in (1, 3):
        monkeypatch.setattr("synthrisk.metrics.models.threads.threads", lambda threads=threads: threads)
        with threadpool_limits(threads):
            found.append(DETECTION(real, synthetic, folds=2).records)
    pd.testing.assert_frame_equal(found[0], found[1], check_exact=True)


@pytest.mark.parametrize("columns", [["x"], ["c"], ["flag"], ["day"], ["one"]])
def test_single_columns(columns):
    rng = np.random.default_rng(3)
    score = DETECTION(draw(rng, 20)[columns], draw(rng, 20)[columns], folds=2)
    assert 0 <= score.value <= 1
    if columns == ["one"]:
        assert score.published == 0.5


def test_a_column_without_values():
    real = pd.DataFrame({"x": [np.nan] * 6, "y": range(6)})
    assert 0 <= DETECTION(real, real).value <= 1
    assert DETECTION(real, real.assign(x=1.0)).published == 1


def test_few_records():
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    assert not math.isnan(DETECTION(table, table.iloc[:2]).value)
    for real, synthetic in ((table, table.iloc[:1]), (table.iloc[:1], table)):
        score = DETECTION(real, synthetic)
        assert math.isnan(score.value)
        assert math.isnan(score.published)
        assert "one record" in score.reason
        assert score.records["score"].isna().all()


@pytest.mark.parametrize("folds", [1, 0, 2.5, True, "5", None])
def test_bad_folds(folds):
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match="folds must be a whole number of at least 2"):
        DETECTION(table, table, folds=folds)
    with pytest.raises(InputError, match="folds"):
        DETECTION.check_choices({"folds": folds})


def test_it_is_a_sanity_check():
    assert DETECTION.label == "sanity"
