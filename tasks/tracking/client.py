"""The client of a store to which several studies are written at the same time."""

import random
import re
import time
from collections.abc import Callable
from typing import Any

from mlflow import MlflowClient
from mlflow.entities import Param, Run, RunTag
from mlflow.exceptions import MlflowException

from synthrisk.conf.secrets import mask, masked

_ATTEMPTS = 8
_TAKEN = re.compile(
    r"IntegrityError|UniqueViolation|UNIQUE constraint|duplicate key|Duplicate entry|deadlock|0 were matched", re.I
)
_GONE = "RESOURCE_DOES_NOT_EXIST"


class StudyClient(MlflowClient):  # type: ignore[misc]  # MLflow is not typed
    """A client that says again what another process has said to the store in the same moment.

    MLflow looks whether a tag of an experiment, or a data set, is there, and then puts it there. Where two processes
    look before either has put it, the store refuses the second: studies that end at the same time in one workspace log
    the same real table, and write the note and the colours of one experiment. The second attempt finds what the other
    process has put there. It tells the store no value of a variable that an address has taken.
    """

    def create_run(self, *arguments: Any, **named: Any) -> Run:
        """Make a run, its name and tags masked."""
        return super().create_run(*masked(arguments), **masked(named))

    def set_tag(self, *arguments: Any, **named: Any) -> None:
        """Set a tag of a run, masked."""
        super().set_tag(*masked(arguments), **masked(named))

    def log_text(self, *arguments: Any, **named: Any) -> None:
        """Write a text as an artifact, masked."""
        super().log_text(*masked(arguments), **masked(named))

    def log_batch(self, run_id: str, metrics: Any = (), params: Any = (), tags: Any = (), **named: Any) -> Any:
        """Write metrics, and params and tags masked."""
        params = [Param(each.key, mask(each.value)) for each in params]
        tags = [RunTag(each.key, mask(each.value)) for each in tags]
        return super().log_batch(run_id, metrics, params, tags, **named)

    def set_experiment_tag(self, experiment_id: str, key: str, value: Any) -> None:
        """Set a tag of an experiment, masked."""
        told = masked(value)
        _again(lambda: super(StudyClient, self).set_experiment_tag(experiment_id, key, told))

    def delete_experiment_tag(self, experiment_id: str, key: str) -> None:
        """Delete a tag of an experiment, if another process has not."""
        try:
            _again(lambda: super(StudyClient, self).delete_experiment_tag(experiment_id, key))
        except MlflowException as error:
            if error.error_code != _GONE:
                raise

    def log_inputs(self, run_id: str, datasets: Any = None, models: Any = None) -> None:
        """Write which data sets and models went into a run."""
        _again(lambda: super(StudyClient, self).log_inputs(run_id, datasets, models))

    def set_registered_model_alias(self, name: str, alias: str, version: str) -> None:
        """Let an alias of a registered model name a version."""
        _again(lambda: super(StudyClient, self).set_registered_model_alias(name, alias, version))


def _again(say: Callable[[], object]) -> None:
    """Say something to the store, and again where somebody else has just put there what it was to hold."""
    for attempt in range(_ATTEMPTS):
        try:
            say()
        except MlflowException as error:
            if attempt == _ATTEMPTS - 1 or not _TAKEN.search(str(error)):
                raise
            time.sleep(random.uniform(0, 0.02 * 2**attempt))  # noqa: S311 - so that two do not meet again
        else:
            return
