"""Let the findings of a study be compared, and the contributions of their records be read for it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from prefect import task

from synthrisk.conf.study import Bootstrap
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.study.compared import Compared, compare_findings
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.planned import Planned
from synthrisk.tasks.workspace.contributions import kept_contributions
from synthrisk.tasks.workspace.failure import told_safely
from synthrisk.tasks.workspace.references import Sample

__all__ = ["Compared", "compare"]


@task(name="compare")
def compare(
    found: Sequence[Finding],
    contributions: Mapping[str, str],
    planned: Sequence[Planned],
    sample: Sample,
    shares: Mapping[str, float],
    settings: Bootstrap,
    seed: int,
    workspace: str,
) -> Compared:
    """Read what the records contributed to each finding, and compare the findings.

    Args:
        found: All findings, those of the population yardstick included; it is not among those returned.
        contributions: Path of each synthesizer's contributions.
        planned: What was measured.
        sample: The real table.
        shares: Share of training rows in the release of each reference generator that tells the study's power; empty:
            none.
        settings: How intervals are made.
        seed: Seed of those that resample.
        workspace: Folder of the workspace.
    """

    def compared() -> Compared:
        kept = {name: kept_contributions(path) for name, path in contributions.items()}
        interval = Interval(settings.confidence, settings.method, settings.resamples, seed)
        return compare_findings(found, kept, planned, shares, interval, sample.entities())

    return told_safely(Path(workspace), "compare", compared)
