"""A measure of a study with the options that its metric is called with."""

import json
from dataclasses import dataclass, field
from typing import Any

from synthrisk.metrics.study.ledger import Measure

TOGETHER = {"max": "max", "mean": "mean", "record": "envelope"}
"""What is added to a label where several attacker models make one measure: ``rapid_max``, ``rapid_mean`` ..."""


def label_of(label: str, attacker: str = "", envelope: str = "") -> str:
    """Return the label of a measure: of one attacker model of several, or of the envelope of all of them.

    Example:
        >>> label_of("rapid", "cart"), label_of("rapid", envelope="max")
        ('rapid-cart', 'rapid_max')
    """
    return f"{label}_{TOGETHER[envelope]}" if envelope else f"{label}-{attacker}"


@dataclass(frozen=True)
class Planned:
    """A measure and the options its metric is called with."""

    measure: Measure
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def apart(self) -> "list[Planned]":
        """The measures of its attacker models, where it is of several together (option ``envelope``); else none."""
        if "envelope" not in self.options:
            return []
        label = self.measure.variant_of or self.measure.label
        base = label.removesuffix(label_of("", envelope=self.options["envelope"]))
        others = {k: v for k, v in self.options.items() if k not in ("attacker", "envelope")}
        return [
            Planned(
                Measure(label_of(base, a), self.measure.metric, self.measure.sensitive, a), others | {"attacker": a}
            )
            for a in self.options["attacker"]
        ]

    @property
    def words(self) -> tuple[str, str, str]:
        """What its seed is drawn from: name, attacker, attribute; a second attacker moves no number of the first.

        A what-if draws as the measure that it varies, so that the two differ in nothing else.
        """
        attacker = self.measure.attacker or ""
        label = self.measure.variant_of or self.measure.label
        return label.removesuffix(f"-{attacker}"), attacker, self.measure.sensitive or ""

    @property
    def family(self) -> tuple[str, str]:
        """What the measures of other ``attackers`` share with it: metric, and all options but ``attacker``."""
        options = {k: v for k, v in self.options.items() if k != "attacker"}
        return self.measure.metric, json.dumps(options, sort_keys=True, default=str)
