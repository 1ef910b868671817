"""The findings of one generator, in a private file of the workspace: what they are made of is slow to read again."""

from pathlib import Path
from typing import NamedTuple

from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.utility import Usefulness
from synthrisk.tasks.workspace.codec import as_json, from_text
from synthrisk.tasks.workspace.store import replace_file


class Findings(NamedTuple):
    """What a study says of one generator."""

    risks: tuple[Finding, ...]
    utility: tuple[Usefulness, ...]


def keep_findings(path: Path, found: Findings) -> None:
    """Write findings; numbers are read again to the bit."""
    replace_file(path, as_json(Findings, found))


def kept_findings(path: Path) -> Findings:
    """Return the findings that were kept."""
    return from_text(Findings, path.read_text("utf-8"))
