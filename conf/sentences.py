"""What is wrong with settings, in words that name the setting, the rule and what was got."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from synthrisk.metrics.errors import nearest

RENAMED = {"controls": "references", "model_yardstick": "population_yardstick"}
"""Settings of earlier studies, and what each is called now."""

_BRANCH = re.compile(r"<|function-|constrained-|(dict|list)\[")  # what pydantic calls the parts of a union
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
    "literal_error": "must be {expected}",
    "string_pattern_mismatch": "must be letters, digits, - and _",
}
"""Rules by pydantic's type of the error, or by its first word."""


def sentences(error: ValidationError, known: Iterable[str]) -> list[str]:
    """Return a sentence for each setting that breaks a rule; ``known`` are the names of all settings."""
    lines = []
    for problem in error.errors(include_url=False, include_input=True):
        where = ".".join(str(p) for p in problem["loc"] if not _BRANCH.match(str(p))) or "study"
        new = RENAMED.get(where) if problem["type"] == "extra_forbidden" else None
        lines.append(f"{where} is called {new} now" if new else f"{where}: {_sentence(problem, known)}")
    return lines


def _sentence(problem: Mapping[str, Any], known: Iterable[str]) -> str:
    kind = str(problem["type"])
    if kind == "extra_forbidden":
        return f"no such setting{nearest(str(problem['loc'][-1]), known)}"
    if kind == "missing":
        return "must be given"
    if kind == "value_error":
        return str(problem["msg"]).removeprefix("Value error, ")
    rule = _RULES.get(kind) or _RULES.get(kind.partition("_")[0])
    rule = str(problem["msg"]) if rule is None else rule.format(**problem.get("ctx", {}))
    got = problem.get("input")
    shown = repr(got) if got is None or isinstance(got, str | int | float | bool) else type(got).__name__
    return f"{rule}, got {shown}"
