"""Describe the keys of the real table and of all releases: k-anonymity, without a verdict."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from prefect import task

from synthrisk.metrics.release.k_anonymity import KAnonymity, keys_of_real, mean_keys
from synthrisk.tasks.workspace.failure import told_safely
from synthrisk.tasks.workspace.references import LedgerFolder, Sample


@task(name="describe")
def describe(
    sample: Sample, key: Sequence[str], ledgers: Mapping[str, Sequence[LedgerFolder]], workspace: str
) -> KAnonymity | None:
    """Return how rare the keys are in the real table and, in the mean, in each synthesizer's releases.

    Args:
        sample: The real table.
        key: The quasi-identifiers that the study declares; without any there is nothing to describe.
        ledgers: The ledgers of each synthesizer, beside which the attack keeps the keys of the release.
        workspace: Folder of the workspace.
    """
    if not key:
        return None

    def described() -> KAnonymity:
        real = keys_of_real(sample.records(), key, sample.entities())
        return KAnonymity(tuple(key), real, {name: mean_keys([e.keys() for e in own]) for name, own in ledgers.items()})

    return told_safely(Path(workspace), "describe", described)
