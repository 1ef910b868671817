"""Refuse a study that cannot run before anything is computed: all that is wrong, at once."""

from collections.abc import Callable
from typing import Any

from synthrisk.conf import Study
from synthrisk.flows.runner import check_runner
from synthrisk.metrics import METRICS, InputError
from synthrisk.tasks.synthesize import check_options, synthesizer


def check(study: Study) -> None:
    """Raise ``InputError`` with every option, extra, release file and runner that is wrong or absent."""
    problems: list[str] = []

    def attempt(action: Callable[[], Any]) -> None:
        try:
            action()
        except InputError as problem:
            problems.append(str(problem))

    attempt(lambda: check_runner(study.runner))
    for each in (*study.synthesizers, *study.controls):
        attempt(lambda each=each: _check_synthesizer(study, each.kind, each.options))
    for choice in study.metrics:
        check_values = METRICS[choice.name].check_values
        for attacker in choice.attackers or [None]:
            options = choice.options | ({"attacker": attacker} if attacker else {})
            if check_values is not None:
                attempt(lambda check_values=check_values, options=options: check_values(**options))
    if len(problems) > 1:
        raise InputError(f"study {study.name} has {len(problems)} errors:\n" + "\n".join(f"- {p}" for p in problems))
    if problems:
        raise InputError(problems[0])


def _check_synthesizer(study: Study, kind: str, options: dict[str, Any]) -> None:
    own = synthesizer(kind)
    check_options(own, options)
    if own.inputs is not None:
        for repetition in range(study.split.repetitions):
            for fold in range(study.split.releases):
                own.inputs(options, repetition, fold)
