"""What can be said of a study before it is computed: measures that will say nothing, or little, and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass

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

FEW_HELD_OUT, FEWEST_HELD_OUT = 20, 2


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
    do not fit a column; fewer than 2 held-out records a release; and measures that are all decided by one answer about
    everybody, or that only a copy can meet. Warned of: such measures beside others; quasi-identifiers by which nobody
    is found; small classes; fewer than 20 held-out records a release.

    Args:
        records: The real table, typed, without its identifier.
        planned: What is to be measured, with its roles and options.
        held_out: The number of records that each release of one repetition does not see: one number a fold.
        entities: The entity of each record, where one may have several.
    """
    tables = Tables(records, records, entities=entities)
    seen = {p.measure.key: _look(tables, p, len(held_out)) for p in planned}
    risks = {p.measure.key for p in planned if not (METRICS[p.measure.metric].is_utility or p.measure.variant_of)}
    empty = {key: each.empty for key, each in seen.items() if each.empty}
    refusals, warnings = _few_held_out(held_out)
    refusals += [each.refusal for each in seen.values()]
    warnings += [each.classes for each in seen.values()]
    (refusals if risks and risks <= set(empty) else warnings).extend(empty.values())
    warnings += [each.warning for each in seen.values()]
    for reason in dict.fromkeys(each.keys for each in seen.values() if each.keys):  # one sentence for all measures
        warnings.append(f"{', '.join(key for key, each in seen.items() if each.keys == reason)}: {reason}")
    return Foreseen(_each_once(refusals), _each_once(warnings))


@dataclass(frozen=True)
class _Seen:
    """What is seen of one measure: each a sentence, or empty."""

    refusal: str = ""
    empty: str = ""  # it is decided before there is a release
    warning: str = ""
    classes: str = ""  # of its sensitive column
    keys: str = ""  # of its quasi-identifiers, without the name of the measure


def _look(every: Tables, planned: Planned, folds: int) -> _Seen:
    column = planned.measure.sensitive
    try:
        tables = METRICS[planned.measure.metric].coarsened(every, planned.options)
        keys = unique_keys(tables, planned)
        if column is None or planned.measure.variant_of:  # what it guesses is told of the measure that it varies
            return _Seen(keys=keys)
        if refusal := without_answer(tables, column):
            return _Seen(refusal)
        empty = too_wide_for_all(tables, planned) or met_exactly(tables, planned)
        warning = "" if empty else guessed_by_one_answer(tables, planned)
    except InputError as problem:
        return _Seen(f"{planned.measure.key}: {problem}")
    return _Seen("", empty, warning, rare_classes(tables, column, folds), keys)


def _few_held_out(held_out: Sequence[int]) -> tuple[list[str], list[str]]:
    """Return a refusal and a warning, as lists of at most one, where releases have few control records."""
    least = min(held_out, default=FEW_HELD_OUT)
    instead = "take fewer folds, a larger holdout, or more records"
    if least < FEWEST_HELD_OUT:
        return [f"each release must hold out at least {FEWEST_HELD_OUT} records, got {least}; {instead}"], []
    if least < FEW_HELD_OUT:
        said = f"each release should hold out at least {FEW_HELD_OUT} records, got {least}"
        return [], [f"{said}: what it does to people whom the synthesizer never saw is mostly chance; {instead}"]
    return [], []


def _each_once(sentences: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, sentences)))
