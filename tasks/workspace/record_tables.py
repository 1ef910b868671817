"""Tables of records as Parquet files: millions of rows, of which most columns hold few values."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

_FEW = 2**17  # bytes of values (16,000 floats) after which a column is written as it is: to look each up costs more
_LEAST = 2**17  # rows that stand together in any case: each group says a line of every column


def write_records(table: pa.Table, path: Path, group: int | None = None) -> None:
    """Write a table whose codes are read back as texts by whoever reads it.

    ``group`` rows stand together, if they are many, so that who wants these alone need not read the others.
    """
    with pq.ParquetWriter(path, table.schema, **_written(table.schema)) as writer:
        writer.add_key_value_metadata(table.schema.metadata or {})  # what pandas knows of its types
        writer.write_table(table, row_group_size=group and max(group, _LEAST))


def _written(schema: pa.Schema) -> dict[str, object]:
    """Return how columns are written: positions as differences, names as they are, all others as codes if few."""
    positions = [field.name for field in schema if field.name == "record" and pa.types.is_integer(field.type)]
    return {
        "compression": "zstd",
        "store_schema": False,
        "use_dictionary": [name for name in schema.names if name != "record"],
        "column_encoding": dict.fromkeys(positions, "DELTA_BINARY_PACKED"),
        "dictionary_pagesize_limit": _FEW,
        "write_batch_size": 2**14,  # rows at a time: with 1,024, half of the time of an empty column goes on the steps
    }
