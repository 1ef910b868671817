"""What can be said of a study before it is computed: measures that will say nothing, or little, and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.empty_targets import (
    guessed_by_one_answer,
    met_exactly,
    rare_classes,
    too_wide_for_all,
    without_answer,
)
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.study.unique_keys import unique_keys
from synthrisk.metrics.tables.tables import Tables

FEW_HELD_OUT = 20  # control records of a release, below which what they show is mostly chance
_NAMED = 3  # measures that a sentence names


@dataclass(frozen=True)
class Foreseen:
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
