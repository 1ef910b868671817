"""All numbers: the table measure by measure, and all that the measures say besides."""

from collections.abc import Mapping
from typing import Any

from synthrisk.metrics.study.league import COLUMNS, league
from synthrisk.metrics.study.result_tables import copy_share, details_table
from synthrisk.tasks.pages.beside import beside, cause
from synthrisk.tasks.pages.section import Section, Shown

_MOST = 600  # rows of the table of details


def _context(shown: Shown) -> Mapping[str, Any] | None:
    result = shown.result
    if not shown.measures:
        return None
    return {
        "columns": COLUMNS,
        "league": league(result),
        "empty": result.empty,
        "beside": beside,
        "cause": cause,
        "most": _MOST,
        "copy_share": lambda f: copy_share(result, f),
        "details": details_table(result).to_dict("records"),
    }


NUMBERS = Section("numbers", "All numbers", "numbers.html", _context)
