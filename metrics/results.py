"""What a study hands on to tracking, report and terminal: findings, checks, verdicts, failures, provenance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from synthrisk.metrics.comparison import Comparison
from synthrisk.metrics.findings import Finding
from synthrisk.metrics.gda_view import AttackView, gda_view
from synthrisk.metrics.power import Power
from synthrisk.metrics.usefulness import Usefulness
from synthrisk.metrics.verdicts import Check, Verdict, worst

BESIDE = {
    "unseen_keys": "unseen keys",
    "ceiling": "ceiling",
    "null_real_mean": "null (truth permuted)",
    "null_synthetic_mean": "null (release permuted)",
    "accuracy": "accuracy",
    "statistical_confidence": "statistical guess S",
    "claim_probability": "claim probability",
}
"""Details without which a value cannot be read, and what they are called."""


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
        comparisons: All pairs of synthesizers, in each measure and quantity.
        powers: By key of the measure: the leak that the study detects, where its ``power`` option told.
        utility: One for each synthesizer or control and utility measure; no check and no verdict looks at them.
        weakest: Over how many of an attack's columns, the weakest first, its GDA score is taken; None all.
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
    comparisons: Sequence[Comparison] = ()
    powers: Mapping[str, Power] = field(default_factory=dict)
    utility: Sequence[Usefulness] = ()
    weakest: Sequence[int | None] = (None, 1)

    @property
    def valid(self) -> bool:
        """Whether all controls behave."""
        return all(c.passed for c in self.checks)

    @property
    def invalid(self) -> str:
        """Why no verdict may be read, in words; empty where all controls behave."""
        broken = [c for c in self.checks if not c.passed]
        if not broken:
            return ""
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        return broken[0].words + more

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
        """0 passes, 1 a threshold is crossed or not shown to be kept, or a synthesizer failed, 3 INVALID."""
        if not self.valid:
            return 3
        return 0 if all(v.word == "NO EVIDENCE" for v in self.verdicts) and not self.failures else 1

    @property
    def passed(self) -> bool:
        """Whether there are thresholds, and all are shown to be kept."""
        return bool(self.verdicts) and self.exit_code == 0

    @property
    def controls(self) -> str:
        """How the controls did, in words."""
        return ("as expected" if self.valid else "failed") if self.checks else "none run"


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
            "model": f.model.value,
            "model_gain": f.yardsticks["model"].gain.value if "model" in f.yardsticks else float("nan"),
            **{name: f.details.get(name, (float("nan"),))[0] for name in BESIDE},
            "release_sd": float(np.std(f.release_risk, ddof=1)) if len(f.release_risk) > 1 else float("nan"),
            "memorization": f.memorization.value,
            "memorization_lower": f.memorization.lower,
            "memorization_upper": f.memorization.upper,
            "change": f.change.value,
            "change_lower": f.change.lower,
            "change_upper": f.change.upper,
            "note": "; ".join(filter(None, (f.risk.note, f.warning))),
        }
        for f in result.findings
    ]
    return pd.DataFrame(rows)


def details_table(result: StudyResult) -> pd.DataFrame:
    """Return all named details, a row a finding and detail: mean over releases on members and on control records.

    Of a utility measure ``control`` is what control records reach in place of the release.
    """
    every: list[Finding | Usefulness] = [*result.findings, *result.utility]
    rows = [
        {
            "synthesizer": f.synthesizer,
            "measure": f.measure.key,
            "detail": name,
            "members": own,
            "control": other,
        }
        for f in every
        for name, (own, other) in f.details.items()
    ]
    return pd.DataFrame(rows, columns=["synthesizer", "measure", "detail", "members", "control"])


def interval_table(result: StudyResult) -> pd.DataFrame:
    """Return all interval methods beside each other, a row a finding, quantity and method."""
    rows = [
        {"synthesizer": f.synthesizer, "measure": f.measure.key, "quantity": quantity, "method": method}
        | {"value": e.value, "lower": e.lower, "upper": e.upper}
        for f in result.findings
        for quantity, methods in f.intervals.items()
        for method, e in methods.items()
    ]
    return pd.DataFrame(rows)


def yardstick_table(result: StudyResult) -> pd.DataFrame:
    """Return all yardsticks, a row a finding and yardstick: success x, s, gain (x - s)/(1 - s) and x - s.

    x is the finding's risk, or where ``note`` says so, the success at the size that s is taken at.
    """
    rows = [
        {"synthesizer": f.synthesizer, "role": f.role, "measure": f.measure.key, "yardstick": name}
        | {"risk": x.value, "risk_lower": x.lower, "risk_upper": x.upper, "success": each.success.value}
        | {"success_lower": each.success.lower, "success_upper": each.success.upper, "gain": each.gain.value}
        | {"gain_lower": each.gain.lower, "gain_upper": each.gain.upper, "difference": each.difference.value}
        | {"difference_lower": each.difference.lower, "difference_upper": each.difference.upper}
        | {"note": each.gain.note}
        for f in result.findings
        for name, each in f.yardsticks.items()
        for x in (f.risk if each.attack is None else each.attack,)
    ]
    return pd.DataFrame(rows)


def gda_views(result: StudyResult) -> list[AttackView]:
    """Return the GDA view of each attack that makes claims."""
    return gda_view(result.findings, int(result.facts.get("columns", len(result.findings))), result.weakest)


def gda_table(result: StudyResult) -> pd.DataFrame:
    """Return the GDA scores of all attacks that make claims, a row a synthesizer, attack and number of columns.

    ``weakest`` says how many columns were asked for, ``columns`` which they are, the weakest first.
    """
    rows = [
        {"synthesizer": v.synthesizer, "role": v.role, "attack": v.attack}
        | {"weakest": "all" if k is None else k}
        | vars(score)
        | {"columns": ", ".join(map(str, score.columns))}
        for v in gda_views(result)
        for k, score in v.weakest.items()
    ]
    return pd.DataFrame(rows)


def comparison_table(result: StudyResult) -> pd.DataFrame:
    """Return all pairs of synthesizers, a row a pair, measure and quantity."""
    rows = [
        {"measure": c.measure.key, "quantity": c.quantity, "first": c.first, "second": c.second}
        | {"difference": c.difference.value, "lower": c.difference.lower, "upper": c.difference.upper}
        | {"p": c.p_value, "p_holm": c.p_holm, "p_fdr": c.p_fdr, "is_lower": c.lower, "note": c.difference.note}
        for c in result.comparisons
    ]
    return pd.DataFrame(rows)


def power_table(result: StudyResult) -> pd.DataFrame:
    """Return what leak each measure detects, a row a measure and share that was run."""
    rows = [
        {"measure": key, "detected_share": each.share, "slope": each.slope, "share": share, "seen": found}
        for key, each in result.powers.items()
        for share, found in each.seen
    ]
    return pd.DataFrame(rows)
