"""A query against a database, through SQLAlchemy; no message shows the URL, for it may hold a password."""

import pandas as pd
import sqlalchemy
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from synthrisk.conf import resolve
from synthrisk.conf.study import Sql
from synthrisk.metrics.errors import InputError

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
