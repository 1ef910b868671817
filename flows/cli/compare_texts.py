"""What studies have said, for programs and documents: CSV, JSON, Markdown."""

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from synthrisk.flows.cli.compare import Asked
from synthrisk.flows.cli.league_lines import interval, league_cells, number
from synthrisk.flows.cli.past_rows import (
    Standing,
    estimate,
    known_measures,
    measure_rows,
    on_limits,
    standings,
    text,
    utility_rows,
)
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.study.league import BRIEF
from synthrisk.tasks.tracking.markdown import literal, table
from synthrisk.tasks.tracking.past import PastStudy
from synthrisk.tasks.tracking.trend import Step, trend


def print_text(asked: Asked, shown: Sequence[PastStudy], measures: Sequence[str]) -> None:
    """Print what was asked, in the form that was asked."""
    if asked.form == "json":
        print(json.dumps(as_json(asked, shown, measures), indent=2, ensure_ascii=False, allow_nan=False))
    elif asked.form == "csv":
        # the lines of CSV end as the terminal's do
        as_table(asked, shown, measures).to_csv(sys.stdout, index=False)
    else:
        print("\n".join(as_markdown(asked, shown, measures)))


def as_json(asked: Asked, shown: Sequence[PastStudy], measures: Sequence[str]) -> dict[str, Any]:
    """Return all tables of the studies as plain values, and with ``history`` the trend; what is not defined is null."""
    told = [
        {
            "study_id": study.study_id,
            "start": study.start.isoformat(),
            "facts": {name: value for name, value in study.tags.items() if name not in ("study_id", "role", "verdict")},
            "generators": _plain(study.generators.to_dict("records")),
            "measures": _plain(_only(study.league, measures).to_dict("records")),
            "verdicts": _plain([vars(each) for each in on_limits(study, measures)]),
            "utility": _plain(_only(study.utility, measures).to_dict("records")),
        }
        for study in shown
    ]
    both: dict[str, Any] = {"experiment": asked.experiment, "studies": told}
    if asked.history:
        both["trend"] = _plain(trend_rows(trend(shown, _risks(shown, measures))))
    return both


def as_table(asked: Asked, shown: Sequence[PastStudy], measures: Sequence[str]) -> pd.DataFrame:
    """Return one table: the headline; with ``every`` or ``measure`` a row a generator and measure; else the trend."""
    if asked.history:
        return pd.DataFrame(trend_rows(trend(shown, _risks(shown, measures))))
    if asked.every or asked.measure is not None:
        parts = [_dated(study, _only(each, measures)) for study in shown for each in (study.league, study.utility)]
        known = [part for part in parts if len(part)]
        return pd.concat(known, ignore_index=True) if known else pd.DataFrame()
    return pd.concat([_dated(study, study.generators) for study in shown], ignore_index=True)


def as_markdown(asked: Asked, shown: Sequence[PastStudy], measures: Sequence[str]) -> list[str]:
    """Return the lines of a document whose tables are those of the terminal."""
    study = shown[-1]
    lines = [f"# {literal(asked.experiment)}", ""]
    if asked.history:
        return lines + _trend_lines(trend(shown, _risks(shown, measures)))
    lines += [f"Study of {study.start:%Y-%m-%d %H:%M} UTC, {literal(study.study_id)}.", ""]
    if study.tags.get("invalid"):
        lines += [f"**INVALID**: {literal(study.tags['invalid'])}", ""]
    if not on_limits(study):
        lines += ["No limits: no verdict. Nothing was judged.", ""]
    if asked.measure is None:
        heads = ("synthesizer", "verdict", "what decides", "in", "utility")
        lines += [*table(heads, [_headline(row) for row in standings(study)]), ""]
    for measure in measures if asked.every or asked.measure is not None else ():
        lines += _measure_lines(study, measure)
    return lines


def trend_rows(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """Return the trend, a row a step: memorization with its interval, and its change since the study before."""
    rows = []
    for step in steps:
        change = step.change
        found = change.difference if change else Estimate(math.nan, math.nan, math.nan)
        rows.append(
            {"measure": step.measure, "synthesizer": step.synthesizer, "study_id": step.study.study_id}
            | {"start": step.study.start.isoformat(), "verdict": step.verdict}
            | _limits("memorization", step.found)
            | _limits("change", found)
            | {"paired": change.paired if change else None, "flag": change.word if change else ""}
            | {"why_not_paired": change.why if change else ""}
        )
    return rows


def _limits(name: str, found: Estimate) -> dict[str, float]:
    return {name: found.value, f"{name}_lower": found.lower, f"{name}_upper": found.upper}


def _risks(shown: Sequence[PastStudy], measures: Sequence[str]) -> list[str]:
    known = {key for study in shown for key in known_measures(study)}
    return [measure for measure in measures if measure in known]


def _only(rows: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    return rows[rows["measure"].isin(measures)] if len(rows) else rows


def _dated(study: PastStudy, rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(study_id=study.study_id, start=study.start.isoformat()) if len(rows) else rows


def _headline(row: Standing) -> list[str]:
    word = row.word or ("reference" if row.role == "reference" else "not judged")
    cells = [interval(row.worst, signed=True).plain, literal(row.measure), number(row.utility.value)]
    return [literal(row.synthesizer), word, *cells]


def _measure_lines(study: PastStudy, measure: str) -> list[str]:
    lines = [f"## {literal(measure)}", ""]
    if rows := measure_rows(study, measure):
        cells = [[literal(row.synthesizer), *(cell.plain for cell in league_cells(row))] for row in rows]
        lines += [*table(("synthesizer", *(column.name for column in BRIEF), "verdict"), cells), ""]
        told = [each for each in on_limits(study, [measure]) if each.quantity != f"memorization/{measure}"]
        lines += [
            f"* {literal(each.synthesizer)}, {literal(each.quantity)}, limit {each.limit:g}: "
            f"{interval(each.found).plain} {each.word}"
            for each in told
        ]
        lines += [""] if told else []
    if useful := utility_rows(study, measure):
        heads = ("utility", "utility_ceiling")
        cells = [
            [literal(str(row["synthesizer"])), *(interval(estimate(row, name)).plain for name in heads)]
            for row in useful
        ]
        lines += [*table(("synthesizer", "utility", "ceiling"), cells), ""]
    return lines


def _trend_lines(steps: Iterable[Step]) -> list[str]:
    rows = [
        [literal(step.measure), literal(step.synthesizer), f"{step.study.start:%Y-%m-%d %H:%M}", text(step.verdict)]
        + [interval(step.found, signed=True).plain]
        + (["", "", ""] if step.change is None else [interval(step.change.difference, signed=True).plain])
        + (
            []
            if step.change is None
            else [step.change.word, "paired" if step.change.paired else literal(step.change.why)]
        )
        for step in steps
    ]
    return table(("measure", "synthesizer", "study", "verdict", "memorization", "change", "flag", "how"), rows)


def _plain(rows: Sequence[Mapping[Any, Any]]) -> list[dict[str, Any]]:
    return [{str(name): _value(cell) for name, cell in row.items()} for row in rows]


def _value(cell: Any) -> Any:
    if isinstance(cell, Estimate):
        return {"value": _value(cell.value), "lower": _value(cell.lower), "upper": _value(cell.upper)}
    if isinstance(cell, float):
        return float(cell) if math.isfinite(cell) else None
    return cell.item() if hasattr(cell, "item") else cell
