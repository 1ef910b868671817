"""The GDA view of a study: each attack on each synthesizer, column by column and put together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.gda import ColumnScore, GdaScore, gda_score

WHOLE = "whole record"  # what is learned where no single column is
OF_CLAIMS = ("attempts", "claims", "correct", "statistical_confidence", "susceptibility", "prior_knowledge", "work")
"""The details that each metric of claims (``Metric.claims``) gives."""


@dataclass(frozen=True)
class AttackView:
    """What one attack did to the releases of one synthesizer; counts are means over releases."""

    synthesizer: str
    role: str  # ``synthesizer`` or ``reference``
    attack: str  # label of the measure
    columns: tuple[ColumnScore, ...]  # a score a column attacked
    overall: GdaScore  # over all of them
    weakest: Mapping[int | None, GdaScore]  # over the k weakest of them, by k; None all


def gda_view(findings: Sequence[Finding], of: int, weakest: Sequence[int | None] = (None, 1)) -> list[AttackView]:
    """Return the view of every attack that makes claims, on members, in the order of the findings.

    Findings without claims, and what-ifs, are passed over. Susceptibility is a share of the ``of`` columns of the
    table; claims about whole records count as one column of one. ``weakest``: see ``AttackView``.
    """
    columns: dict[tuple[str, str, str], list[ColumnScore]] = {}
    for f in findings:
        if f.is_of_claims and f.details.get("attempts", (0.0,))[0] and not f.measure.variant_of:
            key = (f.synthesizer, f.role, f.measure.label)
            columns.setdefault(key, []).append(column_score(f))
    return [
        AttackView(
            *key, tuple(each), gda_score(each, _of(each, of)), {k: gda_score(each, _of(each, of), k) for k in weakest}
        )
        for key, each in columns.items()
    ]


def column_score(finding: Finding) -> ColumnScore:
    """Return the score of one column from what a finding says of members."""
    attempts, claims, *others, known, read = (finding.details[name][0] for name in OF_CLAIMS)
    cells = [each * claims if claims else 0.0 for each in (known, read)]
    return ColumnScore(finding.measure.sensitive or WHOLE, attempts, claims, *others, *cells)


def _of(columns: Sequence[ColumnScore], of: int) -> int:
    return 1 if columns[0].column == WHOLE else of
