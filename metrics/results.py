"""What a study hands on to tracking, report and terminal: findings, checks, verdicts, failures, provenance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from synthrisk.metrics.findings import Finding
from synthrisk.metrics.verdicts import Check, Verdict, worst


@dataclass(frozen=True)
class Limit:
    """A threshold and who chose it."""

    value: float
    source: str


@dataclass(frozen=True)
class StudyResult:
    """All that a study says.

    Attributes:
        study_id: Ties the runs of one execution together.
        name: Name of the study.
        findings: One for each synthesizer or control and measure.
        checks: What the controls should show and did or did not.
        verdicts: One for each synthesizer and threshold.
        failures: Reason for each synthesizer that failed.
        limits: The thresholds in force.
        facts: Provenance: data digest, rows, releases, versions, seed ...
        settings: The options that distinguish each synthesizer.
    """

    study_id: str
    name: str
    findings: Sequence[Finding]
    checks: Sequence[Check]
    verdicts: Sequence[Verdict]
    failures: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, Limit] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def valid(self) -> bool:
        """Whether all controls behave."""
        return all(c.passed for c in self.checks)

    @property
    def synthesizers(self) -> list[str]:
        """Names in the order of the study: synthesizers, then controls; failed ones included."""
        return list(self.settings)

    def verdict(self, synthesizer: str) -> str:
        """Return the word that a synthesizer is summed up by; empty without threshold."""
        if synthesizer in self.failures:
            return "FAILED"
        return worst([v.word for v in self.verdicts if v.synthesizer == synthesizer])

    @property
    def exit_code(self) -> int:
        """0 passes, 1 a threshold is crossed or a synthesizer failed, 3 the study is INVALID."""
        if not self.valid:
            return 3
        crossed = any(v.word == "RISK" for v in self.verdicts)
        return 1 if crossed or self.failures else 0


def league_table(result: StudyResult) -> pd.DataFrame:
    """Return the findings as one table, a row a synthesizer and measure."""
    rows = [
        {
            "synthesizer": f.synthesizer,
            "role": f.role,
            "measure": f.measure.key,
            "risk": f.risk.value,
            "risk_lower": f.risk.lower,
            "risk_upper": f.risk.upper,
            "guess": f.guess,
            "risk_gain": f.risk_gain.value,
            "control": f.risk_control.value,
            "control_gain": f.control_gain,
            "memorization": f.memorization.value,
            "memorization_lower": f.memorization.lower,
            "memorization_upper": f.memorization.upper,
            "note": f.risk.note,
        }
        for f in result.findings
    ]
    return pd.DataFrame(rows)
