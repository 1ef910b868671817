import sys
from pathlib import Path

import pandas as pd
import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.data import read

REFERENCE = Path(__file__).parents[2] / "reference" / "sdmetrics" / "fair_1000"


def test_the_survey_is_the_published_one():
    fair = read("fair")
    assert fair.shape == (6366, 9)
    assert fair.affairs.mean() == pytest.approx(0.705374, abs=5e-7)
    assert (fair.affairs > 0).sum() == 2053
    assert not fair.isna().any().any()


def test_the_reference_sample_is_of_it():
    fair, sample = read("fair"), pd.read_csv(REFERENCE / "real.csv")
    fair["age"] = fair["age"] // 1  # the sample holds whole years
    kept = ["rate_marriage", "age", "children", "religious", "educ"]
    assert set(sample[kept].itertuples(index=False, name=None)) <= set(fair[kept].itertuples(index=False, name=None))


def test_without_statsmodels_it_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.datasets", None)
    with pytest.raises(InputError, match=r"'fair' comes with statsmodels, .*pip install 'synthrisk\[fair\]'"):
        read("fair")
