"""A case of bad input, and short ways to write one."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import yaml

Content = bytes | str | pd.DataFrame | Callable[[pd.DataFrame], Any]
"""What a file holds: as it is, a table as CSV, or either made from the good table."""

STUDY: dict[str, Any] = {
    "name": "spine", "data": {"source": "people.csv", "quasi_identifiers": ["age", "city"], "sensitive": ["income"]},
    "split": {"folds": 2, "repetitions": 1}, "synthesizers": ["cart"], "references": [],
    "metrics": ["zero_cap", {"name": "rapid", "attackers": ["logistic"]}], "workspace": "work"
}  # fmt: skip
"""A study of ``people.csv`` with which nothing is wrong."""


@dataclass(frozen=True)
class Case:
    """One thing that is wrong."""

    name: str  # what is wrong, as the test is called
    arguments: tuple[str, ...]  # the command line
    told: str  # the telling part of the sentence
    files: Mapping[str, Content] = field(default_factory=dict)  # further files in the folder, by name
    code: int = 2


def study(name: str, told: str, /, files: Mapping[str, Content] | None = None, **parts: object) -> Case:
    """Return a study in which some settings are replaced: ``data__rows=1`` is one below ``data``."""
    settings = deepcopy(STUDY)
    for path, value in parts.items():
        *parents, last = path.split("__")
        here = settings
        for part in parents:
            here = here.setdefault(part, {})
        here[last] = value
    return text(name, yaml.safe_dump(settings, sort_keys=False, allow_unicode=True), told, **files or {})


def text(name: str, content: str | bytes, told: str, /, **files: Content) -> Case:
    """Return a study whose file holds this."""
    return Case(name, ("benchmark", "own.yaml"), told, {"own.yaml": content, **files})


def override(setting: str, told: str) -> Case:
    """Return a good study with a bad ``--set``."""
    return Case(f"--set {setting}", ("benchmark", "study.yaml", "--set", setting), told)


def table(name: str, content: Content, told: str, /, to: str = "own.csv", **parts: object) -> Case:
    """Return a study of a table that holds this."""
    return study(name, told, {to: content}, **{"data__source": to, **parts})


def release(name: str, content: Content, told: str, /, *more: str, to: str = "own.csv", **files: Content) -> Case:
    """Return an evaluation of a release that holds this."""
    return Case(name, (*EVALUATE, "--synthetic", to, *more), told, {to: content, **files})


def command(name: str, arguments: str, told: str, /, **files: Content) -> Case:
    """Return a command line, its arguments separated by blanks."""
    return Case(name, tuple(arguments.split()), told, {n.replace("__", "."): c for n, c in files.items()})


EVALUATE = ("evaluate", "--real", "people.csv", "--quasi-identifiers", "age,city", "--sensitive", "income",
            "--metric", "zero_cap", "--workspace", "work")  # fmt: skip
