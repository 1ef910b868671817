"""A table that is written as a steward's file, and what is true of each column."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

QUASI = "quasi-identifier"
SENSITIVE = "sensitive"
AWAY = "identifier dropped other"  # never attacked: ids, names, e-mails, time stamps, constants, free text
DROPPED = "dropped other"  # as AWAY, and no identifier of anybody
EITHER = "quasi-identifier other"
CLOSE = "quasi-identifier sensitive"
OPEN = "quasi-identifier sensitive other"
LEVELS = "category code"
ANSWER = "boolean category"
SCALE = "category code number"


@dataclass(frozen=True)
class Label:
    """What is true of a column: kinds and roles that are right, its values, and texts that are none or seem none."""

    kinds: set[str]
    roles: set[str]
    truth: pd.Series
    missing: tuple[str, ...]
    kept: tuple[str, ...]
    unsure: tuple[str, ...]  # texts that may be missing, or an answer of their own


class Table:
    """A table in the making: each column is added with its cells as written and its label."""

    def __init__(self, name: str, rows: int, seed: int, separator: str, encoding: str) -> None:
        self.name, self.rows, self.separator, self.encoding = name, rows, separator, encoding
        self.rng = np.random.default_rng(seed)
        self.cells: dict[str, list[str]] = {}
        self.labels: dict[str, Label] = {}

    def add(self, name, cells, kinds, roles, truth=None, holes=None, kept=(), unsure=()):
        """Add a column; `holes` are the texts that stand for nothing, and the share of cells each takes."""
        written = [str(cell) for cell in cells]
        true = pd.Series(written if truth is None else list(truth))
        true = true.astype(object).where(np.array([cell != "" for cell in written]), None)
        for text, share in (holes or {}).items():
            for row in np.flatnonzero(self.rng.random(self.rows) < share):
                written[row], true[row] = text, None
        self.cells[name] = written
        missing = tuple(text for text in holes or () if text not in unsure)
        self.labels[name] = Label({*kinds.split()}, {*roles.split()}, true, missing, (*kept,), (*unsure,))

    def pick(self, words: str | Sequence[object], shares: Sequence[float] | None = None) -> list[object]:
        """Draw one of the words for each row; of a text, its parts between bars."""
        parts = words.split("|") if isinstance(words, str) else list(words)
        weights = np.ones(len(parts)) if shares is None else np.array(shares, dtype=float)
        return [parts[i] for i in self.rng.choice(len(parts), self.rows, p=weights / weights.sum())]

    def ages(self, low: int = 18, high: int = 95) -> np.ndarray:
        return self.rng.integers(low, high, self.rows)

    def days(self, first: str, last: str) -> pd.DatetimeIndex:
        span = (pd.Timestamp(last) - pd.Timestamp(first)).days
        return pd.Timestamp(first) + pd.to_timedelta(self.rng.integers(0, span, self.rows), unit="D")

    def instants(self, first: str, step: int = 4000) -> pd.DatetimeIndex:
        """Draw instants that rise and are all different."""
        gaps = self.rng.integers(1, step, self.rows).cumsum()
        return pd.Timestamp(first) + pd.to_timedelta(gaps, unit="s")

    def amounts(self, center: float, spread: float = 0.5, digits: int = 2) -> np.ndarray:
        return self.rng.lognormal(np.log(center), spread, self.rows).round(digits)

    def distinct(self, low: int, high: int) -> np.ndarray:
        return low + self.rng.choice(high - low, self.rows, replace=False)

    def sentences(self, words: str, empty: float = 0.3) -> list[str]:
        """Draw free text, of which a share is empty."""
        stock = words.split()
        return [
            "" if self.rng.random() < empty else " ".join(self.rng.choice(stock, self.rng.integers(4, 12)))
            for _ in range(self.rows)
        ]

    def people(self, given: str, family: str) -> list[str]:
        return [f"{a} {b}" for a, b in zip(self.pick(given.split()), self.pick(family.split()), strict=True)]

    def file(self) -> bytes:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.separator)
        writer.writerow(self.cells)
        writer.writerows(zip(*self.cells.values(), strict=True))
        return text.getvalue().encode(self.encoding)

    @staticmethod
    def number(values: Iterable[float], digits: int, point: str = ".", thousands: str = "") -> list[str]:
        """Write numbers with a decimal mark and a thousands separator of one's own."""
        swap = {",": thousands, ".": point}
        return ["".join(swap.get(c, c) for c in f"{value:,.{digits}f}") for value in values]


TABLES: list[Table] = []


def table(name: str, rows: int, seed: int, separator: str = ",", encoding: str = "utf-8") -> Table:
    """Begin a table, which stands among the others at once."""
    TABLES.append(Table(name, rows, seed, separator, encoding))
    return TABLES[-1]
