"""Sources of tables: built-in names, files, URLs, databases, OpenML. No message shows a password of an address."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from urllib.error import URLError

import pandas as pd
import sqlalchemy
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from synthrisk.conf import resolve
from synthrisk.conf.study import BuiltIn, Sql
from synthrisk.conf.tables import Reading, source_function, sources
from synthrisk.metrics.errors import InputError, nearest, type_of
from synthrisk.tasks.workspace.files import absent, read_file, split_sheet
from synthrisk.tasks.workspace.files.csv import read_csv

OPENML = "openml:"


def read(
    source: str | Sql | BuiltIn,
    missing: Sequence[str] = (),
    columns: Mapping[str, Reading] | None = None,
    *,
    as_texts: bool = False,
    coded: bool = False,
) -> pd.DataFrame:
    """Return the table behind a source, as it is there: types are settled later, by ``typed``.

    Args:
        source: A name of the entry-point group ``synthrisk.data`` (a function that returns a DataFrame),
            alone or with options (its keyword arguments), the path of a CSV or JSON file (may be compressed), of a
            Parquet file or a folder of such, of a Feather file, workbook (``survey.xlsx#Sheet``) or file of Stata, SPSS
            or SAS (``~`` is the home folder), an fsspec URL, ``openml:<id>``, or a query with its database.
        missing: Texts that mean a missing cell in a file that is neither Parquet nor Feather, beside the empty cell.
        columns: How single columns are read; ``typed`` settles the types that they name.
        as_texts: Leave all cells of a CSV file as they are written.
        coded: Have columns of few texts in a CSV file as categories, named in ``attrs[CODED]``; for ``typed``.

    Raises:
        InputError: There is no such source, or it cannot be read, or holds no rows.
    """
    if isinstance(source, Sql):
        return read_sql(source)
    if isinstance(source, str) and source not in (known := sources()):
        address = resolve(source)
        if "://" not in address and source.startswith(OPENML):
            return _openml(source)
        if "://" not in address and not _is_path(address):
            raise InputError(
                "source must be a built-in table, a file (CSV, JSON, Parquet, Feather, Excel, Stata, SPSS, SAS), a "
                f"URL, openml:<id>, {{url, query}} or {{name, options}}, got {source!r}{nearest(source, known)}; "
                f"built in: {', '.join(known)}"
            )
        parse = partial(read_csv, missing=missing, columns=columns, as_texts=as_texts, coded=coded)
        return read_file(address, source, missing, parse)
    name, options = (source, {}) if isinstance(source, str) else (source.name, source.options)
    frame = source_function(name, options)(**options)
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"table {name!r} must be a DataFrame of pandas, got {type_of(frame)}")
    return frame


def _is_path(source: str) -> bool:
    path = Path(source)
    return len(path.parts) > 1 or bool(path.suffix) or path.exists()


def check_there(source: str) -> None:
    """Refuse a path of this machine where there is nothing, before anything is read or told.

    Raises:
        InputError: There is no file.
    """
    if "://" in source or "${" in source or source.startswith(OPENML) or source in sources() or not _is_path(source):
        return
    shown = split_sheet(source)[0]
    location = Path(shown).expanduser()
    if not location.exists():
        raise absent(shown, str(location))


def _openml(source: str) -> pd.DataFrame:
    number = source.removeprefix(OPENML)
    if not (number.isascii() and number.isdigit()):
        raise InputError(f"source must be openml:<number>, as in openml:1590, got {source!r}")
    from sklearn.datasets import fetch_openml

    try:
        frame: pd.DataFrame = fetch_openml(data_id=int(number), as_frame=True, parser="auto").frame
    except (URLError, OSError, ValueError) as error:
        raise InputError(f"{source} cannot be read: {type(error).__name__}") from None
    return frame


_DRIVERS = {"psycopg": "synthrisk[postgresql]", "MySQLdb": "mysqlclient"}


def read_sql(source: Sql) -> pd.DataFrame:
    r"""Return the rows of a query.

    A colon before a word marks a bind parameter in SQLAlchemy: write ``\:`` for a colon that is meant.

    Raises:
        InputError: The URL is not one, the driver is not installed, or the database refuses.
    """
    try:
        engine = sqlalchemy.create_engine(resolve(source.url))
    except ModuleNotFoundError as error:
        raise InputError(_missing_driver(source.url, error.name or "")) from None
    except (ArgumentError, NoSuchModuleError, ValueError, TypeError) as error:
        raise InputError(
            "source.url must be a SQLAlchemy URL such as postgresql+psycopg://user@host/database or "
            f"sqlite:///file.db, got one that SQLAlchemy refuses ({type(error).__name__})"
        ) from None
    try:
        with engine.connect() as connection:
            frame = pd.read_sql_query(sqlalchemy.text(source.query), connection, dtype_backend="numpy_nullable")
    except Exception as error:  # noqa: BLE001 - any driver's error may quote the URL, the query or cells
        wrapped = error.__cause__ if isinstance(error, pd.errors.DatabaseError) else None  # pandas 3 wraps the driver's
        kind = type(wrapped or error).__name__
        raise InputError(f"source.query must be readable, but the database refused: {kind}") from None
    finally:
        engine.dispose()
    if len(frame) == 0:
        raise InputError("source.query must return rows, got none")
    return frame


def _missing_driver(url: str, module: str) -> str:
    if url.startswith("postgres") and module != "psycopg":
        return "source.url must name the driver: postgresql+psycopg://..., after pip install 'synthrisk[postgresql]'"
    return f"source.url needs a driver that is not installed: pip install '{_DRIVERS.get(module, module)}'"
