import numpy as np
import pandas as pd
import pytest

from synthrisk.conf.study import BuiltIn
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.data import read
from synthrisk.tasks.data.example_tables import factors


def test_columns_are_as_asked_and_hang_together():
    table = factors(rows=2000, numeric=3, categorical=2, rare=0.01, seed=4)
    assert list(table.columns) == ["n1", "n2", "n3", "c1", "c2", "target"]
    assert table["target"].value_counts().to_dict() == {"no": 1980, "yes": 20}
    assert table["c1"].value_counts().to_dict() == dict.fromkeys("abcd", 500)
    strength = np.abs(table[["n1", "n2", "n3"]].corr().to_numpy()[np.triu_indices(3, 1)])
    assert strength.max() > 0.2
    for name in ("n1", "n2", "n3"):
        assert table[name].std() == pytest.approx(np.sqrt(1.49), rel=0.1)


def test_seeds_draw_other_people_of_the_same_population():
    first, other = (factors(rows=3000, numeric=3, categorical=0, seed=s) for s in (1, 2))
    pd.testing.assert_frame_equal(first, factors(rows=3000, numeric=3, categorical=0, seed=1))
    assert not first.equals(other)
    assert first["target"].dtype == float


def test_records_of_a_person_are_alike():
    table = factors(rows=3000, numeric=2, categorical=1, records_each=3)
    assert (table["person"].value_counts() == 3).all()
    within = table.groupby("person")["n1"].std().mean()
    assert within < 0.7 * table["n1"].std()


def test_it_is_a_source_and_checks_its_options():
    assert len(read(BuiltIn(name="factors", options={"rows": 50}))) == 50
    for options in ({"rows": 1}, {"rare": 1.0}, {"numeric": 0, "categorical": 0}, {"records_each": 0}, {"seed": -1}):
        with pytest.raises(InputError, match="must be"):
            factors(**options)
