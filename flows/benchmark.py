"""The flow ``benchmark``: compare synthesizers on a real table."""

from pathlib import Path

from prefect import flow

from synthrisk.conf import load
from synthrisk.flows.check import check
from synthrisk.flows.study import Outcome, concluded, conduct
from synthrisk.tasks.data.task import data
from synthrisk.tasks.split import split
from synthrisk.tasks.workspace.references import Sample
from synthrisk.tasks.workspace.store import open_workspace


@flow(name="benchmark", flow_run_name="benchmark {study}")
def benchmark(study: str = "demo", overrides: list[str] | None = None) -> Outcome:
    """Run a study: data, split, synthesize, attack, bootstrap, report, log.

    Args:
        study: Path of a study's YAML file, or the name of a shipped one (demo, adult, smoke, paper_health ...).
        overrides: Settings that replace those of the file: ``a.b=c``.

    Raises:
        InputError: The study or its data break a rule; nothing has been computed yet.
    """
    settings = load(study, overrides or ())
    check(settings)
    workspace = open_workspace(Path(settings.workspace))
    table = data(settings.data, settings.split, str(workspace), settings.seed)
    cut = split(table, settings.split, settings.data.identifier, str(workspace), settings.seed)
    sample = Sample(table, cut, settings.data.identifier, tuple(settings.data.missing))
    return concluded(conduct(settings, sample, workspace))
