"""What tasks hand to each other once releases are attacked: numbers by value, records by path."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from synthrisk.conf.study import Bootstrap
from synthrisk.metrics.study.compared import Compared
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.utility import Usefulness
from synthrisk.tasks.workspace.references import Generator, LedgerFolder, Sample


@dataclass(frozen=True)
class Found:
    """What was found of one generator."""

    ledgers: tuple[LedgerFolder, ...]  # its ledgers
    findings: tuple[Finding, ...]  # its risks
    utility: tuple[Usefulness, ...]  # how useful its releases are
    exposed: str  # path of its table of exposed records
    contributions: str  # path of what each record adds to each finding

    @property
    def generator(self) -> Generator:
        """Whose releases they are."""
        return self.ledgers[0].release.generator

    @property
    def name(self) -> str:
        """The generator's name."""
        return self.generator.name

    @property
    def sample(self) -> Sample:
        """What the releases were made of."""
        return self.ledgers[0].release.sample

    @property
    def planned(self) -> tuple[Planned, ...]:
        """What was measured."""
        return self.ledgers[0].planned


@dataclass(frozen=True)
class Estimated:
    """What a study has found, before it is judged."""

    sample: Sample  # the real table
    generators: tuple[Generator, ...]  # all that ran, in order; those that failed too
    found: tuple[Found, ...]  # what was found of each that did not fail
    settings: Bootstrap  # how intervals were made
    compared: Compared  # the findings of all beside each other
    failures: Mapping[str, str] = field(default_factory=dict)  # why a generator failed, by its name


@dataclass(frozen=True)
class Judged:
    """A study that is judged."""

    result: StudyResult  # what it says
    estimated: Estimated  # what that is said of
