"""Several columns as one code a row, and how many rows of each side have each code."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from synthrisk.metrics.partitions.agreed import CONTROLS, MEMBERS, RELEASE, Coded, Partitioned

_MOST = 2**62


class Step(NamedTuple):
    """One column more in a code: what was packed so far times ``size``, plus the column's code."""

    column: Any
    size: int
    ranked: np.ndarray | None  # all codes so far, ascending, where they are replaced by their ranks


class Keys(NamedTuple):
    """All combinations of values of some columns that occur."""

    steps: tuple[Step, ...]
    codes: np.ndarray  # (k,) int64, ascending
    counts: np.ndarray  # (3, k): how many members, control records and released rows have each

    @property
    def columns(self) -> tuple[Any, ...]:
        """The columns."""
        return tuple(step.column for step in self.steps)

    @property
    def real(self) -> np.ndarray:
        """How many real records have each."""
        return np.asarray(self.counts[MEMBERS] + self.counts[CONTROLS])

    @property
    def release(self) -> np.ndarray:
        """How many released rows have each."""
        return np.asarray(self.counts[RELEASE])


def keys(tables: Partitioned, columns: Sequence[Any]) -> Keys:
    """Return the combinations of some columns, counted part by part and merged as sorted arrays.

    A code is a number in mixed radix. Where it would not fit 64 bits, the codes so far are replaced by their ranks.
    """
    return tables.shared(("keys", tuple(columns)), lambda: _keys(tables, columns))


def ranks_of_real(tables: Partitioned, found: Keys) -> np.ndarray:
    """Return the place of each real record's combination among all, (n,)."""
    return tables.shared(("ranks", found.columns), lambda: tables.of_real(_ranks, found.steps, found.codes))


def decoded(found: Keys, rows: np.ndarray) -> list[np.ndarray]:
    """Return the codes of the single columns of some combinations."""
    code, columns = found.codes[rows], []
    for step in reversed(found.steps):
        code, own = np.divmod(code, step.size)
        columns.append(own)
        if step.ranked is not None:
            code = step.ranked[code]
    return columns[::-1]


def _keys(tables: Partitioned, columns: Sequence[Any]) -> Keys:
    steps: tuple[Step, ...] = ()
    size = 1
    for name in columns:
        column = tables.columns[name]
        ranked = None
        if size * column.size >= _MOST:
            ranked = _counted(tables, steps)[0]
            size = len(ranked)
        steps += (Step(name, column.size, ranked),)
        size *= column.size
    return Keys(steps, *_counted(tables, steps))


def _counted(tables: Partitioned, steps: tuple[Step, ...]) -> tuple[np.ndarray, np.ndarray]:
    found = [tables.of_side(side, _counts, steps) for side in (MEMBERS, CONTROLS, RELEASE)]
    codes = _union([codes for side in found for codes, _ in side])
    counts = np.zeros((3, len(codes)), dtype=np.int64)
    for row, side in zip(counts, found, strict=True):
        for own, numbers in side:
            row[np.searchsorted(codes, own)] += numbers  # each code once in a part
    return codes, counts


def _union(codes: Sequence[np.ndarray]) -> np.ndarray:
    every = np.concatenate(codes)
    every.sort()
    return every[np.append([True], every[1:] != every[:-1])] if len(every) else every


def _counts(part: Coded, steps: tuple[Step, ...]) -> tuple[np.ndarray, np.ndarray]:
    codes, counts = np.unique(packed(part, steps), return_counts=True)
    return codes, counts


def _ranks(part: Coded, steps: tuple[Step, ...], codes: np.ndarray) -> np.ndarray:
    return np.searchsorted(codes, packed(part, steps)).astype(np.min_scalar_type(len(codes)))


def packed(part: Coded, steps: tuple[Step, ...]) -> np.ndarray:
    """Return one code a row of a part."""
    code = np.zeros(len(part[steps[0].column]), dtype=np.int64)
    for step in steps:
        if step.ranked is not None:
            code = np.searchsorted(step.ranked, code)
        code = code * step.size + part[step.column].astype(np.int64)
    return code
