"""The course of a study once its data are there: synthesize, attack, bootstrap, compare, judge, report, log."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from prefect import get_run_logger
from prefect.futures import PrefectFuture
from prefect.states import Completed
from prefect.task_runners import TaskRunner

from synthrisk.conf import Study
from synthrisk.conf.plan import plan
from synthrisk.conf.study import ALL_OTHERS, NON_MEMBERS, SynthesizerChoice, share_of
from synthrisk.flows.check import check_on
from synthrisk.flows.progress import progress
from synthrisk.flows.runner import task_runner
from synthrisk.metrics import METRICS
from synthrisk.metrics.neighbours.search import prepare
from synthrisk.metrics.release.summary import ReleaseSummary, summarise
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Cell
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.study.quantities import limited
from synthrisk.metrics.study.reference_checks import Check, check_references
from synthrisk.metrics.study.results import Limit, StudyResult
from synthrisk.metrics.study.utility import Usefulness
from synthrisk.metrics.study.verdicts import Beside, check_limits, holds_for, judge, worst
from synthrisk.tasks.attack import attack
from synthrisk.tasks.bootstrap import bootstrap
from synthrisk.tasks.compare import Compared, compare
from synthrisk.tasks.describe import describe
from synthrisk.tasks.expose import expose
from synthrisk.tasks.log import Kept, Logged, log
from synthrisk.tasks.report import report
from synthrisk.tasks.synthesize import synthesizer
from synthrisk.tasks.synthesize.task import synthesize
from synthrisk.tasks.workspace.references import LedgerFolder, Sample
from synthrisk.tasks.workspace.store import key_of, versions

_VERSIONS = ("synthrisk", "numpy", "pandas", "scikit-learn", "scipy", "prefect", "mlflow")


@dataclass(frozen=True)
class Outcome:
    """What a study ends in: numbers, where they are tracked, the report, and a page of exposure a synthesizer."""

    result: StudyResult
    logged: Logged
    report: str
    exposures: Mapping[str, str] = field(default_factory=dict)


def conduct(study: Study, sample: Sample, workspace: Path, warning: str = "") -> Outcome:
    """Run a study on a table that is split already; a ``warning`` speaks of all its numbers."""
    columns = [c for c in sample.table.columns if c != sample.identifier]
    planned = plan(study, columns)
    check_limits(list(study.thresholds), [p.measure for p in planned])
    check_on(study, sample, planned)
    started = datetime.now(UTC)
    prepare()  # once, not in every worker at the same time: each look at a release searches nearest records
    with task_runner(study.runner) as runner:
        ledgers, failures = attack_all(runner, study, sample, planned, str(workspace))
        found, kept = bootstrap_all(runner, study, sample, planned, ledgers, failures, str(workspace))
        risks = [p for p in planned if not METRICS[p.measure.metric].is_utility]
        risky = [f for f in found if isinstance(f, Finding)]
        compared = compare_all(runner, study, sample, risks, risky, kept, str(workspace))
        study_id = f"{started:%Y%m%d-%H%M%S}-{key_of(study.model_dump(mode='json'), sample.table.digest)[:6]}"
        exposures = expose_all(runner, study, sample, planned, kept, study_id, str(workspace))
    useful = [f for f in found if isinstance(f, Usefulness)]
    own = {name: each for name, each in ledgers.items() if name != NON_MEMBERS}
    keys = describe(sample, _key(study, sample), own, str(workspace))
    result = conclude(study, sample, compared, useful, failures, started, study_id, looked_at(ledgers))
    result = replace(result, keys=keys, warning=warning)
    settings = yaml.safe_dump(study.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    page = report(result, settings, str(workspace))
    kept = {name: replace(each, page=exposures.get(name)) for name, each in kept.items()}
    logged = log(result, kept, sample.table, settings, [page], study.tracking, str(workspace))
    return Outcome(result, logged, page, exposures)


def concluded(outcome: Outcome) -> Any:
    """Return a completed state that the Prefect UI shows by its verdict; calling the flow gives the outcome."""
    result = outcome.result
    words = {name: result.verdict(name) for name in result.synthesizers}
    name = worst(list(words.values())) or ("INVALID" if not result.valid else "COMPLETED")
    message = ", ".join(f"{name}: {word}" for name, word in words.items() if word) or "no thresholds"
    message += f"; INVALID for {result.invalid}" if not result.valid else ""
    return Completed(name=name, message=message, data=outcome)


def attack_all(
    runner: TaskRunner[Any], study: Study, sample: Sample, planned: Sequence[Planned], workspace: str
) -> tuple[dict[str, list[LedgerFolder]], dict[str, str]]:
    """Make and attack every release; return the ledgers by synthesizer, and why a synthesizer failed."""
    made: list[tuple[Cell, PrefectFuture[Any], PrefectFuture[Any]]] = []
    dearest_first = sorted(_generators(study, sample, planned), key=lambda own: synthesizer(own[0].kind).extra is None)
    for each, _, measured in dearest_first:  # so that the tail is short
        for repetition in range(sample.cut.repetitions):
            for fold in range(sample.cut.releases):
                cell = Cell(each.name, repetition, fold)
                release = runner.submit(
                    synthesize.with_options(retries=study.runner.retries),
                    {
                        "sample": sample,
                        "cell": cell,
                        "kind": each.kind,
                        "options": each.options,
                        "seed": study.seed,
                        "workspace": workspace,
                    },
                )
                ledger = runner.submit(
                    attack.with_options(retries=study.runner.retries),
                    {
                        "sample": sample,
                        "release": release,
                        "planned": measured,
                        "seed": study.seed,
                        "workspace": workspace,
                        "quasi_identifiers": _key(study, sample),
                    },
                )
                made.append((cell, release, ledger))
    ledgers: dict[str, list[LedgerFolder]] = {}
    failures: dict[str, str] = {}
    with progress(len(made)) as bar:
        for cell, release, ledger in made:
            reason = _failure(release) or _failure(ledger)
            bar.advance(cell.name)
            if reason is None:
                ledgers.setdefault(cell.synthesizer, []).append(ledger.result())
            elif cell.synthesizer not in failures:
                failures[cell.synthesizer] = f"{cell.name}: {reason}"
                get_run_logger().error("%s FAILED: %s", cell.synthesizer, failures[cell.synthesizer])
    return ledgers, failures


def bootstrap_all(
    runner: TaskRunner[Any],
    study: Study,
    sample: Sample,
    planned: Sequence[Planned],
    ledgers: Mapping[str, list[LedgerFolder]],
    failures: dict[str, str],
    workspace: str,
) -> tuple[list[Finding | Usefulness], dict[str, Kept]]:
    """Return the findings of all synthesizers that did not fail, and what is kept of their records."""
    made = {
        each.name: runner.submit(
            bootstrap,
            {
                "synthesizer": each.name,
                "role": role,
                "ledgers": ledgers[each.name],
                "measures": [p.measure for p in measured],
                "sample": sample,
                "key": _key(study, sample),
                "settings": study.bootstrap,
                "seed": seed_of(study.seed, "bootstrap", each.name),
                "workspace": workspace,
            },
        )
        for each, role, measured in _generators(study, sample, planned)
        if each.name not in failures
    }
    found: list[Finding | Usefulness] = []
    kept = {}
    for name, future in made.items():
        if reason := _failure(future):
            failures[name] = f"bootstrap: {reason}"
            continue
        findings, exposed, contributions = future.result()
        found.extend(findings)
        kept[name] = Kept(tuple(ledgers[name]), exposed, contributions)
    return found, kept


def compare_all(
    runner: TaskRunner[Any],
    study: Study,
    sample: Sample,
    planned: Sequence[Planned],
    found: Sequence[Finding],
    kept: Mapping[str, Kept],
    workspace: str,
) -> Compared:
    """Return the findings with their yardsticks, the synthesizers in pairs, and the study's power."""
    shares = {r.name: share_of(r) for r in study.all_references} if study.power else {}
    future = runner.submit(
        compare,
        {
            "found": found,
            "contributions": {name: each.contributions for name, each in kept.items()},
            "planned": planned,
            "sample": sample,
            "shares": {name: share for name, share in shares.items() if share is not None},
            "settings": study.bootstrap,
            "seed": seed_of(study.seed, "compare"),
            "workspace": workspace,
        },
    )
    compared: Compared = future.result()
    return compared


def expose_all(
    runner: TaskRunner[Any],
    study: Study,
    sample: Sample,
    planned: Sequence[Planned],
    kept: Mapping[str, Kept],
    study_id: str,
    workspace: str,
) -> dict[str, str]:
    """Write a page of exposure for each synthesizer that ran, unless the study wants none; return their paths."""
    made = {
        each.name: runner.submit(
            expose,
            {
                "synthesizer": each.name,
                "exposed": kept[each.name].exposed,
                "planned": planned,
                "sample": sample,
                "confidence": study.bootstrap.confidence,
                "study_id": study_id,
                "workspace": workspace,
            },
        )
        for each in study.synthesizers
        if study.exposure and each.name in kept
    }
    reasons = {name: _failure(future) for name, future in made.items()}
    for name, reason in reasons.items():
        if reason:  # the numbers stand without the page
            get_run_logger().error("no page of exposure for %s: %s", name, reason)
    return {name: future.result() for name, future in made.items() if not reasons[name]}


def conclude(
    study: Study,
    sample: Sample,
    compared: Compared,
    useful: Sequence[Usefulness],
    failures: Mapping[str, str],
    started: datetime,
    study_id: str,
    releases: Mapping[str, ReleaseSummary] | None = None,
) -> StudyResult:
    """Check the reference generators, judge the synthesizers by their risks, put provenance beside the numbers."""
    found = compared.findings
    ran = {f.synthesizer for f in found} | {u.synthesizer for u in useful} | set(failures)
    kinds = {r.name: r.kind for r in study.all_references if r.name in ran}
    entities = sample.how_many_entities()
    checks = check_references(found, kinds, study.bootstrap.confidence, entities=entities < sample.table.rows)
    checks += [Check(name, "all", "runs", False, reason) for name, reason in failures.items() if name in kinds]
    limits = {name: limit.value for name, limit in study.thresholds.items()}
    looked = releases or {}
    beside = Beside(
        kinds,
        compared.powers,
        broken={name: each.invalid for name, each in looked.items()},
        near={name: each.suspicious or each.blind for name, each in looked.items()},
    )
    verdicts = judge(found, limits, checks, beside)
    facts = {
        "data_digest": sample.table.digest,
        "records": str(sample.table.rows),
        **({"entities": str(entities)} if entities < sample.table.rows else {}),
        "columns": str(sum(c != sample.identifier for c in sample.table.columns)),
        "split_digest": sample.cut.digest,
        "repetitions": str(sample.cut.repetitions),
        "releases": str(sample.cut.repetitions * sample.cut.releases),
        "twins_share": f"{sample.cut.twins_share:.4f}",
        "seed": str(study.seed),
        "interval": f"{study.bootstrap.method}, {study.bootstrap.confidence:g}",
        "threat_model": _threat_model(study),
        "versions": ", ".join(f"{k} {v}" for k, v in versions(_VERSIONS).items())
        + f", python {platform.python_version()}",
        "started": started.isoformat(timespec="seconds"),
    }
    if NON_MEMBERS in failures:  # a yardstick less: the numbers beside it stand
        facts["population_yardstick"] = f"not measured: {failures[NON_MEMBERS]}"
    everyone = [(s, "synthesizer") for s in study.synthesizers] + [
        (r, "reference") for r in study.all_references if r.name in ran
    ]
    return StudyResult(
        study_id=study_id,
        name=study.name,
        findings=found,
        checks=checks,
        verdicts=verdicts,
        failures={name: reason for name, reason in failures.items() if name != NON_MEMBERS},
        limits=_limits(study, found),
        facts=facts,
        settings={s.name: _settings(s, role) for s, role in everyone},
        comparisons=compared.comparisons,
        powers=compared.powers,
        utility=useful,
        weakest=study.weakest,
        releases=looked,
    )


def looked_at(ledgers: Mapping[str, Sequence[LedgerFolder]]) -> dict[str, ReleaseSummary]:
    """Return what the releases of each generator have shown before they were judged."""
    return {name: summarise([each.check() for each in own]) for name, own in ledgers.items() if name != NON_MEMBERS}


def _limits(study: Study, found: Sequence[Finding]) -> dict[str, Limit]:
    """Return the thresholds, one given without an attribute spelled out for each measure that it holds for."""
    limits: dict[str, Limit] = {}
    for name, threshold in study.thresholds.items():
        own = [f.measure for f in found if holds_for(name, f.measure)]
        names = [replace(limited(name, (m.key, m.label)), key=m.key).name for m in own] or [name]
        limits |= dict.fromkeys(names, Limit(threshold.value, threshold.source))
    return limits


def _generators(
    study: Study, sample: Sample, planned: Sequence[Planned]
) -> list[tuple[SynthesizerChoice, str, Sequence[Planned]]]:
    """Return all generators with their role and what they are attacked with.

    A reference generator that no measure would look at is left out.
    """
    beside = planned
    if study.reference_measures == "limited":
        beside = [p for p in planned if any(holds_for(name, p.measure) for name in study.thresholds)]
    own = [(s, "synthesizer", planned) for s in study.synthesizers]
    own += [(r, "reference", beside) for r in study.all_references if beside]
    return [*own, *((each, "yardstick", measured) for each, measured in _yardstick(study, sample, planned))]


def _yardstick(
    study: Study, sample: Sample, planned: Sequence[Planned]
) -> list[tuple[SynthesizerChoice, Sequence[Planned]]]:
    """Return the release of non-members and the measures it is a yardstick of; nothing where none is held out."""
    measured = [p for p in planned if METRICS[p.measure.metric].has_population]
    if not study.population_yardstick or not measured or not sample.holds_out():
        return []
    return [(SynthesizerChoice(name=NON_MEMBERS, kind=NON_MEMBERS), measured)]


def _key(study: Study, sample: Sample) -> list[str]:
    """Return the quasi-identifiers that the study declares."""
    known, hidden = study.data.quasi_identifiers, (*study.data.sensitive, sample.identifier)
    return [c for c in sample.table.columns if c not in hidden] if known == ALL_OTHERS else list(known)


def _failure(future: PrefectFuture[Any]) -> str | None:
    future.wait()
    if future.state.is_completed():
        return None
    error = future.result(raise_on_failure=False)
    return str(error) if isinstance(error, Exception) else f"{future.state.name}: {future.state.message}"


def _threat_model(study: Study) -> str:
    known = study.data.quasi_identifiers
    knows = "all other columns" if known == "*" else ", ".join(known)
    return f"attacker has the release, knows {knows}; guesses {', '.join(study.data.sensitive)}"


def _settings(choice: SynthesizerChoice, role: str) -> dict[str, str]:
    return {"role": role, "kind": choice.kind, **{k: str(v) for k, v in choice.options.items()}}
