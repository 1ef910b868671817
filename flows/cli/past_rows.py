"""The rows of a study that was read back: what it says of each generator, and of each in one measure."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.study.league import BRIEF, LeagueRow
from synthrisk.metrics.study.quantities import limited
from synthrisk.tasks.tracking.past import PastStudy

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


@dataclass(frozen=True)
class OnLimit:
    """What one generator reaches in a limited quantity, and the verdict on it."""

    synthesizer: str
    quantity: str  # ``<quantity>/<measure>[@<group>]``
    limit: float
    found: Estimate
    word: str


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
        )
        for row in study.generators.to_dict("records")
    ]


def measure_rows(study: PastStudy, measure: str) -> list[LeagueRow]:
    """Return the rows of one measure, each with the verdict on this measure alone; empty where the study lacks it."""
    table = study.league
    own = table[table["measure"] == measure].to_dict("records") if len(table) else []
    return [_league_row(study, row) for row in sorted(own, key=_place(study))]


def utility_rows(study: PastStudy, measure: str) -> list[Row]:
    """Return the rows of one measure of utility."""
    table = study.utility
    own = table[table["measure"] == measure].to_dict("records") if len(table) else []
    return sorted(own, key=_place(study))


def on_limits(study: PastStudy, measures: Sequence[str] | None = None) -> list[OnLimit]:
    """Return what the study says of each limit and synthesizer; of some measures alone, where they are given."""
    every = [] if not len(study.verdicts) else study.verdicts.to_dict("records")
    keys = known_measures(study)
    return [
        OnLimit(
            str(row["synthesizer"]),
            str(row["quantity"]),
            float(row["limit"]),
            Estimate(number(row["value"]), number(row["lower"]), number(row["upper"])),
            str(row["word"]),
        )
        for row in every
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
    value, lower, upper = (number(row.get(f"{name}{end}")) for end in ("", "_lower", "_upper"))
    return NOT_ESTIMABLE if pd.isna(value) else Estimate(value, lower, upper)


def number(cell: object) -> float:
    """Return a cell as a number; NaN where there is none."""
    return float("nan") if cell is None else float(str(cell))


def text(cell: object) -> str:
    """Return a cell as text; empty where there is none."""
    return "" if cell is None or cell != cell else str(cell)


def _league_row(study: PastStudy, row: Row) -> LeagueRow:
    word = text(row["verdict"])
    cells = {column.name: estimate(row, column.name) for column in BRIEF}
    who = str(row["synthesizer"]), str(row["role"]), str(row["measure"])
    return LeagueRow(*who, cells, "" if word in WORDLESS else word, study=study.study_id)


def _place(study: PastStudy) -> Any:
    names = [] if not len(study.generators) else list(study.generators["synthesizer"])
    return lambda row: names.index(row["synthesizer"]) if row["synthesizer"] in names else len(names)
