"""Let every attack of the study score all real records against one release."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
from prefect import task

from synthrisk.metrics import ATTACKS, METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.plugins import ATTACK_GROUP, METRIC_GROUP
from synthrisk.metrics.release.check import as_plain
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.study.said import values_as_plain
from synthrisk.metrics.study.scoring import attack_release, look, sizes_of_keys
from synthrisk.tasks.workspace.code import code_digest, entry_point_code
from synthrisk.tasks.workspace.failure import told_safely
from synthrisk.tasks.workspace.references import CHECK, KEYS, LEDGER, VALUES, LedgerFolder, ReleaseFolder, Sample
from synthrisk.tasks.workspace.store import keep, key_of, versions

_SCORING = "synthrisk.metrics.study.scoring"


@task(name="attack", task_run_name="attack {release.cell.name}")
def attack(
    sample: Sample,
    release: ReleaseFolder,
    planned: Sequence[Planned],
    seed: int,
    workspace: str,
    quasi_identifiers: Sequence[str] = (),
) -> LedgerFolder:
    """Attack one release; a ledger that is there already is found again by its key.

    Beside it stand the sizes of the keys that the study's quasi-identifiers make, where it declares any.
    """
    key = key_of(
        release.key,
        [(p.measure.key, p.measure.metric, p.measure.attacker, p.options) for p in planned],
        seed,
        *_code(planned),
        list(quasi_identifiers),
        versions(("numpy", "pandas", "scikit-learn", "scipy")),
    )
    folder = told_safely(
        Path(workspace),
        f"attack-{release.cell.name}",
        lambda: keep(
            Path(workspace) / "ledgers" / key,
            lambda draft: _write(draft, sample, release, planned, seed, quasi_identifiers),
        ),
    )
    return LedgerFolder(release.cell, str(folder))


def _code(planned: Sequence[Planned]) -> tuple[str, list[str]]:
    """Return the digest of our code that scores these measures, and what is known of the code of others."""
    attackers = set()
    for each in planned:
        metric = METRICS[each.measure.metric]
        if "attacker" in metric.options:
            attackers.add(str(each.options.get("attacker", metric.default("attacker"))))
    metrics, theirs = entry_point_code(METRIC_GROUP, [p.measure.metric for p in planned])
    attacks, others = entry_point_code(ATTACK_GROUP, attackers & set(ATTACKS))
    return code_digest([_SCORING, *metrics, *attacks], alone=[__name__]), theirs + others


def _write(
    draft: Path,
    sample: Sample,
    release: ReleaseFolder,
    planned: Sequence[Planned],
    seed: int,
    quasi_identifiers: Sequence[str],
) -> None:
    real, synthetic = sample.records(), release.synthetic()
    member = membership(sample, release)
    entities = sample.entities()
    check = look(real, synthetic, member, len(release.used()))
    try:
        ledger, values = attack_release(real, synthetic, member, planned, seed, release.cell, entities)
    except InputError as error:
        raise InputError(f"{check.invalid}; {error}" if check.invalid else str(error)) from None
    ledger.to_parquet(draft / LEDGER, compression="zstd")
    (draft / VALUES).write_text(json.dumps(values_as_plain(values)))
    (draft / CHECK).write_text(json.dumps(as_plain(check)))
    if quasi_identifiers:
        keys = sizes_of_keys(real, synthetic, member, quasi_identifiers)
        (draft / KEYS).write_text(json.dumps(asdict(keys)))


def membership(sample: Sample, release: ReleaseFolder) -> pd.api.extensions.ExtensionArray:
    """Return True for members, False for control records, NA for held-out records that the release was drawn from."""
    held_out = sample.held_out(release.cell.repetition, release.cell.fold)
    member = pd.array(~held_out, dtype="boolean")
    member[np.flatnonzero(held_out)[release.used()]] = pd.NA
    return member
