"""The command ``atlas``: run a grid, and write what it says."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from synthrisk.conf.grid import Grid
from synthrisk.flows.preflight import check
from synthrisk.metrics.atlas import shape_of
from synthrisk.metrics.verdicts.atlas import Look
from synthrisk.tasks.data import read
from synthrisk.tasks.workspace.store import check_writable


def run_atlas(grid: Grid, to: Path, workspace: str, workers: int) -> None:
    """Run all studies of a grid, and write digest, tables and heat map to a folder.

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
    from synthrisk.conf.study import Runner
    from synthrisk.flows.orchestration.server import prefect_api

    with prefect_api(meanwhile="synthrisk.flows.atlas"):
        from synthrisk.flows.atlas import atlas
        from synthrisk.flows.execution.task_runs import task_runner

        flow = atlas.with_options(task_runner=task_runner(Runner(workers=workers)))
        return flow(grid, workspace, workers)
