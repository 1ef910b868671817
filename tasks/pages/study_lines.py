"""Commands that a reader can run as they stand: each is the study of before, with more or other settings."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from synthrisk.conf.loader import shipped

Change = Mapping[str, Any]
"""A change of the quasi-identifiers as in ``what_if``."""


def _flow(value: Any) -> str:
    told = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**9)
    return told.removesuffix("\n").removesuffix("\n...")


def try_command(settings: str, changes: Sequence[Change]) -> str:
    """Return the command that tries some changes of the quasi-identifiers beside all that a study has."""
    words = evaluate_words(changes).replace("--without", "--drop")
    return f"synthrisk try {study_file(settings)} {words}"


def set_command(settings: str, changes: Mapping[str, Any]) -> str:
    """Return the command that runs a study with some settings replaced (``a.b``), or added to (``a.b+``).

    Example:
        >>> set_command("name: mine", {"metrics+": "membership", "split.repetitions": 6})
        'synthrisk benchmark study.yaml --set metrics+=membership --set split.repetitions=6'
    """
    words = [f"--set {shlex.quote(f'{name}={_flow(value)}')}" for name, value in changes.items()]
    return " ".join(["synthrisk benchmark", study_file(settings), *words])


def study_file(settings: str) -> str:
    """Return how a command calls a study: by its own name where it was shipped, else as a file."""
    name = setting(settings, "name")
    return str(name) if name in shipped() else "study.yaml"


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
