"""The distinct texts of a column with their counts, and what they look like when letters and digits are masked."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from synthrisk.tasks.workspace.readings import texts_of

_COMMON = 0.1  # share of the cells that a form must have to be shown, so that no rare cell is
_FEWEST = 5  # and how many cells


@dataclass(frozen=True)
class Cells:
    """The cells of one column as texts, blanks around them taken away."""

    name: str
    counts: pd.Series  # cells of each distinct text that is neither empty nor blank, most frequent first
    blank: int  # cells that hold blanks alone
    empty: int  # cells that hold nothing

    @classmethod
    def of(cls, column: pd.Series) -> "Cells":
        """Return the cells of a column; numbers and other values as their texts."""
        texts = texts_of(column)
        stripped = texts.str.strip()
        blank = int((stripped == "").sum())
        counts = stripped[stripped.notna() & (stripped != "")].value_counts()
        counts = counts.sort_index().sort_values(ascending=False, kind="stable")
        return cls(str(column.name), counts, blank, int(texts.isna().sum()))

    @cached_property
    def filled(self) -> int:
        """How many cells hold something."""
        return int(self.counts.sum())

    @property
    def rows(self) -> int:
        """How many cells there are."""
        return self.filled + self.blank + self.empty

    @property
    def texts(self) -> pd.Series:
        """The distinct texts."""
        return pd.Series(self.counts.index, dtype="string")

    def without(self, texts: Iterable[str]) -> "Cells":
        """Return the column with some texts counted as empty."""
        left_out = self.counts.index.isin(list(texts))
        gone = int(self.counts[left_out].sum())
        return Cells(self.name, self.counts[~left_out], self.blank, self.empty + gone)

    def share(self, fits: pd.Series) -> float:
        """Return the share of filled cells whose text fits; ``fits`` is told of each distinct text."""
        fitting = self.counts.to_numpy()[fits.fillna(False).to_numpy(bool)].sum()
        return float(fitting / self.filled) if self.filled else 0.0

    @property
    def form(self) -> str:
        """The commonest form of the cells, 9 for a digit and a for a letter; empty where no form is common."""
        masked = self.texts.map(mask)
        forms = pd.Series(self.counts.to_numpy()).groupby(masked.to_numpy()).sum().sort_values(ascending=False)
        if not len(forms) or forms.iloc[0] < max(_FEWEST, _COMMON * self.filled):
            return ""
        return str(forms.index[0])


def mask(text: str) -> str:
    """Return the form of a text: 9 for each digit, a and A for letters.

    Example:
        >>> mask("05.06.1966"), mask("Zürich 8a")
        ('99.99.9999', 'Aaaaaa 9a')
    """
    digits = re.sub(r"\d", "9", text)
    return "".join("A" if c.isupper() else "a" if c.isalpha() else c for c in digits)
