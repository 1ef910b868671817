"""From the ledgers of one synthesizer to its findings: estimates with intervals, and who is most exposed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.conf.study import Bootstrap
from synthrisk.metrics import METRICS
from synthrisk.metrics.exposure.single_records import quantiles, record_exposure
from synthrisk.metrics.exposure.vulnerable import vulnerable
from synthrisk.metrics.intervals.epsilon import released_epsilon
from synthrisk.metrics.intervals.estimates import METHODS, Interval, difference
from synthrisk.metrics.intervals.linearised import contributions
from synthrisk.metrics.intervals.pooled_rates import pooled_rates
from synthrisk.metrics.intervals.scale import ValueScale
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.contributions import Contributions, contributions_of
from synthrisk.metrics.study.findings import Attacked, Finding, find, find_released
from synthrisk.metrics.study.groups import find_groups, worst_class
from synthrisk.metrics.study.isolated_findings import find_isolated
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.utility import Usefulness, usefulness
from synthrisk.metrics.tables.codes import joint_codes
from synthrisk.metrics.tables.kinds import kind
from synthrisk.tasks.workspace.contributions import keep_contributions
from synthrisk.tasks.workspace.failure import told_safely
from synthrisk.tasks.workspace.handed import Found
from synthrisk.tasks.workspace.references import LedgerFolder, Sample
from synthrisk.tasks.workspace.store import key_of, write_file
from synthrisk.tasks.workspace.verb import verb

_Released = tuple[np.ndarray, dict[str, str], dict[str, tuple[float, float]]]
_OF_RELEASE = ("_lower", "_upper", "_p_value")  # of one release: their means say nothing


def _title(parameters: dict[str, Any]) -> str:
    return f"bootstrap {parameters['ledgers'][0].release.generator.name}"


@verb("bootstrap", _title)
def bootstrap(ledgers: Sequence[LedgerFolder], settings: Bootstrap) -> Found:
    """Return what was found of one generator, risks and utility; records are handed on by path.

    Args:
        ledgers: Its ledgers.
        settings: How intervals are made.
    """
    sample, generator = ledgers[0].release.sample, ledgers[0].release.generator
    measures, workspace = [p.measure for p in ledgers[0].planned], sample.workspace
    synthesizer, role, key = generator.name, generator.role, sample.key
    seed = seed_of(sample.seed, "bootstrap", synthesizer)
    interval = Interval(settings.confidence, settings.method, settings.resamples, seed)

    def found_and_exposed() -> Found:
        groups = vulnerable(sample.records(), key, settings.vulnerable)
        found: list[Finding] = []
        risks = [m for m in measures if not METRICS[m.metric].is_utility]
        exposed: dict[str, pd.DataFrame] = {}
        before: dict[tuple[str, str | None], np.ndarray] = {}
        contributions: dict[str, Contributions | np.ndarray] = {}
        varied = {(m.variant_of, m.sensitive) for m in measures if m.variant_of}
        for measure, attacked in _attacked(ledgers, risks, sample):
            if isinstance(attacked, Attacked):
                finding = find(synthesizer, role, measure, attacked, interval, METHODS)
                if (measure.label, measure.sensitive) in varied:
                    before[measure.label, measure.sensitive] = attacked.scores
                if measure.variant_of:  # planned after what it varies
                    first = before[measure.variant_of, measure.sensitive]
                    change = difference(first, attacked.scores, interval.confidence, attacked.member, attacked.entities)
                    finding = replace(finding, change=change)
                if attacked.ranking is not None and not measure.variant_of:
                    ranked = attacked.ranking, attacked.member, attacked.control
                    tpr = pooled_rates(*ranked, interval, attacked.entities)
                    epsilon = released_epsilon(*ranked, attacked.entities, interval.confidence)
                    finding = replace(finding, tpr=tpr, epsilon=epsilon)
                rows = record_exposure(attacked.scores, attacked.member, attacked.control, interval.confidence)
                apart = {} if METRICS[measure.metric].weight else _apart(finding, attacked, groups, interval, sample)
                spread = quantiles(rows["memorization"].to_numpy())
                found.append(replace(finding, groups=apart, spread=spread))
                exposed[measure.key] = rows
                contributions[measure.key] = contributions_of(attacked)
            elif isinstance(attacked, dict):
                finding, contributions[measure.key] = find_isolated(
                    (synthesizer, role, measure), interval=interval, entities=sample.entities(), **attacked
                )
                found.append(finding)
            else:
                values, reasons, details = attacked
                contributions[measure.key] = values
                scale = ValueScale(*METRICS[measure.metric].range)
                found.append(find_released(synthesizer, role, measure, values, interval, reasons, details, scale))
        useful = tuple(_useful(synthesizer, role, m, ledgers, interval.confidence) for m in measures if m not in risks)
        name = key_of(synthesizer, [each.path for each in ledgers], [m.key for m in measures])
        path = Path(workspace) / "exposed" / f"{name}.parquet"
        write_file(path, lambda draft: _exposed_table(exposed).to_parquet(draft, compression="zstd"))
        kept = keep_contributions(Path(workspace) / "contributions" / f"{name}.npz", contributions)
        return Found(tuple(ledgers), tuple(found), useful, str(path), kept)

    return told_safely(Path(workspace), f"bootstrap-{synthesizer}", found_and_exposed)


def _apart(
    finding: Finding, attacked: Attacked, groups: dict[str, np.ndarray], interval: Interval, sample: Sample
) -> dict[str, Finding]:
    """Return the findings of vulnerable records, and of the worst class where a class is guessed."""
    found = find_groups(finding, attacked, groups, interval)
    column = sample.records()[finding.measure.sensitive] if finding.measure.sensitive else None
    if column is not None and kind(column) == "categorical":
        of_classes = worst_class(finding, attacked, joint_codes([column])[0].tables[0], interval)
        found |= {"classes": of_classes} if of_classes else {}
    return found


def _attacked(
    ledgers: Sequence[LedgerFolder], measures: Sequence[Measure], sample: Sample
) -> Iterator[tuple[Measure, Attacked | _Released | dict[str, Any]]]:
    """Yield each measure with its scores on all releases, (R, K, n), or its values, (4, R, K).

    Beside values: why some are absent, and what is said of members besides, in the mean over releases. Of claims that
    name no target: the arguments of ``find_isolated``.
    """
    places = [(each.cell.repetition, each.cell.fold) for each in ledgers]
    shape = (max(r for r, _ in places) + 1, max(f for _, f in places) + 1)
    values = {place: each.values() for place, each in zip(places, ledgers, strict=True)}
    entities = sample.entities()
    for measure in measures:
        metric = METRICS[measure.metric]
        details = {place: values[place][measure.key] for place in places}
        if metric.isolated is not None:
            of_releases = np.full(shape, np.nan)
            for place, found in details.items():
                of_releases[place] = found["value"]
            cubes = _cubes(ledgers, measure, {"member", "score"}, shape)
            reason = _reason(details.values(), "members")
            yield measure, {"values": of_releases, "cubes": cubes, "details": _means(details), "reason": reason}
            continue
        if metric.by_release:
            released = np.full((4, *shape), np.nan)
            for place, found in details.items():
                released[:, *place] = [found[name] for name in ("value", "control", "members", "controls")]
            reasons = {name: _reason(details.values(), name) for name in ("members", "controls", "difference")}
            yield measure, (released, reasons, _means(details))
            continue
        wanted = {"member", *metric.columns} | ({"gain"} if _has_gain(details.values()) else set())
        cubes, said = _cubes(ledgers, measure, wanted, shape), _details(details.values())
        yield (
            measure,
            Attacked(
                cubes["score"],
                cubes["member"] == 1,
                cubes["member"] == 0,
                _contribution(metric, cubes),
                metric.transform,
                _guess(details.values()),
                entities,
                cubes.get("gain"),
                said,
                _first(found["warning"] for found in details.values()),
                (_reason(details.values(), "members"), _reason(details.values(), "controls")),
                _reach(metric, cubes, said),
                _ranking(metric, cubes),
                metric.range,
            ),
        )


def _reach(metric: Metric, cubes: dict[str, np.ndarray], details: dict[str, tuple[float, float]]) -> float:
    """Return the share of the members that the attack had an answer for, over all releases."""
    if metric.answered is not None:
        return metric.answered({name: of_members for name, (of_members, _) in details.items()})
    return float((~np.isnan(cubes["score"][cubes["member"] == 1])).mean())


def _cubes(
    ledgers: Sequence[LedgerFolder], measure: Measure, wanted: set[str], shape: tuple[int, int]
) -> dict[str, np.ndarray]:
    """Return columns of a measure's rows on all releases, (R, K, n) each."""
    cubes: dict[str, np.ndarray] = {}
    for each in ledgers:
        rows = each.of(measure, sorted(wanted))
        for name in rows.columns:
            cube = cubes.setdefault(name, np.full((*shape, len(rows)), np.nan))
            cube[each.cell.repetition, each.cell.fold] = rows[name].to_numpy(dtype=float, na_value=np.nan)
    return cubes


def _means(details: dict[tuple[int, int], dict[str, Any]]) -> dict[str, tuple[float, float]]:
    """Return what is said of any release besides its value, in the mean over releases."""
    told = {name: [found["details"].get(name, np.nan) for found in details.values()] for name in _names(details)}
    return {name: (float(np.mean(each)), np.nan) for name, each in told.items()}


def _names(details: dict[tuple[int, int], dict[str, Any]]) -> list[str]:
    """Return the names of all that is said of any release besides its value, in the order said."""
    names = dict.fromkeys(name for found in details.values() for name in found["details"])
    return [name for name in names if not name.endswith(_OF_RELEASE)]


def _useful(
    synthesizer: str, role: str, measure: Measure, ledgers: Sequence[LedgerFolder], confidence: float
) -> Usefulness:
    found = {(each.cell.repetition, each.cell.fold): each.values()[measure.key] for each in ledgers}
    return usefulness(synthesizer, role, measure, found, confidence)


def _contribution(metric: Metric, cubes: dict[str, np.ndarray]) -> np.ndarray | None:
    """Return what the metric's value is the mean of, where that is not the score."""
    if metric.weight is None:
        return None if metric.contribution == "score" else cubes[metric.contribution]
    amount, weights = cubes[metric.contribution], cubes[metric.weight]
    members, controls = (contributions(amount, weights, cubes["member"] == own) for own in (1, 0))
    return np.where(cubes["member"] == 1, members, controls)


def _ranking(metric: Metric, cubes: dict[str, np.ndarray]) -> np.ndarray | None:
    """Return how likely each record is a member, by a metric that ranks them; targets that it abstains of come last."""
    if metric.ranking is None:
        return None
    ranked = cubes[metric.ranking.lstrip("-")] * (-1 if metric.ranking.startswith("-") else 1)
    return np.where(np.isnan(cubes["score"]), np.nan, np.where(np.isnan(ranked), -np.inf, ranked))


def _reason(found: Iterable[dict[str, Any]], name: str) -> str:
    """Return why a group (or the difference) has no value on the first release on which it has none."""
    return _first(each["reasons"].get(name, "") for each in found)


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")


def _guess(found: Iterable[dict[str, Any]]) -> float:
    """Return the mean guess of the releases; of claims it is that of the claims about members, where there are any."""
    said = [{**each["all"], **each.get("members", {})}.get("guess", np.nan) for each in found]
    known = [float(guess) for guess in said if not np.isnan(guess)]
    return float(np.mean(known)) if known else float("nan")


def _has_gain(found: Iterable[dict[str, Any]]) -> bool:
    return any("mean_gain" in each["all"] for each in found)


def _details(found: Iterable[dict[str, Any]]) -> dict[str, tuple[float, float]]:
    """Return means over releases of what is said of members and of control records; curves have a place of their own.

    What is said of all real records together (a ceiling, a null) stands for both.
    """
    every = list(found)
    names = dict.fromkeys(
        name
        for each in every
        for name in each["all"]
        if not name.startswith("curve_") and not name.endswith(_OF_RELEASE)
    )
    means = {}
    for name in names:
        pairs = [[each.get(g, {}).get(name, each["all"][name]) for g in ("members", "controls")] for each in every]
        means[name] = tuple(float(v) for v in np.mean(pairs, axis=0))
    return means  # type: ignore[return-value]


def _exposed_table(exposed: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return one row a record and measure: mean score as member and as control, and memorization with interval."""
    parts = [rows.assign(record=np.arange(len(rows)), measure=key) for key, rows in exposed.items()]
    columns = ["record", "measure", "as_member", "as_control", "memorization", "lower", "upper"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)
