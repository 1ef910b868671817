"""What is kept of single records and findings: tables, names, who is exposed, contributions; results as JSON and back.

So a new field needs no code here. Numbers come back to the bit; those that are not finite are the words ``NaN``,
``Infinity`` and ``-Infinity``, as Python's own ``json`` writes them. A field that a file lacks, for it was written
before there was one, takes its default; one that a file has too much is left out.
"""

import hashlib
import secrets
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import from_json

from synthrisk.metrics.study.findings import Finding, Usefulness
from synthrisk.metrics.study.ledger import Contributions, Isolations, KeptValues, ReleasedValues
from synthrisk.tasks.workspace.folders import keep_file, there
from synthrisk.tasks.workspace.store import replace_file, save_arrays, write_file

_FEW = 2**17  # bytes of values (16,000 floats) after which a column is written as it is: to look each up costs more
_LEAST = 2**17  # rows that stand together in any case: each group says a line of every column


def write_records(table: pa.Table, path: Path, group: int | None = None) -> None:
    """Write a table whose codes are read back as texts by whoever reads it.

    ``group`` rows stand together, if they are many, so that who wants these alone need not read the others.
    """
    with pq.ParquetWriter(path, table.schema, **_written(table.schema)) as writer:
        writer.add_key_value_metadata(table.schema.metadata or {})  # what pandas knows of its types
        writer.write_table(table, row_group_size=group and max(group, _LEAST))


def _written(schema: pa.Schema) -> dict[str, Any]:
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


def read_where(path: Path, columns: Sequence[str], texts: Mapping[str, str]) -> pd.DataFrame:
    """Return some columns of the rows that hold these texts, each in its column.

    Where these rows stand apart from all others, they are read in a quarter of the time of a look at each row.
    """
    file = pq.ParquetFile(path)
    held = [_held(file.metadata.row_group(k), texts) for k in range(file.num_row_groups)]
    if None in held or not {*columns} <= {*file.schema_arrow.names}:
        return pd.read_parquet(path, columns=[*columns], filters=[(name, "==", text) for name, text in texts.items()])
    return file.read_row_groups([k for k, own in enumerate(held) if own], [*columns]).to_pandas()


def _held(group: Any, texts: Mapping[str, str]) -> bool | None:
    """Return whether all rows of a group hold these texts: False where none does, None where some may."""
    known = {group.column(k).path_in_schema: group.column(k).statistics for k in range(group.num_columns)}
    each = [_is(known[name], text) for name, text in texts.items()]
    return False if False in each else None if None in each else True


def _is(known: Any, text: str) -> bool | None:
    if known is None or not known.has_min_max:
        return None
    if not known.min <= text <= known.max:
        return False
    return True if known.min == known.max and known.null_count == 0 else None


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


def record_hashes(workspace: Path, digest: str, rows: int) -> np.ndarray:
    """Return one number a record of the table with this digest, keyed by the workspace's secret salt.

    Its 16 hexadecimal digits are the record's name. Whoever holds the workspace can find a record again by its
    position; nobody else learns anything.
    """
    inner, outer = _keyed(_salt(workspace))
    inner.update(f"{digest}/".encode())
    names = bytearray()
    for row in range(rows):
        text, name = inner.copy(), outer.copy()
        text.update(b"%d" % row)
        name.update(text.digest())
        names += name.digest()[:8]
    return np.frombuffer(names, dtype=">u8").astype(np.uint64)


def _keyed(salt: bytes) -> tuple[Any, Any]:
    """Return both SHA-256 of HMAC (RFC 2104) with the key in; a copy of these costs a third of a new HMAC."""
    block = salt.ljust(64, b"\0")
    return tuple(hashlib.sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))  # type: ignore[return-value]


def _salt(workspace: Path) -> bytes:
    path = workspace / "salt"
    keep_file(path, lambda draft: draft.write_text(secrets.token_hex(32)))
    return bytes.fromhex(path.read_text())


EVIDENCE = ("gain_as_member", "gain_as_control", "error_as_member", "error_as_control")
"""What makes the score of a record: RAPID's gain r of a class, its error e of a number; of other measures nothing."""
NUMBERS = ("as_member", "as_control", "memorization", "lower", "upper", *EVIDENCE)
_TEXT = pa.dictionary(pa.int8(), pa.string())
_SCHEMA = pa.schema([("record", pa.int64()), ("measure", _TEXT), *((name, pa.float64()) for name in NUMBERS)])


def keep_exposed(path: Path, exposed: Mapping[str, pd.DataFrame]) -> None:
    """Write what each measure says of each record, n rows by key: the measures one after the other, NaN as null.

    Each measure is a row group or more of its own, so that whoever asks for one reads no other.
    """
    with pq.ParquetWriter(
        path,
        _SCHEMA,
        compression="zstd",
        use_dictionary=["measure", "as_member", "as_control"],  # what has few values
        column_encoding={"record": "DELTA_BINARY_PACKED"},
        store_schema=False,  # so that texts are read as texts
    ) as writer:
        for key, rows in exposed.items():
            names = pa.DictionaryArray.from_arrays(np.zeros(len(rows), dtype=np.int8), [key])
            absent = pa.nulls(len(rows), pa.float64())
            numbers = [pa.array(rows[name], from_pandas=True) if name in rows else absent for name in NUMBERS]
            writer.write_table(pa.table([pa.array(np.arange(len(rows))), names, *numbers], schema=_SCHEMA))


def kept_exposed(path: str, measure: str) -> pd.DataFrame:
    """Return what one measure says of each record: its position and ``NUMBERS``; no rows where it scores none."""
    return read_where(there(path), ["record", *NUMBERS], {"measure": measure})


_KINDS: dict[str, type[KeptValues]] = {kind.__name__: kind for kind in (Contributions, ReleasedValues, Isolations)}


def keep_contributions(path: Path, found: Mapping[str, KeptValues]) -> None:
    """Write what is kept of each measure, by key."""
    kinds = [type(each).__name__ for each in found.values()]
    arrays = {"keys": np.array(list(found), dtype=np.str_), "kinds": np.array(kinds, dtype=np.str_)}
    for place, each in enumerate(found.values()):  # by number: a key may hold what no file name can
        arrays |= {f"{place}-{name}": values for name, values in asdict(each).items()}
    write_file(path, lambda draft: save_arrays(arrays, draft))


def kept_contributions(path: str) -> dict[str, KeptValues]:
    """Return what is kept of each measure, by key."""
    with np.load(there(path), allow_pickle=False) as kept:
        kinds = [_KINDS[str(name)] for name in kept["kinds"]]
        return {
            str(key): kind(*(kept[f"{place}-{part.name}"] for part in fields(kind)))
            for place, (key, kind) in enumerate(zip(kept["keys"], kinds, strict=True))
        }


_T = TypeVar("_T")
_EXACT = ConfigDict(ser_json_inf_nan="constants")


def as_json(kind: type[_T], value: _T) -> str:
    """Return a value as JSON text.

    Args:
        kind: Its type: a frozen dataclass, a named tuple, or a type made of those, of settings and of plain values.
        value: The value. What options hold beside plain values (an estimator, say) is written as its text.

    Example:
        >>> from synthrisk.metrics.intervals.estimates import Estimate
        >>> text = as_json(Estimate, Estimate(0.1, float("-inf"), float("nan")))
        >>> text[:45]
        '{"value":0.1,"lower":-Infinity,"upper":NaN,"m'
        >>> from_text(Estimate, text).value
        0.1
    """
    # settings tell what was given from what was left out, and some refuse the one where they take the other
    written = _adapter(cast(Hashable, kind)).dump_json((value,), exclude_unset=True, fallback=_plain, warnings="none")
    return written.decode()[1:-1]


def from_text(kind: type[_T], text: str) -> _T:
    """Return the value of a JSON text that ``as_json`` has written, of this version or another.

    Raises:
        ValueError: The text is none, or lacks a field that has no default.
    """
    return from_plain(kind, from_json(text, allow_inf_nan=True))


def from_plain(kind: type[_T], plain: Any) -> _T:
    """Return the value of what a JSON text holds, in dictionaries and lists.

    Raises:
        ValueError: It lacks a field that has no default, or one is of another type.
    """
    try:
        return cast(_T, _adapter(cast(Hashable, kind)).validate_python((plain,))[0])
    except ValidationError as error:
        unknown = [each["loc"] for each in error.errors(include_input=False) if each["type"] == "extra_forbidden"]
        if len(unknown) < error.error_count():
            raise
    for _, *path, name in unknown:  # settings refuse what they do not know, for users write them
        holds = plain
        for step in path:
            holds = holds[step]
        del holds[name]
    return from_plain(kind, plain)


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(tuple[kind], config=_EXACT)  # type: ignore[valid-type]


def _plain(value: object) -> Any:
    """Return what stands for a value that JSON has no form of."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return str(value)


class Findings(NamedTuple):
    """What a study says of one generator."""

    risks: tuple[Finding, ...]
    utility: tuple[Usefulness, ...]


def keep_findings(path: Path, found: Findings) -> None:
    """Write findings; numbers are read again to the bit."""
    replace_file(path, as_json(Findings, found))


def kept_findings(path: Path) -> Findings:
    """Return the findings that were kept."""
    return from_text(Findings, path.read_text("utf-8"))
