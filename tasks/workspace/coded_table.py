"""Tables of records as Arrow has them: texts as codes, and columns without a value told from the file alone."""

from collections.abc import Collection
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

_PIECE = 2**16  # rows


def read_coded(path: Path, left_out: Collection[str] = ()) -> pa.Table:
    """Return a table without some columns, texts as codes."""
    schema, empty = pq.read_schema(path), _empty_columns(path)
    names = [c for c in schema.names if c not in left_out]
    texts = [field.name for field in schema if _is_text(field.type)]
    table = pq.read_table(path, columns=[c for c in names if c not in empty], read_dictionary=texts)
    nothing = {kind: pa.nulls(len(table), kind) for kind in {schema.field(c).type for c in empty}}  # shared by columns
    columns = {c: nothing[schema.field(c).type] if c in empty else table[c] for c in names}
    return pa.table(columns).replace_schema_metadata(table.schema.metadata)


def repeated(number: int, rows: int) -> pa.ChunkedArray:
    """Return one number in all rows; one piece of it stands for all, so that it takes no room."""
    piece = pa.array(np.full(min(rows, _PIECE), number))
    whole, rest = divmod(rows, _PIECE)
    return pa.chunked_array([piece] * whole + [piece.slice(0, rest)])


def _empty_columns(path: Path) -> set[str]:
    file = pq.read_metadata(path)
    groups = [file.row_group(k) for k in range(file.num_row_groups)]
    columns = [[group.column(k) for group in groups] for k in range(file.num_columns if groups else 0)]
    return {own[0].path_in_schema for own in columns if all(_is_empty(chunk) for chunk in own)}


def _is_empty(chunk: pq.ColumnChunkMetaData) -> bool:
    return chunk.statistics is not None and chunk.statistics.null_count == chunk.num_values


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)  # the latter is pandas 3's
