"""What is written, and where: a study on its way into an experiment."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
from mlflow import MlflowClient

from synthrisk.metrics.study.headlines import Headline, Overview, overview
from synthrisk.metrics.study.results import StudyResult
from synthrisk.tasks.tracking.tables import study_tables
from synthrisk.tasks.tracking.tags import INCOMPLETE, run_name
from synthrisk.tasks.workspace.references import Table


@dataclass(frozen=True, eq=False)
class Written:
    """A study that is written to an experiment of a store."""

    client: MlflowClient
    experiment_id: str
    result: StudyResult  # what the study says
    table: Table  # the real table
    since: int | None = None  # when it was to be written, in milliseconds, where that is long ago
    is_latest: bool = True  # whether the experiment holds no later study

    @cached_property
    def told(self) -> Overview:
        """The answer of the study, in its words and numbers."""
        return overview(self.result)

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables of the study by name."""
        return study_tables(self.result)

    def run(self, name: str, tags: Mapping[str, str]) -> str:
        """Start a run, which is marked as incomplete until all runs of the study are written; return its id."""
        marked = {**tags, INCOMPLETE: f"not all of the study is here: synthrisk log {self.result.study_id}"}
        named = run_name(name, self.result.study_id)
        return str(self.client.create_run(self.experiment_id, self.since, marked, named).info.run_id)

    def headline(self, name: str) -> Headline:
        """What the study says of one generator."""
        return next(h for h in self.told.headlines if h.synthesizer == name)
