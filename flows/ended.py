"""A study that has ended, as Prefect's artifacts, events, logs and tags name it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from synthrisk.flows.keys import key_of_name
from synthrisk.flows.links import Links, links_of
from synthrisk.flows.outcome import Outcome, word_of
from synthrisk.metrics.study.headlines import Overview, overview
from synthrisk.metrics.study.results import StudyResult


@dataclass(frozen=True)
class Ended:
    """What has ended: a study of that name, or the evaluation of a release in that experiment."""

    outcome: Outcome
    kind: Literal["study", "evaluate"]
    name: str  # whose runs make a trend
    title: str  # what people read
    also: Sequence[str] = ()  # addresses of tables that it has read beside the real one: a release, control records

    @property
    def result(self) -> StudyResult:
        """The numbers."""
        return self.outcome.result

    @property
    def word(self) -> str:
        """The word that the whole is summed up by."""
        return word_of(self.result)

    @cached_property
    def answer(self) -> Overview:
        """The answer in words, one a synthesizer."""
        return overview(self.result)

    @cached_property
    def links(self) -> Links:
        """Where its pages are."""
        return links_of(self.outcome)

    @property
    def key(self) -> str:
        """Key of the artifact, which is the same in each run."""
        return f"{self.kind}-{key_of_name(self.name)}"

    @property
    def resource(self) -> str:
        """What events are about."""
        return f"synthrisk.{self.kind}.{key_of_name(self.name)}"
