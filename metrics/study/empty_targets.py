"""Sensitive columns that a measure can say nothing of: no two records alike, all alike, or guessed by one answer."""

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


def without_answer(tables: Tables, column: str) -> str:
    """Return why no attack can learn a sensitive column from others, or nothing: all values are equal, or no two are.

    Numbers, dates and durations may all differ: guesses of them need only be near.
    """
    sizes = class_sizes(tables, column)
    rule = f"sensitive column {column!r} must hold"
    if len(sizes) < 2:
        return f"{rule} at least two different values, got {len(sizes)}; choose another column"
    alone = float((sizes == 1).sum() / sizes.sum())
    if tables.kind(column) == "numeric" or alone <= ALONE:
        return ""
    return (
        f"{rule} values that records share, got {alone:.0%} of the records with a value of their own, which nobody can "
        "learn from others; choose another column"
    )


def rare_classes(tables: Tables, column: str, folds: int) -> str:
    """Return a warning where classes have fewer records than ``FEWEST``, or than two for each fold."""
    sizes, least = class_sizes(tables, column), max(FEWEST, 2 * folds)
    few, every = int((sizes < least).sum()), len(sizes)
    if tables.kind(column) == "numeric" or not few:
        return ""
    kept = every - few + int(sizes[sizes < least].sum() >= least)
    instead = (
        f"to put the rare ones together, give each metric the option bins: {{{column}: {kept}}}"
        if kept > 1
        else "choose a column with larger classes"
    )
    return (
        f"sensitive column {column!r}: {few} of its {every} classes {'has' if few == 1 else 'have'} fewer than {least} "
        f"records, of which the study can say little; {instead}"
    )


def met_exactly(tables: Tables, planned: Planned) -> str:
    """Return a warning where numbers must be equal to be right, and hardly any two records have the same."""
    column = str(planned.measure.sensitive)
    if not METRICS[planned.measure.metric].looks_up or tables.kind(column) == "categorical":
        return ""
    sizes = class_sizes(tables, column)
    alone = float((sizes == 1).sum() / sizes.sum())
    if alone <= ALONE:
        return ""
    return (
        f"a number must be met exactly, and {alone:.0%} of the records have a number of their own in {column!r}: only "
        f"copied records are found; cut the column in parts with the option bins: {{{column}: 5}}, or take a measure "
        "that asks for near guesses, such as rapid"
    )


def guessed_by_one_answer(tables: Tables, planned: Planned) -> str:
    """Return a warning where one answer about everybody is right about more than nine in ten records."""
    column, share = str(planned.measure.sensitive), best_answer(tables, planned)
    if not share > TOO_WIDE:
        return ""
    return _wide(tables, column, share) or (
        f"one constant guess is right about {share:.0%} of the records, for nearly all are alike in {column!r}, and "
        "the risk is high whatever is released; judge by memorization, which is set against control records"
    )


def too_wide_for_all(tables: Tables, planned: Planned) -> str:
    """Return a warning where a tolerance lets one answer be right about (nearly) everybody."""
    share = best_answer(tables, planned)
    return _wide(tables, str(planned.measure.sensitive), share) if share > EVERYBODY else ""


def best_answer(tables: Tables, planned: Planned) -> float:
    """Return the share of the records that the best constant answer is right about; NaN where nothing is guessed."""
    metric = METRICS[planned.measure.metric]
    options = {name: value for name, value in planned.options.items() if name not in ("bins", "binning")}
    return float("nan") if metric.best_answer is None else metric.best_answer(tables, **options)


def _wide(tables: Tables, column: str, share: float) -> str:
    if tables.kind(column) == "categorical":
        return ""
    return too_wide(share, tables.floats(column)[0], temporal=is_temporal(tables.real[column])) or ""


def class_sizes(tables: Tables, column: str) -> np.ndarray:
    """Return the number of records, or entities, of each value that occurs; a missing cell is none."""
    codes = tables.codes([column])
    own = codes.tables[0]
    counts = how_many_with(np.where(own == codes.size - 1, -1, own), codes.size, tables.entities)
    return counts[counts > 0]
