"""The results of a study as plain values, for files and other programs."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from synthrisk.flows.cli.ends import UsageError
from synthrisk.metrics.release.summary import releases_table
from synthrisk.metrics.study.result_tables import TABLES, league_table
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.utility import utility_table
from synthrisk.tasks.workspace.store import check_writable, replace_file

_KEYS = {"comparison": "comparisons"}  # of tables that JSON calls otherwise


def as_json(result: StudyResult) -> dict[str, Any]:
    """Return all numbers and verdicts as plain values; what is not defined is null."""
    return {
        "study_id": result.study_id,
        "exit_code": result.exit_code,
        "valid": result.valid,
        "warning": result.warning or None,
        "warnings": list(result.warnings),
        "says_nothing": result.empty,
        "releases": _rows(releases_table(result.releases)),
        "findings": _rows(league_table(result)),
        "utility": _rows(utility_table(result.utility)),
        "verdicts": [{name: _plain(value) for name, value in vars(v).items()} for v in result.verdicts],
        "checks": [vars(c) for c in result.checks],
        "invalid": result.invalid or None,
        **{_KEYS.get(name, name): _rows(table_of(result)) for name, table_of in TABLES.items()},
        "failures": dict(result.failures),
        "facts": dict(result.facts),
    }


def check_file(json_to: Path | None, read: Sequence[str]) -> None:
    """Refuse a file of ``--json`` that cannot be written, or is one of those that are ``read``.

    Raises:
        InputError: So it is.
    """
    if json_to is None:
        return
    check_writable("--json", json_to, folder=False)
    if json_to.resolve() in [Path(each).resolve() for each in read]:
        raise UsageError(f"--json must be a file of its own, got {str(json_to)!r}, which the command reads")


def write_json(json_to: Path | None, result: StudyResult, told: Mapping[str, Any] | None = None) -> None:
    """Write the results of a study as JSON where a file is given, or in their place what is ``told`` of them."""
    if json_to is not None:
        replace_file(json_to, json.dumps(as_json(result) if told is None else told, indent=2) + "\n")


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(k): _plain(v) for k, v in row.items()} for row in table.to_dict("records")]


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
