"""Files of others, a kind each: how they are read, whatever program has written them; what is ours is Parquet.

A kind is told by the suffix, and has its reader in ``READERS``: that is where one is added. Texts with separators are
read by whoever asks: the real table by what its study says, a release as the real table is written.
"""

import io
import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias, TypeVar
from urllib.parse import unquote

import fsspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.core import url_to_fs
from pandas.api import types

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.tasks.workspace.files.cell_texts import UNNAMED, blanked, holds_several, narrowed, numbers_rows
from synthrisk.tasks.workspace.files.csv import decoded
from synthrisk.tasks.workspace.files.excel import EXCEL, read_excel
from synthrisk.tasks.workspace.files.statistical import STATISTICAL, read_statistical

_PARTITION = re.compile(r"(?<=/)([^/=]+)=([^/]*)(?=/)")
_NONE = "__HIVE_DEFAULT_PARTITION__"  # as the folder of missing cells is called
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")
_T = TypeVar("_T")
Reader: TypeAlias = Callable[[bytes, str, str | None, Sequence[str]], pd.DataFrame]
"""Takes a file, what messages call it, the sheet that is asked for, and the texts that mean a missing cell."""

SEPARATED = (".csv", ".tsv", ".txt")
PARQUET = ".parquet"
_JSON = (".json", ".jsonl", ".ndjson")
_PARQUET, _FEATHER = (PARQUET, ".pq"), (".feather", ".arrow")
_PACKED = (".gz", ".bz2", ".xz", ".zip", ".zst")


def _read_json(raw: bytes, name: str, sheet: str | None, missing: Sequence[str]) -> pd.DataFrame:
    """Return records, a list of them or a line each, or columns, as a table; lists in cells stay."""
    try:
        text = raw.decode("utf-8-sig")
        try:
            held = json.loads(text)
        except json.JSONDecodeError:
            held = [json.loads(line) for line in text.splitlines() if line.strip()]
        frame = _of_json(held)
    except (UnicodeDecodeError, ValueError, RecursionError):  # whose texts hold cells
        raise InputError(f"{name} must hold JSON, got something else, or a damaged file") from None
    if frame.columns.empty:
        raise InputError(f"{name} must hold records of single values, or columns of such, got no records")
    flat = _unfolded(frame)
    several = {column for column in flat if holds_several(flat[column])}
    kept = {c: flat[c] if c in several else blanked(narrowed(flat[c]), missing) for c in flat}
    table = pd.DataFrame(kept)
    table.attrs.update(flat.attrs)
    return table


def _unfolded(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which records in cells are columns: ``address.city``; not where they have keys of their own."""
    columns: dict[Any, pd.Series] = {}
    notes: list[str] = []
    for name in frame if frame.columns.is_unique else ():
        cells = frame[name]
        records = [cell for cell in cells if isinstance(cell, dict)] if types.is_object_dtype(cells.dtype) else []
        held = [[str(key) for key, value in record.items() if value is not None] for record in records]
        keys = list(dict.fromkeys(key for own in held for key in own))
        is_form = 0 < len(keys) <= 2 * max(map(len, held), default=0) and len(records) == cells.notna().sum()
        if not is_form or {f"{name}.{key}" for key in keys} & {*map(str, frame.columns)}:
            columns[name] = cells
            continue
        known = [{str(key): value for key, value in cell.items()} if isinstance(cell, dict) else {} for cell in cells]
        inner = {f"{name}.{key}": pd.Series([own.get(key) for own in known], cells.index, object) for key in keys}
        own = _unfolded(pd.DataFrame(inner))
        columns |= {column: narrowed(own[column]) for column in own}
        notes.append(f"column {str(name)!r} holds records: each of their parts is a column, as {next(iter(own))!r}")
    if not notes:
        return frame
    table = pd.DataFrame(columns)
    table.attrs["notes"] = notes
    return table


def _of_json(held: Any) -> pd.DataFrame:
    """Return records, or columns, also where they are the only such list of what is around them, as a table."""
    if isinstance(held, dict) and {"columns", "data"} <= set(held) and isinstance(held["data"], list):
        return pd.DataFrame(held["data"], columns=held["columns"], dtype=object)
    if isinstance(held, dict):
        inside = [each for each in held.values() if isinstance(each, list) and each and isinstance(each[0], dict)]
        rows = [str(k) for k in range(len(held))]  # which pandas writes with orient="index"
        held = inside[0] if len(inside) == 1 else [*held.values()] if list(held) == rows else held
    if isinstance(held, dict) and held and all(isinstance(each, dict | list) for each in held.values()):
        columns = {name: [*(each.values() if isinstance(each, dict) else each)] for name, each in held.items()}
        return pd.DataFrame(columns, dtype=object)
    is_records = isinstance(held, list) and all(isinstance(each, dict) for each in held)
    return pd.DataFrame(held if is_records else [], dtype=object)


def _read_arrow(
    read: Callable[..., pd.DataFrame], kind: str, raw: bytes, name: str, sheet: str | None, missing: Sequence[str]
) -> pd.DataFrame:
    try:
        return _unfolded(_flat(read(io.BytesIO(raw), dtype_backend="numpy_nullable")))
    except (ValueError, OSError, TypeError, NotImplementedError, KeyError) as error:  # pyarrow's are among them
        raise InputError(f"{name} must be a {kind} file, but cannot be read: {type(error).__name__}") from None


def _read_statistical(suffix: str, raw: bytes, name: str, sheet: str | None, missing: Sequence[str]) -> pd.DataFrame:
    return read_statistical(raw, suffix, name, missing)


def _flat(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose index is columns where it may hold something: it has a name, or is no number of rows."""
    index = frame.index
    says_nothing = index.nlevels == 1 and index.name is None and types.is_integer_dtype(index.dtype)
    return frame.reset_index(drop=says_nothing or not frame.shape[1])


READERS: dict[str, Reader] = {
    **dict.fromkeys(_JSON, _read_json),
    **dict.fromkeys(_PARQUET, partial(_read_arrow, pd.read_parquet, "Parquet")),
    **dict.fromkeys(_FEATHER, partial(_read_arrow, pd.read_feather, "Feather")),
    **dict.fromkeys(EXCEL, read_excel),
    **{suffix: partial(_read_statistical, suffix) for suffix in STATISTICAL},
}
"""The reader of each suffix, in lower case."""

_TEXTS = (*SEPARATED, *_JSON)
KINDS = (
    f"{', '.join(_TEXTS)} (also with {', '.join(_PACKED)}), {', '.join(each for each in READERS if each not in _JSON)}"
)
"""What a name may end in, for messages."""


def split_sheet(source: str) -> tuple[str, str | None]:
    """Return the path or URL of a workbook, and the sheet that is named behind ``#``, if one is.

    Example:
        >>> split_sheet("survey.xlsx#Data"), split_sheet("C#.csv")
        (('survey.xlsx', 'Data'), ('C#.csv', None))
    """
    path, mark, sheet = source.rpartition("#")
    is_workbook = PurePosixPath(path.partition("?")[0]).suffix.lower() in EXCEL
    return (path, sheet) if mark and is_workbook else (source, None)


def kind_of(path: str) -> str | None:
    """Return the suffix that tells of which kind a file is, without that of its packing; None where none is known.

    What is packed and tells no kind is a CSV file.

    Example:
        >>> [kind_of(f"people{ending}") for ending in (".CSV.gz", ".xlsx", ".xlsx.gz", ".zip", "")]
        ['.csv', '.xlsx', None, '.csv', None]
    """
    suffixes = [suffix.lower() for suffix in PurePosixPath(path).suffixes]
    packed = bool(suffixes) and suffixes[-1] in _PACKED
    suffix = "".join(suffixes[-2:-1] if packed else suffixes[-1:])
    if packed and suffix not in READERS and suffix not in SEPARATED:
        return SEPARATED[0]
    return suffix if suffix in _TEXTS or (suffix in READERS and not packed) else None


def content(path: str) -> bytes:
    """Return what is in a file of this machine or elsewhere, unpacked. Errors are those of its file system."""
    is_zst = path.lower().endswith(".zst")  # which fsspec unpacks only with a package of its own
    with fsspec.open(path, "rb", compression=None if is_zst else "infer") as file:
        raw = bytes(file.read())
    return bytes(pa.input_stream(io.BytesIO(raw), compression="zstd").read()) if is_zst else raw


def parts_of(path: str) -> list[str]:
    """Return the Parquet files in a folder, in the order of their names; none where it is no such folder."""
    if "://" in path and not path.rstrip("/").lower().endswith(_PARQUET):
        return []  # other addresses are asked once, for the file
    system, place = url_to_fs(path)
    if not system.isdir(place):
        return []
    parts = sorted(each for each in system.find(place) if each.lower().endswith(_PARQUET))
    return [system.unstrip_protocol(each) if "://" in path else each for each in parts]


def in_one(folder: str, parts: Sequence[str], name: str) -> bytes:
    """Return the Parquet files of a folder as one, each column in a type that holds the cells of all.

    Folders within that are called ``column=value`` are a column of all files in them.

    Args:
        folder: Where they are.
        parts: Where each is, as ``parts_of`` says it.
        name: What messages call the folder.

    Raises:
        InputError: They are none, or have texts where others have numbers.
    """
    raws = [content(part) for part in parts]
    try:
        tables = [pq.read_table(io.BytesIO(raw)) for raw in raws]
        places = [url_to_fs(each)[1] for each in (folder, *parts)]
        within = [dict(_PARTITION.findall(place.removeprefix(places[0]))) for place in places[1:]]
        for column in dict.fromkeys(column for own in within for column in own):
            values = [unquote(own[column]) if own.get(column, _NONE) != _NONE else None for own in within]
            numbers = all(value is None or _WHOLE.fullmatch(value) for value in values)
            for k, value in enumerate(values):
                cell = int(value) if numbers and value is not None else value
                cells = pa.repeat(pa.scalar(cell, pa.int64() if numbers else pa.string()), len(tables[k]))
                tables[k] = tables[k] if column in tables[k].column_names else tables[k].append_column(column, cells)
        pq.write_table(pa.concat_tables(tables, promote_options="permissive"), one := io.BytesIO())
    except (pa.ArrowException, OSError) as error:
        told = f"{name} must hold Parquet files with the same columns, but cannot be read: {type(error).__name__}"
        raise InputError(told) from None
    return one.getvalue()


def text_parts_of(path: str) -> list[str]:
    """Return the CSV or JSON files of one table in a folder of this machine, by number; none where it is no such."""
    if "://" in path or not Path(path).is_dir():
        return []
    found = [str(each) for each in Path(path).iterdir() if each.name[0] not in "._"]  # _SUCCESS
    kinds = {kind_of(each) or (kind_of(path) if Path(each).suffix in ("", ".part") else None) for each in found}
    number = {each: int((re.findall(r"\d+", Path(each).name) or ["0"])[0]) for each in found}
    is_one = len(kinds) == 1 and kinds <= {*_TEXTS}
    return sorted(found, key=lambda each: (number[each], each)) if is_one else []


def texts_in_one(parts: Sequence[str], name: str, *, has_header: bool) -> bytes:
    """Return the texts of a folder as one, with one header line where they have such.

    Raises:
        InputError: Their first lines differ.
    """
    texts = [text for each in parts if (text := decoded(content(each), name).strip("\r\n\ufeff"))]
    first = {text.splitlines()[0] for text in texts} if has_header else set()
    if len(first) > 1:
        raise InputError(
            f"{name} must hold parts of one table, got other first lines: write each with the names of its columns"
        )
    bodies = [text.partition("\n")[2] for text in texts] if has_header else texts
    return "\n".join([*first, *(body for body in bodies if body)]).encode()


_PACKAGES = {
    "s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs",
    "abfss": "adlfs", "http": "aiohttp", "https": "aiohttp", "sftp": "paramiko", "ssh": "paramiko",
    "smb": "smbprotocol",
}  # fmt: skip


def read_file(
    source: str, asked: str, missing: Sequence[str], parse: Callable[[bytes, str], pd.DataFrame]
) -> pd.DataFrame:
    """Return the table of a file; messages show its address as it was ``asked`` for, with the names of variables."""
    source, sheet = split_sheet(source)
    shown = _without_credentials(split_sheet(asked)[0])
    source = source if "://" in source else str(Path(source).expanduser())
    parts = _asked(lambda: parts_of(source), source, shown)
    texts = [] if parts else text_parts_of(source)
    own = source.split("?", 1)[0] if "://" in source else source
    kind = PARQUET if parts else next((found for each in (*texts[:1], own) if (found := kind_of(each))), None)
    if kind is None:
        raise InputError(f"source must end in {KINDS}, got {shown!r}")
    ask = partial(in_one, source, parts, repr(shown)) if parts else partial(content, source)
    if texts:
        ask = partial(texts_in_one, texts, repr(shown), has_header=kind in SEPARATED)
    raw = _asked(ask, source, shown)
    read_by = READERS | dict.fromkeys(SEPARATED, lambda raw, name, *_: parse(raw, name))
    frame = read_by[kind](raw, repr(shown), sheet, missing)
    if texts:
        told = f"{shown!r} is a folder: its {len(texts):,} files were read as the parts of one table"
        frame.attrs["notes"] = [told, *frame.attrs.get("notes", ())]
    if len(frame) == 0:
        raise InputError(f"{shown!r} must hold rows, got none")
    unnamed = [c for c in frame.columns if str(c).startswith(UNNAMED)]  # such as number the rows, or are empty, go
    return frame.drop(columns=[c for c in unnamed if frame[c].isna().all() or numbers_rows(frame[c])])


def _without_credentials(source: str) -> str:
    if "://" not in source:
        return source
    protocol, rest = source.split("?", 1)[0].split("://", 1)
    return f"{protocol}://{rest.rsplit('@', 1)[-1]}"


def _asked(ask: Callable[[], _T], source: str, shown: str) -> _T:
    """Return what a file system answers, or say in one sentence why it does not."""
    protocol = source.split("://", 1)[0] if "://" in source else "file"
    try:
        return ask()
    except ImportError:
        package = _PACKAGES.get(protocol, f"fsspec[{protocol}]")
        raise InputError(f"{protocol}:// needs a package that is not installed: pip install '{package}'") from None
    except FileNotFoundError:
        if "://" in source:
            raise InputError(f"{shown!r} must lead to a file, found none there, or no server that answers") from None
        raise absent(shown, source) from None
    except IsADirectoryError:
        raise InputError(f"source must be one file, or a folder of parts (Parquet, CSV, JSON), got {shown!r}") from None
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - every file system has errors of its own, with addresses and keys in them
        if protocol not in (known := fsspec.available_protocols()):
            raise InputError(f"no file system is called {protocol}://{nearest(protocol, known)}") from None
        raise InputError(f"{shown!r} cannot be read: {type(error).__name__}") from None


def absent(shown: str, location: str) -> InputError:
    """Return the error that says that there is no such file, and which is called nearly so."""
    folder = Path(location).parent
    there = [p.name for p in folder.iterdir()] if folder.is_dir() else []
    return InputError(f"there is no file {shown!r}{nearest(Path(shown).name, there)}")
