"""The course of a study once its data are there: synthesize, attack, bootstrap, compare, judge, expose, report, log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

import yaml
from prefect import flow, get_run_logger
from prefect.futures import PrefectFuture
from prefect.states import Completed

from synthrisk.conf import Study
from synthrisk.conf.study import NON_MEMBERS, Runner
from synthrisk.flows.check import check_on, foreseen
from synthrisk.flows.progress import progress, warn
from synthrisk.metrics import METRICS
from synthrisk.metrics.neighbours.search import prepare
from synthrisk.metrics.study.headlines import Headline, overview
from synthrisk.metrics.study.ledger import Cell
from synthrisk.metrics.study.limits_kept import quantity_to_limit
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.verdicts import holds_for, worst
from synthrisk.tasks.attack import attack
from synthrisk.tasks.bootstrap import bootstrap
from synthrisk.tasks.compare import compare
from synthrisk.tasks.expose import expose
from synthrisk.tasks.judge import judge
from synthrisk.tasks.log import Logged, Pages, log
from synthrisk.tasks.report import report
from synthrisk.tasks.synthesize import synthesizer
from synthrisk.tasks.synthesize.task import synthesize
from synthrisk.tasks.workspace.references import Generator, LedgerFolder, ReleaseFolder, Sample

_T = TypeVar("_T")
_TOLD = 12  # synthesizers that the message of a state names; the artifact names all
Attacks = Sequence[tuple[Generator, Sequence[Planned]]]
"""All generators of a study, each with what it is attacked with."""


@dataclass(frozen=True)
class Outcome:
    """What a study ends in: numbers, where they are tracked, and where its pages are."""

    result: StudyResult
    logged: Logged

    @property
    def report(self) -> str:
        """Path of the report."""
        return self.logged.pages.report

    @property
    def exposures(self) -> Mapping[str, str]:
        """Path of the page of exposure of each synthesizer."""
        return self.logged.pages.exposures


@flow(name="study", flow_run_name="study {study.name}", persist_result=False, validate_parameters=False)
def conduct(study: Study, sample: Sample, settings: str = "", warning: str = "") -> Outcome:
    """Run a study on a table that is split already, on the task runner that the flow is given.

    ``settings`` say what was asked, as YAML: the study unless given. ``warning`` says why all numbers are hard to read.
    """
    planned, every = check_on(study, sample)
    warnings = foreseen(sample, planned).warnings
    warn(warnings)
    started = datetime.now(UTC)
    prepare()  # once, not in every worker at the same time: each look at a release searches nearest records
    attacks = attacks_of(study, sample, planned, every)
    failures: dict[str, str] = {}
    ledgers = attack_all(study.runner, sample, attacks, failures)
    estimates = {name: bootstrap.submit(own, study.bootstrap) for name, own in ledgers.items()}
    found = finished("bootstrap", estimates, failures)
    ran, power = [each for each, _ in attacks], study.power is not None
    estimated = compare.submit(list(found.values()), sample, ran, study.bootstrap, power=power, failures=failures)
    judged = judge(
        estimated.result(),
        study.thresholds,
        name=study.name,
        weakest=study.weakest,
        warning=warning,
        warnings=warnings,
        started=started,
    )
    asked = settings or yaml.safe_dump(study.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    shown = {name: each for name, each in found.items() if study.exposure and each.generator.role == "synthesizer"}
    study_id, confidence = judged.result.study_id, study.bootstrap.confidence
    written = {name: expose.submit(each, study_id, confidence) for name, each in shown.items()}
    exposures = finished("page of exposure", written, {})  # the numbers stand without one
    pages = Pages(report(judged, asked), exposures)
    place = study.tracking
    logged = log(
        judged,
        experiment=place.experiment,
        tracking_uri=place.uri,
        records=place.records,
        registry=place.registry,
        settings=asked,
        pages=pages,
    )
    return Outcome(judged.result, logged)


def concluded(outcome: Outcome) -> Any:
    """Return a completed state that the Prefect UI shows by its verdict; calling the flow gives the outcome.

    The state bears the word of the study, its message the word of each synthesizer with the reason.
    """
    result = outcome.result
    own = sorted(overview(result).synthesizers, key=lambda each: each.word == "NO EVIDENCE")
    told = [_told(each, result) for each in own[:_TOLD]]
    told += [f"and {len(own) - _TOLD} more"] if len(own) > _TOLD else []
    invalid = [] if result.valid else [f"INVALID for {result.invalid}"]
    return Completed(name=word_of(result), message="; ".join([*invalid, *told]), data=outcome)


def word_of(result: StudyResult) -> str:
    """Return the word that a study is summed up by: the worst of its synthesizers', ``NOT JUDGED`` without limits."""
    if not result.valid:
        return "INVALID"
    return worst([result.verdict(each.synthesizer) for each in overview(result).synthesizers]) or "NOT JUDGED"


def _told(each: Headline, result: StudyResult) -> str:
    reason = result.failures.get(each.synthesizer, each.brief)
    return f"{each.synthesizer}: {each.word or 'NOT JUDGED'} ({reason})"


def attacks_of(study: Study, sample: Sample, planned: Sequence[Planned], every: Sequence[Generator]) -> Attacks:
    """Return all generators with what they are attacked with, the population yardstick last.

    ``limited`` reference generators are attacked with what has a limit; where nothing has, with what could have one. A
    reference generator that no measure would look at is left out.
    """
    beside = planned
    if study.reference_measures == "limited" and study.thresholds:
        beside = [p for p in planned if any(holds_for(name, p.measure) for name in study.thresholds)]
    elif study.reference_measures == "limited":
        beside = [p for p in planned if quantity_to_limit(METRICS[p.measure.metric]) and not p.measure.variant_of]
    own = [(each, planned if each.role == "synthesizer" else beside) for each in every]
    population = [p for p in planned if METRICS[p.measure.metric].has_population]
    if study.population_yardstick and sample.holds_out():
        own.append((Generator(NON_MEMBERS, NON_MEMBERS, role="yardstick"), population))
    return [(each, measured) for each, measured in own if measured]


def attack_all(
    runner: Runner, sample: Sample, attacks: Attacks, failures: dict[str, str]
) -> dict[str, list[LedgerFolder]]:
    """Make and attack every release; return the ledgers of the generators that did not fail, in order."""
    made: list[tuple[Cell, PrefectFuture[ReleaseFolder], PrefectFuture[LedgerFolder]]] = []
    make, look = synthesize.with_options(retries=runner.retries), attack.with_options(retries=runner.retries)
    for each, measured in sorted(attacks, key=lambda own: synthesizer(own[0].kind).extra is None):
        for repetition in range(sample.cut.repetitions):  # the dearest first, so that the tail is short
            for fold in range(sample.cut.releases):
                release: Any = make.submit(sample, each, repetition, fold)
                made.append((Cell(each.name, repetition, fold), release, look.submit(release, measured)))
    ledgers: dict[str, list[LedgerFolder]] = {each.name: [] for each, _ in attacks}
    with progress(len(made)) as bar:
        for cell, release, ledger in made:
            reason = failure(release) or failure(ledger)
            bar.advance(cell.in_words(sample.cut.releases))
            if reason is None:
                ledgers[cell.synthesizer].append(ledger.result())
            elif cell.synthesizer not in failures:
                failures[cell.synthesizer] = f"{cell.name}: {reason}"
                get_run_logger().error("%s FAILED: %s", cell.synthesizer, failures[cell.synthesizer])
    return {name: own for name, own in ledgers.items() if name not in failures}


def finished(what: str, futures: Mapping[str, PrefectFuture[_T]], failures: dict[str, str]) -> dict[str, _T]:
    """Return what tasks of single generators ended in; add why others failed."""
    reasons = {name: failure(future) for name, future in futures.items()}
    for name, reason in reasons.items():
        if reason:
            failures[name] = f"{what}: {reason}"
            get_run_logger().error("%s of %s failed: %s", what, name, reason)
    return {name: future.result() for name, future in futures.items() if not reasons[name]}


def failure(future: PrefectFuture[Any]) -> str | None:
    """Return why a task failed, in words that hold no cell; None where it did not."""
    future.wait()
    if future.state.is_completed():
        return None
    error = future.result(raise_on_failure=False)
    return str(error) if isinstance(error, Exception) else f"{future.state.name}: {future.state.message}"
