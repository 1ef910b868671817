"""What studies that were read back have said: rows for the terminal, and CSV, JSON and Markdown for others."""

import json
import math
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from synthrisk.flows.terminal.columns import OnLimit, interval, league_cells, limits_in_head, number
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.verdicts.quantities import is_signed, limited
from synthrisk.metrics.verdicts.results import BRIEF, LeagueRow
from synthrisk.tasks.tracking.history import PastStudy, Step, trend
from synthrisk.tasks.tracking.notes import literal, table


@dataclass(frozen=True)
class Asked:
    """What shall be shown."""

    experiment: str
    measure: str | None = None  # this one alone, or those that it names without an attribute
    every: bool = False  # a table of each measure
    history: bool = False  # the trend over all studies
    form: str = ""  # ``csv``, ``json`` or ``markdown``; empty for the terminal


Row = Mapping[Hashable, Any]
WORDLESS = ("no limit", "no threshold", "reference")  # the second in studies of before
"""What stands in the place of a verdict where there is none."""


@dataclass(frozen=True)
class Standing:
    """What a study says of one generator: the line of its headline."""

    synthesizer: str
    role: str
    word: str  # the verdict; empty where there is none
    worst: Estimate  # the quantity that decides the word; without limits the surest memorization
    measure: str  # that measure
    utility: Estimate  # in the study's first utility measure
    utility_measure: str
    failure: str
    cost: str = ""  # seconds and memory that a release took

    @property
    def said(self) -> str:
        """The verdict, or why there is none."""
        return self.word or ("reference" if self.role == "reference" else "not judged")


def standings(study: PastStudy) -> list[Standing]:
    """Return the headline of a study, a row a generator, in the order of the study."""
    useful = {(r["synthesizer"], r["measure"]): r for r in study.utility.to_dict("records")}
    return [
        Standing(
            str(row["synthesizer"]),
            str(row["role"]),
            text(row["verdict"]),
            estimate(row, "worst"),
            text(row["worst_measure"]),
            estimate(useful.get((row["synthesizer"], row["utility_measure"]), {}), "utility"),
            text(row["utility_measure"]),
            text(row["failure"]),
            text(row.get("cost")),
        )
        for row in study.generators.to_dict("records")
    ]


def measure_rows(study: PastStudy, measure: str) -> list[LeagueRow]:
    """Return the rows of one measure, each with the verdict on this measure alone; empty where the study lacks it."""
    return [_league_row(study, row) for row in _rows_of(study, study.league, measure)]


def utility_rows(study: PastStudy, measure: str) -> list[Row]:
    """Return the rows of one measure of utility."""
    return _rows_of(study, study.utility, measure)


def _rows_of(study: PastStudy, table: pd.DataFrame, measure: str) -> list[Row]:
    names = list(study.generators["synthesizer"]) if len(study.generators) else []
    own = _only(table, [measure]).to_dict("records")
    return sorted(own, key=lambda row: names.index(row["synthesizer"]) if row["synthesizer"] in names else len(names))


def on_limits(study: PastStudy, measures: Sequence[str] | None = None) -> list[OnLimit]:
    """Return what the study says of each limit and synthesizer; of some measures alone, where they are given."""
    keys = known_measures(study)
    return [
        OnLimit(
            str(row["synthesizer"]),
            str(row["quantity"]),
            float(row["limit"]),
            Estimate(number_of_cell(row["value"]), number_of_cell(row["lower"]), number_of_cell(row["upper"])),
            str(row["word"]),
        )
        for row in study.verdicts.to_dict("records")
        if measures is None or limited(str(row["quantity"]), keys).key in measures
    ]


def known_measures(study: PastStudy) -> list[str]:
    """Return the keys of the measures of risk, in the order of the study."""
    return [] if not len(study.league) else list(dict.fromkeys(map(str, study.league["measure"])))


def judged_measures(study: PastStudy) -> list[str]:
    """Return the keys of the measures that some limit holds for."""
    keys = known_measures(study)
    judged = {limited(each.quantity, keys).key for each in on_limits(study)}
    return [key for key in keys if key in judged]


def estimate(row: Row, name: str) -> Estimate:
    """Return a value with its limits, from the columns ``<name>``, ``<name>_lower`` and ``<name>_upper``."""
    value, lower, upper = (number_of_cell(row.get(f"{name}{end}")) for end in ("", "_lower", "_upper"))
    return NOT_ESTIMABLE if pd.isna(value) else Estimate(value, lower, upper)


def number_of_cell(cell: object) -> float:
    """Return a cell as a number; NaN where there is none."""
    return float("nan") if cell is None else float(str(cell))


def text(cell: object) -> str:
    """Return a cell as text; empty where there is none."""
    return "" if cell is None or cell != cell else str(cell)


def _league_row(study: PastStudy, row: Row) -> LeagueRow:
    word = text(row["verdict"])
    cells = {column.name: estimate(row, column.name) for column in BRIEF}
    who = str(row["synthesizer"]), str(row["role"]), str(row["measure"])
    on = [limited(each.quantity, known_measures(study)).words for each in _verdict_on(study, row)]
    return LeagueRow(*who, cells, "" if word in WORDLESS else word, on, study=study.study_id)


def _verdict_on(study: PastStudy, row: Row) -> list[OnLimit]:
    """Return the limits that the verdict of a row of the league table is on."""
    own = judged_of(study, str(row["synthesizer"]), str(row["measure"]))
    return [each for each in own if each.word == text(row["verdict"])]


def judged_of(study: PastStudy, synthesizer: str, measure: str) -> list[OnLimit]:
    """Return what a study says of one generator under each limit on one measure."""
    return [each for each in on_limits(study, [measure]) if each.synthesizer == synthesizer]


def limits_on(study: PastStudy, measure: str) -> str:
    """Return the limits on one measure for the head of its table; empty where there is none."""
    return limits_in_head(((each.quantity, each.limit) for each in on_limits(study, [measure])), known_measures(study))


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
            "measures": _plain(_only(_league(study), measures).to_dict("records")),
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
        parts = [_dated(study, _only(each, measures)) for study in shown for each in (_league(study), study.utility)]
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
            | {"start": step.study.start.isoformat(), "verdict": step.verdict, "on": "; ".join(_step_on(step))}
            | _limits("memorization", step.found)
            | _limits("change", found)
            | {"paired": change.paired if change else None, "flag": change.word if change else ""}
            | {"why_not_paired": change.why if change else ""}
        )
    return rows


def _step_on(step: Step) -> list[str]:
    """Return the names of the limits that the verdict of a step is on."""
    row: Row = {"synthesizer": step.synthesizer, "measure": step.measure, "verdict": step.verdict}
    return [each.quantity for each in _verdict_on(step.study, row)]


def _limits(name: str, found: Estimate) -> dict[str, float]:
    return {name: found.value, f"{name}_lower": found.lower, f"{name}_upper": found.upper}


def _risks(shown: Sequence[PastStudy], measures: Sequence[str]) -> list[str]:
    known = {key for study in shown for key in known_measures(study)}
    return [measure for measure in measures if measure in known]


def _league(study: PastStudy) -> pd.DataFrame:
    """Return the league table of a study with what each verdict is on: names of limits, ``; `` between them."""
    table = study.league
    if not len(table):
        return table
    return table.assign(on=["; ".join(on.quantity for on in _verdict_on(study, r)) for r in table.to_dict("records")])


def _only(rows: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    return rows[rows["measure"].isin(measures)] if len(rows) else rows


def _dated(study: PastStudy, rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(study_id=study.study_id, start=study.start.isoformat()) if len(rows) else rows


def _headline(row: Standing) -> list[str]:
    cells = [interval(row.worst, signed=is_signed(row.measure)).plain, literal(row.measure), number(row.utility.value)]
    return [literal(row.synthesizer), row.said, *cells]


def _measure_lines(study: PastStudy, measure: str) -> list[str]:
    limits = limits_on(study, measure)
    lines = [f"## {literal(measure)}", "", *([f"{literal(limits)}.".capitalize(), ""] if limits else [])]
    if rows := measure_rows(study, measure):
        cells = [[literal(row.synthesizer), *(cell.plain for cell in league_cells(row))] for row in rows]
        lines += [*table(("synthesizer", *(column.name for column in BRIEF), "verdict"), cells), ""]
        told = on_limits(study, [measure])
        lines += [
            f"* {literal(each.synthesizer)}, {literal(each.quantity)}, limit {each.limit:g}: "
            f"{interval(each.found, is_signed(each.quantity)).plain} {each.word}"
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
    rows = []
    for step in steps:
        changed, when = ["", "", ""], f"{step.study.start:%Y-%m-%d %H:%M}"
        if (change := step.change) is not None:
            how = "paired" if change.paired else literal(change.why)
            changed = [interval(change.difference, signed=True).plain, change.word, how]
        found = [text(step.verdict), interval(step.found, signed=True).plain]
        rows.append([literal(step.measure), literal(step.synthesizer), when, *found, *changed])
    return table(("measure", "synthesizer", "study", "verdict", "memorization", "change", "flag", "how"), rows)


def _plain(rows: Sequence[Mapping[Any, Any]]) -> list[dict[str, Any]]:
    return [{str(name): _value(cell) for name, cell in row.items()} for row in rows]


def _value(cell: Any) -> Any:
    if isinstance(cell, Estimate):
        return {"value": _value(cell.value), "lower": _value(cell.lower), "upper": _value(cell.upper)}
    if isinstance(cell, float):
        return float(cell) if math.isfinite(cell) else None
    return cell.item() if hasattr(cell, "item") else cell
