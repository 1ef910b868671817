"""The commented file of a first study."""

import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from synthrisk.conf.study import Study
from synthrisk.metrics.study.quantities import limited
from synthrisk.tasks.propose.proposal import Proposal
from synthrisk.tasks.propose.roles import Role

_WORDS = {
    "zero_cap": "looks up who has the same quasi-identifiers, and takes their commonest value",
    "rapid": "a model learns from the release to guess",
    "singling_out": "claims that exactly one person has these values",
    "common_rows_proportion": "released as they are: equal in every column",
    "membership": "near copies: who was in the training data?",
    "distance_to_closest_record": "how much nearer the release comes to members",
    "accuracy": "utility, beside the risk",
}
"""What each recommended measure does."""
_ALSO = "in a table like yours it sees a leak that the others miss (synthrisk metrics --leaks)"
_ASKED = """\
# Limits that a release must keep, and who chose them. control_gain: of those whom an attacker guesses wrong without
# their record, the share that it gives away. memorization: what membership adds to an attack.{tpr}
"""
_TPR = """ tpr: the members
# found where 1 % of strangers are taken for one; chance is .01, so its limit is that much higher."""
_NO_LIMITS = """\
# No limits: no verdict. A limit is what a person's record may add to the attacks on that person: of those whom an
# attacker guesses wrong without it, the share that it gives away (control_gain), and the members found where 1 % of
# strangers are taken for one (tpr; .01 is chance). It is set by who answers for the release, such as a data protection
# officer or a disclosure board, never by who made it.
"""


def study_text(study: Study, proposal: Proposal, limits: Mapping[str, float], to: Path, time: str) -> str:
    """Return the text of a study's file, with the reasons of its roles.

    Args:
        study: The study.
        proposal: What its columns hold and mean.
        limits: The limits that could be set, where the study has none.
        to: The file.
        time: How long the study will take, in words.
    """
    data, meant = study.data, {role.name: role for role in proposal.roles}
    template = (files(__package__) / "new_study.yaml.txt").read_text("utf-8")
    return template.format(
        schema=to.with_suffix(".schema.json").name,
        file=to,
        name=_json(study.name),
        source=_json(data.source),
        known=_columns(list(data.quasi_identifiers), meant),
        hidden=_columns(data.guessed, meant),
        entity=_entity(data.identifier),
        drop=_columns(data.drop, meant),
        categorical=_json(data.categorical),
        missing=_json(data.missing),
        columns=_readings({name: each.model_dump(exclude_unset=True) for name, each in data.columns.items()}),
        rows=_rows(data.rows, len(proposal.table), time),
        split=f"{{folds: {study.split.folds}, repetitions: {study.split.repetitions}}}",
        metrics="\n".join(_metrics([_settings(each) for each in study.metrics])),
        limits=_limits(study, limits),
        workers=study.runner.workers,
    )


def study_name(source: str) -> str:
    """Return a name for a study of a table, of the letters that names may have."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", Path(source).stem).strip("-") or "study"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _columns(names: Sequence[str], meant: Mapping[str, Role]) -> str:
    if not names:
        return " []"
    return "".join(f"\n    - {_json(name)}   # {_reason(meant[name])}" for name in names)


def _reason(role: Role) -> str:
    return ("a guess: " if role.sure == "a guess" else "") + role.why


def _entity(identifier: str | None) -> str:
    line = f"identifier: {_json(identifier)}" if identifier else "# identifier: person_id"
    return (
        "  # Column that names the person, where one has several rows: they stay on one side of every split.\n"
        f"  {line}\n"
    )


def _readings(columns: Mapping[str, Mapping[str, Any]]) -> str:
    if not columns:
        return " {}"
    return "".join(f"\n    {_json(name)}: {_json(reading)}" for name, reading in columns.items())


def _rows(rows: int | None, records: int, time: str) -> str:
    if rows is None:
        return f"  # All {records} records are used: {time}.\n  # rows: 1000"
    return f"  # A random sample of the {records} records: {time}. null takes all.\n  rows: {rows}"


def _settings(choice: Any) -> dict[str, Any]:
    """Return a metric as it is written: its name, and what was said beside it."""
    own = choice.model_dump(exclude_defaults=True, exclude={"label", "options"})
    return {"name": choice.name, **own, **choice.options}


def _metrics(chosen: Sequence[Mapping[str, Any]]) -> list[str]:
    lines, told = [], set()
    for each in chosen:
        words = "" if each["name"] in told else f"   # {_WORDS.get(each['name'], _ALSO)}"
        told.add(each["name"])
        lines.append(f"  - {_json(each)}{words}")
    return [
        *lines,
        "  # - {name: inference, attackers: [nearest_record, key_class]}   # claims, as the GDA Score judges",
    ]


def _limits(study: Study, could: Mapping[str, float]) -> str:
    if study.thresholds:
        own = [
            f"  {_json(name)}: {_json({'value': limit.value, 'source': limit.source})}"
            for name, limit in study.thresholds.items()
        ]
        tpr = any(limited(name).quantity == "tpr" for name in study.thresholds)
        return _ASKED.format(tpr=_TPR if tpr else "") + "limits:\n" + "\n".join(own)
    lines = [f'#   {_json(name)}: {{value: {value:g}, source: "who chose it"}}' for name, value in could.items()]
    return _NO_LIMITS + "# limits:\n" + "\n".join(lines)
