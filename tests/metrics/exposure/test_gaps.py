"""Which quasi-identifiers go with risk: gaps are those of plain means where the model is saturated."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.exposure.attribution import risk_gaps


def people(n=2000):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "job": rng.choice(["cook", "nurse", "smith"], n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.normal(40, 10, n),
        }
    )


def test_one_column_alone_has_the_gap_of_its_means():
    table = people()
    rng = np.random.default_rng(1)
    flags = (rng.random(len(table)) < table["job"].map({"cook": 0.1, "nurse": 0.3, "smith": 0.6})).astype(float)
    found = risk_gaps(flags, table, ["job"])
    means = [flags[table["job"] == job].mean() for job in ("cook", "smith")]
    assert [found[0].lowest.value, found[0].highest.value] == pytest.approx(means, abs=1e-4)
    assert found[0].highest.lower < means[1] < found[0].highest.upper
    assert found[0].rises is None


def test_columns_that_do_not_matter_are_left_out_and_the_widest_gap_is_first():
    table = people()
    rng = np.random.default_rng(2)
    chance = 0.1 + 0.5 * (table["job"] == "nurse") + 0.2 * (table["age"] > 45)
    found = risk_gaps((rng.random(len(table)) < chance).astype(float), table, ["sex", "age", "job"])
    assert [gap.column for gap in found] == ["job", "age"]
    assert found[1].rises is True


def test_nothing_to_explain_has_no_gap():
    assert risk_gaps(np.ones(100), people(100), ["job"]) == []


def test_levels_of_few_records_have_no_part():
    table = people()
    table.loc[:4, "job"] = "spy"
    flags = (table["job"] == "spy").astype(float) + (table["sex"] == "f") * 0.3
    found = risk_gaps(np.clip(flags, 0, 1), table, ["job", "sex"])
    assert all(gap.highest.value < 0.6 for gap in found)
