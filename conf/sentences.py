"""What is wrong with settings, in words that name the setting, the rule and what was got."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from synthrisk.metrics.errors import nearest

RENAMED = {"controls": "references", "model_yardstick": "population_yardstick"}
"""Settings of earlier studies, and what each is called now."""

_BRANCH = re.compile(r"<|function-|constrained-|(dict|list|literal)\[")  # what pydantic calls the parts of a union
_RULES = {
    "int": "must be a whole number",
    "float": "must be a number",
    "bool": "must be true or false",
    "string": "must be a text",
    "list": "must be a list",
    "dict": "must be a mapping",
    "model": "must be a mapping of settings",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be above {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be below {lt}",
    "finite_number": "must be a finite number",
    "too_short": "must hold at least {min_length} entry",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} letters",
    "literal_error": "must be {expected}",
    "string_pattern_mismatch": "must be letters, digits, - and _",
}
"""Rules by pydantic's type of the error, or by its first word."""


def sentences(error: ValidationError, known: Iterable[str]) -> list[str]:
    """Return a sentence for each setting that breaks a rule; ``known`` are the names of all settings."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for problem in error.errors(include_url=False, include_input=True):
        where = ".".join(str(p) for p in problem["loc"] if not _BRANCH.match(str(p))) or "study"
        found.setdefault(where, []).append(problem)
    return [_line(where, problems, known) for where, problems in found.items()]


def _line(where: str, problems: Sequence[Mapping[str, Any]], known: Iterable[str]) -> str:
    """Return what is wrong with one setting: of one that takes several forms, the rule of each."""
    if where in RENAMED and problems[0]["type"] == "extra_forbidden":
        return f"{where} is called {RENAMED[where]} now"
    if own := next((p for p in problems if p["type"] == "value_error"), None):
        return f"{where}: " + str(own["msg"]).removeprefix("Value error, ")
    rules = [rule for rule in (_rule(problem) for problem in problems) if rule]
    if rules:
        got = problems[0].get("input")
        shown = repr(got) if got is None or isinstance(got, str | int | float | bool) else type(got).__name__
        rules[1:] = [rule.removeprefix("must be ") for rule in rules[1:]]
        return f"{where}: {' or '.join(rules)}, got {shown}"
    problem = problems[0]
    if problem["type"] == "extra_forbidden":
        return f"{where}: no such setting{nearest(str(problem['loc'][-1]), known)}"
    return f"{where}: must be given"


def _rule(problem: Mapping[str, Any]) -> str:
    """Return the rule that a value breaks; nothing where the sentence is not about a value."""
    kind = str(problem["type"])
    if kind in ("extra_forbidden", "missing"):
        return ""
    rule = _RULES.get(kind) or _RULES.get(kind.partition("_")[0])
    if rule is None:
        return str(problem["msg"])
    ends = {name: f"{end:g}" if isinstance(end, float) else end for name, end in problem.get("ctx", {}).items()}
    return rule.format(**ends)
