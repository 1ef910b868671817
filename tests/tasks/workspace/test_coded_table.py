"""Tables with texts as codes: what is read is what was written, whatever the file says of its columns."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synthrisk.tasks.workspace.records import read_coded, repeated, write_records

NONE = [None] * 5
ROWS = pd.DataFrame({"record": np.arange(5), "metric": ["a", "a", "ü", None, "a"]})
ROWS = ROWS.assign(attacker=pd.array(NONE, dtype="string"), at_risk=pd.array(NONE, dtype="boolean"))
ROWS = ROWS.assign(score=[-0.0, np.nan, 1.0, 2.0, 3.0], error=[np.nan] * 5, gain=[np.nan] * 5)


@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_columns_without_a_value_are_there_all_the_same(tmp_path, statistics, rows):
    table = ROWS.head(rows)
    table.to_parquet(tmp_path / "x.parquet", row_group_size=2, write_statistics=statistics)
    read = read_coded(tmp_path / "x.parquet")
    assert read.column_names == list(ROWS)
    assert {c: read[c].null_count for c in ROWS} == table.isna().sum().to_dict()
    write_records(read, tmp_path / "y.parquet")
    written = (pd.read_parquet(tmp_path / name) for name in ("x.parquet", "y.parquet"))
    pd.testing.assert_frame_equal(*written, check_exact=True)


def test_columns_are_left_out_and_texts_are_codes(tmp_path):
    ROWS.to_parquet(tmp_path / "x.parquet")
    left = [c for c in ROWS if c not in ("gain", "metric")]
    assert read_coded(tmp_path / "x.parquet", ["gain", "metric"]).column_names == left
    pq.write_table(pa.table({"metric": ["a", "b", "a"]}), tmp_path / "x.parquet")
    assert pa.types.is_dictionary(read_coded(tmp_path / "x.parquet").schema.field("metric").type)


@pytest.mark.parametrize("rows", [0, 1, 2**16, 2**16 + 1, 200_000])
def test_one_number_stands_in_all_rows(rows):
    assert (repeated(3, rows).to_pylist(), repeated(3, rows).type) == ([3] * rows, pa.int64())
