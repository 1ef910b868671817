"""SDMetrics' quality: the same number as SDMetrics on the tables as they are, whatever their types."""

import math
import warnings
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError

QUALITY = METRICS["quality"]
KINDS = {"x": "numerical", "y": "numerical", "c": "categorical", "flag": "boolean", "day": "datetime"}


def draw(rng, n):
    x = rng.normal(size=n)
    table = pd.DataFrame({"x": np.where(rng.random(n) < 0.1, np.nan, x), "y": x + rng.normal(0, 0.5, n)})
    table["c"] = np.where(rng.random(n) < 0.1, None, np.where(x > 0, "up", rng.choice([*"abc"], n)))
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D")
    return table.assign(flag=x > 0.5, day=day)


def sdmetrics(real, release, kinds=KINDS):
    from sdmetrics.reports import QualityReport

    report, metadata = QualityReport(), {"columns": {c: {"sdtype": kind} for c, kind in kinds.items()}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report.generate({"t": real}, {"t": release}, {"tables": {"t": metadata}}, verbose=False)
    return report.get_score(), report.get_properties()["Score"].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_sdmetrics_says(seed):
    rng = np.random.default_rng(seed)
    real, release = draw(rng, 120), draw(rng, 90)
    score, (overall, parts) = QUALITY(real, release), sdmetrics(real, release)
    assert score.value == pytest.approx(overall, abs=1e-12)
    assert [score.details["column_shapes"], score.details["column_pair_trends"]] == pytest.approx(parts, abs=1e-12)
    assert score.details["columns"] == 5
    assert score.details["pairs"] >= 3


def test_control_gives_the_ceiling_at_one_size():
    rng = np.random.default_rng(0)
    real, release, control = draw(rng, 120), draw(rng, 90), draw(rng, 50)
    score = QUALITY(real, release, control=control)
    assert (score.details["ceiling"], score.details["ceiling_rows"]) == (QUALITY(real, control).value, 50)
    assert score.details["thinned"] != score.value


def test_what_cannot_be_compared_is_counted():
    real = draw(np.random.default_rng(0), 60)
    lost = QUALITY(real, real.assign(x=np.nan))
    assert (lost.details["columns"], lost.details["column_shapes"]) == (4, pytest.approx(1))
    empty = pd.DataFrame({"x": [np.nan] * 3})
    undefined = QUALITY(empty, empty)
    assert math.isnan(undefined.value)
    assert undefined.reason


def test_without_sdmetrics_the_extra_is_named():
    table = pd.DataFrame({"x": [1.0, 2.0]})
    with (
        patch("synthrisk.metrics.metric.find_spec", return_value=None),
        pytest.raises(InputError, match=r"quality needs SDMetrics.*pip install 'synthrisk\[sdv\]'"),
    ):
        QUALITY(table, table)
