"""Check the reference generators, judge the synthesizers by their risks, put provenance beside the numbers.

What carries a risk is looked for in releases that may not go out.
"""

import json
import platform
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from synthrisk.conf.loader import checked
from synthrisk.conf.secrets import without_secrets
from synthrisk.conf.study import NON_MEMBERS, Threshold
from synthrisk.metrics.exposure.single_records import vulnerable
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.release.columns import coarsened_alike
from synthrisk.metrics.release.identifiers import RELEASED, Released, in_all
from synthrisk.metrics.release.k_anonymity import KAnonymity, keys_of_real, mean_keys, values_of_real
from synthrisk.metrics.release.validity import ReleaseSummary, summarise
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.findings import Cost
from synthrisk.metrics.study.ledger import Measure, Planned
from synthrisk.metrics.tables.tables import Tables, Target, name_of
from synthrisk.metrics.verdicts.limit_sentences import Knowledge, columns_named, known_elsewhere
from synthrisk.metrics.verdicts.limits import Size, check_limits
from synthrisk.metrics.verdicts.quantities import AGAINST_CONTROL, Limited, limited
from synthrisk.metrics.verdicts.references import Check, check_references
from synthrisk.metrics.verdicts.results import METHODS, Limit, StudyResult
from synthrisk.metrics.verdicts.revealing_columns import Carriers, OneRelease, carriers
from synthrisk.metrics.verdicts.verdicts import Beside, Verdict, holds_for, limits_kept
from synthrisk.metrics.verdicts.verdicts import judge as verdicts_of
from synthrisk.tasks.workspace.digests import code_digest, file_digest, key_of, versions
from synthrisk.tasks.workspace.failures import told_safely
from synthrisk.tasks.workspace.folders import keep_file
from synthrisk.tasks.workspace.references import (
    FRAME,
    FRAMES,
    Estimated,
    Found,
    Generator,
    Judged,
    LedgerFolder,
    Sample,
)
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
    if estimated.found:  # else each generator has failed, which the verdicts say
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
    everybody = [f for f in estimated.found if f.generator.role != "yardstick"]
    own = [f for f in everybody if f.generator.role == "synthesizer"]
    released = {f.name: in_all([each.released() for each in f.ledgers]) for f in everybody}
    looked = _looked_at(everybody, released)
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
    known = _known(estimated, sample.key)
    software = versions(_VERSIONS) | {"python": platform.python_version()}
    facts = _facts(sample, entities) | _files(sample, generators)
    facts |= {
        "methods": METHODS,
        "interval": f"{estimated.settings.method}, {confidence:g}",
        "threat_model": threat_model(sample.quasi_identifiers, sample.sensitive, _knowing(known, sample)),
        "versions": ", ".join(f"{k} {v}" for k, v in software.items()),
        "started": begun.isoformat(timespec="seconds"),
        "release_keys": columns_named([f"{f.name} {_release_key(f)}" for f in own]),
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
        keys=_keys(sample, everybody),
        releases=looked,
        released=released,
        carriers=carried(estimated, verdicts),
        kept=() if limits else limits_kept(found, checks, beside),
        leaked=beside.leaked,
        quasi_identifiers=tuple(sample.key),
        known=known,
        sensitive=tuple(map(name_of, sample.sensitive)),
        costs=_costs(estimated),
    )


def _costs(estimated: Estimated) -> dict[str, Cost]:
    """Return what a release of each generator took, where that was measured and one is made, not read from a file."""
    costs = {}
    for each in (f for f in estimated.found if f.generator.role != "yardstick" and f.generator.kind != "files"):
        taken = [own for own in (ledger.taken() for ledger in each.ledgers) if own is not None]
        most = [own.megabytes for own in taken if own.megabytes is not None]
        if taken:
            costs[each.name] = Cost(fmean(own.seconds for own in taken), max(most, default=float("nan")))
    return costs


def _release_key(found: Found) -> str:
    """Return a digest of all that decides the releases of a generator: files, options, seeds, code and versions."""
    return key_of(*(ledger.release.key for ledger in found.ledgers))[:12]


def _size(sample: Sample) -> Size:
    """Return how large a study is: of folds every record is a member and a control record in turn."""
    cut, records = sample.cut, sample.table.rows
    members = int((~sample.held_out(0, 0)).sum()) if cut.is_one else records
    return Size(members, records - members, cut.repetitions, cut.is_one)


def _looked_at(found: Sequence[Found], released: Mapping[str, Released]) -> dict[str, ReleaseSummary]:
    """Return what the releases of each generator have shown before they were judged."""
    seen = {f.name: summarise([each.check() for each in f.ledgers]) for f in found}
    return {name: replace(each, notes=(*released[name].notes, *each.notes)) for name, each in seen.items()}


def _identifiers_seen(generators: Sequence[Generator], released: Mapping[str, Released]) -> list[Check]:
    """Return whether the members' identifiers were seen in the releases of reference generators that release them."""
    own = [g.name for g in generators if g.answer == "identifiers" and g.name in released]
    expected = "identifiers of members seen"
    seen = {name: released[name].risk for name in own}
    return [Check(name, RELEASED, expected, bool(seen[name]), seen[name] or "none") for name in own]


def _keys(sample: Sample, found: Sequence[Found]) -> KAnonymity | None:
    """Return how rare the keys are in the real table and, in the mean, in each generator's releases."""
    if not sample.key:
        return None
    records = sample.records()
    real = keys_of_real(records, sample.key, sample.entities())
    releases = {f.name: mean_keys([e.keys() for e in f.ledgers]) for f in found}
    return KAnonymity(tuple(sample.key), real, releases, values_of_real(records, sample.key, sample.sensitive))


def _facts(sample: Sample, entities: int) -> dict[str, str]:
    aside = sample.table.left_out.columns if sample.table.left_out else ()
    others = [column for column in aside if column != sample.identifier]
    return {
        **({"data": sample.title} if sample.title else {}),
        "data_digest": sample.table.digest,
        "records": str(sample.table.rows),
        **({"drawn": "at random, as many as data.rows asks for"} if sample.drawn else {}),
        **({"members": str(int((~sample.held_out(0, 0)).sum()))} if sample.cut.is_one else {}),
        **({"entities": str(entities)} if entities < sample.table.rows else {}),
        "columns": str(len(sample.columns)),
        **({"who_is_who": sample.identifier} if sample.identifier else {}),
        **({"left_out": columns_named(others)} if others else {}),
        "split_digest": sample.cut.digest,
        "repetitions": str(sample.cut.repetitions),
        "releases": str(sample.cut.repetitions * sample.cut.releases),
        **({} if isnan(sample.cut.twins_share) else {"twins_share": f"{sample.cut.twins_share:.4f}"}),
        "seed": str(sample.seed),
    }


def _files(sample: Sample, generators: Sequence[Generator]) -> dict[str, str]:
    """Return which files were judged, where the only release came as a file: names, with digests of local files."""
    own = [each for each in generators if each.role == "synthesizer"]
    if not (sample.cut.is_one and [each.kind for each in own] == ["files"]):
        return {}
    path = str(own[0].options["path"])
    release = path if "://" in path else str(Path(own[0].folder, path))
    held_out = {"held_out_file": _named(sample.control)} if sample.control else {}
    return {"release_file": _named(release), "real_file": _named(sample.source), **held_out}


def _named(address: str) -> str:
    """Return the name of a file without its folder, and with what begins the SHA-256 of it where it is a local one."""
    if FRAMES in address:
        return FRAME
    is_url = "://" in address
    name = Path(re.split(r"[?#]", without_secrets(address))[0] if is_url else address).name
    return f"{name}, SHA-256 begins with {file_digest(address)[:16]}" if Path(address).is_file() else name


def spelled_out(limits: Mapping[str, Threshold], measures: Sequence[Measure]) -> dict[str, Limit]:
    """Return the thresholds, one given without an attribute spelled out for each measure that it holds for."""
    spelled: dict[str, Limit] = {}
    for name, threshold in limits.items():
        own = [measure for measure in measures if holds_for(name, measure)]
        names = [replace(limited(name, (m.key, m.label)), key=m.key).name for m in own] or [name]
        spelled |= dict.fromkeys(names, Limit(threshold.value, threshold.source))
    return spelled


def threat_model(
    known: Sequence[str] | str, sensitive: Sequence[Target], others: Mapping[str, str] | None = None
) -> str:
    """Return what an attacker knows and guesses, in words.

    ``others``: what the attackers of single measures know in place of it, by the keys of the measures.

    Example:
        >>> threat_model(["age", "sex"], ["income"], {"rapid.income": "all other columns"})
        'attacker has the release, knows age, sex; guesses income; in rapid.income knows all other columns'
    """
    knows = "all other columns" if known == "*" else ", ".join(known)
    told = f"attacker has the release, knows {knows}; guesses {', '.join(map(name_of, sensitive))}"
    return told + known_elsewhere(others or {})


def _knowing(known: Mapping[str, Sequence[str]], sample: Sample) -> dict[str, str]:
    """Return what the attackers of measures know who do not know the key of the study, in words."""
    every, guessed = set(sample.columns), set(sample.guessed)
    return {
        key: Knowledge(columns, everything=len(columns) > 1 and set(columns) | guessed >= every).words
        for key, columns in known.items()
    }


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


_KEPT = "carriers"
_PACKAGES = ("numpy", "pandas", "scikit-learn", "scipy")


def carried(estimated: Estimated, verdicts: Sequence[Verdict]) -> dict[str, Carriers]:
    """Return which columns carry a RISK, by synthesizer, on its first release; nothing where that cannot be told.

    Of the limits that are crossed it is one of singling out, whose claims name columns, or else the one that is crossed
    by most.
    """
    told: dict[str, Carriers] = {}
    for found in estimated.found:
        planned = {p.measure.key: p for p in found.ledgers[0].planned}
        crossed = [v for v in verdicts if (v.synthesizer, v.word) == (found.name, "RISK")]
        pairs = [(v, limited(v.quantity, tuple(planned))) for v in crossed]
        own = [(v, what) for v, what in pairs if what.quantity in AGAINST_CONTROL and what.key in planned]
        if own:
            _, what = max(own, key=lambda pair: (_singles_out(planned[pair[1].key]), pair[0].excess))
            kept = _kept(found.ledgers[0], planned[what.key], what, estimated.settings.vulnerable)
            told |= {found.name: kept} if kept else {}
    return told


def _singles_out(planned: Planned) -> bool:
    return METRICS[planned.measure.metric].study.isolated is not None


def _kept(ledger: LedgerFolder, planned: Planned, limit: Limited, share: float) -> Carriers | None:
    """Return what carries a limited quantity of one release, found once; ``share`` of the records are vulnerable.

    None where it cannot be found, which is tried again another time.
    """
    sample = ledger.release.sample
    code = code_digest([carriers.__module__], alone=[__name__])
    key = key_of(Path(ledger.path).name, sample.cut.digest, limit.name, share, code, versions(_PACKAGES))
    path = Path(sample.workspace) / _KEPT / f"{key}.json"

    def write(draft: Path) -> None:
        found = carriers(_one(ledger, share if limit.group else None), planned, limit)
        draft.write_text(json.dumps(None if found is None else asdict(found)))

    try:
        keep_file(path, write)
    except Exception:  # noqa: BLE001 - a metric may fail on changed columns as it likes: the verdict stands without words
        return None
    told = json.loads(path.read_text())
    return None if told is None else Carriers(**told | {"columns": tuple(map(tuple, told["columns"]))})


def _one(ledger: LedgerFolder, share: float | None) -> OneRelease:
    release, sample = ledger.release, ledger.release.sample
    real, entities = sample.records(), sample.entities()
    groups = {} if share is None else vulnerable(real, sample.key, share, entities)
    groups = {name: np.asarray(own) for name, own in groups.items()}
    tables = coarsened_alike(Tables(real, release.synthetic()))  # where some cells of it are coarse
    seed = seed_of(sample.seed, _KEPT, release.generator.name)
    return OneRelease(tables.real, tables.synthetic, release.membership(), entities, groups, seed)
