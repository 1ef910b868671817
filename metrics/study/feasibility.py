"""What can be said of a study before it is computed: measures that will say nothing, or little, and what to do.

Sensitive columns that a measure can say nothing of: no two records alike, all alike, or guessed by one answer.

Quasi-identifiers by which nobody is found: nearly every record is the only one with its key.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.ledger import Planned
from synthrisk.metrics.tables.entities import how_many_with
from synthrisk.metrics.tables.kinds import is_temporal
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.tolerance import TOO_WIDE, too_wide

NEARLY_ALL = 0.95
"""Share of records alone with their key, from which a look-up by key finds hardly anybody but copies."""
_LOOKS_UP = "key_class"  # the attack that does what metrics with ``looks_up`` do


def looks_up(planned: Planned) -> bool:
    """Tell whether a measure finds records by equal quasi-identifiers alone."""
    return METRICS[planned.measure.metric].looks_up or planned.measure.attacker == _LOOKS_UP


def unique_keys(tables: Tables, planned: Planned) -> str:
    """Return a warning, without the name of the measure, where it looks up keys that nearly all occur once."""
    if not looks_up(planned):
        return ""
    known = tables.check_columns("quasi_identifiers", planned.options["quasi_identifiers"])
    codes = tables.codes(known)
    own = codes.tables[0]
    share = float(np.mean(how_many_with(own, codes.size, tables.entities)[own] == 1))
    if share <= NEARLY_ALL:
        return ""
    distinct = {column: len(np.unique(tables.codes([column]).tables[0])) for column in known}
    most = max(known, key=lambda column: distinct[column])
    named = ", ".join(map(repr, known)) if len(known) <= 5 else f"{len(known)} quasi-identifiers"
    return (
        f"records are looked up by {named}, by which {share:.0%} of them are singled out, so that only copied records "
        f"can be found; coarsen columns with the option bins, for instance bins: {{{most}: 5}}, or leave out {most!r}, "
        f"which has the most distinct values ({distinct[most]})"
    )


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
    instead = "guess fewer columns at once" if len(columns) > 1 else "choose a column with larger classes"
    if kept > 1 and len(columns) == 1:
        instead = f"to put the rare ones together, give each metric the option bins: {{{columns[0]}: {kept}}}"
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
    return float("nan") if metric.yardsticks.best_answer is None else metric.yardsticks.best_answer(tables, **options)


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


FEW_HELD_OUT = 20  # control records of a release, below which what they show is mostly chance
_NAMED = 3  # measures that a sentence names


class Foreseen(NamedTuple):
    """Sentences about a study that is not computed yet; none holds a cell."""

    refusals: tuple[str, ...] = ()  # why no number could mean anything
    warnings: tuple[str, ...] = ()  # why some numbers will mean little


def foresee(
    records: pd.DataFrame,
    planned: Sequence[Planned],
    held_out: Sequence[int] = (),
    entities: np.ndarray | None = None,
) -> Foreseen:
    """Return what a study will not be able to say, as it can be seen from its table.

    Refused: a sensitive column that is constant, or in which (nearly) every record has a value of its own; options that
    do not fit a column; and measures that are all decided by one answer about everybody, or that only a copy can meet.
    Warned of: such measures beside others; quasi-identifiers by which nobody is found; small classes; fewer than 20
    control records a release. There is one sentence for each sensitive column or set of quasi-identifiers, whatever the
    number of measures that it is true of.

    Args:
        records: The real table, typed, without its identifier.
        planned: What is to be measured, with its roles and options.
        held_out: The number of records that each release of one repetition does not see: one number a fold.
        entities: The entity of each record, where one may have several.
    """
    tables = Tables(records, records, entities=entities)
    remarks = [remark for p in planned for remark in _look(tables, p, len(held_out))]
    risks = {p.measure.key for p in planned if not (METRICS[p.measure.metric].is_utility or p.measure.variant_of)}
    nothing_else = bool(risks) and risks <= {r.measure for r in remarks if r.kind == "empty"}
    refusals, warnings = _sentences(remarks, "refused"), _few_held_out(held_out)
    (refusals if nothing_else else warnings).extend(_sentences(remarks, "empty"))
    guessed = {r.about for r in remarks if r.kind == "guessed"}
    warnings += _sentences(remarks, "guessed")
    warnings += _sentences([r for r in remarks if r.about not in guessed], "classes")
    return Foreseen(tuple(refusals), (*warnings, *_sentences(remarks, "keys")))


class _Remark(NamedTuple):
    """What is seen of one measure: its value is decided before there is a release (``empty``), or says little."""

    kind: Literal["refused", "empty", "guessed", "classes", "keys"]
    about: tuple[str, ...]  # a sensitive column, or quasi-identifiers
    words: str
    measure: str = ""  # of which it is true; empty where it is true of the column, whoever looks at it


def _look(every: Tables, planned: Planned, folds: int) -> list[_Remark]:
    columns, key = planned.measure.targets, planned.measure.key
    remarks = []
    try:
        tables = METRICS[planned.measure.metric].coarsened(every, planned.options)
        if words := unique_keys(tables, planned):
            remarks.append(_Remark("keys", tuple(sorted(planned.options["quasi_identifiers"])), words, key))
        if not columns or planned.measure.variant_of:  # what it guesses is told of the measure that it varies
            return remarks
        if words := without_answer(tables, columns):
            return [_Remark("refused", columns, words)]
        if words := met_exactly(tables, planned):
            remarks.append(_Remark("empty", (*columns, "exactly"), words, key))
        elif words := too_wide_for_all(tables, planned):
            remarks.append(_Remark("empty", (*columns, "nearly"), words, key))
        elif words := guessed_by_one_answer(tables, planned):
            remarks.append(_Remark("guessed", columns, words, key))
        if words := rare_classes(tables, columns, folds):
            remarks.append(_Remark("classes", columns, words))
    except InputError as problem:
        return [_Remark("refused", (*columns, str(problem)), str(problem))]
    return remarks


def _sentences(remarks: Sequence[_Remark], kind: str) -> list[str]:
    """Return one sentence for all measures of which something is true."""
    own: dict[tuple[str, ...], list[_Remark]] = {}
    for remark in (r for r in remarks if r.kind == kind):
        own.setdefault(remark.about, []).append(remark)
    return [_named([r.measure for r in each]) + each[0].words for each in own.values()]


def _named(measures: Sequence[str]) -> str:
    if not all(measures):
        return ""
    more = len(measures) - _NAMED
    return ", ".join(measures[:_NAMED]) + (f" and {more} more" if more > 0 else "") + ": "


def _few_held_out(held_out: Sequence[int]) -> list[str]:
    """Return a warning, as a list of at most one, where releases have few control records."""
    least = min(held_out, default=FEW_HELD_OUT)
    if least >= FEW_HELD_OUT:
        return []
    return [
        f"control records should be at least {FEW_HELD_OUT} a release, got {least}: what is measured on them is mostly "
        "chance; take fewer folds, a larger holdout, or a table with more records"
    ]
