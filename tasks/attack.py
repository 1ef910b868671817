"""Let every attack of the study score all real records against one release."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from prefect import task

from synthrisk.conf.plan import Planned
from synthrisk.metrics import METRICS, Metric, Score, Tables
from synthrisk.metrics.ledger import COLUMNS, ledger_rows
from synthrisk.metrics.metric import reason_of
from synthrisk.metrics.register import GROUP
from synthrisk.metrics.seeds import seed_of
from synthrisk.tasks.failure import told_safely
from synthrisk.tasks.references import LEDGER, VALUES, Cell, LedgerFolder, ReleaseFolder, Sample
from synthrisk.tasks.store import keep, key_of, plugin_version, source_digest, versions

_FORMAT = 5  # raise it when the same scores give another ledger


@task(name="attack", task_run_name="attack {release.cell.name}")
def attack(
    sample: Sample, release: ReleaseFolder, planned: Sequence[Planned], seed: int, workspace: str
) -> LedgerFolder:
    """Attack one release; a ledger that is there already is found again by its key."""
    key = key_of(
        release.key,
        [(p.measure.key, p.measure.metric, p.measure.attacker, p.options) for p in planned],
        seed,
        source_digest("synthrisk.metrics"),
        [plugin_version(GROUP, p.measure.metric) for p in planned],
        _FORMAT,
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
) -> tuple[pd.DataFrame, dict[str, dict[str, Any]]]:
    """Return the ledger of a release, and what each measure says beside its scores.

    Of each measure: ``all`` real records, ``members`` and ``controls`` (named numbers), ``reasons`` why these have no
    value, and a ``warning``; of a metric without a score a real record, its values and a ``reason``.
    """
    groups = np.where(member.isna(), -1, member.fillna(False).astype(np.int64))
    tables = Tables(real, synthetic, groups=groups)
    parts: list[pd.DataFrame] = []
    values: dict[str, dict[str, Any]] = {}
    for each in planned:
        metric, measure = METRICS[each.measure.metric], each.measure
        own = seed_of(seed, cell.repetition, cell.fold, cell.synthesizer, *each.words)
        if metric.by_release:
            values[measure.key] = _released(tables, member, each, own)
            continue
        score = metric.score(tables, seed=own, **each.options)
        truth = None if measure.sensitive is None else real[measure.sensitive]
        parts.append(ledger_rows(score, measure, member, truth))
        values[measure.key] = {"all": score.details, "warning": score.warning or ""}
        values[measure.key] |= _by_group(metric, score, groups)
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(COLUMNS)), values


def _by_group(metric: Metric, score: Score, groups: np.ndarray) -> dict[str, dict[str, Any]]:
    """Return what the metric's records say of members and of control records apart."""
    rows = {"members": groups == 1, "controls": groups == 0}
    if metric.reduce is None or score.records is None:
        return {"reasons": dict.fromkeys(rows, score.reason or "")}
    found = {name: metric.reduce(score.records[own]) for name, own in rows.items() if own.any()}
    reasons = {name: reason_of(score, each) or "" for name, each in found.items()}
    return {name: each.details for name, each in found.items()} | {"reasons": reasons}


def _released(tables: Tables, member: Any, planned: Planned, seed: int) -> dict[str, Any]:
    """Return the value on members, and what a member/control difference is taken on: both groups at one size.

    The size is half of what is held out, for the controls ``fresh`` and ``leaky`` leave that half.
    """
    metric = METRICS[planned.measure.metric]
    members, controls = np.flatnonzero(member.fillna(False)), np.flatnonzero((~member).fillna(False))
    release = Tables(tables.real.iloc[members], tables.synthetic)
    score = metric.score(release, seed=seed, **planned.options)
    found: dict[str, Any] = {"value": score.value, "reason": score.reason or ""}
    size = min(len(members), max(len(tables.real) - len(members), 2) // 2)
    rng = np.random.default_rng(seed)
    for name, rows in (("members", members), ("controls", controls)):
        enough = metric.against is not None and len(rows) >= size >= 2
        chosen = np.sort(rng.choice(rows, size, replace=False)) if enough else rows
        found[name] = metric.against(tables, chosen) if metric.against and enough else float("nan")
    return found
