"""The flow ``study``: a study once its data are there, on the task runner that the flow is given."""

from pathlib import Path
from typing import TYPE_CHECKING

from prefect import flow

from synthrisk.conf import Study
from synthrisk.conf.secrets import masks_errors
from synthrisk.tasks.workspace.references import Sample

if TYPE_CHECKING:
    from synthrisk.flows.outcome import Outcome


@flow(name="study", flow_run_name="study {study.name}", persist_result=False, validate_parameters=False)
@masks_errors
def conduct(study: Study, sample: Sample, settings: str = "", warning: str = "") -> "Outcome":
    """Run a study on a table that is split already, on the task runner that the flow is given; see ``course``.

    Prefect sends the function to each worker by value, with all that it names: so what it needs is imported here.
    """
    from synthrisk.flows.gone import remember
    from synthrisk.flows.runner import prepare_cluster, start_workers
    from synthrisk.flows.stopped import catch_again

    catch_again()
    prepare_cluster(study.runner.address)
    if not Path(sample.workspace, "ledgers").exists():  # where there are some, all may be found again
        start_workers()
    from synthrisk.flows.course import course
    from synthrisk.flows.task_runs import TaskRuns

    outcome = course(study, sample, TaskRuns(), settings, warning)
    remember(outcome)
    return outcome
