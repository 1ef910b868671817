"""Let every attack of the study score all real records against one release."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from prefect import task

from synthrisk.conf.plan import Planned
from synthrisk.metrics import METRICS, Metric, Score, Tables
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.metric import Reduction, reason_of
from synthrisk.metrics.register import GROUP
from synthrisk.metrics.release.check import ReleaseCheck, as_plain, check_release
from synthrisk.metrics.release.k_anonymity import keys_of_release
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.ledger import COLUMNS, ledger_rows
from synthrisk.metrics.study.utility import utility_values
from synthrisk.tasks.workspace.failure import told_safely
from synthrisk.tasks.workspace.references import CHECK, KEYS, LEDGER, VALUES, Cell, LedgerFolder, ReleaseFolder, Sample
from synthrisk.tasks.workspace.store import keep, key_of, plugin_version, source_digest, versions

_FORMAT = 13  # raise it when the same scores give another ledger
_GROUPS = {"members": 1, "controls": 0}
_NO_CONTROL = "no control records"
_OTHER_SIZE = "groups of other sizes: read the difference"
_TOO_FEW = "too few records for two groups of one size"


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
        source_digest("synthrisk.metrics"),
        [plugin_version(GROUP, p.measure.metric) for p in planned],
        list(quasi_identifiers),
        _FORMAT,
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
    (draft / VALUES).write_text(json.dumps(values))
    (draft / CHECK).write_text(json.dumps(as_plain(check)))
    if quasi_identifiers:
        keys = keys_of_release(Tables(real, synthetic, groups=_groups(member)), quasi_identifiers)
        (draft / KEYS).write_text(json.dumps(asdict(keys)))


def look(real: pd.DataFrame, synthetic: pd.DataFrame, member: Any, used: int) -> ReleaseCheck:
    """Return what a look at the release shows; ``used`` held-out records it was drawn from, 0 if from none."""
    is_member, is_control = member.fillna(False).astype(bool), (~member).fillna(False).astype(bool)
    return check_release(real[is_member], real[is_control], synthetic, used or None)


def membership(sample: Sample, release: ReleaseFolder) -> pd.api.extensions.ExtensionArray:
    """Return True for members, False for control records, NA for held-out records that the release was drawn from."""
    held_out = sample.held_out(release.cell.repetition, release.cell.fold)
    member = pd.array(~held_out, dtype="boolean")
    member[np.flatnonzero(held_out)[release.used()]] = pd.NA
    return member


def _groups(member: Any) -> np.ndarray:
    """Return 1 for members, 0 for control records, -1 for neither."""
    return np.where(member.isna(), -1, member.fillna(False).astype(np.int64))


def attack_release(
    real: pd.DataFrame,
    synthetic: pd.DataFrame,
    member: Any,
    planned: Sequence[Planned],
    seed: int,
    cell: Cell,
    entities: np.ndarray | None = None,
) -> tuple[pd.DataFrame, dict[str, dict[str, Any]]]:
    """Return the ledger of a release, and what each measure says beside its scores.

    Of each measure: ``all`` real records, ``members`` and ``controls`` (named numbers), ``reasons`` why these have no
    value, and a ``warning``; of a metric without a score a real record, its values and ``reasons``; of a utility metric
    ``usefulness.utility_values``.

    Records that a release was drawn from (``fresh``, ``leaky``, non-members) are neither members nor control records.
    They are the release itself, so what guesses no sensitive value leaves them out (``Metric.among``): beside them no
    real record could be nearer to the release than to another real one (identifiability 0), and each released record
    would have a real one at distance 0, as if it were copied (adversarial accuracy). Members and control records are
    alike: each is compared with all others of both groups, in one space. Class shares are those of all real records.
    """
    groups = _groups(member)
    everyone = Tables(real, synthetic, groups=groups, entities=entities)
    draw = seed_of(seed, cell.repetition, cell.fold, "ceiling")  # the same for all synthesizers
    parts: list[pd.DataFrame] = []
    values: dict[str, dict[str, Any]] = {}
    for each in planned:
        metric, measure = METRICS[each.measure.metric], each.measure
        own = seed_of(seed, cell.repetition, cell.fold, cell.synthesizer, *each.words)
        if metric.is_utility:
            useful = everyone.shared("useful", lambda: _beside_control(everyone, groups, draw))
            values[measure.key] = utility_values(metric.score(useful, seed=own, **each.options))
            continue
        tables = metric.among(everyone)
        if metric.isolated is not None:
            values[measure.key], isolated = _singled_out(tables, each, own)
            parts.append(ledger_rows(_of_all(isolated, tables, groups), measure, member, None))
            continue
        if metric.by_release:
            values[measure.key] = _released(tables, int((groups != 1).sum()), each, own)
            continue
        score = metric.score(tables, seed=own, **each.options)
        values[measure.key] = {"all": score.details, "warning": score.warning or ""} | _by_group(metric, score, tables)
        truth = None if measure.sensitive is None else real[measure.sensitive]
        parts.append(ledger_rows(_of_all(score, tables, groups), measure, member, truth))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(COLUMNS)), values


def _of_all(score: Score, tables: Tables, groups: np.ndarray) -> Score:
    """Return the score with a row for each real record, empty for those that are not in the tables."""
    if score.records is None or len(tables.real) == len(groups):
        return score
    places = np.flatnonzero(groups >= 0)
    return replace(score, records=score.records.set_axis(places).reindex(np.arange(len(groups))))


def _beside_control(tables: Tables, groups: np.ndarray, seed: int) -> Tables:
    """Return members and release, and half of the held-out records apart, which a ceiling is taken on.

    Half, for the reference generators ``fresh`` and ``leaky`` leave that half: so all ceilings of a study have one
    size.
    """
    controls, size = np.flatnonzero(groups == 0), max(int((groups != 1).sum()) // 2, 1)
    if len(controls) > size:
        controls = np.sort(np.random.default_rng(seed).choice(controls, size, replace=False))
    return tables.of(np.flatnonzero(groups == 1), controls if len(controls) else None)


def _by_group(metric: Metric, score: Score, tables: Tables) -> dict[str, dict[str, Any]]:
    """Return what the metric's records say of members and of control records apart."""
    found = _reduced(metric, score, tables)
    reasons = {name: reason_of(score, each) or "" for name, each in found.items()}
    return {name: each.details for name, each in found.items()} | {
        "reasons": reasons or dict.fromkeys(_GROUPS, score.reason or "")
    }


def _reduced(metric: Metric, score: Score, tables: Tables) -> dict[str, Reduction]:
    """Return what the records of each group come to; empty where the metric cannot say."""
    if metric.reduce is None or score.records is None or tables.groups is None:
        return {}
    rows = {name: tables.groups == group for name, group in _GROUPS.items()}
    return {name: metric.reduce(score.records[own]) for name, own in rows.items() if own.any()}


def _released(tables: Tables, held_out: int, planned: Planned, seed: int) -> dict[str, Any]:
    """Return the value on members and on control records, and what a difference of the two is taken on.

    A metric of the real records has both values from one pass, each record compared with all others of both groups. One
    of the synthetic records has a value on members alone: it depends on how many real records there are. The difference
    is taken on both groups at one size, half of what is held out, for the reference generators ``fresh`` and
    ``leaky`` leave that half.
    """
    metric = METRICS[planned.measure.metric]
    assert tables.groups is not None  # noqa: S101 - attack_release makes them
    members, controls = (np.flatnonzero(tables.groups == group) for group in _GROUPS.values())
    apart = metric.scores == "synthetic" or metric.reduce is None
    scored = tables.of(members) if apart else tables
    score = metric.score(scored, seed=seed, **planned.options)
    groups = {} if apart else _reduced(metric, score, tables)
    values = {name: each.value for name, each in groups.items()}
    reasons = {name: reason_of(score, each) or "" for name, each in groups.items()}
    of_controls, of_both = (_OTHER_SIZE, _TOO_FEW) if len(controls) else (_NO_CONTROL, _NO_CONTROL)
    found: dict[str, Any] = {"value": values.get("members", score.value), "control": values.get("controls", np.nan)}
    found["details"] = groups["members"].details if "members" in groups else score.details
    found["reasons"] = {"members": score.reason or "", "controls": of_controls, "difference": of_both} | reasons
    size = min(len(members), max(held_out, 2) // 2)
    rng = np.random.default_rng(seed)
    for name, rows in (("members", members), ("controls", controls)):
        enough = len(rows) >= size >= 2
        chosen = np.sort(rng.choice(rows, size, replace=False)) if enough else rows
        found[name] = metric.value_against(tables, chosen, seed=seed, **planned.options) if enough else float("nan")
    return found


def _singled_out(tables: Tables, planned: Planned, seed: int) -> tuple[dict[str, Any], Score]:
    """Return the value on members, and which members and control records the claims isolate among both together."""
    metric = METRICS[planned.measure.metric]
    assert tables.groups is not None and metric.isolated is not None  # noqa: S101, PT018 - attack_release sees to it
    members, controls = (np.flatnonzero(tables.groups == group) for group in _GROUPS.values())
    both = tables.of(members, controls if len(controls) else None)
    score, flags = metric.score(both, seed=seed, **planned.options), np.full(len(tables.real), np.nan)
    if len(controls):
        flags[np.concatenate([members, controls])] = metric.isolated(both, seed=seed, **planned.options)
    said = {"value": score.value, "details": score.details, "reasons": {"members": score.reason or ""}}
    return said, replace(score, records=pd.DataFrame({"score": flags}))
