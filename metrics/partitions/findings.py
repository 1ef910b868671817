"""Which metrics are computed in parts, and what they say of members and of control records apart.

From scores in parts to findings, as a study makes them of the ledger of one release; with a look at the tables before:
broken columns of the release, control records that are members.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.partitions import utility
from synthrisk.metrics.partitions.keys import (
    attribute_disclosure,
    categorical_cap,
    common_rows_proportion,
    generalized_cap,
    keys,
    targeted_cap,
    unique_exact_matches,
    zero_cap,
)
from synthrisk.metrics.partitions.nearest import distance_to_closest_record
from synthrisk.metrics.partitions.parts import (
    CONTROLS,
    MEMBERS,
    REAL,
    RELEASE,
    Coded,
    Column,
    Partitioned,
    as_categories,
)
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.release.check import told
from synthrisk.metrics.release.columns import column_problems
from synthrisk.metrics.release.strangers import equal, in_words
from synthrisk.metrics.score import Score
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
from synthrisk.metrics.tables.tables import Tables, in_order

IN_PARTS: Mapping[str, Callable[..., Score]] = {
    "categorical_cap": categorical_cap,
    "zero_cap": zero_cap,
    "generalized_cap": generalized_cap,
    "targeted_cap": targeted_cap,
    "attribute_disclosure": attribute_disclosure,
    "common_rows_proportion": common_rows_proportion,
    "unique_exact_matches": unique_exact_matches,
    "distance_to_closest_record": distance_to_closest_record,
    "coverage": utility.coverage,
    "accuracy": utility.accuracy,
}
"""By the name of a metric, the function that computes it of tables in parts."""


def check_in_parts(name: str, options: Mapping[str, Any]) -> None:
    """Refuse what is not computed in parts.

    Raises:
        InputError: A metric or an option of one is none that is.
    """
    if name not in IN_PARTS:
        raise InputError(f"{name} is not computed in parts{nearest(name, IN_PARTS)}; {', '.join(IN_PARTS)} are")
    for option in ("bins", "control", "identifier"):
        if options.get(option) is not None:
            raise InputError(f"{name} is computed in parts without {option}, got {option}: coarsen or join it before")


def score_in_parts(name: str, tables: Partitioned, **options: Any) -> Score:
    """Return the score of a release in parts: the same to the bit as the metric's own on one machine.

    That of coverage and accuracy is of the members; of the others, of members and control records in one table.

    Raises:
        InputError: The metric or an option is not computed in parts, or breaks a rule.

    Example:
        >>> import pandas as pd
        >>> from synthrisk.metrics.partitions.parts import agree
        >>> from synthrisk.metrics.partitions.parts import Here
        >>> real = pd.DataFrame({"age": [30, 30, 40, 50], "vote": ["a", "b", "a", "b"]})
        >>> release = pd.DataFrame({"age": [30, 30, 40, 40], "vote": ["a", "a", "b", "a"]})
        >>> tables = agree(["age", "vote"], Here([real[:1], real[1:]]), None, Here([release]))
        >>> score_in_parts("zero_cap", tables, quasi_identifiers=["age"], sensitive="vote").value
        0.375
    """
    check_in_parts(name, options)
    return IN_PARTS[name](tables, **{k: v for k, v in options.items() if v is not None or k not in ("bins", "control")})


def broken(tables: Partitioned) -> str:
    """Return why measures say nothing of the release, in words; empty where they do (``ReleaseCheck.invalid``).

    Each column is looked at alone, its cells in their order: means may differ from one machine's in the last bit.
    """
    found = [each for name in in_order(tables.columns) for each in column_problems(*_alone(tables.columns[name]))]
    return told([each.words for each in found if each.severity != "note"])


def strangers_in_words(tables: Partitioned) -> tuple[str, str]:
    """Return why no study may be made with these control records, and what is to be told (``strangers``)."""
    if not tables.rows[CONTROLS]:
        return "", ""
    members, controls, released = keys(tables, in_order(tables.columns)).counts
    sizes = np.repeat(members, members)
    found = [
        equal(int(controls[others > 0].sum()), tables.rows[CONTROLS], rows, sizes)
        for others, rows in ((members, tables.rows[MEMBERS]), (released, tables.rows[RELEASE]))
    ]
    return in_words(found, 0)


def _alone(column: Column) -> tuple[Tables, str]:
    groups, name = np.repeat([1, 0], column.counts[REAL].sum(axis=1)), str(column.name)
    return Tables(_cells(column, REAL), _cells(column, [RELEASE]), groups=groups), name


def _cells(column: Column, sides: Sequence[int]) -> pd.DataFrame:
    codes = np.concatenate([np.repeat(np.arange(column.size), column.counts[side]) for side in sides])
    cells = column.floats[codes] if column.kind == "numeric" else as_categories(codes, column.size)
    return pd.DataFrame({str(column.name): cells})


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
    tables: Partitioned,
    planned: Sequence[Planned],
    name: str,
    interval: Interval,
    beside: Interval,
    tell: Callable[[str], None] = lambda key: None,
) -> tuple[list[Finding], list[Usefulness]]:
    """Return the findings with their yardsticks ``guess`` and ``control``, and utility without a ceiling.

    One measure after the other, so that the contributions of one alone are here at a time: with one release nothing is
    borrowed from the other measures. ``interval`` is that of the findings, ``beside`` that of the yardsticks.
    ``tell`` is told the key of each measure before it is computed.
    """
    found: list[Finding] = []
    useful: list[Usefulness] = []
    for each in planned:
        tell(each.measure.key)
        of_risk, of_utility = found_in(tables, each, contributed(tables, [each], name), interval, beside)
        found, useful = [*found, *of_risk], [*useful, *of_utility]
    return found, useful


def found_in(
    tables: Partitioned, planned: Planned, ledger: Contributed, interval: Interval, beside: Interval
) -> tuple[Sequence[Finding], Sequence[Usefulness]]:
    """Return the finding of one measure, or its utility, from its ledger."""
    measure, name = planned.measure, ledger.cell.synthesizer
    classes = {column: _classes(tables, column) for column in measure.targets}
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
