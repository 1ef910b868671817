"""Names of metrics and tags in MLflow."""

import re
from collections.abc import Collection

from synthrisk.metrics.study.quantities import Limited, limited
from synthrisk.metrics.study.verdicts import Verdict
from synthrisk.tasks.workspace.store import key_of

VERDICT = "verdict."
"""What the tags of verdicts on one measure start with."""

ENDS = ("upper", "lower", "limit")
"""What stands behind the key of a limited quantity: the ends of its interval, and its limit, the most needed first."""

_LONGEST = 220  # characters of quantity and measure: MLflow takes 250, and some keys become longer


def metric_key(quantity: str, measure: str) -> str:
    """Return an MLflow metric key: ``quantity/measure``.

    Characters that MLflow does not take become underscores, and of long names the end is left out, with some digits of
    a digest behind them, so that two measures do not share a key.

    Example:
        >>> metric_key("risk", "rapid.income"), metric_key("risk", "rapid.größe")
        ('risk/rapid.income', 'risk/rapid.gr__e-821cbd15')
    """
    plain = re.sub(r"[^A-Za-z0-9_\-. ]", "_", measure)[: _LONGEST - len(quantity)]
    return f"{quantity}/{plain}" if plain == measure else f"{quantity}/{plain}-{key_of(measure)[:8]}"


def limited_key(what: Limited, end: str = "") -> str:
    """Return the MLflow metric key of a limited quantity, or of one of ``ENDS`` of it.

    Example:
        >>> limited_key(Limited("memorization", "zero_cap.income", "outliers"), "upper")
        'memorization_outliers/zero_cap.income/upper'
    """
    key = metric_key("_".join(filter(None, (what.quantity, what.group))), what.key)
    return f"{key}/{end}" if end else key


def verdict_tag(verdict: Verdict, keys: Collection[str]) -> str:
    """Return the tag that holds a verdict; ``keys`` are the keys of the study's measures."""
    return VERDICT + limited_key(limited(verdict.quantity, keys))
