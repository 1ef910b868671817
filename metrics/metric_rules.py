"""The rules that the facts of a metric keep: a metric that breaks one is refused when it is made."""

import inspect
import math
from typing import TYPE_CHECKING, Any

from synthrisk.metrics.errors import InputError

if TYPE_CHECKING:
    from synthrisk.metrics.metric import Metric

ROLES = ("quasi_identifiers", "sensitive", "control", "identifier")
"""Arguments that mean the same for all metrics that take them, and that a study gives."""
_SCORES = ("real", "synthetic")
_LABELS = ("signal", "sanity", "utility")


def check_rules(metric: "Metric") -> None:
    """Refuse facts that contradict each other, or that a study could not use.

    Raises:
        InputError: One sentence with the metric's name, the field, the rule and the value got.
    """
    if not isinstance(metric.name, str) or not metric.name.isidentifier():
        raise InputError(f"name of a metric must be letters, digits and underscores, got {metric.name!r}")
    for field, rule, kept, got in _facts(metric):
        if not kept:
            raise InputError(f"metric {metric.name}: {field} must {rule}, got {got!r}")


def _facts(m: "Metric") -> list[tuple[str, str, bool, Any]]:
    """Return field, rule, whether it is kept, and the value, for each rule."""
    takes = _parameters(m.function)
    low, high = _pair(m.range)
    by_release = m.scores == "synthetic" or not m.per_record
    plain = m.weight is None and m.contribution == "score" and m.transform is None
    unknown = [n for n in m.needs if n not in takes and n not in ROLES]
    named = isinstance(m.unaveraged, tuple) and all(isinstance(n, str) and n != m.guess for n in m.unaveraged)
    settled = m.isolated is not None or m.label == "utility"
    return [
        ("function", "be a function whose first parameter is called tables", takes[:1] == ["tables"], takes[:1]),
        ("needs", "name roles or parameters of the function", not unknown, unknown),
        ("range", "be two numbers, the lower first", low < high, m.range),
        ("scores", f"be {' or '.join(_SCORES)}", m.scores in _SCORES, m.scores),
        ("label", f"be one of {', '.join(_LABELS)}", m.label in _LABELS, m.label),
        ("mean", "be False where weight, transform or contribution makes the value", plain or not m.mean, m.mean),
        ("transform", "be None where weight makes the value", m.weight is None or m.transform is None, m.transform),
        ("gains", "be False where no real records are scored", not (m.gains and by_release), m.gains),
        ("unaveraged", "be a tuple of names of details, the guess not among them", named, m.unaveraged),
        ("ranking", "be None where no real records are scored", m.ranking is None or not by_release, m.ranking),
        ("reduce", "be given where real records are scored", m.reduce is not None or by_release, m.reduce),
        ("against", "be given where no real records are scored", bool(m.against or settled) or not by_release, None),
        ("population", "be False where control is needed", not (m.population and "control" in m.needs), m.population),
        ("without_control", "be False where no control is needed", "control" in m.needs or not m.without_control, True),
        ("copied", "be None or lie in range", m.copied is None or low <= m.copied <= high, m.copied),
    ]


def _parameters(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def _pair(given: Any) -> tuple[float, float]:
    """Return the ends of a range; NaN where it is none, so that no comparison holds."""
    try:
        low, high = map(float, given)
    except (TypeError, ValueError):
        return math.nan, math.nan
    return low, high
