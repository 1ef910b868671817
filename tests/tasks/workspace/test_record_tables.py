"""Tables of records in Parquet: codes are texts again, positions and names come back, measures stand apart."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synthrisk.tasks.workspace.records import read_where, write_records


def texts(*cells):
    return pa.array(cells, pa.string()).dictionary_encode()


def test_codes_are_read_as_texts_of_either_list(tmp_path):
    """The measures of a ledger have code lists of their own."""
    parts = [pa.table({"record": [0, 1], "metric": texts(*cells)}) for cells in (("a", "b"), ("b", None), (None, None))]
    write_records(pa.concat_tables(parts), tmp_path / "x.parquet", 2)
    read = pq.read_table(tmp_path / "x.parquet")
    assert read.schema.field("metric").type == pa.string()
    assert read["metric"].to_pylist() == ["a", "b", "b", None, None, None]
    assert pd.read_parquet(tmp_path / "x.parquet", filters=[("metric", "==", "b")])["record"].tolist() == [1, 0]


def test_numbers_come_back_to_the_bit(tmp_path):
    rows = pd.DataFrame({"record": [2, 0, 2**62, -1], "score": [-0.0, np.nan, 5e-324, np.inf]})
    write_records(pa.Table.from_pandas(rows, preserve_index=False), tmp_path / "x.parquet", 3)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "x.parquet"), rows, check_exact=True)
    assert np.signbit(pd.read_parquet(tmp_path / "x.parquet")["score"][0])


@pytest.mark.parametrize(("rows", "groups"), [(40_000, 1), (200_000, 3)])
def test_many_rows_of_a_measure_stand_apart_from_others(tmp_path, rows, groups):
    """And few do not: for each group there is a line of every column."""
    record = pa.array(np.tile(np.arange(rows), 3))
    metric = pa.array(np.repeat(["a", "b", "c"], rows)).dictionary_encode()
    write_records(pa.table({"record": record, "metric": metric}), tmp_path / "x.parquet", rows)
    assert pq.ParquetFile(tmp_path / "x.parquet").num_row_groups == groups
    found = read_where(tmp_path / "x.parquet", ["record"], {"metric": "b"})
    assert found["record"].tolist() == list(range(rows))


@pytest.mark.parametrize("size", [2, 2**17], ids=["few rows", "groups apart"])
@pytest.mark.parametrize(
    "own", [{"metric": "a", "of": "ü"}, {"metric": "a", "of": "x"}, {"metric": "b"}, {"metric": "c"}, {"metric": "aa"}]
)
def test_rows_of_a_measure_are_those_that_hold_its_texts(tmp_path, size, own):
    flags = pa.array([True, None] * (size // 2))
    rows = [
        pa.table({"metric": texts(metric).take(at), "of": texts(of).take(at), "member": flags, "score": score})
        for at in [pa.array([0] * size)]
        for metric, of, score in (
            ("a", "x", np.arange(size) / 3),
            ("a", "ü", np.ones(size)),
            ("b", None, np.zeros(size)),
        )
    ]
    write_records(pa.concat_tables(rows), tmp_path / "x.parquet", size)
    found = read_where(tmp_path / "x.parquet", ("member", "score"), own)
    filters = [(name, "==", text) for name, text in own.items()]
    expected = pd.read_parquet(tmp_path / "x.parquet", columns=["member", "score"], filters=filters)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert len(found) == size * (own["metric"] in "ab")


def test_a_group_without_a_text_or_with_several_is_looked_through(tmp_path):
    """A column that is missing here and there has one least and one largest text all the same."""
    rows = pa.table({"metric": texts("a", None, "a"), "record": [0, 1, 2]})
    write_records(rows, tmp_path / "x.parquet")
    assert read_where(tmp_path / "x.parquet", ["record"], {"metric": "a"})["record"].tolist() == [0, 2]
    rows.to_pandas().to_parquet(tmp_path / "y.parquet", row_group_size=2)  # as older versions wrote it
    assert read_where(tmp_path / "y.parquet", ["record"], {"metric": "a"})["record"].tolist() == [0, 2]


def test_rows_are_not_needed(tmp_path):
    nothing = pa.table({"record": pa.array([], pa.int64()), "metric": texts()})
    write_records(nothing, tmp_path / "x.parquet", 4)
    assert pq.read_table(tmp_path / "x.parquet").num_rows == 0


def test_names_of_records_are_in_no_list_of_codes(tmp_path):
    names = [f"{k:016x}" for k in range(50)]
    write_records(pa.table({"record": names, "metric": ["a"] * 50}), tmp_path / "x.parquet")
    group = pq.ParquetFile(tmp_path / "x.parquet").metadata.row_group(0)
    assert [group.column(k).has_dictionary_page for k in (0, 1)] == [False, True]
    assert pq.read_table(tmp_path / "x.parquet")["record"].to_pylist() == names


@pytest.mark.parametrize("rows", [3, 2**17])
def test_a_column_that_there_is_not_is_an_error_however_many_rows_there_are(tmp_path, rows):
    parts = [pa.table({"record": np.arange(rows), "measure": texts(*[name] * rows)}) for name in ("a", "b")]
    write_records(pa.concat_tables(parts), tmp_path / "x.parquet", rows)
    with pytest.raises(pa.ArrowInvalid):
        read_where(tmp_path / "x.parquet", ["record", "score"], {"measure": "a"})
