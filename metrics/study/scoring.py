"""What every attack of a study says of one release: scores of all real records, and values beside them."""

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from synthrisk.metrics import METRICS, Metric, Score, Tables
from synthrisk.metrics.release.columns import coarsened_alike, second_reading, without_columns
from synthrisk.metrics.release.k_anonymity import ReleaseKeys, keys_of_release
from synthrisk.metrics.release.validity import ReleaseCheck, check_release
from synthrisk.metrics.score import Reduction
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.ledger import (
    Cell,
    OfIsolation,
    OfRecords,
    OfRelease,
    OfUtility,
    Planned,
    Reasons,
    Said,
    as_frame,
    joint_values,
    ledger_of,
    ledger_rows,
)
from synthrisk.metrics.tables.tables import Target

_GROUPS = {"members": 1, "controls": 0}
_NO_CONTROL = "no control records"
_OTHER_SIZE = "groups of other sizes: read the difference"
_TOO_FEW = "too few records for two groups of one size"


def tables_of(
    real: pd.DataFrame,
    synthetic: pd.DataFrame,
    member: Any,
    entities: np.ndarray | None = None,
    links: np.ndarray | None = None,
) -> Tables:
    """Return the tables of a release, of which encodings and searches are shared by all that is said of it."""
    return Tables(real, synthetic, groups=_groups(member), entities=entities, links=links)


def look(tables: Tables, member: Any, used: int, guessed: Collection[str] | None = None) -> ReleaseCheck:
    """Return what a look at the release shows; ``used`` held-out records it was drawn from, 0 if from none.

    ``guessed``: the columns that attacks guess, where that is known.

    Where cells of the release stand for sets, the real values are as coarse here (``coarsened_alike``).
    """
    tables = coarsened_alike(tables)
    is_member, is_control = member.fillna(False).astype(bool), (~member).fillna(False).astype(bool)
    real, release = tables.real, tables.synthetic
    if is_member.all() and tables.entities is None:
        return check_release(real, None, release, used or None, tables, guessed=guessed)
    every = tables.entities
    whose = None if every is None else np.concatenate([every[is_member], every[is_control]])
    return check_release(real[is_member], real[is_control], release, used or None, entities=whose, guessed=guessed)


def read_again(tables: Tables, member: Any, check: ReleaseCheck, guessed: Collection[str] = ()) -> Tables | None:
    """Return the tables with the second reading of the release (``second_reading``); None where one is enough.

    Columns of which the release holds nothing, or one value, are the same everywhere there, but for those that attacks
    guess. Where cells of the release stand for sets, the real values are as coarse there (``coarsened_alike``).
    """
    blank = [c for c in check.blank if c not in guessed]
    coarse = coarsened_alike(tables)
    if not (check.far or check.finer or blank):
        return None if coarse is tables else coarse
    is_member, is_control = member.fillna(False).astype(bool), (~member).fillna(False).astype(bool)
    control = coarse.real[is_control] if is_control.any() else None
    second = second_reading(coarse.real[is_member], control, coarse.synthetic, check.far, check.finer)
    real, release = coarse.real, coarse.synthetic if second is None else second
    if blank:
        real, release = without_columns(real, release, blank)
    elif second is None:
        return None if coarse is tables else coarse
    return Tables(real, release, groups=tables.groups, entities=tables.entities, links=tables.links)


def sizes_of_keys(tables: Tables, quasi_identifiers: Sequence[str], targets: Sequence[Target] = ()) -> ReleaseKeys:
    """Return how many records share each key, in the release and among the real records, and how many values."""
    alone = tables if tables.entities is None else Tables(tables.real, tables.synthetic, groups=tables.groups)
    return keys_of_release(alone, quasi_identifiers, targets)


def _groups(member: Any) -> np.ndarray:
    """Return 1 for members, 0 for control records, -1 for neither."""
    return np.where(member.isna(), -1, member.fillna(False).astype(np.int64))


def score_release(
    tables: Tables,
    member: Any,
    planned: Sequence[Planned],
    seed: int,
    cell: Cell,
    tell: Callable[[str], None] = lambda key: None,
) -> tuple[pa.Table, dict[str, Said]]:
    """Return the ledger of a release, and what each measure says beside its scores; ``tables`` are ``tables_of`` it.

    ``tell`` is told the key of each measure before it is computed.

    Records that a release was drawn from (``fresh``, ``leaky``, non-members) are neither members nor control records.
    They are the release itself, so what guesses no sensitive value leaves them out (``Metric.among``): beside them no
    real record could be nearer to the release than to another real one (identifiability 0), and each released record
    would have a real one at distance 0, as if it were copied (adversarial accuracy). Members and control records are
    alike: each is compared with all others of both groups, in one space. Class shares are those of all real records.
    """
    draw = seed_of(seed, cell.repetition, cell.fold, "ceiling")  # the same for all synthesizers
    arena = Arena(tables, member, draw)
    parts: list[pa.Table] = []
    values: dict[str, Said] = {}

    def own_seed(each: Planned) -> int:
        return seed_of(seed, cell.repetition, cell.fold, cell.synthesizer, *each.words)

    scored: dict[Hashable, Score] = {}  # of attacker models that are put together: fitted once, wherever they stand
    shared = {_fit(own) for each in planned for own in each.apart}

    def once(each: Planned) -> Score:
        metric = METRICS[each.measure.metric]
        if _fit(each) not in scored:
            scored[_fit(each)] = metric.score(metric.among(tables), seed=own_seed(each), **each.options)
        return scored[_fit(each)]

    for each in planned:
        tell(each.measure.key)
        metric = METRICS[each.measure.metric]
        if each.apart and metric.study.together is not None:
            every = {str(own.measure.attacker): once(own) for own in each.apart}
            score = metric.study.together(every, each.options["envelope"])
            rows, values[each.measure.key] = _scored(metric, arena, each, score)
        elif _fit(each) in shared:
            rows, values[each.measure.key] = _scored(metric, arena, each, once(each))
        else:
            rows, values[each.measure.key] = score_measure(metric, arena, each, own_seed(each))
        parts += [] if rows is None else [rows]
    return ledger_of(parts), values


def _fit(each: Planned) -> Hashable:
    """Return what decides a fitted attacker model on one release, besides the release."""
    return each.words, each.family


def attack_release(
    real: pd.DataFrame,
    synthetic: pd.DataFrame,
    member: Any,
    planned: Sequence[Planned],
    seed: int,
    cell: Cell,
    entities: np.ndarray | None = None,
) -> tuple[pd.DataFrame, dict[str, Said]]:
    """Return what ``score_release`` does of these tables, the ledger as a frame."""
    ledger, values = score_release(tables_of(real, synthetic, member, entities), member, planned, seed, cell)
    return as_frame(ledger), values


class Arena(NamedTuple):
    """A release with the real records that it is attacked for."""

    tables: Tables  # real records in ``groups`` (1 member, 0 control, -1 neither), and the release
    member: Any  # the same as nullable booleans
    ceiling: int  # seed of who is drawn for a ceiling

    @property
    def groups(self) -> np.ndarray:
        """The group of each real record."""
        assert self.tables.groups is not None  # noqa: S101 - made with them
        return self.tables.groups

    def useful(self) -> Tables:
        """Return members and release, and control records apart: see ``_beside_control``."""
        return self.tables.shared("useful", lambda: _beside_control(self.tables, self.groups, self.ceiling))


def score_measure(metric: Metric, arena: Arena, planned: Planned, seed: int) -> tuple[pa.Table | None, Said]:
    """Return the ledger's rows of one measure, None where it scores no real records, and what it says beside them."""
    if metric.is_utility:
        useful = metric.score(arena.useful(), seed=seed, **planned.options)
        return None, OfUtility(useful.value, useful.own_details, useful.ceiling, useful.reason or "")
    tables, measure, groups = metric.among(arena.tables), planned.measure, arena.groups
    if metric.study.isolated is not None:
        said, isolated = _singled_out(metric, tables, planned, seed)
        return ledger_rows(_of_all(isolated, tables, groups), measure, arena.member, None), said
    if metric.by_release:
        return None, _released(metric, tables, int((groups != 1).sum()), planned, seed)
    return _scored(metric, arena, planned, metric.score(tables, seed=seed, **planned.options))


def _scored(metric: Metric, arena: Arena, planned: Planned, score: Score) -> tuple[pa.Table, OfRecords]:
    """Return the ledger's rows of a measure that scores single real records, and what it says beside them."""
    tables, measure = metric.among(arena.tables), planned.measure
    truth = joint_values(arena.tables.real, measure.targets)
    rows = ledger_rows(_of_all(score, tables, arena.groups), measure, arena.member, truth, metric.columns)
    return rows, said_of_records(metric, score, tables.groups)


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


def said_of_records(metric: Metric, score: Score, groups: np.ndarray | None) -> OfRecords:
    """Return what the metric says of all records, and of members and of control records apart."""
    found = _reduced(metric, score, groups)
    reasons = {name: score.reason_for(each) or "" for name, each in found.items()}
    columns = () if score.records is None or not metric.study.gains else score.records.columns
    return OfRecords(
        score.details,
        **{name: each.details for name, each in found.items()},
        gains="gain" in columns,
        reasons=Reasons(**reasons or dict.fromkeys(_GROUPS, score.reason or "")),
        warning=score.warning or "",
        errors="error" in columns and "tolerance" in score.details,
    )


def _reduced(metric: Metric, score: Score, groups: np.ndarray | None) -> dict[str, Reduction]:
    """Return what the records of each group come to; empty where the metric cannot say."""
    if metric.records.reduce is None or score.records is None or groups is None:
        return {}
    rows = {name: groups == group for name, group in _GROUPS.items()}
    found = {name: own for name, own in rows.items() if own.any()}
    reduce, records = metric.records.reduce, score.records
    return {name: reduce(records if own.all() else records[own]) for name, own in found.items()}


def _released(metric: Metric, tables: Tables, held_out: int, planned: Planned, seed: int) -> OfRelease:
    """Return the value on members and on control records, and what a difference of the two is taken on.

    A metric of the real records has both values from one pass, each record compared with all others of both groups. One
    of the synthetic records has a value on members alone: it depends on how many real records there are. The difference
    is taken on both groups at one size, half of what is held out, for the reference generators ``fresh`` and
    ``leaky`` leave that half.
    """
    assert tables.groups is not None  # noqa: S101 - attack_release makes them
    members, controls = (np.flatnonzero(tables.groups == group) for group in _GROUPS.values())
    apart = metric.scores == "synthetic" or metric.records.reduce is None
    scored = tables.of(members) if apart else tables
    score = metric.score(scored, seed=seed, **planned.options)
    groups = {} if apart else _reduced(metric, score, tables.groups)
    values = {name: each.value for name, each in groups.items()}
    reasons = {name: score.reason_for(each) or "" for name, each in groups.items()}
    of_controls, of_both = (_OTHER_SIZE, _TOO_FEW) if len(controls) else (_NO_CONTROL, _NO_CONTROL)
    size = min(len(members), max(held_out, 2) // 2)
    rng = np.random.default_rng(seed)

    def at_one_size(rows: np.ndarray) -> float:
        if not len(rows) >= size >= 2:
            return float("nan")
        chosen = np.sort(rng.choice(rows, size, replace=False))
        return metric.value_against(tables, chosen, seed=seed, **planned.options)

    return OfRelease(
        values.get("members", score.value),
        values.get("controls", float("nan")),
        at_one_size(members),
        at_one_size(controls),
        groups["members"].details if "members" in groups else score.details,
        Reasons(**{"members": score.reason or "", "controls": of_controls, "difference": of_both} | reasons),
    )


def _singled_out(metric: Metric, tables: Tables, planned: Planned, seed: int) -> tuple[OfIsolation, Score]:
    """Return the value on members, and which members and control records the claims isolate among both together."""
    assert tables.groups is not None and metric.study.isolated is not None  # noqa: S101, PT018 - attack_release sees to it
    members, controls = (np.flatnonzero(tables.groups == group) for group in _GROUPS.values())
    both = tables.of(members, controls if len(controls) else None)
    score, flags = metric.score(both, seed=seed, **planned.options), np.full(len(tables.real), np.nan)
    if len(controls):
        flags[np.concatenate([members, controls])] = metric.study.isolated(both, seed=seed, **planned.options)
    said = OfIsolation(score.value, score.details, Reasons(score.reason or ""))
    return said, replace(score, records=pd.DataFrame({"score": flags}))
