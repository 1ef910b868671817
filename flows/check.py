"""Refuse a study that cannot run before anything is computed: all that is wrong, at once."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from synthrisk.conf import Study
from synthrisk.flows.runner import check_runner
from synthrisk.metrics import METRICS, InputError, Metric
from synthrisk.tasks.synthesize import check_options, synthesizer


def check(study: Study) -> None:
    """Raise ``InputError`` with every option, extra, release file and runner that is wrong or absent."""
    problems = [problem for check in _checks(study) if (problem := _problem(check))]
    if len(problems) > 1:
        raise InputError(f"study {study.name} has {len(problems)} errors:\n" + "\n".join(f"- {p}" for p in problems))
    if problems:
        raise InputError(problems[0])


def _checks(study: Study) -> Iterator[Callable[[], None]]:
    yield partial(check_runner, study.runner)
    for each in (*study.synthesizers, *study.controls):
        yield partial(_check_synthesizer, study, each.kind, each.options)
    for choice in study.metrics:
        attackers: list[dict[str, Any]] = [{"attacker": name} for name in choice.attackers] or [{}]
        for attacker in attackers:
            yield partial(_check_metric, METRICS[choice.name], choice.options | attacker)


def _check_metric(metric: Metric, options: dict[str, Any]) -> None:
    if metric.check_values is not None:
        metric.check_values(**options)


def _problem(check: Callable[[], None]) -> str | None:
    try:
        check()
    except InputError as problem:
        return str(problem)
    return None


def _check_synthesizer(study: Study, kind: str, options: dict[str, Any]) -> None:
    own = synthesizer(kind)
    check_options(own, options)
    if own.inputs is not None:
        for repetition in range(study.split.repetitions):
            for fold in range(study.split.releases):
                own.inputs(options, repetition, fold)
