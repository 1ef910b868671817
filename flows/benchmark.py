"""The flow ``benchmark``: compare synthesizers on a real table."""

import json
from collections.abc import Sequence
from pathlib import Path

from prefect import flow, runtime

from synthrisk.conf import Study, load
from synthrisk.conf.secrets import masks_errors
from synthrisk.flows.announce import announce, tagged
from synthrisk.flows.check import check
from synthrisk.flows.crashed import noted
from synthrisk.flows.ended import Ended
from synthrisk.flows.form import StudyChoice
from synthrisk.flows.outcome import Outcome, concluded
from synthrisk.flows.runner import task_runner
from synthrisk.flows.server import workers_share_the_api
from synthrisk.flows.study import conduct
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.data.task import data
from synthrisk.tasks.split import split
from synthrisk.tasks.tracking.where import with_block
from synthrisk.tasks.workspace.kept import open_workspace
from synthrisk.tasks.workspace.references import Sample


def name_of_benchmark() -> str:
    """Return the name of a run: that of the study, as its settings have it; of a study that cannot be read its file."""
    given = runtime.flow_run.parameters["study"]
    try:
        return f"benchmark {load(given, runtime.flow_run.parameters.get('overrides') or ()).name}"
    except InputError:
        return f"benchmark {Path(given).stem if isinstance(given, str | Path) else 'study'}"


@flow(name="benchmark", flow_run_name=name_of_benchmark, persist_result=False)
@masks_errors
def benchmark(
    study: StudyChoice = "demo",
    overrides: list[str] | None = None,
    tracking_uri: str | None = None,
    gate: bool = False,
) -> Outcome:
    """Run a study: data, split, synthesize, attack, bootstrap, report, log.

    Args:
        study: A shipped study, the path of a study's YAML file, or all settings as a mapping.
        overrides: Settings that replace those of the study, each as split.folds=3 or data.rows=2000.
        tracking_uri: MLflow store, in place of the study's. Empty: what the study says, else SQLite in its workspace.
        gate: Whether the run ends as failed, under the name of its verdict, unless all limits are shown to be kept.

    Raises:
        GateError: A gate stops the study; nothing else is wrong with it.
        InputError: The study or its data break a rule; nothing has been computed yet.
    """
    settings = settings_of(study, overrides, tracking_uri)
    check(settings)
    folder = open_workspace(settings.workspace)
    with tagged(settings.name), noted(folder):
        workspace = str(folder)
        table = data(settings.data, settings.split, workspace, settings.seed)
        cut = split(table, settings.split, settings.data.identifier, workspace, settings.seed)
        sample = Sample.of(settings.data, table, cut, workspace, settings.seed)
        with workers_share_the_api():
            outcome = conduct.with_options(task_runner=task_runner(settings.runner))(settings, sample)
    announce(Ended(outcome, "study", settings.name, f"study {settings.name}"))
    return concluded(outcome, gate=gate)


def settings_of(study: StudyChoice, overrides: Sequence[str] | None = None, tracking_uri: str | None = None) -> Study:
    """Return the study with its overrides, tracked in another store where one is given."""
    tracked = [f"tracking.uri={json.dumps(tracking_uri)}", "tracking.block=null"] if tracking_uri else []
    return with_block(load(study, [*(overrides or ()), *tracked]))
