"""Lines of YAML, and words of a command, that a reader can take over into a study."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.planned import label_of

Change = Mapping[str, Any]
"""A change of the quasi-identifiers as in ``what_if``."""


def lines(value: Any) -> str:
    """Return settings as YAML, mappings of settings on a line each.

    Example:
        >>> print(lines({"metrics": [{"name": "rapid", "what_if": [{"drop": ["age"]}]}]}))
        metrics:
        - {name: rapid, what_if: [{drop: [age]}]}
    """
    if isinstance(value, Mapping):
        parts = []
        for key, each in value.items():
            rows = [f"- {_flow(row)}" for row in each] if isinstance(each, list | tuple) else []
            listed = bool(rows) and all(isinstance(row, Mapping) for row in each)
            parts.append(f"{_flow(key)}:\n" + "\n".join(rows) if listed else f"{_flow(key)}: {_flow(each)}")
        return "\n".join(parts)
    return _flow(value)


def _flow(value: Any) -> str:
    told = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**9)
    return told.removesuffix("\n").removesuffix("\n...")


def what_if_lines(settings: str, measure: Measure, changes: Sequence[Change]) -> str:
    """Return the lines that add what-ifs to the metric of a measure, as it stands in the settings of a study."""
    entry = _entry(settings, measure)
    return lines({"metrics": [entry | {"what_if": [dict(change) for change in changes]}]})


def _entry(settings: str, measure: Measure) -> dict[str, Any]:
    """Return the metric of a measure as the study names it, without what is empty."""
    for each in _metrics(settings):
        own = {"name": each} if isinstance(each, str) else dict(each)
        label = own.get("label") or own.get("name")
        attackers = own.get("attackers") or []
        envelope = own.get("envelope") or []
        labels = [label_of(str(label), str(a)) for a in attackers] if len(attackers) > 1 else [label]
        for each in [envelope] if isinstance(envelope, str) else envelope:
            labels.append(label_of(str(label), envelope=each))
        if measure.label in labels:
            kept = {k: v for k, v in own.items() if v not in (None, "", [], {}) and k != "what_if"}
            return {k: v for k, v in kept.items() if k != "label" or v != kept.get("name")}
    named = {} if measure.label == measure.metric else {"label": measure.label}
    return {"name": measure.metric} | named


def _metrics(settings: str) -> Sequence[Any]:
    found = setting(settings, "metrics")
    return found if isinstance(found, list) else []


def setting(settings: str, name: str) -> Any:
    """Return one of the settings of a study; None where it has none of this name, or they are no YAML."""
    try:
        read = yaml.safe_load(settings)
    except yaml.YAMLError:
        return None
    return read.get(name) if isinstance(read, Mapping) else None


def is_of_one_release(settings: str) -> bool:
    """Tell whether a study is of one release that was made elsewhere, by ``synthrisk evaluate``."""
    return setting(settings, "synthetic") is not None


def evaluate_words(changes: Sequence[Change]) -> str:
    """Return the options of ``synthrisk evaluate`` that preview some changes.

    Example:
        >>> evaluate_words([{"bins": {"age": 5}}, {"drop": ["home town"]}])
        "--coarsen age=5 --without 'home town'"
    """
    words = []
    for change in changes:
        words += [f"--coarsen {shlex.quote(f'{column}={parts}')}" for column, parts in change.get("bins", {}).items()]
        words += [f"--without {shlex.quote(column)}" for column in change.get("drop", ())]
    return " ".join(words)
