"""What is written, and where: a study on its way into an experiment."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd
from mlflow import MlflowClient

from synthrisk.metrics.study.headlines import Headline, Overview, overview
from synthrisk.metrics.study.results import StudyResult
from synthrisk.tasks.tracking.tables import study_tables
from synthrisk.tasks.workspace.references import Table


@dataclass(frozen=True, eq=False)
class Written:
    """A study that is written to an experiment of a store."""

    client: MlflowClient
    experiment_id: str
    result: StudyResult  # what the study says
    table: Table  # the real table

    @cached_property
    def told(self) -> Overview:
        """The answer of the study, in its words and numbers."""
        return overview(self.result)

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables of the study by name."""
        return study_tables(self.result)

    def headline(self, name: str) -> Headline:
        """What the study says of one generator."""
        return next(h for h in self.told.headlines if h.synthesizer == name)
