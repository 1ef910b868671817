"""From scores in parts to findings, as a study makes them of the ledger of one release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.partitions.agreed import CONTROLS, MEMBERS, Coded, Partitioned, as_categories
from synthrisk.metrics.partitions.measures import check_in_parts, score_in_parts
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.attacked import Releases
from synthrisk.metrics.study.compared import compare_findings
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Cell, Measure
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.study.quantities import limited
from synthrisk.metrics.study.said import OfUtility, Said
from synthrisk.metrics.study.scoring import said_of_records
from synthrisk.metrics.study.synthesizer_findings import find_all
from synthrisk.metrics.study.utility import Usefulness

CLASSES = "classes"


@dataclass(frozen=True, eq=False)
class Contributed:
    """The ledger of a release in parts: of each real record what it adds to each measure, and no cell."""

    cell: Cell
    rows: Mapping[str, pd.DataFrame]  # by key of the measure
    said: Mapping[str, Said]

    def of(self, measure: Measure, columns: Sequence[str]) -> pd.DataFrame:
        """Return some columns of one measure's rows, in the order of the records."""
        return self.rows[measure.key][list(columns)]

    def values(self) -> Mapping[str, Said]:
        """Return what each measure says beside its scores, by key."""
        return self.said


def check_planned(planned: Sequence[Planned], limits: Sequence[str]) -> None:
    """Refuse measures, options and limits that are not computed in parts.

    Raises:
        InputError: There is such a one.
    """
    for each in planned:
        check_in_parts(each.measure.metric, each.options)
    for name in limits:
        group = limited(name, [k for p in planned for k in (p.measure.key, p.measure.label)]).group
        if group and group != CLASSES:
            raise InputError(f"thresholds in parts take the group @{CLASSES} alone, got {name!r}")


def contributed(tables: Partitioned, planned: Sequence[Planned], name: str) -> Contributed:
    """Return what measures say of a release: the columns that a study reads are gathered, 8 bytes a record each.

    Raises:
        InputError: A measure or an option is not computed in parts.
    """
    member, groups = tables.groups.astype(bool), tables.groups
    rows: dict[str, pd.DataFrame] = {}
    said: dict[str, Said] = {}
    for each in planned:
        metric, key = METRICS[each.measure.metric], each.measure.key
        score = score_in_parts(metric.name, tables, **each.options)
        if score.records is None:
            said[key] = OfUtility(score.value, score.own_details, None, score.reason or "")
            continue
        said[key] = said_of_records(metric, score, groups)
        rows[key] = score.records[list(metric.columns)].assign(member=member)
    return Contributed(Cell(name, 0, 0), rows, said)


def findings(
    tables: Partitioned, planned: Sequence[Planned], name: str, interval: Interval, beside: Interval
) -> tuple[list[Finding], list[Usefulness]]:
    """Return the findings with their yardsticks ``guess`` and ``control``, and utility without a ceiling.

    One measure after the other, so that the contributions of one alone are here at a time: with one release nothing is
    borrowed from the other measures. ``interval`` is that of the findings, ``beside`` that of the yardsticks.
    """
    found: list[Finding] = []
    useful: list[Usefulness] = []
    for each in planned:
        of_risk, of_utility = found_in(tables, each, contributed(tables, [each], name), interval, beside)
        found, useful = [*found, *of_risk], [*useful, *of_utility]
    return found, useful


def found_in(
    tables: Partitioned, planned: Planned, ledger: Contributed, interval: Interval, beside: Interval
) -> tuple[Sequence[Finding], Sequence[Usefulness]]:
    """Return the finding of one measure, or its utility, from its ledger."""
    measure, name = planned.measure, ledger.cell.synthesizer
    classes = {} if measure.sensitive is None else {measure.sensitive: _classes(tables, measure.sensitive)}
    releases = Releases([ledger], pd.DataFrame(classes), None, {})
    made = find_all(name, "synthesizer", releases, [measure], interval, ())
    risks = [] if METRICS[measure.metric].is_utility else [planned]
    return compare_findings(made.findings, {name: made.kept}, risks, {}, beside, None).findings, made.utility


def _classes(tables: Partitioned, name: str) -> Any:
    """Return the classes of the real records in a categorical column as codes; of a numeric one no class is told."""
    column = tables.columns[name]
    if column.kind == "numeric":
        return np.zeros(tables.real_rows, dtype=np.int8)
    return as_categories(tables.of_real(_codes_of, name), column.size)


def _codes_of(part: Coded, name: str) -> np.ndarray:
    return part[name]


def check_sides(tables: Partitioned) -> None:
    """Refuse control records of which there are too few, or of which a column that members have is empty.

    Raises:
        InputError: There are such.
    """
    if tables.rows[CONTROLS] == 1:
        raise InputError("control must hold at least two records, got 1")
    for name, column in tables.columns.items():
        members, controls = (int(column.counts[side, :-1].sum()) for side in (MEMBERS, CONTROLS))
        if tables.rows[CONTROLS] and members and not controls:
            raise InputError(f"control must hold values in column {name!r}, as real does, got missing cells only")
