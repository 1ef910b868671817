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
    of: int  # columns of the data set; of whole records 1
    overall: GdaScore  # over all of them
    weakest: Mapping[int | None, GdaScore]  # over the k weakest of them, by k; None all

    def susceptibility(self, column: ColumnScore) -> float:
        """Return the share of all cells of the data set for which an attempt can be made in one column.

        Those of the columns add up to that of all of them: ``GdaScore.susceptibility``, as the source counts it.
        """
        return column.susceptibility / self.of


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
    return [_view(key, each, of, weakest) for key, each in columns.items()]


def _view(
    key: tuple[str, str, str], columns: Sequence[ColumnScore], of: int, weakest: Sequence[int | None]
) -> AttackView:
    of = 1 if columns[0].column == WHOLE else of
    scores = {k: gda_score(columns, of, k) for k in weakest}
    return AttackView(*key, tuple(columns), of, gda_score(columns, of), scores)


def column_score(finding: Finding) -> ColumnScore:
    """Return the score of one column from what a finding says of members."""
    attempts, claims, *others, known, read = (finding.details[name][0] for name in OF_CLAIMS)
    cells = [each * claims if claims else 0.0 for each in (known, read)]
    return ColumnScore(finding.measure.sensitive or WHOLE, attempts, claims, *others, *cells)
