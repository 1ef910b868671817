"""What a study measures, spelled out: one planned measure a metric, sensitive attribute and option ``attacker``."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from synthrisk.conf.study import ALL_OTHERS, Study, WhatIf
from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.errors import nearest
from synthrisk.metrics.exposure.what_if import Change
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.planned import Planned

_COLUMNS = ("columns", "columns_a", "columns_b")  # options that name columns of the table


def plan(study: Study, columns: Sequence[str]) -> list[Planned]:
    """Return the measures of a study on a table with these columns (the identifier left out)."""
    planned = []
    _check_roles(study, columns)
    for choice in study.metrics:
        metric = METRICS[choice.name]
        own = choice.options.get("attacker", metric.default("attacker")) if "attacker" in metric.options else None
        attackers: Sequence[str | None] = choice.attackers or [own]
        hidden: Sequence[str | None] = (
            (choice.sensitive or study.data.sensitive) if "sensitive" in metric.needs else [None]
        )
        known = choice.quasi_identifiers or study.data.quasi_identifiers
        for attacker, label in zip(attackers, choice.labels, strict=True):
            for sensitive in hidden:
                options = dict(choice.options) | ({"attacker": attacker} if attacker else {})
                if sensitive is not None:
                    options["sensitive"] = sensitive
                if "quasi_identifiers" in metric.needs:
                    guessed = study.data.sensitive if sensitive is None and known == ALL_OTHERS else [sensitive]
                    options["quasi_identifiers"] = _known(known, guessed, columns)
                asked = Planned(Measure(label, choice.name, sensitive, attacker), options)
                planned += [asked, *_variants(asked, choice.what_if)]
    _check_labels(planned)
    return planned


def _variants(planned: Planned, what_if: Sequence[WhatIf]) -> list[Planned]:
    changes = [Change(tuple(w.drop), w.bins, w.binning, w.noise, w.merge) for w in what_if]
    measure = planned.measure
    return [
        Planned(
            replace(measure, label=f"{measure.label}-{c.name}", variant_of=measure.label), c.options(planned.options)
        )
        for c in changes
    ]


def _check_labels(planned: Sequence[Planned]) -> None:
    keys = [p.measure.key for p in planned]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise InputError(f"metrics and what_if must have distinct names, got {twice[0]!r} twice")


def _check_roles(study: Study, columns: Sequence[str]) -> None:
    """Refuse roles of single metrics that name no column of the table."""
    for choice in study.metrics:
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


def _known(known: Sequence[str] | str, guessed: Sequence[str | None], columns: Sequence[str]) -> list[str]:
    return [c for c in (columns if known == ALL_OTHERS else known) if c not in guessed]
