"""Names of metrics and tags in MLflow."""

import re
from collections.abc import Collection

from synthrisk.metrics.study.quantities import limited
from synthrisk.metrics.study.verdicts import Verdict
from synthrisk.tasks.workspace.store import key_of

VERDICT = "verdict."
"""What the tags of verdicts on one measure start with."""


def metric_key(quantity: str, measure: str) -> str:
    """Return an MLflow metric key: ``quantity/measure``.

    Characters that MLflow does not take become underscores, with some digits of a digest behind them, so that
    two measures never share a key.

    Example:
        >>> metric_key("risk", "rapid.income"), metric_key("risk", "rapid.größe")
        ('risk/rapid.income', 'risk/rapid.gr__e-821c')
    """
    plain = re.sub(r"[^A-Za-z0-9_\-. ]", "_", measure)
    return f"{quantity}/{plain}" if plain == measure else f"{quantity}/{plain}-{key_of(measure)[:4]}"


def verdict_tag(verdict: Verdict, keys: Collection[str]) -> str:
    """Return the tag that holds a verdict; ``keys`` are the keys of the study's measures."""
    what = limited(verdict.quantity, keys)
    return VERDICT + metric_key("_".join(filter(None, (what.quantity, what.group))), what.key)
