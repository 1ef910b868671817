"""One release in parts judged: measures, findings, verdicts."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from synthrisk.conf.loader import checked
from synthrisk.conf.study import Bootstrap, Data, Threshold
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.partitions.findings import broken, findings, strangers_in_words
from synthrisk.metrics.partitions.keys import keys_of_real, keys_of_release, values_of_real
from synthrisk.metrics.partitions.parts import MEMBERS, Partitioned
from synthrisk.metrics.release.k_anonymity import KAnonymity
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.verdicts import Beside
from synthrisk.metrics.study.verdicts import judge as verdicts_of
from synthrisk.metrics.tables.tables import name_of
from synthrisk.tasks.judge import new_study_id, spelled_out, threat_model

RELEASE = "release"
"""What the release is called."""
LACKING = (
    "in parts there are no reference generators, no population yardstick, no ceiling of utility, no look at who lies "
    "near the release or at columns that nothing attacks, no groups of vulnerable records: no verdict is NO EVIDENCE"
)


def judged_in_parts(
    tables: Partitioned,
    data: Data,
    planned: Sequence[Planned],
    thresholds: Mapping[str, Any],
    settings: Bootstrap,
    seed: int,
    tell: Callable[[str], None] = lambda step: None,
) -> StudyResult:
    """Return what is found of a release in parts: numbers and intervals are those of ``evaluate`` without references.

    ``tell`` is told what is done next, measure after measure.

    Raises:
        InputError: The control records are no strangers, or a measure or an option is not computed in parts.
    """
    begun = datetime.now(UTC)
    tell("a look at the control records")
    refusal, warning = strangers_in_words(tables)
    if refusal:
        raise InputError(f"control must hold records that the synthesizer never saw, got ones of which {refusal}")
    interval, beside = (
        Interval(settings.confidence, settings.method, settings.resamples, seed_of(seed, *words))
        for words in (("bootstrap", RELEASE), ("compare",))
    )
    found, utility = findings(tables, planned, RELEASE, interval, beside, tell)
    limits = {name: checked(Threshold, value, name) for name, value in thresholds.items()}
    tell("keys and columns")
    known = _keys(data, list(tables.columns))
    reason = broken(tables)
    return StudyResult(
        study_id=new_study_id(begun),
        name="evaluate",
        findings=found,
        checks=[],
        verdicts=verdicts_of(
            found,
            {name: limit.value for name, limit in limits.items()},
            [],
            Beside(broken={RELEASE: reason} if reason else {}),
        ),
        limits=spelled_out(limits, [f.measure for f in found]),
        facts=_facts(tables, data, settings, seed, begun),
        settings={RELEASE: {"role": "synthesizer", "kind": "files"}},
        utility=utility,
        keys=KAnonymity(
            tuple(known),
            keys_of_real(tables, known),
            {RELEASE: keys_of_release(tables, known, data.sensitive)},
            values_of_real(tables, known, data.sensitive),
        )
        if known
        else None,
        warning=warning,
        warnings=(LACKING, *([f"the release is broken: {reason}"] if reason else [])),
        quasi_identifiers=tuple(known),
        sensitive=tuple(map(name_of, data.sensitive)),
    )


def _keys(data: Data, columns: Sequence[str]) -> list[str]:
    known = data.quasi_identifiers
    return [c for c in columns if c not in data.guessed] if known == "*" else list(known)


def _facts(tables: Partitioned, data: Data, settings: Bootstrap, seed: int, begun: datetime) -> dict[str, str]:
    return {
        "data": data.title,
        "records": str(tables.real_rows),
        "members": str(tables.rows[MEMBERS]),
        "columns": str(len(tables.columns)),
        "releases": "1",
        "repetitions": "1",
        "seed": str(seed),
        "engine": "dask",
        "interval": f"{settings.method}, {settings.confidence:g}",
        "threat_model": threat_model(data.quasi_identifiers, data.sensitive),
        "started": begun.isoformat(timespec="seconds"),
    }
