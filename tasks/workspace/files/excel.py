"""Sheets of workbooks: Excel (.xlsx, .xlsm, .xls) and OpenDocument (.ods)."""

import io
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.tasks.workspace.files.cell_texts import UNNAMED, blanked, narrowed

EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
_Got = TypeVar("_Got")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def read_excel(raw: bytes, name: str, sheet: str | None = None, missing: Sequence[str] = ()) -> pd.DataFrame:
    """Return a sheet as a table: the first one unless named. ``attrs["notes"]`` says which others there are.

    The first row that holds anything has the names of the columns. Empty rows and columns are left out. Cells that
    Excel holds as text stay text: "01003" is no number. A cell that is empty or holds an error (``#N/A``) is missing,
    and so is each text in ``missing``.

    Raises:
        InputError: No workbook, encrypted, no such sheet, no rows, a title above the header, or a name given twice.
    """
    book = _attempt(lambda: pd.ExcelFile(io.BytesIO(raw), engine="calamine"), raw, name)
    sheets = [str(s) for s in book.sheet_names]
    chosen = sheets[0] if sheet is None else sheet
    if chosen not in sheets:
        there = ", ".join(map(repr, sheets))
        raise InputError(f"{name} has no sheet {chosen!r}{nearest(chosen, sheets)}; its sheets: {there}")
    cells = _attempt(
        lambda: pd.read_excel(book, sheet_name=chosen, header=None, dtype=object, na_filter=False), raw, name
    )
    cells = cells.mask(cells == "").dropna(how="all").dropna(how="all", axis="columns")
    where = f"{name}, sheet {chosen!r},"
    _refuse_no_table(cells, where, [s for s in sheets if s != chosen])
    names = [UNNAMED + str(i) if pd.isna(cell) else str(cell) for i, cell in enumerate(cells.iloc[0])]
    twice = np.flatnonzero(pd.Index(names).duplicated())
    if len(twice):
        first = names.index(names[twice[0]]) + 1
        raise InputError(f"{where} must have distinct column names, got one twice (columns {first} and {twice[0] + 1})")
    rows = cells.iloc[1:].set_axis(names, axis="columns").reset_index(drop=True)
    frame = pd.DataFrame({column: blanked(narrowed(rows[column]), missing) for column in names})
    if sheet is None and len(sheets) > 1:
        others = ", ".join(map(repr, sheets[1:]))
        frame.attrs["notes"] = [f"{name}: the first sheet, {chosen!r}, was read; the others: {others} (file#sheet)"]
    return frame


def _attempt(step: Callable[[], _Got], raw: bytes, name: str) -> _Got:
    try:
        return step()
    except ImportError:
        needs = "needs the package python-calamine, which is not installed"
        raise InputError(f"{name} {needs}: pip install 'synthrisk[files]'") from None
    except Exception:  # noqa: BLE001 - the reader's errors are its own, and may quote the file
        got = (
            "an encrypted file: save it without a password" if _ENCRYPTED in raw else "something else, or a damaged one"
        )
        raise InputError(f"{name} must be an Excel or OpenDocument workbook, got {got}") from None


def _refuse_no_table(cells: pd.DataFrame, where: str, others: Sequence[str]) -> None:
    hint = f"; other sheets: {', '.join(map(repr, others))} (file#sheet)" if others else ""
    if len(cells) < 2:
        got = "a header line alone" if len(cells) else "no filled cells"
        raise InputError(f"{where} must hold a header line and rows, got {got}{hint}")
    filled = cells.notna().sum(axis="columns")
    if 2 * filled.iloc[0] <= filled.max():
        raise InputError(
            f"{where} must have the names of the columns in its first row, got {filled.iloc[0]} filled cells there and "
            f"{filled.max()} in a row below: delete titles above the names, and give each column a name{hint}"
        )
