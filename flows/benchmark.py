"""The flow ``benchmark``: compare synthesizers on a real table; and the flow ``study``, its course on a task runner."""

import json
from collections.abc import Sequence
from pathlib import Path

from prefect import flow

from synthrisk.conf import Study, load
from synthrisk.conf.secrets import masks_errors
from synthrisk.flows.execution.task_runs import task_runner
from synthrisk.flows.orchestration.artifacts import Ended
from synthrisk.flows.orchestration.events import announce
from synthrisk.flows.orchestration.flow_runs import StudyChoice, name_of_benchmark, noted, tagged
from synthrisk.flows.orchestration.server import workers_share_the_api
from synthrisk.flows.outcome import Outcome, concluded, keeps_end
from synthrisk.flows.preflight import check
from synthrisk.flows.study_course import sample_in
from synthrisk.tasks.data.task import data
from synthrisk.tasks.sample import split
from synthrisk.tasks.tracking.addresses import with_block
from synthrisk.tasks.workspace.folders import open_workspace
from synthrisk.tasks.workspace.references import Sample


@flow(name="study", flow_run_name="study {study.name}", persist_result=False, validate_parameters=False)
@masks_errors
def conduct(study: Study, sample: Sample, settings: str = "", warning: str = "") -> "Outcome":
    """Run a study on a table that is split already, on the task runner that the flow is given; see ``course``.

    Prefect sends the function to each worker by value, with all that it names: so what it needs is imported here.
    """
    from synthrisk.flows.execution.signals import catch_again
    from synthrisk.flows.execution.workers import prepare_cluster, start_workers
    from synthrisk.flows.orchestration.server import remember

    catch_again()
    prepare_cluster(study.runner.address)
    if not Path(sample.workspace, "ledgers").exists():  # where there are some, all may be found again
        start_workers()
    from synthrisk.flows.execution.task_runs import TaskRuns
    from synthrisk.flows.study_course import course

    outcome = course(study, sample, TaskRuns(), settings, warning)
    remember(outcome)
    return outcome


@flow(name="benchmark", flow_run_name=name_of_benchmark, persist_result=False, **keeps_end)
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
        sample = sample_in(str(folder), settings, data, split)
        with workers_share_the_api():
            outcome = conduct.with_options(task_runner=task_runner(settings.runner))(settings, sample)
    announce(Ended(outcome, "study", outcome.result.name, f"study {outcome.result.name}"))
    return concluded(outcome, gate=gate)


def settings_of(study: StudyChoice, overrides: Sequence[str] | None = None, tracking_uri: str | None = None) -> Study:
    """Return the study with its overrides, tracked in another store where one is given."""
    tracked = [f"tracking.uri={json.dumps(tracking_uri)}", "tracking.block=null"] if tracking_uri else []
    return with_block(load(study, [*(overrides or ()), *tracked]))
