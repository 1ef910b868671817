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
    """What was found of one generator.

    Attributes:
        ledgers: Its ledgers.
        findings: Its risks.
        utility: How useful its releases are.
        exposed: Path of its table of exposed records.
        contributions: Path of what each record adds to each finding.
    """

    ledgers: tuple[LedgerFolder, ...]
    findings: tuple[Finding, ...]
    utility: tuple[Usefulness, ...]
    exposed: str
    contributions: str

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
    """What a study has found, before it is judged.

    Attributes:
        sample: The real table.
        generators: All that ran, in order; those that failed too.
        found: What was found of each that did not fail.
        settings: How intervals were made.
        compared: The findings of all beside each other.
        failures: Why a generator failed, by its name.
    """

    sample: Sample
    generators: tuple[Generator, ...]
    found: tuple[Found, ...]
    settings: Bootstrap
    compared: Compared
    failures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """A study that is judged.

    Attributes:
        result: What it says.
        estimated: What that is said of.
    """

    result: StudyResult
    estimated: Estimated
