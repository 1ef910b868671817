"""Let the findings of one synthesizer be made from its ledgers, and keep who is most exposed."""

from collections.abc import Sequence
from pathlib import Path

from prefect import task

from synthrisk.conf.study import Bootstrap
from synthrisk.metrics.exposure.vulnerable import vulnerable
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.study.attacked import Releases
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.synthesizer_findings import find_all
from synthrisk.metrics.study.utility import Usefulness
from synthrisk.tasks.workspace.contributions import keep_contributions
from synthrisk.tasks.workspace.failure import told_safely
from synthrisk.tasks.workspace.references import LedgerFolder, Sample
from synthrisk.tasks.workspace.store import key_of, write_file


@task(name="bootstrap", task_run_name="bootstrap {synthesizer}")
def bootstrap(
    synthesizer: str,
    role: str,
    ledgers: Sequence[LedgerFolder],
    measures: Sequence[Measure],
    sample: Sample,
    key: Sequence[str],
    settings: Bootstrap,
    seed: int,
    workspace: str,
) -> tuple[list[Finding | Usefulness], str, str]:
    """Return the findings of one synthesizer, and the paths of its exposed records and of its contributions.

    The findings of its risks come first, then those of its utility.

    Args:
        synthesizer: Its name.
        role: ``synthesizer``, ``reference`` or ``yardstick``.
        ledgers: Its ledgers.
        measures: What was measured.
        sample: The real table.
        key: The quasi-identifiers that make a record's key, for the group of rare keys.
        settings: How intervals are made.
        seed: Seed of those that resample.
        workspace: Folder of the workspace.
    """

    def found_and_exposed() -> tuple[list[Finding | Usefulness], str, str]:
        records = sample.records()
        groups = vulnerable(records, key, settings.vulnerable)
        interval = Interval(settings.confidence, settings.method, settings.resamples, seed)
        releases = Releases(ledgers, records, sample.entities(), groups)
        made = find_all(synthesizer, role, releases, measures, interval)
        name = key_of(synthesizer, [each.path for each in ledgers], [m.key for m in measures])
        path = Path(workspace) / "exposed" / f"{name}.parquet"
        write_file(path, lambda draft: made.exposed.to_parquet(draft, compression="zstd"))
        kept = keep_contributions(Path(workspace) / "contributions" / f"{name}.npz", made.kept)
        return made.findings, str(path), kept

    return told_safely(Path(workspace), f"bootstrap-{synthesizer}", found_and_exposed)
