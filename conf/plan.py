"""What a study measures, spelled out: one planned measure a metric, sensitive attribute and attacker."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from synthrisk.conf.study import ALL_OTHERS, Study
from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.attackers import DEFAULT_ATTACKER
from synthrisk.metrics.errors import nearest
from synthrisk.metrics.ledger import Measure


@dataclass(frozen=True)
class Planned:
    """A measure and the options its metric is called with."""

    measure: Measure
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, str, str]:
        """What its seed is drawn from: name, attacker, attribute; a second attacker moves no number of the first."""
        attacker = self.measure.attacker or ""
        return self.measure.label.removesuffix(f"-{attacker}"), attacker, self.measure.sensitive or ""


def plan(study: Study, columns: Sequence[str]) -> list[Planned]:
    """Return the measures of a study on a table with these columns (the identifier left out)."""
    planned = []
    _check_roles(study, columns)
    for choice in study.metrics:
        metric = METRICS[choice.name]
        own = choice.options.get("attacker", DEFAULT_ATTACKER) if "attacker" in metric.options else None
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
                    options["quasi_identifiers"] = _known(known, sensitive, columns)
                planned.append(Planned(Measure(label, choice.name, sensitive, attacker), options))
    return planned


def _check_roles(study: Study, columns: Sequence[str]) -> None:
    """Refuse roles of single metrics that name no column of the table."""
    for choice in study.metrics:
        known = choice.quasi_identifiers if isinstance(choice.quasi_identifiers, list) else []
        for role, names in (("quasi_identifiers", known), ("sensitive", choice.sensitive or [])):
            for name in names:
                if name not in columns:
                    hint = nearest(name, columns)
                    raise InputError(
                        f"{role} of metric {choice.label} must be columns of the table, got {name!r}{hint}"
                    )


def _known(known: Sequence[str] | str, sensitive: str, columns: Sequence[str]) -> list[str]:
    return [c for c in (columns if known == ALL_OTHERS else known) if c != sensitive]
