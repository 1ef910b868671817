"""The flow ``benchmark``: compare synthesizers on a real table."""

from pathlib import Path
from typing import Any

from prefect import flow
from prefect.runtime import flow_run

from synthrisk.conf import Study, load
from synthrisk.flows.check import check
from synthrisk.flows.runner import task_runner
from synthrisk.flows.server import workers_share_the_api
from synthrisk.flows.study import Outcome, concluded, conduct
from synthrisk.tasks.data.task import data
from synthrisk.tasks.split import split
from synthrisk.tasks.workspace.references import Sample
from synthrisk.tasks.workspace.store import open_workspace


def _title() -> str:
    study = flow_run.parameters["study"]
    name = study if isinstance(study, str) else study.get("name") if isinstance(study, dict) else study.name
    return f"benchmark {name}"


@flow(name="benchmark", flow_run_name=_title, persist_result=False)
def benchmark(study: str | Path | dict[str, Any] | Study = "demo", overrides: list[str] | None = None) -> Outcome:
    """Run a study: data, split, synthesize, attack, bootstrap, report, log.

    Args:
        study: Path of a study's YAML file, name of a shipped one (demo, adult, smoke, paper_health ...), its settings
            as a mapping, or a ``Study``.
        overrides: Settings that replace those of the study: ``a.b=c``.

    Raises:
        InputError: The study or its data break a rule; nothing has been computed yet.
    """
    settings = load(study, overrides or ())
    check(settings)
    workspace = str(open_workspace(Path(settings.workspace)))
    table = data(settings.data, settings.split, workspace, settings.seed)
    cut = split(table, settings.split, settings.data.identifier, workspace, settings.seed)
    sample = Sample.of(settings.data, table, cut, workspace, settings.seed)
    with workers_share_the_api():
        return concluded(conduct.with_options(task_runner=task_runner(settings.runner))(settings, sample))
