"""The flow ``atlas``: what each measure sees of leaks of known dose, from many studies of our own.

Releases, ledgers and findings are kept in the workspace by key: a grid that was broken off goes on where it was.
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

from prefect import flow
from rich.console import Console
from rich.text import Text

from synthrisk.conf.grid import NONE, Grid
from synthrisk.conf.study import Runner, Study
from synthrisk.flows.preflight import check
from synthrisk.metrics.atlas import shape_of
from synthrisk.metrics.verdicts.atlas import Look
from synthrisk.tasks.data import read
from synthrisk.tasks.workspace.store import check_writable


@flow(name="atlas", flow_run_name="atlas {grid.name}", persist_result=False, validate_parameters=False)
def atlas(grid: Grid, workspace: str = ".synthrisk", workers: int = 2) -> list[Look]:
    """Run all studies of a grid on the task runner that the flow is given; return what each said.

    A leak that cannot be planted in a table, or fails in it, is told and left out.

    Raises:
        InputError: A table cannot be read, or a study does not fit it.
    """
    from synthrisk.flows.execution.task_runs import TaskRuns

    return list(looked(grid, workspace, workers, TaskRuns()))


def looked(grid: Grid, workspace: str, workers: int, calls: object) -> Iterator[Look]:
    """Yield what each study of a grid says, in order."""
    from synthrisk.flows.orchestration.progress import say

    places = list(product(grid.tables, grid.seeds()))
    for done, (table, seed) in enumerate(places):
        say(f"study {done + 1} of {len(places)}: {table.words}, seed {seed}")
        yield from looks_at(grid.study(table, seed, workspace, workers), table.name, calls)


def looks_at(study: Study, table: str, calls: object) -> Iterator[Look]:
    """Yield what one study says of each leak that it plants."""
    from functools import partial
    from typing import cast

    from synthrisk.flows.execution.calls_and_retries import Calls
    from synthrisk.flows.preflight import check_on
    from synthrisk.flows.study_course import attacked, attacks_of, finished, sample_in, start_all
    from synthrisk.metrics.release.identifiers import in_all
    from synthrisk.metrics.verdicts.atlas import looks_of
    from synthrisk.tasks.bootstrap import bootstrap
    from synthrisk.tasks.compare import compare
    from synthrisk.tasks.data.task import data
    from synthrisk.tasks.sample import split
    from synthrisk.tasks.synthesize import find_synthesizer
    from synthrisk.tasks.workspace.folders import open_workspace

    run = cast(Calls, calls)
    folder = str(open_workspace(study.workspace))
    sample = sample_in(folder, study, partial(run.call, data), partial(run.call, split))
    planned, every = check_on(study, sample)
    attacks, failures = attacks_of(study, sample, planned, every), dict[str, str]()
    ledgers = attacked(study.runner, start_all(study.runner, sample, attacks, run), sample, run, failures)
    found = finished(
        "bootstrap", {name: run.submit(bootstrap, own, study.bootstrap) for name, own in ledgers.items()}, failures
    )
    generators = [each for each, _ in attacks]
    estimated = run.call(compare, list(found.values()), sample, generators, study.bootstrap, failures=failures)
    for each in (g for g in generators if g.name in found):
        dose = find_synthesizer(each.kind).dose
        planted = "" if each.kind == NONE else each.kind
        own = [f for f in estimated.compared.findings if f.synthesizer == each.name]
        looks = [ledger.released() for ledger in found[each.name].ledgers]
        told = in_all(looks) if study.data.identifier else None
        yield from looks_of(own, table, planted, dose(**each.options) if dose else 0.0, told)


def run_atlas(grid: Grid, to: Path, workspace: str, workers: int) -> None:
    """Run all studies of a grid, and write digest, tables and heat map to a folder: what the command ``atlas`` does.

    Raises:
        InputError: The folder cannot be written, or a table cannot be had.
    """
    check_writable("--to", to, folder=True)
    shapes = {}
    for table in grid.tables:  # one that cannot be had is said now, not after hours
        study = grid.study(table, grid.seeds()[0], workspace, workers)
        check(study)
        codes = dict.fromkeys(study.data.categorical, "category")
        shapes[table.name] = shape_of(read(study.data.source).astype(codes), study.data.identifier)
    looks = _looked(grid, workspace, workers)
    from synthrisk.tasks.atlas import write_atlas

    for path in write_atlas(looks, grid, shapes, to):
        Console(highlight=False).print(Text(f"wrote {path}"), soft_wrap=True)


def _looked(grid: Grid, workspace: str, workers: int) -> list[Look]:
    from synthrisk.flows.execution.task_runs import task_runner
    from synthrisk.flows.orchestration.server import prefect_api

    with prefect_api():
        flow = atlas.with_options(task_runner=task_runner(Runner(workers=workers)))
        return flow(grid, workspace, workers)
