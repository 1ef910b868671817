"""What is written, and where: a study on its way into an experiment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd
from mlflow import MlflowClient
from mlflow.entities import Param

from synthrisk.metrics.study.headlines import Headline, Overview, overview
from synthrisk.metrics.study.results import StudyResult
from synthrisk.tasks.tracking.tables import study_tables
from synthrisk.tasks.tracking.tags import INCOMPLETE, run_name
from synthrisk.tasks.workspace.references import Table

_RANDOM = 15  # digits of an experiment's id that is no count
_BATCH = 100  # params that MLflow takes at once


@dataclass(frozen=True, eq=False)
class Written:
    """A study that is written to an experiment of a store."""

    client: MlflowClient
    experiment_id: str
    result: StudyResult  # what the study says
    table: Table  # the real table
    since: int | None = None  # when it was to be written, in milliseconds, where that is long ago
    is_latest: bool = True  # whether the experiment holds no later study
    origin: Mapping[str, str] = field(default_factory=dict)  # tags that say who ran it, and where
    source: str = ""  # where the real table comes from
    answer: str = ""  # digest of what is written, see ``repeated``

    @cached_property
    def told(self) -> Overview:
        """The answer of the study, in its words and numbers."""
        return overview(self.result)

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables of the study by name."""
        return study_tables(self.result)

    @property
    def is_in_files(self) -> bool:
        """Whether the store keeps a metric as a file, so that no other can begin with its key and a slash.

        A server does not say so. But MLflow's file store, on which older servers begin unless told otherwise, numbers
        experiments by 18 digits at random, and its databases count them.
        """
        return len(self.experiment_id) >= _RANDOM and "databricks" not in self.client.tracking_uri

    def run(self, name: str, tags: Mapping[str, str]) -> str:
        """Start a run, which is marked as incomplete until all runs of the study are written; return its id."""
        part = f"not all of the study is here: synthrisk log {self.result.study_id}"
        marked = {**self.origin, **tags, INCOMPLETE: part}
        named = run_name(name, self.result.study_id)
        return str(self.client.create_run(self.experiment_id, self.since, marked, named).info.run_id)

    def params(self, run_id: str, params: Mapping[str, str]) -> None:
        """Write the params of a run."""
        every = [Param(name, value) for name, value in params.items()]
        for start in range(0, len(every), _BATCH):
            self.client.log_batch(run_id, params=every[start : start + _BATCH])

    def headline(self, name: str) -> Headline:
        """What the study says of one generator."""
        return next(h for h in self.told.headlines if h.synthesizer == name)
