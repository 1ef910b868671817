"""Codes of surveys: value labels in place of codes, and codes that a file declares missing; each with a note."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pandas.api import types

_SHOWN = 5  # labelled codes that a note lists


@dataclass(frozen=True)
class Declared:
    """Codes that a file declares missing."""

    ranges: Sequence[Mapping[str, Any]] = ()
    """Of SPSS, each from ``lo`` to ``hi``; texts where both are the same text."""
    marks: Sequence[str] = ()
    """Letters in a column of numbers, each a reason why a cell is missing: .a of Stata, .A of SAS."""

    def among(self, codes: pd.Series) -> pd.Series:
        """Return which of the codes are declared missing."""
        found = codes.isin(list(self.marks))
        for each in self.ranges:
            found |= codes.eq(each["lo"]) if isinstance(each["lo"], str) else codes.between(each["lo"], each["hi"])
        return found

    def __str__(self) -> str:
        """Return the codes as a list for people."""
        ranges = [
            _text(r["lo"]) if r["lo"] == r["hi"] else f"{_text(r['lo'])} to {_text(r['hi'])}" for r in self.ranges
        ]
        return ", ".join([*ranges, *(f".{mark}" for mark in self.marks)])


def without_declared(column: pd.Series, declared: Declared) -> tuple[pd.Series, str | None]:
    """Return a column without the codes that its file declares missing, and a note of how many cells had one.

    Example:
        >>> without_declared(pd.Series([1.0, -9.0], name="age"), Declared([{"lo": -9.0, "hi": -9.0}]))[1]
        "column 'age': missing by codes that the file declares so (-9): 1 cells"
    """
    found = declared.among(column)
    if not found.any():
        return column, None
    note = f"column {column.name!r}: missing by codes that the file declares so ({declared}): {found.sum()} cells"
    column = column.mask(found)
    return pd.to_numeric(column) if declared.marks else column, note


def with_labels(column: pd.Series, labels: Mapping[object, str]) -> tuple[pd.Series, str | None]:
    """Return a column as a category of labels if all its codes have one; else as it is, with a note about the labels.

    An empty label is none. Where two codes share a label, all labels of the column carry their code.

    Example:
        >>> with_labels(pd.Series([1, 2]), {1: "no", 2: "yes"})[0].tolist()
        ['no', 'yes']
    """
    texts = {code: str(label).strip() for code, label in labels.items() if str(label).strip()}
    present = column.dropna().unique()
    if not texts or not len(present):
        return column, None
    if not all(code in texts for code in present):
        what = "numbers" if types.is_numeric_dtype(column.dtype) else "codes"
        return column, (
            f"column {column.name!r} keeps its {what}, for not all of them have a label; labelled are "
            f"{_listed(texts)}: list in data.missing what means no answer"
        )
    note = None
    if len(set(texts.values())) < len(texts):
        texts = {code: f"{label} ({_text(code)})" for code, label in texts.items()}
        note = f"column {column.name!r}: several codes share a label, so all its labels carry their codes"
    return pd.Series(pd.Categorical(column.map(texts)), index=column.index, name=column.name), note


def _listed(texts: Mapping[object, str]) -> str:
    shown = [f"{_text(code)} ({label!r})" for code, label in list(texts.items())[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else "")


def _text(code: object) -> str:
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)
