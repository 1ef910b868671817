"""What may go back to whoever makes releases: the word, and shares rounded to whole people in 100.

Exact numbers of many releases are an oracle: who makes releases and sees them can change one record at a time and read
off whether it is a member (ReconSyn, Ganev and De Cristofaro 2023, arXiv:2312.05114). So this answer has no interval,
no count, nothing of equal rows, no line on what no limit judges, and no place of a report or of a file of records.
"""

import math
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from synthrisk.flows.cli.fitting import inert
from synthrisk.flows.cli.league_lines import COLOURS
from synthrisk.flows.outcome import word_of
from synthrisk.metrics.study.quantities import limited
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.verdicts import Verdict

EQUAL_ROWS = ("common_rows_proportion", "unique_exact_matches")
"""Metrics whose share is a count of equal rows: of a limit on one the word alone is told."""
_WHOLE = 100


def vendor_answer(result: StudyResult) -> dict[str, Any]:
    """Return the answer as plain values: the word, the exit code, and of each limit its word and share.

    ``people_in_100`` is the limited quantity of 100 people, a whole number; null where it is not defined, or counts
    equal rows.
    """
    metrics = {f.measure.key: f.measure.metric for f in result.findings}
    shown = result.verdicts if result.valid else ()
    return {"word": word_of(result), "exit_code": result.exit_code, "limits": [_limit(v, metrics) for v in shown]}


def print_vendor_answer(result: StudyResult) -> None:
    """Print the answer: a line for the whole, and one a limit."""
    console, answer = Console(highlight=False), vendor_answer(result)
    console.print(Text.assemble("Verdict  ", (answer["word"], COLOURS.get(answer["word"], "bold yellow"))))
    longest = max((len(each["quantity"]) for each in answer["limits"]), default=0)
    if answer["limits"]:
        console.print(
            Text(f"{'limit on':<{longest}}  {'at most':>8}  {'found':>8}  of 100 people", "dim"), soft_wrap=True
        )
    for each in answer["limits"]:
        found = "-" if each["people_in_100"] is None else str(each["people_in_100"])
        line = f"{inert(each['quantity']):<{longest}}  {each['limit']:>8g}  {found:>8}  "
        console.print(Text.assemble(line, (each["word"], COLOURS.get(each["word"], ""))), soft_wrap=True)


def _limit(verdict: Verdict, metrics: Mapping[str, str]) -> dict[str, Any]:
    """Return what is told of one limit, in people of 100; ``metrics`` are those of measures by their key."""
    key = limited(verdict.quantity, metrics).key
    told = math.isfinite(verdict.value) and metrics.get(key, key) not in EQUAL_ROWS
    return {
        "quantity": verdict.quantity,
        "word": str(verdict.word),
        "limit": round(_WHOLE * verdict.limit, 6),
        "people_in_100": round(_WHOLE * verdict.value) if told else None,
    }
