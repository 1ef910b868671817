"""Sensitive columns that a measure can say nothing of: no two records alike, all alike, or guessed by one answer."""

from collections.abc import Sequence

import numpy as np

from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.tables.entities import how_many_with
from synthrisk.metrics.tables.kinds import is_temporal
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.tolerance import TOO_WIDE, too_wide

ALONE = 0.9
"""Share of records with a value of their own, from which a column tells who somebody is, not what he is like."""
EVERYBODY = 0.99
"""Share of records that one answer is right about, from which nothing is left to find out."""
FEWEST = 5
"""Records that a class needs at least; and two for each fold."""


def without_answer(tables: Tables, columns: Sequence[str]) -> str:
    """Return why no attack can learn what is guessed from others, or nothing: all values are equal, or no two are.

    Several columns are guessed at once. Numbers, dates and durations may all differ: guesses of them need only be near.
    """
    sizes = class_sizes(tables, columns)
    rule = f"{_called(columns)} must hold"
    if len(sizes) < 2:
        return f"{rule} at least two different values, got {len(sizes)}; choose another column"
    alone = float((sizes == 1).sum() / sizes.sum())
    if _numeric(tables, columns) or alone <= ALONE:
        return ""
    return (
        f"{rule} values that records share, got {alone:.0%} of the records with a value of their own, which nobody can "
        "learn from others; choose another column"
    )


def rare_classes(tables: Tables, columns: Sequence[str], folds: int) -> str:
    """Return a warning where classes have fewer records than ``FEWEST``, or than two for each fold."""
    sizes, least = class_sizes(tables, columns), max(FEWEST, 2 * folds)
    few, every = int((sizes < least).sum()), len(sizes)
    if _numeric(tables, columns) or not few:
        return ""
    kept = every - few + int(sizes[sizes < least].sum() >= least)
    instead = (
        f"to put the rare ones together, give each metric the option bins: {{{columns[0]}: {kept}}}"
        if kept > 1 and len(columns) == 1
        else "guess fewer columns at once"
        if len(columns) > 1
        else "choose a column with larger classes"
    )
    return (
        f"{_called(columns)}: {few} of its {every} classes {'has' if few == 1 else 'have'} fewer than {least} "
        f"records, of which the study can say little; {instead}"
    )


def met_exactly(tables: Tables, planned: Planned) -> str:
    """Return a warning where numbers must be equal to be right, and hardly any two records have the same."""
    columns = planned.measure.targets
    if not METRICS[planned.measure.metric].looks_up or not _numeric(tables, columns):
        return ""
    sizes = class_sizes(tables, columns)
    alone = float((sizes == 1).sum() / sizes.sum())
    if alone <= ALONE:
        return ""
    number = next(column for column in columns if tables.kind(column) == "numeric")
    return (
        f"a number must be met exactly, and {alone:.0%} of the records have a number of their own in {number!r}: only "
        f"copied records are found; cut the column in parts with the option bins: {{{number}: 5}}, or take a measure "
        "that asks for near guesses, such as rapid"
    )


def guessed_by_one_answer(tables: Tables, planned: Planned) -> str:
    """Return a warning where one answer about everybody is right about more than nine in ten records."""
    columns, share = planned.measure.targets, best_answer(tables, planned)
    if not share > TOO_WIDE:
        return ""
    alike = " and ".join(map(repr, columns))
    return _wide(tables, columns, share) or (
        f"one constant guess is right about {share:.0%} of the records, for nearly all are alike in {alike}, and "
        "the risk is high whatever is released; judge by memorization, which is set against control records"
    )


def too_wide_for_all(tables: Tables, planned: Planned) -> str:
    """Return a warning where a tolerance lets one answer be right about (nearly) everybody."""
    share = best_answer(tables, planned)
    return _wide(tables, planned.measure.targets, share) if share > EVERYBODY else ""


def best_answer(tables: Tables, planned: Planned) -> float:
    """Return the share of the records that the best constant answer is right about; NaN where nothing is guessed."""
    metric = METRICS[planned.measure.metric]
    options = {name: value for name, value in planned.options.items() if name not in ("bins", "binning")}
    return float("nan") if metric.best_answer is None else metric.best_answer(tables, **options)


def _wide(tables: Tables, columns: Sequence[str], share: float) -> str:
    if len(columns) > 1 or not _numeric(tables, columns):
        return ""
    (column,) = columns
    return too_wide(share, tables.floats(column)[0], temporal=is_temporal(tables.real[column])) or ""


def _numeric(tables: Tables, columns: Sequence[str]) -> bool:
    return any(tables.kind(column) == "numeric" for column in columns)


def _called(columns: Sequence[str]) -> str:
    named = " and ".join(map(repr, columns))
    return f"sensitive column {named}" if len(columns) == 1 else f"sensitive columns {named} together"


def class_sizes(tables: Tables, columns: Sequence[str]) -> np.ndarray:
    """Return the number of records, or entities, of each value (of several columns: of each combination) that occurs.

    A missing cell is no value.
    """
    codes = tables.codes(columns)
    there = tables.real[list(columns)].notna().all(axis=1).to_numpy()
    counts = how_many_with(np.where(there, codes.tables[0], -1), codes.size, tables.entities)
    return counts[counts > 0]
