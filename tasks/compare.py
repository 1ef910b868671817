"""Let the findings of a study be compared, and the contributions of their records be read for it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from synthrisk.conf.study import Bootstrap
from synthrisk.metrics import METRICS
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.comparison import compare_findings
from synthrisk.tasks.workspace.failures import told_safely
from synthrisk.tasks.workspace.records import kept_contributions
from synthrisk.tasks.workspace.references import Estimated, Found, Generator, Sample
from synthrisk.tasks.workspace.verb import verb


@verb("compare")
def compare(
    found: Sequence[Found],
    sample: Sample,
    generators: Sequence[Generator],
    settings: Bootstrap,
    *,
    power: bool = False,
    failures: Mapping[str, str] | None = None,
) -> Estimated:
    """Read what the records contributed to each finding, and compare the findings.

    ``found`` includes the population yardstick, ``generators`` those that failed, of which ``failures`` says why, by
    name. With ``power``, reference generators that leak a known share tell which leak the study sees.
    """
    shares = {f.name: f.generator.leaked for f in found if power and f.generator.leaked is not None}
    risks = (p for f in found for p in f.planned if not METRICS[p.measure.metric].is_utility)
    planned = list({p.measure.key: p for p in risks}.values())
    drawn = seed_of(sample.seed, "compare")

    def compared() -> Estimated:
        kept = {f.name: kept_contributions(f.contributions) for f in found}
        findings = [each for f in found for each in f.findings]
        interval = Interval(settings.confidence, settings.method, settings.resamples, drawn)
        beside = compare_findings(findings, kept, planned, shares, interval, sample.entities())
        return Estimated(sample, tuple(generators), tuple(found), settings, beside, dict(failures or {}))

    return told_safely(Path(sample.workspace), "compare", compared)
