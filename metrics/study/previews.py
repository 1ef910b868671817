"""What the what-ifs of a study have shown: each change of the quasi-identifiers in words, beside what it varies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal

import numpy as np

from synthrisk.metrics.intervals.estimates import Estimate, estimate, paired
from synthrisk.metrics.intervals.scale import DIFFERENCE
from synthrisk.metrics.study.contributions import Contributions, Kept
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.study.quantities import limited, quantity_of
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.verdicts import holds_for


@dataclass(frozen=True)
class Preview:
    """One change of the quasi-identifiers, and what it would do to the findings of one synthesizer by one measure."""

    words: str  # the change, of what the attacker knows
    after: Finding  # what is found after the change
    risk: Estimate  # members' mean score after the change minus that before it, with its paired interval
    memorization: Estimate  # the same of memorization; without value where it is not estimable

    @property
    def helps(self) -> bool:
        """Whether memorization is shown to fall, and the risk is not shown to rise; of risk alone where that is all."""
        if isnan(self.memorization.value):
            return self.risk.upper < 0
        return self.memorization.upper < 0 and not self.risk.lower > 0

    def change(self, quantity: Literal["risk", "memorization"]) -> Estimate:
        """Return the change of one quantity."""
        return self.risk if quantity == "risk" else self.memorization


def previews(
    findings: Sequence[Finding],
    planned: Sequence[Planned],
    kept: Mapping[str, Kept],
    finding: Finding,
    confidence: float = 0.95,
    entities: np.ndarray | None = None,
) -> list[Preview]:
    """Return what the what-ifs of a finding's measure have shown of its synthesizer, in the order of the study.

    Args:
        findings: Those of the study.
        planned: What was measured, with which options.
        kept: What the records add to the synthesizer's findings, by key of the measure.
        finding: That of the measure as it is.
        confidence: Of the intervals.
        entities: (n,) entity of each record, or None.
    """
    options = {p.measure: p.options for p in planned}
    own = [
        f
        for f in findings
        if f.synthesizer == finding.synthesizer
        and f.measure.variant_of == finding.measure.label
        and f.measure.sensitive == finding.measure.sensitive
        and {f.measure, finding.measure} <= set(options)
    ]
    return [
        Preview(
            change_in_words(options[finding.measure], options[f.measure]),
            f,
            f.change,
            _memorization(kept.get(finding.measure.key), kept.get(f.measure.key), confidence, entities),
        )
        for f in own
    ]


def _memorization(before: Kept | None, after: Kept | None, confidence: float, entities: np.ndarray | None) -> Estimate:
    """Return the change of memorization, record by record, with its crossed interval."""
    if not isinstance(before, Contributions) or not isinstance(after, Contributions):
        return Estimate(float("nan"), float("nan"), float("nan"))
    changed = paired(after.memorization, before.memorization)
    return estimate(changed, confidence, entities=entities, scale=DIFFERENCE)


def largest_fall(tried: Sequence[Preview], quantity: Literal["risk", "memorization"]) -> list[Preview]:
    """Return previews, that which lowers a quantity most first, those without value last."""
    return sorted(tried, key=lambda p: (isnan(p.change(quantity).value), p.change(quantity).value))


@dataclass(frozen=True)
class Tried:
    """One change of the quasi-identifiers of one synthesizer, by one quantity: before and after it."""

    synthesizer: str
    quantity: str  # ``<quantity>/<measure>[@<group>]``
    words: str  # the change
    before: Estimate
    after: Estimate
    limit: float  # NaN where none is set
    risk: Estimate  # change of the risk, with its paired interval


def tried(result: StudyResult) -> list[Tried]:
    """Return what the what-ifs of a study do to its limited quantities; to memorization where no limit is set."""
    found = []
    own = [f for f in result.findings if f.role == "synthesizer" and f.measure.variant_of]
    for f in own:
        base = _varied(result.findings, f)
        if base is None:
            continue
        names = [name for name in result.limits if holds_for(name, base.measure)]
        for name in names or [f"memorization/{base.measure.key}"]:
            what = limited(name, (base.measure.key, base.measure.label))
            before, after = (quantity_of(each, what.quantity, what.group) for each in (base, f))
            limit = result.limits[name].value if names else float("nan")
            words = f.measure.label.removeprefix(f"{f.measure.variant_of}-").replace("-", " ")
            found.append(Tried(f.synthesizer, name, words, before, after, limit, f.change))
    return found


def _varied(findings: Sequence[Finding], after: Finding) -> Finding | None:
    """Return the finding of the measure that a what-if varies."""
    same = (after.synthesizer, after.measure.variant_of, after.measure.sensitive)
    own = (f for f in findings if (f.synthesizer, f.measure.label, f.measure.sensitive) == same)
    return next(own, None)


def change_in_words(before: Mapping[str, object], after: Mapping[str, object]) -> str:
    """Return in words what an attacker knows less of, by the options of a measure before and after a change.

    Example:
        >>> change_in_words({"quasi_identifiers": ["age", "sex", "job"]},
        ...                 {"quasi_identifiers": ["age", "job"], "bins": {"age": 5}})
        'without sex; age in 5 parts'
    """
    known, left = (list(each["quasi_identifiers"]) for each in (before, after))  # type: ignore[call-overload]
    was, now = (each.get("bins") for each in (before, after))
    old = was if isinstance(was, Mapping) else {}
    new = {c: n for c, n in (now if isinstance(now, Mapping) else {}).items() if old.get(c) != n}
    words = [f"without {c}" for c in known if c not in left]
    for column, parts in new.items():
        if isinstance(parts, Mapping):
            words.append(f"levels of {column} merged into {len(parts)}")
        elif isinstance(parts, float) and column not in known:
            words.append(f"noise of {parts:.0%} on {column} in the release")
        elif isinstance(parts, float):
            words.append(f"{column} known but for {parts:.0%} of its range")
        else:
            words.append(f"{column} in {parts} parts")
    return "; ".join(words)
