"""A table without a header line is refused, in words that name no cell; names that are numbers are none such alone."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import InputError
from synthrisk.tasks.propose.proposal import Given, look


def people(names, rows=60):
    rng = np.random.default_rng(0)
    parts = [rng.choice(["Graz", "Linz"], rows), rng.choice(["yes", "no"], rows), *rng.integers(1900, 2100, (3, rows))]
    return pd.DataFrame(dict(zip(names, parts, strict=True)))


def test_a_first_line_of_cells_is_refused_and_not_told(tmp_path):
    people(["town", "ill", "born", "a", "b"]).to_csv(tmp_path / "headless.csv", index=False, header=False)
    with pytest.raises(InputError, match="the table must begin with a line of column names") as error:
        look(str(tmp_path / "headless.csv"), Given())
    assert not [cell for cell in ("Graz", "Linz", "yes", "19", "20") if cell in str(error.value)]


def test_columns_named_by_years_and_one_named_as_a_value_are_names(tmp_path):
    for names in (["town", "ill", "1990", "2000", "2010"], ["yes", "ill", "born", "a", "b"]):
        people(names).to_csv(tmp_path / "named.csv", index=False)
        assert [each.name for each in look(str(tmp_path / "named.csv"), Given()).columns] == names
