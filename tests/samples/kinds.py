"""A limit of the other kind beside the one under test: a word is given only where both kinds are judged."""

from samples.estimates import around
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.verdicts import judge, learns

FOUND, LEARNT = Measure("found", "common_rows_proportion"), Measure("learnt", "singling_out")
"""A measure of who is found, and one of what is learnt."""

_FINE = Estimate(0.3, 0.28, 0.32)
_SEES = {"copy": around(0.5, 0.01)}  # copies alone: what else is seen is left to the limits under test


def beside_other_kind(findings, limits, checks, beside):
    """Return the verdicts on some limits, given beside a limit of the other kind that every synthesizer keeps."""
    metrics = [METRICS[f.measure.metric] for f in findings]
    other = FOUND if any(learns(m) for m in metrics) else LEARNT
    roles = {f.synthesizer: f.role for f in findings}
    own = {
        name: Finding(name, role, other, _FINE, _FINE, _SEES.get(beside.answers.get(name), around(0.0, 0.01)))
        for name, role in roles.items()
    }
    name = f"memorization/{other.key}"
    found = judge([*findings, *own.values()], {**limits, name: 0.05}, checks, beside)
    return [v for v in found if v.quantity != name]
