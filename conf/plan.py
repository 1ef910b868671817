"""What a study measures, spelled out: one planned measure a metric, sensitive attribute and option ``attacker``.

And one of several attacker models together where the study asks for their ``envelope``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from synthrisk.conf.load import checked
from synthrisk.conf.study import ALL_OTHERS, MetricChoice, WhatIf
from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.errors import nearest
from synthrisk.metrics.exposure.what_if import Change
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.planned import Planned

_COLUMNS = ("columns", "columns_a", "columns_b")  # options that name columns of the table


def plan(
    metrics: Sequence[str | Mapping[str, Any] | MetricChoice],
    columns: Sequence[str],
    quasi_identifiers: Sequence[str] | str,
    sensitive: Sequence[str],
) -> list[Planned]:
    """Return what some metrics measure on a table.

    Args:
        metrics: Names, or mappings and choices as in a study.
        columns: Columns of the table, the identifier left out.
        quasi_identifiers: What an attacker knows, where a metric does not say otherwise; ``"*"`` = all others.
        sensitive: What an attacker guesses, where a metric does not say otherwise.

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
        hidden: Sequence[str | None] = (choice.sensitive or sensitive) if "sensitive" in metric.needs else [None]
        known = choice.quasi_identifiers or quasi_identifiers
        for attacker, label, envelope in attackers:
            for guessed in hidden:
                options = dict(choice.options) | ({"attacker": attacker} if attacker else {})
                options |= {"envelope": envelope} if envelope else {}
                if guessed is not None:
                    options["sensitive"] = guessed
                if "quasi_identifiers" in metric.needs:
                    apart = sensitive if guessed is None and known == ALL_OTHERS else [guessed]
                    others = columns if known == ALL_OTHERS else known
                    options["quasi_identifiers"] = [c for c in others if c not in apart]
                if isinstance(options.get("bins"), Mapping):  # of all that are guessed, each measure uses its own
                    elsewhere = [c for c in hidden if c != guessed and c not in options.get("quasi_identifiers", ())]
                    options["bins"] = {c: n for c, n in options["bins"].items() if c not in elsewhere} or None
                called = ", ".join(attacker) if isinstance(attacker, list) else attacker
                together = tuple(choice.labels) if envelope else ()
                measure = Measure(label, choice.name, guessed, called, envelope=envelope, together=together)
                asked = Planned(measure, options)
                planned += [asked, *_variants(asked, choice.what_if)]
    _check_labels(planned)
    return planned


def _variants(planned: Planned, what_if: Sequence[WhatIf]) -> list[Planned]:
    found, measure = [], planned.measure
    for change in (Change(**dict(each)) for each in what_if):
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
        own = [(option, _names(choice.options[option])) for option in _COLUMNS if option in choice.options]
        for role, names in (("quasi_identifiers", known), ("sensitive", choice.sensitive or []), *own):
            for name in names:
                if name not in columns:
                    hint = nearest(name, columns)
                    raise InputError(
                        f"{role} of metric {choice.label} must be columns of the table, got {name!r}{hint}"
                    )


def _names(columns: Any) -> list[str]:
    return [columns] if isinstance(columns, str) else list(columns or [])
