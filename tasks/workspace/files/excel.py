"""Sheets of workbooks: Excel (.xlsx, .xlsm, .xls) and OpenDocument (.ods)."""

import io
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.tasks.workspace.files.cell_texts import UNNAMED, blanked, narrowed
from synthrisk.tasks.workspace.files.csv import (
    First,
    below_names,
    is_above_names,
    is_remark,
    is_total,
    told_around,
    told_between,
    told_last,
)

EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
_Got = TypeVar("_Got")
_Area = tuple[tuple[int, int], tuple[int, int]]
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def read_excel(raw: bytes, name: str, sheet: str | None = None, missing: Sequence[str] = ()) -> pd.DataFrame:
    """Return a sheet as a table: the first one unless named. ``attrs["notes"]`` says which others there are.

    The first row that holds anything has the names of the columns. Empty rows and columns are left out, and so are rows
    around the table that are none of it, as ``csv.tidied`` knows them. Rows of a merged cell all have its value. Cells
    that Excel holds as text stay text: "01003" is no number. A cell that is empty or holds an error (``#N/A``) is
    missing, and so is each text in ``missing``.

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
    where = f"{name}, sheet {chosen!r},"
    cells = cells.mask(cells == "").dropna(how="all")
    may_be_merged = bool(cells.isna().any(axis=None))  # else the sheet need not be opened again
    opened = _attempt(lambda: book.book.get_sheet_by_name(chosen), raw, name) if may_be_merged else None
    cells, filled = _unmerged(cells, getattr(opened, "merged_cell_ranges", None) or ())  # old readers tell none
    cells, notes = _without_others(cells.dropna(how="all", axis="columns"), where.rstrip(","))
    if filled:
        notes.append(f"{where} has cells merged with those below them: {filled:,} empty ones got their value")
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
        notes.append(f"{name}: the first sheet, {chosen!r}, was read; the others: {others} (file#sheet)")
    if notes:
        frame.attrs["notes"] = notes
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


def _unmerged(cells: pd.DataFrame, merged: Iterable[_Area]) -> tuple[pd.DataFrame, int]:
    """Return a sheet in which the first cell of merged ones stands in all their rows, and how many it was put into."""
    values, many = cells.to_numpy(dtype=object, copy=True), 0
    for (top, column), (bottom, _) in merged:
        if top < bottom and top in cells.index and column < values.shape[1]:
            first, *below = range(*cells.index.searchsorted([top, bottom + 1]))
            empty = [row for row in below if pd.isna(values[row, column])] if pd.notna(values[first, column]) else []
            values[empty, column] = values[first, column]
            many += len(empty)
    return (pd.DataFrame(values, cells.index, cells.columns) if many else cells), many


_FIRST = 20  # rows that tell what is around a table


def _without_others(cells: pd.DataFrame, where: str) -> tuple[pd.DataFrame, list[str]]:
    """Return a sheet without groups of columns above the names, units below them, totals and remarks; and what was."""
    if len(cells) < 2:
        return cells, []
    above = _rows_above_names(cells)
    cells = cells.iloc[above:]
    below = below_names(_first(cells), lambda: _are_new(cells))
    cells = pd.concat([cells.iloc[:1], cells.iloc[1 + below :]]) if below else cells
    first, last = _first(cells), Counter[str]()
    while len(cells) > 1:
        row, gap = _texts(cells.iloc[-1]), cells.index[-1] - cells.index[-2]
        rows = partial(_rows, cells.iloc[1:-1])
        is_no_row = {"remark": is_remark(row, first, is_below_blank=gap > 1), "total": is_total(row, rows)}
        if not any(is_no_row.values()):
            break
        cells, last = cells.iloc[:-1], last + Counter(what for what, so in is_no_row.items() if so)
    empty = cells.index[-1] - cells.index[1] + 2 - len(cells) if len(cells) > 1 else 0
    return cells, told_around(where, above, below) + told_last(where, last) + told_between(where, int(empty))


def _rows_above_names(cells: pd.DataFrame) -> int:
    """Return how many rows are above the names of columns: one of groups or a title, or several titles.

    Of several each is a title, or what is said of the table: "Period:" and a cell behind it.
    """
    for above in range(1, min(_FIRST, len(cells))):
        if above > 1 and not _is_title(_texts(cells.iloc[above - 1])):
            return 0
        rest = cells.iloc[above - 1 :]
        if is_above_names(_first(rest), partial(_are_new, rest)):
            return above
        if not _is_title(_texts(cells.iloc[0])):
            return 0
    return 0


def _is_title(row: Sequence[str]) -> bool:
    filled = [cell.strip() for cell in row if cell.strip()]
    return 2 * len(filled) <= len(row) and (len(filled) == 1 or (len(filled) == 2 and filled[0].endswith(":")))


def _first(cells: pd.DataFrame) -> First:
    names, *rows = _rows(cells.iloc[: _FIRST + 1])
    return First(names, rows)


def _rows(cells: pd.DataFrame) -> list[list[str]]:
    return [_texts(row) for row in cells.itertuples(index=False)]


def _texts(row: Iterable[object]) -> list[str]:
    return ["" if pd.isna(cell) else str(cell) for cell in row]  # type: ignore[call-overload]


def _are_new(cells: pd.DataFrame) -> bool:
    """Tell whether no row but the first below the header has one of its cells."""
    return not cells.iloc[2:].isin(cells.iloc[1].dropna().tolist()).any(axis=None)


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
