"""What a study hands on to tracking, report and terminal: findings, checks, verdicts, failures, provenance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from synthrisk.metrics.release.identifiers import Released
from synthrisk.metrics.release.k_anonymity import KAnonymity
from synthrisk.metrics.release.summary import ReleaseSummary
from synthrisk.metrics.study.answer import Answer
from synthrisk.metrics.study.carriers import Carriers
from synthrisk.metrics.study.comparison import Comparison
from synthrisk.metrics.study.empty_measures import empty_measures
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.limits_kept import Kept
from synthrisk.metrics.study.power import Power
from synthrisk.metrics.study.reference_checks import Check
from synthrisk.metrics.study.utility import Usefulness
from synthrisk.metrics.study.verdicts import Verdict, worst

METHODS = "2"
"""Version of what numbers mean: it grows where a number of the same name means something else than before.

2: memorization of ``singling_out`` is per claim, and ``membership`` is the attack ``combined``.
"""


@dataclass(frozen=True)
class Limit:
    """A threshold and who chose it."""

    value: float
    source: str


@dataclass(frozen=True, repr=False)
class StudyResult:
    """All that a study says."""

    study_id: str  # ties the runs of one execution together
    name: str
    findings: Sequence[Finding]  # one for each generator and measure: synthesizers and reference generators
    checks: Sequence[Check]  # what the reference generators should show and did or did not
    verdicts: Sequence[Verdict]  # one for each synthesizer and threshold
    failures: Mapping[str, str] = field(default_factory=dict)  # reason for each synthesizer that failed
    limits: Mapping[str, Limit] = field(default_factory=dict)  # the thresholds in force
    facts: Mapping[str, str] = field(default_factory=dict)  # provenance: data digest, rows, releases, versions, seed
    # the options that distinguish each synthesizer
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # what is known of the releases of each reference generator
    answers: Mapping[str, Answer] = field(default_factory=dict)
    comparisons: Sequence[Comparison] = ()  # all pairs of synthesizers, in each measure and quantity
    # by key of the measure: the leak that the study detects, where its ``power`` option told
    powers: Mapping[str, Power] = field(default_factory=dict)
    # one for each generator and utility measure; no check and no verdict looks at them
    utility: Sequence[Usefulness] = ()
    # over how many of an attack's columns, the weakest first, its GDA score is taken; None all
    weakest: Sequence[int | None] = (None, 1)
    # how rare keys are in the real table and in the releases; None where the study declares no key
    keys: KAnonymity | None = None
    # by synthesizer: what its releases have shown before they were judged
    releases: Mapping[str, ReleaseSummary] = field(default_factory=dict)
    # by synthesizer: whose values its releases hold in columns that nothing attacks
    released: Mapping[str, Released] = field(default_factory=dict)
    # by synthesizer: which columns carry what makes it a RISK
    carriers: Mapping[str, Carriers] = field(default_factory=dict)
    # what makes all numbers hard to read, such as control records that are members; or an empty string
    warning: str = ""
    warnings: Sequence[str] = ()  # what it says little about, as it was seen before anything was computed
    # where no limit is set: the least one that each synthesizer would have been shown to keep
    kept: Sequence[Kept] = ()
    # share of training rows in the releases of each reference generator that leaks, by its name
    leaked: Mapping[str, float] = field(default_factory=dict)
    quasi_identifiers: Sequence[str] = ()  # the columns that an attacker knows
    sensitive: Sequence[str] = ()  # the columns that an attacker guesses
    # by key of the measure: the columns that its attacker knows, where they are not ``quasi_identifiers``
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Show the answer in one line."""
        from synthrisk.metrics.study.shown import result_text

        return result_text(self)

    def _repr_html_(self) -> str:
        from synthrisk.metrics.study.shown import result_html

        return result_html(self)

    @property
    def valid(self) -> bool:
        """Whether all reference generators behave."""
        return all(c.passed for c in self.checks)

    @property
    def invalid(self) -> str:
        """Why no verdict may be read, in words; empty where all reference generators behave."""
        broken = [c for c in self.checks if not c.passed]
        if not broken:
            return ""
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        return broken[0].words + more

    @property
    def empty(self) -> dict[str, str]:
        """Why measures say nothing in this study, by key: see ``empty_measures``."""
        return {m.key: reason for m, reason in empty_measures(self.findings, self.answers).items()}

    @property
    def synthesizers(self) -> list[str]:
        """Names in the order of the study: synthesizers, then reference generators; failed ones included."""
        return list(self.settings)

    def verdict(self, synthesizer: str) -> str:
        """Return the word that a synthesizer is summed up by; empty without threshold."""
        if synthesizer in self.failures:
            return "FAILED"
        return worst([v.word for v in self.verdicts if v.synthesizer == synthesizer])

    @property
    def exit_code(self) -> int:
        """0 passes, 1 a threshold is crossed or not shown to be kept, or a synthesizer failed, 3 INVALID."""
        if not self.valid:
            return 3
        judged = {v.synthesizer for v in self.verdicts}
        return 0 if all(self.verdict(name) == "NO EVIDENCE" for name in judged) and not self.failures else 1

    @property
    def passed(self) -> bool:
        """Whether there are thresholds, and all are shown to be kept."""
        return bool(self.verdicts) and self.exit_code == 0

    @property
    def references(self) -> str:
        """How the reference generators did, in words."""
        return ("as expected" if self.valid else "failed") if self.checks else "none run"
