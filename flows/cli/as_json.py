"""The results of a study as plain values, for files and other programs."""

import math
from typing import Any

import pandas as pd

from synthrisk.metrics.release.summary import releases_table
from synthrisk.metrics.study.result_tables import TABLES, league_table
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.utility import utility_table

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


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(k): _plain(v) for k, v in row.items()} for row in table.to_dict("records")]


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
