"""One experiment with two studies, written to a real store and read back by many tests."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from mlflow import MlflowClient
from mlflow.entities import Run

from samples.judged import judged_study
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.tasks.tracking.addresses import Logged
from synthrisk.tasks.workspace.references import store


@dataclass(frozen=True)
class Kept:
    """Two studies of one table in one experiment, the second with less leaks."""

    folder: Path
    digest: str
    client: MlflowClient
    studies: tuple[StudyResult, StudyResult]
    logged: tuple[Logged, Logged]

    @property
    def experiment(self) -> str:
        return self.logged[0].experiment_id

    def tags(self) -> dict[str, str]:
        return self.client.get_experiment(self.experiment).tags

    def run(self, name: str, study: int = 0) -> Run:
        """Return the run of a generator, or of the study itself."""
        if name in self.logged[study].runs:
            return self.client.get_run(self.logged[study].runs[name])
        own = f"tags.role = 'study' and tags.study_id = '{self.studies[study].study_id}'"
        return self.client.search_runs([self.experiment], own)[0]


@pytest.fixture(scope="session")
def kept(tmp_path_factory, logged_of) -> Kept:
    folder = tmp_path_factory.mktemp("tracking")
    (folder / "record.html").write_text("<p>record</p>")
    table = store(pd.DataFrame({"age": [1, 2, 3], "income": pd.Categorical(["a", "b", "a"])}), folder)
    studies = (
        judged_study("20261123-013609-1ddbd6"),
        judged_study("20261124-013609-2ddbd6", {"coarse": 0.3, "ctgan": 0.01, "cart": 0.05}),
    )
    logged = tuple(logged_of(each, table, folder, registry=True) for each in studies)
    return Kept(folder, table.digest, MlflowClient(logged[0].uri), studies, logged)
