"""A measure of a study with the options that its metric is called with."""

import json
from dataclasses import dataclass, field
from typing import Any

from synthrisk.metrics.study.ledger import Measure


@dataclass(frozen=True)
class Planned:
    """A measure and the options its metric is called with."""

    measure: Measure
    options: dict[str, Any] = field(default_factory=dict)

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
