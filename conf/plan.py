"""What a study measures, spelled out: one planned measure a metric, sensitive attribute and option ``attacker``.

And one of several attacker models together where the study asks for their ``envelope``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.conf.loader import checked
from synthrisk.conf.study import ALL_OTHERS, MetricChoice, Study, WhatIf
from synthrisk.metrics import METRICS, InputError, Metric
from synthrisk.metrics.errors import nearest
from synthrisk.metrics.exposure.what_if import Change
from synthrisk.metrics.study.feasibility import Foreseen, foresee
from synthrisk.metrics.study.ledger import Measure, Planned
from synthrisk.metrics.study.split import split_table
from synthrisk.metrics.tables.entities import entity_numbers
from synthrisk.metrics.tables.tables import Target, columns_of, name_of

_COLUMNS = ("columns", "columns_a", "columns_b")  # options that name columns of the table


def plan(
    metrics: Sequence[str | Mapping[str, Any] | MetricChoice],
    columns: Sequence[str],
    quasi_identifiers: Sequence[str] | str,
    sensitive: Sequence[Target],
) -> list[Planned]:
    """Return what some metrics measure on a table.

    Args:
        metrics: Names, or mappings and choices as in a study.
        columns: Columns of the table, the identifier left out.
        quasi_identifiers: What an attacker knows, where a metric does not say otherwise; ``"*"`` = all others.
        sensitive: What an attacker guesses, where a metric does not say otherwise: columns, or lists of columns that
            are guessed at once.

    Raises:
        InputError: A metric is unknown, its options or roles are wrong, or two measures share a name.
    """
    planned = []
    choices = [checked(MetricChoice, each, "metrics") for each in metrics]
    _check_roles(choices, columns)
    for choice in choices:
        metric = METRICS[choice.name]
        own = choice.options.get("attacker", metric.default("attacker")) if "attacker" in metric.options else None
        alone: list[str | None] = [*choice.attackers] or [own]
        attackers: list[tuple[Any, str, str]]  # one or all, with label and envelope
        attackers = [(a, label, "") for a, label in zip(alone, choice.labels, strict=True)]
        attackers += [(alone, label, e) for e, label in zip(choice.envelope, choice.labels_together, strict=True)]
        hidden: Sequence[Target] = (choice.sensitive or sensitive) if "sensitive" in metric.needs else [()]
        _check_targets(choice.label, metric, hidden, columns)
        known = choice.quasi_identifiers or quasi_identifiers
        for attacker, label, envelope in attackers:
            for target in hidden:
                options = dict(choice.options) | ({"attacker": attacker} if attacker else {})
                options |= {"envelope": envelope} if envelope else {}
                guessed = columns_of(target)
                if guessed:
                    options["sensitive"] = guessed if len(guessed) > 1 else guessed[0]
                if "quasi_identifiers" in metric.needs:
                    apart = guessed if guessed or known != ALL_OTHERS else _columns(sensitive)
                    others = columns if known == ALL_OTHERS else known
                    options["quasi_identifiers"] = [c for c in others if c not in apart]
                if isinstance(options.get("bins"), Mapping):  # of all that are guessed, each measure uses its own
                    own_columns = (*guessed, *options.get("quasi_identifiers", ()))
                    elsewhere = [c for c in _columns(hidden) if c not in own_columns]
                    options["bins"] = {c: n for c, n in options["bins"].items() if c not in elsewhere} or None
                called = ", ".join(attacker) if isinstance(attacker, list) else attacker
                together = tuple(choice.labels) if envelope else ()
                joint = tuple(guessed) if len(guessed) > 1 else ()
                named = name_of(target) or None
                measure = Measure(label, choice.name, named, called, envelope=envelope, together=together, joint=joint)
                asked = Planned(measure, options)
                planned += [asked, *_variants(asked, choice.what_if, _columns(hidden))]
    _check_labels(planned)
    return planned


def with_changes(study: Study, changes: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Study:
    """Return a study that also tries some changes of the quasi-identifiers, and is the same in all else.

    A change is added to each metric that knows all columns which it changes and does not try it yet; limits, bins and
    other options stay.

    Args:
        study: The study.
        changes: As in ``what_if``: ``{"drop": ["race"]}``, ``{"bins": {"age": 5}}``.
        columns: Columns of its table, the identifier left out.

    Raises:
        InputError: No metric of the study knows the columns of a change.
    """
    asked = [checked(WhatIf, change, "what_if") for change in changes]
    metrics: list[MetricChoice] = []
    used: set[int] = set()
    for choice in study.metrics:
        planned = plan([choice], columns, study.data.quasi_identifiers, study.data.sensitive)
        own_known = [set(p.options.get("quasi_identifiers", ())) for p in planned if not p.measure.variant_of]
        known = set.intersection(*own_known)
        hidden = (
            {*_columns(choice.sensitive or study.data.sensitive)} if "sensitive" in METRICS[choice.name].needs else ()
        )
        fits = [{*each.drop, *each.bins} <= known and {*each.noise} <= known.union(hidden) for each in asked]
        own = [(n, each) for n, each in enumerate(asked) if fits[n] and (len(known) > 1 or not each.drop)]
        used |= {n for n, _ in own}
        new = [each for _, each in own if each not in choice.what_if]
        metrics.append(choice.model_copy(update={"what_if": [*choice.what_if, *new]}))
    for n, each in enumerate(asked):
        if n not in used:
            names = [*each.drop, *each.bins, *each.noise]
            what = "knows or guesses" if each.noise else "knows"
            raise InputError(f"a column to try must be one that a metric of the study {what}, got {', '.join(names)}")
    return study.model_copy(update={"metrics": metrics})


def _columns(targets: Sequence[Target]) -> list[str]:
    return [column for target in targets for column in columns_of(target)]


def _check_targets(label: str, metric: Metric, targets: Sequence[Target], columns: Sequence[str]) -> None:
    """Refuse several columns at once where a metric guesses one, or where a column is called as they are together."""
    for several in (columns_of(target) for target in targets if len(columns_of(target)) > 1):
        if not metric.jointly:
            raise InputError(
                f"sensitive of metric {label} must be one column at a time, got {several} at once; give the metric its "
                f"own, such as sensitive: [{several[0]}]"
            )
        if name_of(several) in columns:
            raise InputError(f"no column may be called as those guessed at once, got {name_of(several)!r}; rename it")


def _variants(planned: Planned, what_if: Sequence[WhatIf], guessed: Sequence[str]) -> list[Planned]:
    """Return the measure after each change; noise on a column that another measure guesses is that measure's alone."""
    found, measure, hidden = [], planned.measure, planned.options.get("sensitive", ())
    own = {*planned.options.get("quasi_identifiers", ()), *([hidden] if isinstance(hidden, str) else hidden)}
    for asked in what_if:
        noise = {column: share for column, share in asked.noise.items() if column in own or column not in guessed}
        if asked.noise and not (noise or asked.drop or asked.bins or asked.merge):
            continue
        change = Change(**dict(asked) | {"noise": noise})
        together = tuple(f"{label}-{change.name}" for label in measure.together)
        label = f"{measure.label}-{change.name}"
        named = replace(measure, label=label, variant_of=measure.label, together=together)
        found.append(Planned(named, change.options(planned.options)))
    return found


def _check_labels(planned: Sequence[Planned]) -> None:
    keys = [p.measure.key for p in planned]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise InputError(f"metrics and what_if must have distinct names, got {twice[0]!r} twice")


def _check_roles(metrics: Sequence[MetricChoice], columns: Sequence[str]) -> None:
    """Refuse roles of single metrics that name no column of the table."""
    for choice in metrics:
        known = choice.quasi_identifiers if isinstance(choice.quasi_identifiers, list) else []
        named = {option: choice.options[option] for option in _COLUMNS if choice.options.get(option) is not None}
        own = [(option, columns_of(given)) for option, given in named.items()]
        for role, names in (("quasi_identifiers", known), ("sensitive", _columns(choice.sensitive or [])), *own):
            for name in names:
                if name not in columns:
                    hint = nearest(name, columns)
                    raise InputError(
                        f"{role} of metric {choice.label} must be columns of the table, got {name!r}{hint}"
                    )


def foreseen_of(study: Study, table: pd.DataFrame) -> Foreseen:
    """Return why a study of a table would be refused, and what it would say little about; nothing is computed or kept.

    Args:
        study: The study; its source is not read.
        table: The table as ``tasks.data.typed`` returns it, with its identifier if the study names one.

    Raises:
        InputError: A metric names a column that is not there.
    """
    name, data = study.data.identifier, study.data
    records, identifier = (table, None) if name is None else (table.drop(columns=name), table[name])
    planned = plan(study.metrics, list(records.columns), data.quasi_identifiers, data.sensitive)
    entities = None if identifier is None else entity_numbers(identifier)
    try:
        parts = split_table(records, study.split, identifier, study.seed)[0]
    except InputError as too_small:
        found = foresee(records, planned, entities=entities)
        return Foreseen((str(too_small), *found.refusals), found.warnings)
    return foresee(records, planned, np.bincount(parts[parts >= 0]).tolist(), entities)
