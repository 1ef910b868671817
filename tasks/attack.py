"""Let every attack of the study score all real records against one release."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from prefect import task

from synthrisk.conf.plan import Planned
from synthrisk.metrics import METRICS, Tables
from synthrisk.metrics.ledger import ledger_rows
from synthrisk.metrics.seeds import seed_of
from synthrisk.tasks.failure import told_safely
from synthrisk.tasks.references import LEDGER, VALUES, Cell, LedgerFolder, ReleaseFolder, Sample
from synthrisk.tasks.store import code_version, keep, key_of, versions


@task(name="attack", task_run_name="attack {release.cell.name}")
def attack(
    sample: Sample, release: ReleaseFolder, planned: Sequence[Planned], seed: int, workspace: str
) -> LedgerFolder:
    """Attack one release; a ledger that is there already is found again by its key."""
    key = key_of(
        release.key,
        [(p.measure.key, p.measure.metric, p.measure.attacker, p.options) for p in planned],
        seed,
        code_version(),
        versions(("numpy", "pandas", "scikit-learn", "scipy")),
    )
    folder = told_safely(
        Path(workspace),
        f"attack-{release.cell.name}",
        lambda: keep(Path(workspace) / "ledgers" / key, lambda draft: _write(draft, sample, release, planned, seed)),
    )
    return LedgerFolder(release.cell, str(folder))


def _write(draft: Path, sample: Sample, release: ReleaseFolder, planned: Sequence[Planned], seed: int) -> None:
    real = sample.records()
    member = membership(sample, release)
    ledger, values = attack_release(real, release.synthetic(), member, planned, seed, release.cell)
    ledger.to_parquet(draft / LEDGER, compression="zstd")
    (draft / VALUES).write_text(json.dumps(values))


def membership(sample: Sample, release: ReleaseFolder) -> pd.api.extensions.ExtensionArray:
    """Return True for members, False for controls, NA for held-out records that the release was drawn from."""
    held_out = sample.held_out(release.cell.repetition, release.cell.fold)
    member = pd.array(~held_out, dtype="boolean")
    member[np.flatnonzero(held_out)[release.used()]] = pd.NA
    return member


def attack_release(
    real: pd.DataFrame,
    synthetic: pd.DataFrame,
    member: Any,
    planned: Sequence[Planned],
    seed: int,
    cell: Cell,
) -> tuple[pd.DataFrame, dict[str, dict[str, float]]]:
    """Return the ledger of a release and the details of each measure."""
    tables = Tables(real, synthetic)
    parts: list[pd.DataFrame] = []
    values: dict[str, dict[str, float]] = {}
    for each in planned:
        metric, measure = METRICS[each.measure.metric], each.measure
        own = seed_of(seed, cell.repetition, cell.fold, cell.synthesizer, measure.key)
        if metric.scores == "synthetic" or not metric.per_record:
            values[measure.key] = _released(real, synthetic, member, each, own)
            continue
        score = metric.score(tables, seed=own, **each.options)
        truth = None if measure.sensitive is None else real[measure.sensitive]
        parts.append(ledger_rows(score, measure, member, truth))
        values[measure.key] = score.details
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(), values


def _released(
    real: pd.DataFrame, synthetic: pd.DataFrame, member: Any, planned: Planned, seed: int
) -> dict[str, float]:
    """Return a release-level value against members and against controls.

    Both groups are thinned to the smaller one's size: how near the nearest of many is depends on how many.
    """
    groups = {
        "members": np.flatnonzero(member.fillna(False)),
        "controls": np.flatnonzero((~member).fillna(False)),
    }
    size = min(len(rows) for rows in groups.values() if len(rows))
    rng = np.random.default_rng(seed)
    metric = METRICS[planned.measure.metric]
    found = {}
    for name, rows in groups.items():
        if not len(rows):
            found[name] = float("nan")
            continue
        chosen = np.sort(rng.choice(rows, size, replace=False))
        found[name] = metric.score(Tables(real.iloc[chosen], synthetic), seed=seed, **planned.options).value
    return found
