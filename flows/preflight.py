"""Refuse a study that cannot run before anything is computed: all that is wrong, at once."""

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from synthrisk.conf import Study
from synthrisk.conf.plan import plan
from synthrisk.conf.study import Runner, Tracking
from synthrisk.flows.connections import check_address, check_tracking, check_workspace
from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.study.feasibility import Foreseen, foresee
from synthrisk.metrics.study.ledger import Planned
from synthrisk.metrics.tables.kinds import Kind, kind
from synthrisk.metrics.verdicts.limits import check_limits
from synthrisk.tasks.synthesize import find_synthesizer, try_out
from synthrisk.tasks.synthesize.task import generator, generators, reference
from synthrisk.tasks.tracking.addresses import with_block
from synthrisk.tasks.workspace.references import Generator, Sample

_FITTING: ContextVar[tuple[object, ...]] = ContextVar("fitting", default=())
"""The study and the table that a command has found to fit."""
_FORESEEN: list[tuple[tuple[object, ...], list[Planned], Foreseen]] = []
"""What the last check foresaw, for its flow to tell, and what it was asked."""


def check(study: Study) -> None:
    """Raise ``InputError`` with every option, extra and runner that is wrong or absent."""
    _refuse(study, _checks(study))


def check_on(study: Study, sample: Sample) -> tuple[list[Planned], list[Generator]]:
    """Return what a study measures on its table, and whose releases.

    Raises:
        InputError: A role or limit names nothing that is there; or synthesizers, releases, attacker models and options
            do not fit the table, or nothing could be said of what is asked: all of it.
    """
    planned = plan(study.metrics, sample.columns, study.data.quasi_identifiers, study.data.sensitive)
    check_limits(list(study.thresholds), [p.measure for p in planned])
    every = generators(study)
    if _FITTING.get() == _of(study, sample):
        return planned, every
    records, places = sample.records(), (sample.cut.repetitions, sample.cut.releases)
    of_sample = records, places, sample.members, sample.form
    tried = [partial(try_out, find_synthesizer(g.kind), g.options, *of_sample) for g in every]
    tried += [partial(_has_identifiers, g, sample) for g in every if find_synthesizer(g.kind).unattacked]
    guessing = [(p.measure.attacker, column) for p in planned for column in p.measure.targets]
    models = [partial(_model_fits, model, kind(records[column])) for model, column in guessing if model]
    fitting = [partial(METRICS[p.measure.metric].check_options_on, records, p.options) for p in planned]
    _refuse(study, [*tried, *models, *fitting], foreseen(sample, planned).refusals)
    return planned, every


def _has_identifiers(generator: Generator, sample: Sample) -> None:
    if not sample.unattacked().shape[1]:
        needs = f"{generator.kind} needs an identifier or columns that the study leaves out"
        raise InputError(f"{needs}, got neither data.identifier nor data.drop")


def _model_fits(attacker: str, target: Kind) -> None:
    from synthrisk.metrics.models.attackers import ATTACKER_MODELS  # and with it scikit-learn

    if attacker in ATTACKER_MODELS:
        ATTACKER_MODELS[attacker].estimator(target, 0)


@contextmanager
def checked_on(study: Study, sample: Sample) -> Iterator[None]:
    """Check a study on its table, once for all that the block does: on a large one a check takes seconds.

    Raises:
        InputError: They do not fit; see ``check_on``.
    """
    check_on(study, sample)
    before = _FITTING.set(_of(study, sample))
    try:
        yield
    finally:
        _FITTING.reset(before)


def _of(study: Study, sample: Sample) -> tuple[object, ...]:
    return study, sample.table.digest, sample.cut.digest


def foreseen(sample: Sample, planned: Sequence[Planned]) -> Foreseen:
    """Return what a study will say nothing, or little, about; asked the same once more, what it said before."""
    asked, measures = (sample.table.digest, sample.cut.digest, sample.identifier, repr([*planned])), [*planned]
    for known, of, said in [*_FORESEEN]:
        if known == asked and _are_equal(of, measures):
            return said
    found = foresee(sample.records(), planned, sample.sizes_held_out(), sample.entities())
    _FORESEEN[:] = [(asked, measures, found)]
    return found


def _are_equal(one: list[Planned], other: list[Planned]) -> bool:
    """Tell whether measures are the same; those with tables in their options, whose texts are cut short, are not."""
    try:
        return one == other
    except ValueError:
        return False


def _refuse(study: Study, checks: Iterable[Callable[[], object]], also: Iterable[str] = ()) -> None:
    problems = list(dict.fromkeys([*filter(None, map(_problem, checks)), *also]))
    if len(problems) > 1:
        raise InputError(f"study {study.name} has {len(problems)} errors:\n" + "\n".join(f"- {p}" for p in problems))
    if problems:
        raise InputError(problems[0])


def _checks(study: Study) -> Iterator[Callable[[], object]]:
    yield partial(check_runner, study.runner)
    yield partial(check_address, study.runner)
    yield partial(check_workspace, study.workspace, study.runner)
    yield partial(check_tracking, study.tracking)
    yield from (partial(generator, each.name, each.kind, each.options) for each in study.synthesizers)
    yield from (partial(reference, each.name, each.kind, each.options) for each in study.references)
    yield partial(generators, study)  # once more together: those of ``power`` take names too
    for choice in study.metrics:
        attackers: list[dict[str, Any]] = [{"attacker": name} for name in choice.attackers] or [{}]
        for chosen in attackers:
            yield partial(METRICS[choice.name].check_choices, choice.options | chosen)


def check_runner(settings: Runner) -> None:
    """Refuse a runner that cannot be had, and a script that its worker processes would run again.

    Raises:
        InputError: Its extra is not installed, its import path leads to no task runner, or the script has no guard.
    """
    if settings.kind == "dask" and find_spec("prefect_dask") is None:
        raise InputError(
            "runner.kind dask needs the extra 'dask', which is not installed: pip install 'synthrisk[dask]'"
        )
    if not settings.is_ours:
        from synthrisk.flows.execution.task_runs import by_path  # and with it Prefect

        by_path(settings)
    script = getattr(sys.modules["__main__"], "__file__", None)
    if script and not settings.address and not _has_guard(Path(script)):
        raise InputError(
            f'{Path(script).name} must start the study under if __name__ == "__main__", for worker processes import it '
            "and would start the study again; got no such line"
        )


def _has_guard(script: Path) -> bool:
    """Tell whether a script asks for its ``__name__``: without, each worker process would run it again."""
    try:
        tree = ast.parse(script.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return True  # no script: a console, a notebook, a zip
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(tree))


def _problem(check: Callable[[], object]) -> str | None:
    try:
        check()
    except InputError as problem:
        return str(problem)
    return None


@contextmanager
def tracked(study: Study) -> Iterator[Study]:
    """Yield a study with what its block says; while the block is used there is a Prefect API, which keeps it.

    Raises:
        InputError: There is no such block.
    """
    with block_readable(study.tracking):
        yield with_block(study)


def block_readable(tracking: Tracking) -> AbstractContextManager[object]:
    """Have a Prefect API in the time of the block, where a block is named."""
    if not tracking.block:
        return nullcontext()
    from synthrisk.flows.orchestration.server import prefect_api

    return prefect_api()
