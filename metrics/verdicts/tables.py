"""The tables of a study: its results as tracking, report and terminal show them, a row a number.

What the what-ifs of a study have shown: each change of the quasi-identifiers in words, beside what it varies.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from math import isnan
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, estimate, paired
from synthrisk.metrics.intervals.value_scale import DIFFERENCE
from synthrisk.metrics.release.k_anonymity import SIZES, KeySizes
from synthrisk.metrics.study.findings import Finding, Usefulness
from synthrisk.metrics.study.gda import AttackView, gda_view
from synthrisk.metrics.study.ledger import Contributions, KeptValues, Planned
from synthrisk.metrics.verdicts.quantities import OF_GROUPS, limited, quantity_of
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.metrics.verdicts.verdicts import Kept, holds_for

BESIDE = {
    "unseen_keys": "unseen keys",
    "ceiling": "ceiling",
    "null_real_mean": "null (truth permuted)",
    "null_synthetic_mean": "null (release permuted)",
    "accuracy": "accuracy",
    "accuracy_guess": "accuracy of the commonest class",
    "statistical_confidence": "statistical guess S",
    "claim_probability": "claim probability",
}
"""Details without which a value cannot be read, and what they are called."""

EMPTY = "says nothing in this study"


def copy_share(result: StudyResult, finding: Finding) -> Estimate:
    """Return a finding's memorization / that of the copy of the training rows: 1 a copy, 0 no nearer to members.

    It gives a difference of distances, whose unit nobody can read, a unit. The copy's own difference is taken as
    known. Not estimable where no copy ran, or where the measure does not see even the copy.
    """
    own = [f for f in result.findings if f.measure == finding.measure]
    copies = [f.memorization for f in own if result.answers.get(f.synthesizer) == "copy"]
    if not copies or not copies[0].lower > 0:
        return NOT_ESTIMABLE
    found, whole = finding.memorization, copies[0].value
    return replace(found, value=found.value / whole, lower=found.lower / whole, upper=found.upper / whole)


def league_table(result: StudyResult) -> pd.DataFrame:
    """Return the findings as one table, a row a synthesizer and measure."""
    empty = {key: f"{EMPTY}: {reason}" for key, reason in result.empty.items()}
    rows = [
        {
            **_whose(f),
            **with_limits("risk", f.risk),
            "guess": f.guess,
            "risk_gain": f.risk_gain.value,
            "control": f.risk_control.value,
            **with_limits("control_gain", replace(quantity_of(f, "control_gain"), value=f.control_gain)),
            "population": f.population.value,
            **with_limits("population_gain", quantity_of(f, "population_gain")),
            **{name: f.details.get(name, (float("nan"),))[0] for name in BESIDE},
            "release_sd": float(np.std(f.release_risk, ddof=1)) if len(f.release_risk) > 1 else float("nan"),
            "worst_release": f.worst.value,
            "worst_release_upper": f.worst.upper,
            **with_limits("memorization", f.memorization),
            **with_limits("copy_share", copy_share(result, f)),
            "same_difference_as": f.same_difference_as,
            **with_limits("change", f.change),
            "note": "; ".join(filter(None, (f.risk.note, f.warning, empty.get(f.measure.key)))),
        }
        for f in result.findings
    ]
    return pd.DataFrame(rows)


def _whose(f: Finding) -> dict[str, str]:
    return {"synthesizer": f.synthesizer, "role": f.role, "measure": f.measure.key}


def with_limits(name: str, found: Estimate) -> dict[str, float]:
    """Return a value and its limits as columns: ``<name>``, ``<name>_lower`` and ``<name>_upper``."""
    return {name: found.value, f"{name}_lower": found.lower, f"{name}_upper": found.upper}


def limits_table(result: StudyResult) -> pd.DataFrame:
    """Return what each generator reaches in each limited quantity, a row a limit and finding of its measure.

    The rows of the reference generators show what the study would have seen: NO EVIDENCE asks for a copy above the
    limit, and for a near copy above one of them. ``word`` and ``reason`` are those of the verdict.
    """
    said = {(v.synthesizer, v.quantity): v for v in result.verdicts}
    rows = []
    for name, limit in result.limits.items():
        for f in result.findings:
            if not holds_for(name, f.measure):
                continue
            what = limited(name, (f.measure.key,))
            found, verdict = quantity_of(f, what.quantity, what.group), said.get((f.synthesizer, name))
            rows.append(
                _whose(f)
                | {"quantity": what.quantity, "group": what.group, "name": name}
                | {"limit": limit.value, "source": limit.source}
                | {"value": found.value, "lower": found.lower, "upper": found.upper, "note": found.note}
                | {"word": verdict.word if verdict else "", "reason": verdict.reason if verdict else ""}
            )
    return pd.DataFrame(rows)


def judged_quantities(result: StudyResult) -> Iterator[tuple[str, float, dict[str, tuple[Estimate, str]]]]:
    """Yield each limit: its name, its value, and by generator what is reached with the word on it."""
    rows = limits_table(result).to_dict("records")
    for name, limit in result.limits.items():
        own = [row for row in rows if row["name"] == name]
        if own:
            reached = {
                str(row["synthesizer"]): (Estimate(row["value"], row["lower"], row["upper"]), str(row["word"]))
                for row in own
            }
            yield name, limit.value, reached


def groups_table(result: StudyResult) -> pd.DataFrame:
    """Return the findings of vulnerable records and of the worst class, a row a finding, group and quantity."""
    rows = [
        _whose(f)
        | {"group": group, "records": own.details["records"][0], "quantity": quantity}
        | {"value": found.value, "lower": found.lower, "upper": found.upper, "note": found.note}
        for f in result.findings
        for group, own in f.groups.items()
        for quantity in OF_GROUPS
        if quantity != "tpr" or own.tpr
        for found in (quantity_of(own, quantity),)
    ]
    return pd.DataFrame(rows)


def details_table(result: StudyResult) -> pd.DataFrame:
    """Return all named details, a row a finding and detail: mean over releases on members and on control records.

    Of a utility measure ``control`` is what control records reach in place of the release.
    """
    every: list[Finding | Usefulness] = [*result.findings, *result.utility]
    rows = [
        {"synthesizer": f.synthesizer, "measure": f.measure.key, "detail": name, "members": own, "control": other}
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

    x is the finding's risk, or of claims that name no target the share of members among the records they isolate.
    """
    rows = [
        {**_whose(f), "yardstick": name}
        | with_limits("risk", f.risk if each.attack is None else each.attack)
        | with_limits("success", each.success)
        | with_limits("gain", each.gain)
        | with_limits("difference", each.difference)
        | {"note": each.gain.note}
        for f in result.findings
        for name, each in f.yardsticks.items()
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


def tpr_table(result: StudyResult) -> pd.DataFrame:
    """Return the pooled true-positive rates, a row a finding that ranks records and false-positive rate."""
    rows = [
        {**_whose(f), "false_positive_rate": rate, **with_limits("tpr", e), "note": e.note}
        for f in result.findings
        for rate, e in f.tpr.items()
    ]
    return pd.DataFrame(rows)


def epsilon_table(result: StudyResult) -> pd.DataFrame:
    """Return the lower bounds of epsilon, a row a finding that ranks records."""
    return pd.DataFrame([_whose(f) | vars(f.epsilon) for f in result.findings if f.epsilon is not None])


def power_table(result: StudyResult) -> pd.DataFrame:
    """Return what leak each measure detects, a row a measure and share that was run."""
    rows = [
        {"measure": key, "detected_share": each.share, "slope": each.slope, "share": share, "seen": found}
        for key, each in result.powers.items()
        for share, found in each.seen
    ]
    return pd.DataFrame(rows)


def k_anonymity_table(result: StudyResult) -> pd.DataFrame:
    """Return how many records have a key that k records share, a row a table: see ``k_anonymity``.

    ``of`` says whose keys are looked up where: ``real`` and ``release`` among themselves, ``members`` and ``control``
    records in the release; ``absent`` counts those who do not occur there. l, the number of different sensitive values
    that share the record's key, is told in columns for each thing that is guessed: ``smallest_l.income``,
    ``l_1.income`` (records whose key has a single value) and so on.
    """
    if result.keys is None:
        return pd.DataFrame()
    named = [("", "real", result.keys.real, result.keys.values)]
    for name, each in result.keys.releases.items():
        for of, role in (("release", "release"), ("members", "members"), ("control", "controls")):
            sizes = getattr(each, role)
            if sizes is not None:
                named.append((name, of, sizes, {what: getattr(own, role) for what, own in each.values.items()}))
    rows = []
    for name, of, sizes, values in named:
        row: dict[str, str | float] = {"synthesizer": name, "of": of, "records": sizes.records}
        row |= {"smallest_k": sizes.smallest, "absent": sizes.absent} | _counts("k", sizes)
        for what, own in values.items():
            row |= {f"smallest_l.{what}": own.smallest} | {f"{c}.{what}": n for c, n in _counts("l", own).items()}
        rows.append(row)
    return pd.DataFrame(rows)


def _counts(letter: str, sizes: KeySizes) -> dict[str, float]:
    return {f"{letter}_{size}": count for size, count in zip(SIZES, sizes.counts, strict=True)}


def limits_kept_table(result: StudyResult) -> pd.DataFrame:
    """Return the least limits that would have been kept, where none is set, a row a synthesizer and measure."""
    return pd.DataFrame([vars(each) for each in result.kept], columns=[f.name for f in fields(Kept)])


TABLES: dict[str, Callable[[StudyResult], pd.DataFrame]] = {
    "yardsticks": yardstick_table,
    "gda": gda_table,
    "comparison": comparison_table,
    "power": power_table,
    "limits": limits_table,
    "limits_kept": limits_kept_table,
    "groups": groups_table,
    "tpr": tpr_table,
    "epsilon": epsilon_table,
    "k_anonymity": k_anonymity_table,
}
"""The tables that stand beside the league table, by the name that tracking and terminal give them."""


class Preview(NamedTuple):
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

    def helps_with(self, quantity: Literal["risk", "memorization"]) -> bool:
        """Tell whether one quantity is shown to fall, and the other is not shown to rise."""
        other = self.memorization if quantity == "risk" else self.risk
        return self.change(quantity).upper < 0 and not other.lower > 0

    def change(self, quantity: Literal["risk", "memorization"]) -> Estimate:
        """Return the change of one quantity."""
        return self.risk if quantity == "risk" else self.memorization


def previews(
    findings: Sequence[Finding],
    planned: Sequence[Planned],
    kept: Mapping[str, KeptValues],
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


def _memorization(
    before: KeptValues | None, after: KeptValues | None, confidence: float, entities: np.ndarray | None
) -> Estimate:
    """Return the change of memorization, record by record, with its crossed interval."""
    if not isinstance(before, Contributions) or not isinstance(after, Contributions):
        return Estimate(float("nan"), float("nan"), float("nan"))
    changed = paired(after.memorization, before.memorization)
    return estimate(changed, confidence, entities=entities, scale=DIFFERENCE)


def largest_fall(tried: Sequence[Preview], quantity: Literal["risk", "memorization"]) -> list[Preview]:
    """Return previews, that which lowers a quantity most first, those without value last."""
    return sorted(tried, key=lambda p: (isnan(p.change(quantity).value), p.change(quantity).value))


class Tried(NamedTuple):
    """One change of the quasi-identifiers of one synthesizer, by one quantity: before and after it."""

    synthesizer: str
    quantity: str  # ``<quantity>/<measure>[@<group>]``
    words: str  # the change
    before: Estimate
    after: Estimate
    limit: float  # NaN where none is set
    risk: Estimate  # change of the risk, with its paired interval
    risks: tuple[Estimate, Estimate]  # the risk before and after it


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
            found.append(Tried(f.synthesizer, name, words, before, after, limit, f.change, (base.risk, f.risk)))
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
