import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from synthrisk.tasks.workspace.records import NUMBERS, keep_exposed, kept_exposed


def said(seed: int, rows: int) -> pd.DataFrame:
    numbers = np.random.default_rng(seed).normal(size=(rows, len(NUMBERS)))
    numbers[::3, 2] = np.nan
    return pd.DataFrame(numbers, columns=NUMBERS)


def test_what_each_measure_says_is_read_to_the_bit(tmp_path):
    made = {"zero_cap.job": said(1, 7), 'it\'s "odd" / ü': said(2, 7), "none": said(3, 7).assign(lower=np.nan)}
    keep_exposed(tmp_path / "exposed.parquet", made)
    for key, rows in made.items():
        found = kept_exposed(str(tmp_path / "exposed.parquet"), key)
        pd.testing.assert_frame_equal(found[list(NUMBERS)], rows, check_exact=True)
        assert found["record"].tolist() == list(range(7))
    assert kept_exposed(str(tmp_path / "exposed.parquet"), "unknown").empty


def test_a_measure_is_a_row_group_and_its_name_a_text(tmp_path):
    keep_exposed(tmp_path / "exposed.parquet", {"b": said(1, 5), "a": said(2, 3)})
    assert [pq.ParquetFile(tmp_path / "exposed.parquet").metadata.row_group(i).num_rows for i in (0, 1)] == [5, 3]
    every = pd.read_parquet(tmp_path / "exposed.parquet")
    assert every["measure"].tolist() == ["b"] * 5 + ["a"] * 3
    assert not isinstance(every["measure"].dtype, pd.CategoricalDtype)


def test_without_measures_and_without_records_there_are_no_rows(tmp_path):
    keep_exposed(tmp_path / "nothing.parquet", {})
    keep_exposed(tmp_path / "nobody.parquet", {"a": said(1, 0)})
    for name in ("nothing", "nobody"):
        assert kept_exposed(str(tmp_path / f"{name}.parquet"), "a").empty
