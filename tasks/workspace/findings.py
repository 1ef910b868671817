"""The findings of one generator, in a private file of the workspace: what they are made of is slow to read again."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from synthrisk.metrics import METRICS
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.utility import Usefulness
from synthrisk.tasks.workspace.store import replace_file

_OWN = "of its metric"  # stands for the function from a mean to the value, which is the metric's own


class Findings(NamedTuple):
    """What a study says of one generator."""

    risks: tuple[Finding, ...]
    utility: tuple[Usefulness, ...]


def keep_findings(path: Path, found: Findings) -> None:
    """Write findings; numbers are read again to the bit."""
    risks, utility = (_kind().dump_python(found)[place] for place in (0, 1))
    replace_file(path, json.dumps([risks, utility], default=_in_text))


def kept_findings(path: Path) -> Findings:
    """Return the findings that were kept."""
    risks, utility = json.loads(path.read_text("utf-8"))
    for each in risks:
        _give_back(each, METRICS[each["measure"]["metric"]].transform)
    return Findings(*_kind().validate_python((risks, utility)))


@cache
def _kind() -> TypeAdapter[tuple[tuple[Finding, ...], tuple[Usefulness, ...]]]:
    return TypeAdapter(tuple[tuple[Finding, ...], tuple[Usefulness, ...]])


def _in_text(value: object) -> Any:
    """Return what JSON holds in place of a number of numpy's, or of a metric's function."""
    return _OWN if callable(value) else value.item()  # type: ignore[attr-defined]  # nothing else is in findings


def _give_back(node: object, transform: Callable[[float], float] | None) -> None:
    """Put the metric's function where it was, in place."""
    if isinstance(node, dict):
        if node.get("transform") == _OWN:
            node["transform"] = transform
        for each in node.values():
            _give_back(each, transform)
    elif isinstance(node, Sequence) and not isinstance(node, str):
        for each in node:
            _give_back(each, transform)
