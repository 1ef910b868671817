"""Check the reference generators, judge the synthesizers by their risks, put provenance beside the numbers."""

import platform
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from synthrisk.conf.loader import checked
from synthrisk.conf.study import NON_MEMBERS, Threshold
from synthrisk.metrics.release.identifiers import RELEASED, Released, in_all
from synthrisk.metrics.release.k_anonymity import KAnonymity, keys_of_real, mean_keys, values_of_real
from synthrisk.metrics.release.summary import ReleaseSummary, summarise
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.limits import Size
from synthrisk.metrics.study.limits_kept import limits_kept
from synthrisk.metrics.study.quantities import limited
from synthrisk.metrics.study.reference_checks import Check, check_references
from synthrisk.metrics.study.results import METHODS, Limit, StudyResult
from synthrisk.metrics.study.verdicts import Beside, check_limits, holds_for
from synthrisk.metrics.study.verdicts import judge as verdicts_of
from synthrisk.metrics.tables.tables import Target, name_of
from synthrisk.tasks.carriers import carried
from synthrisk.tasks.workspace.failure import told_safely
from synthrisk.tasks.workspace.handed import Estimated, Judged
from synthrisk.tasks.workspace.references import Generator, Sample
from synthrisk.tasks.workspace.store import versions
from synthrisk.tasks.workspace.verb import check_given, verb

_VERSIONS = ("synthrisk", "numpy", "pandas", "scikit-learn", "scipy", "prefect", "mlflow")


@verb("judge")
def judge(
    estimated: Estimated,
    thresholds: Mapping[str, float | Mapping[str, Any] | Threshold] | None = None,
    *,
    name: str = "study",
    weakest: Sequence[int | None] = (None, 1),
    warning: str = "",
    started: datetime | None = None,
    warnings: Sequence[str] = (),
) -> Judged:
    """Return what a study says: verdicts where there are thresholds, and what they stand on.

    Args:
        estimated: What was found.
        thresholds: ``<quantity>/<measure>[@<group>]`` -> limit, or ``{value, source}``; none, no verdict.
        name: Name of the study.
        weakest: Over how many of an attack's columns, the weakest first, its GDA score is taken; None all.
        warning: What makes all numbers hard to read.
        started: When the study began; now unless given.
        warnings: What the study says little about, as it was seen before anything was computed.

    Raises:
        InputError: A threshold names no measure, quantity or group of the study.
    """
    check_given("estimated", estimated, Estimated, "estimate")
    limits = {limit: checked(Threshold, value, limit) for limit, value in (thresholds or {}).items()}
    check_limits(list(limits), list(dict.fromkeys(p.measure for f in estimated.found for p in f.planned)))
    begun = started or datetime.now(UTC)

    def judged() -> Judged:
        result = _concluded(estimated, limits, begun)
        told = replace(result, warning=warning, warnings=tuple(warnings))
        return Judged(replace(told, study_id=new_study_id(begun), name=name, weakest=weakest), estimated)

    return told_safely(Path(estimated.sample.workspace), "judge", judged)


def new_study_id(begun: datetime) -> str:
    """Return an id that no other study has, though it is like this one and began at the same time; ids sort by time.

    Example:
        >>> new_study_id(datetime(2026, 11, 23, 1, 36, 9, 250))[:22]
        '20261123-013609-000250'
    """
    return f"{begun:%Y%m%d-%H%M%S-%f}{secrets.token_hex(3)}"


def _concluded(estimated: Estimated, limits: Mapping[str, Threshold], begun: datetime) -> StudyResult:
    sample, found, failures = estimated.sample, estimated.compared.findings, estimated.failures
    generators = [g for g in estimated.generators if g.role != "yardstick"]
    answers = {g.name: g.answer for g in generators if g.answer is not None}
    entities = sample.how_many_entities()
    confidence = estimated.settings.confidence
    checks = check_references(found, answers, confidence, entities=entities < sample.table.rows)
    checks += [Check(name, "all", "runs", False, reason) for name, reason in failures.items() if name in answers]
    looked, released = _looked_at(estimated), _released(estimated)
    beside = Beside(
        answers,
        estimated.compared.powers,
        broken={name: each.invalid for name, each in looked.items()},
        near={name: each.blind for name, each in looked.items()},
        excess={name: replace(each.excess, note=each.suspicious) for name, each in looked.items()},
        size=_size(sample),
        leaked={g.name: g.leaked for g in generators if g.answer == "leak" and g.leaked is not None},
        released={g.name: released[g.name].risk for g in generators if g.role == "synthesizer" and g.name in released},
    )
    checks += _identifiers_seen(generators, released)
    facts = _facts(sample, entities) | {
        "methods": METHODS,
        "interval": f"{estimated.settings.method}, {confidence:g}",
        "threat_model": threat_model(sample.quasi_identifiers, sample.sensitive),
        "versions": ", ".join(f"{k} {v}" for k, v in versions(_VERSIONS).items())
        + f", python {platform.python_version()}",
        "started": begun.isoformat(timespec="seconds"),
    }
    if NON_MEMBERS in failures:  # a yardstick less: the numbers beside it stand
        facts["population_yardstick"] = f"not measured: {failures[NON_MEMBERS]}"
    verdicts = verdicts_of(found, {name: limit.value for name, limit in limits.items()}, checks, beside)
    return StudyResult(
        study_id="",
        name="",
        findings=found,
        checks=checks,
        verdicts=verdicts,
        failures={name: reason for name, reason in failures.items() if name != NON_MEMBERS},
        limits=spelled_out(limits, [f.measure for f in found]),
        facts=facts,
        settings={g.name: _settings(g) for g in generators},
        answers=answers,
        comparisons=estimated.compared.comparisons,
        powers=estimated.compared.powers,
        utility=[u for each in estimated.found for u in each.utility],
        keys=_keys(estimated),
        releases=looked,
        released=released,
        carriers=carried(estimated, verdicts),
        kept=() if limits else limits_kept(found, checks, beside),
        leaked=beside.leaked,
        quasi_identifiers=tuple(sample.key),
        known=_known(estimated, sample.key),
        sensitive=tuple(map(name_of, sample.sensitive)),
    )


def _size(sample: Sample) -> Size:
    """Return how large a study is: of folds every record is a member and a control record in turn."""
    cut, records = sample.cut, sample.table.rows
    members = int((~sample.held_out(0, 0)).sum()) if cut.is_one else records
    return Size(members, records - members, cut.repetitions, cut.is_one)


def _looked_at(estimated: Estimated) -> dict[str, ReleaseSummary]:
    """Return what the releases of each generator have shown before they were judged."""
    own = [f for f in estimated.found if f.generator.role != "yardstick"]
    found = {f.name: summarise([each.check() for each in f.ledgers]) for f in own}
    told = _released(estimated)
    return {name: replace(each, notes=(*told[name].notes, *each.notes)) for name, each in found.items()}


def _released(estimated: Estimated) -> dict[str, Released]:
    """Return whose values the columns of each generator's releases hold."""
    own = [f for f in estimated.found if f.generator.role != "yardstick"]
    return {f.name: in_all([each.released() for each in f.ledgers]) for f in own}


def _identifiers_seen(generators: Sequence[Generator], released: Mapping[str, Released]) -> list[Check]:
    """Return whether the members' identifiers were seen in the releases of reference generators that release them."""
    own = [g.name for g in generators if g.answer == "identifiers" and g.name in released]
    expected = "identifiers of members seen"
    seen = {name: released[name].risk for name in own}
    return [Check(name, RELEASED, expected, bool(seen[name]), seen[name] or "none") for name in own]


def _keys(estimated: Estimated) -> KAnonymity | None:
    """Return how rare the keys are in the real table and, in the mean, in each generator's releases."""
    sample = estimated.sample
    if not sample.key:
        return None
    own = [f for f in estimated.found if f.generator.role != "yardstick"]
    records = sample.records()
    return KAnonymity(
        tuple(sample.key),
        keys_of_real(records, sample.key, sample.entities()),
        {f.name: mean_keys([e.keys() for e in f.ledgers]) for f in own},
        values_of_real(records, sample.key, sample.sensitive),
    )


def _facts(sample: Sample, entities: int) -> dict[str, str]:
    return {
        **({"data": sample.title} if sample.title else {}),
        "data_digest": sample.table.digest,
        "records": str(sample.table.rows),
        **({"members": str(int((~sample.held_out(0, 0)).sum()))} if sample.cut.is_one else {}),
        **({"entities": str(entities)} if entities < sample.table.rows else {}),
        "columns": str(len(sample.columns)),
        "split_digest": sample.cut.digest,
        "repetitions": str(sample.cut.repetitions),
        "releases": str(sample.cut.repetitions * sample.cut.releases),
        "twins_share": f"{sample.cut.twins_share:.4f}",
        "seed": str(sample.seed),
    }


def spelled_out(limits: Mapping[str, Threshold], measures: Sequence[Measure]) -> dict[str, Limit]:
    """Return the thresholds, one given without an attribute spelled out for each measure that it holds for."""
    spelled: dict[str, Limit] = {}
    for name, threshold in limits.items():
        own = [measure for measure in measures if holds_for(name, measure)]
        names = [replace(limited(name, (m.key, m.label)), key=m.key).name for m in own] or [name]
        spelled |= dict.fromkeys(names, Limit(threshold.value, threshold.source))
    return spelled


def threat_model(known: Sequence[str] | str, sensitive: Sequence[Target]) -> str:
    """Return what an attacker knows and guesses, in words."""
    knows = "all other columns" if known == "*" else ", ".join(known)
    return f"attacker has the release, knows {knows}; guesses {', '.join(map(name_of, sensitive))}"


def _settings(generator: Generator) -> dict[str, str]:
    """Return the options of a generator, with the epsilon that it promises, given or not."""
    promised = {} if generator.epsilon is None else {"epsilon": f"{generator.epsilon:g}"}
    own = {name: str(value) for name, value in generator.options.items()}
    return {"role": generator.role, "kind": generator.kind} | own | promised


def _known(estimated: Estimated, key: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what the attackers of single measures know, where it is not the key of the study."""
    planned = estimated.found[0].planned if estimated.found and estimated.found[0].ledgers else ()
    told = {}
    for each in (p for p in planned if not p.measure.variant_of):
        own = tuple(each.options.get("quasi_identifiers", ()))
        if own and set(own) != set(key) - set(each.measure.targets):
            told[each.measure.key] = own
    return told
