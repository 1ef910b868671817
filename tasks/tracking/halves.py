"""Studies of which a store holds a part: what an earlier attempt to log them has left."""

from contextlib import suppress

from mlflow import MlflowClient
from mlflow.entities import Run

from synthrisk.tasks.tracking.past import all_runs, is_whole
from synthrisk.tasks.tracking.store import FAULTS, answers
from synthrisk.tasks.tracking.tags import INCOMPLETE
from synthrisk.tasks.tracking.written import Written


def whole_already(to: Written) -> dict[str, str] | None:
    """Return the ids of a study's runs by generator, where all of it is there; what is there in part is deleted."""
    runs = _runs(to.client, to.experiment_id, to.result.study_id)
    if any(run.data.tags.get("role") == "study" and is_whole(run) for run in runs):  # it is marked whole last of all
        return {run.data.tags["synthesizer"]: run.info.run_id for run in runs if "synthesizer" in run.data.tags}
    for run in runs:
        for model in run.outputs.model_outputs if run.outputs else ():
            to.client.delete_logged_model(model.model_id)
        to.client.delete_run(run.info.run_id)
    return None


def is_latest(to: Written) -> bool:
    """Tell whether an experiment holds no study that is later than this one."""
    runs = all_runs(to.client, to.experiment_id, "tags.role = 'study'")
    return not any(run.data.tags.get("study_id", "") > to.result.study_id for run in runs)  # they begin with the time


def mark_whole(to: Written, runs: list[str], study: str) -> None:
    """Say that all runs of a study are written, the run of the study itself last."""
    for run_id in (*runs, study):
        to.client.delete_tag(run_id, INCOMPLETE)


def end_part(to: Written, uri: str) -> None:
    """End what has been begun of a study as FAILED, if its store answers; it stays marked as incomplete."""
    if not answers(uri):
        return
    with suppress(*FAULTS):
        for run in _runs(to.client, to.experiment_id, to.result.study_id):
            if run.info.status == "RUNNING":
                to.client.set_terminated(run.info.run_id, "FAILED")


def _runs(client: MlflowClient, experiment_id: str, study_id: str) -> list[Run]:
    return all_runs(client, experiment_id, f"tags.study_id = '{study_id}'")
