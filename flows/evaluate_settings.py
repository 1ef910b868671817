"""The settings of ``evaluate``: roles of columns, measures, limits, and the references and control records it takes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from synthrisk.conf import Study, load
from synthrisk.conf.loader import checked, settings_text
from synthrisk.conf.study import NOT_SAID, Data, SynthesizerChoice
from synthrisk.conf.tables import Reading
from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.release.matches import strangers
from synthrisk.metrics.verdicts.quantities import AGAINST_CONTROL, limited
from synthrisk.tasks.data import read as read_table
from synthrisk.tasks.data.task import given
from synthrisk.tasks.propose.measures import RECOMMENDED, measures
from synthrisk.tasks.propose.proposal import Given, Proposal, look
from synthrisk.tasks.propose.roles import Role
from synthrisk.tasks.synthesize import Job, find_synthesizer, run
from synthrisk.tasks.synthesize.files import read_file
from synthrisk.tasks.workspace.files.csv import BETWEEN
from synthrisk.tasks.workspace.folders import open_workspace
from synthrisk.tasks.workspace.references import Cut, Sample, Table

References = Literal["limited", "all", "none"]
EVERY = "all"
"""What all metrics together are called."""
ROLES = ("quasi_identifiers", "sensitive", "categorical", "identifier", "missing", "drop", "columns")
"""What can be said of a table's columns, as in the ``data`` of a study."""
UNDERSTOOD = ("real", "control", "study", "metrics", "thresholds", *ROLES)
"""The arguments that say what a table means and what it is attacked with."""
_OF_CONTROLS = ("repelled", "fresh")
_FEWEST = 4  # control records from which fresh can be made: half of them, and half to compare with


@dataclass(frozen=True, eq=False)
class Understood:
    """What the columns of a table mean, and what its release is attacked with."""

    data: Data
    metrics: Sequence[str | Mapping[str, Any]]
    thresholds: Mapping[str, Any]
    proposal: Proposal | None = None  # where the roles are none that somebody gave
    beside: Sequence[str] = ()  # columns that the release alone has, and that are left out

    @property
    def arguments(self) -> dict[str, Any]:
        """The same as arguments of ``evaluate``."""
        own = self.data.model_dump(exclude={"source", "rows"}, exclude_unset=True)
        own["drop"] = [*own.get("drop", ()), *self.beside]
        known = own["quasi_identifiers"]
        said = {**own, "quasi_identifiers": [known] if known == "*" else known, "thresholds": dict(self.thresholds)}
        return {name: value for name, value in said.items() if value} | {"metrics": list(self.metrics)}


def understood(
    real: str,
    control: str | None,
    study: str | None,
    metrics: Sequence[str | Mapping[str, Any]] | None,
    thresholds: Mapping[str, Any] | None,
    synthetic: str | None = None,
    **roles: Any,
) -> Understood:
    """Return what is asked: as it is given, else as a study says, else as it is proposed.

    ``drop`` takes names of the real table and, where ``synthetic`` says which file it is, of the release.

    Raises:
        InputError: The table cannot be read, or the study; or a role names no column.
    """
    said = {name: value for name, value in roles.items() if value not in (None, [], {})}
    beside = _beside(real, synthetic, said.get("drop", ()))
    if beside:
        said["drop"] = [name for name in said["drop"] if name not in beside]
        return replace(understood(real, control, study, metrics, thresholds, **said), beside=beside)
    if said.get("quasi_identifiers") == ["*"]:
        said["quasi_identifiers"] = "*"
    asked = list(metrics or ())
    if asked == [EVERY]:
        everything = [name for name, metric in METRICS.items() if metric.installed and not metric.own_needs]
        asked = _without_control(everything, control)
    limits = dict(thresholds or {})
    if study is not None:
        own = load(study)
        settings = own.data.model_dump(exclude_unset=True, exclude={"rows"}) | said | {"source": real}
        limits = limits or {name: limit.model_dump() for name, limit in own.thresholds.items()}
        chosen = [choice.model_dump(exclude_unset=True) for choice in own.metrics]
        return Understood(checked(Data, settings, "study"), asked or chosen, limits)
    if {"quasi_identifiers", "sensitive"} <= set(said):
        data = checked(Data, {"source": real, **said}, "evaluate")
        named = bool(metrics) and EVERY not in (metrics or ())
        ours = asked or _without_control(RECOMMENDED, control)
        return Understood(data, asked if named else _each_alone(ours, data), limits)
    if together := [each for each in said.get("sensitive", ()) if not isinstance(each, str)]:
        raise InputError(f"columns are guessed together only where quasi_identifiers is given too, got {together[0]}")
    proposal = _without_numbers(look(real, *_given(said), others=control))
    proposed = measures(proposal.table, proposal.data)
    return Understood(proposal.data, asked or _without_control(proposed, control), limits, proposal)


def _beside(real: str, synthetic: str | None, drop: Sequence[str]) -> list[str]:
    """Return those of the columns to be left out that the release has and the real table has not."""
    if synthetic is None or not drop:
        return []
    table = read_table(real)
    others = [name for name in drop if name not in table.columns]
    if not others:
        return []
    released = read_file(synthetic, synthetic, Job(table, table.head(0), len(table), 0))
    return [name for name in others if name in released.columns]


def _given(said: Mapping[str, Any]) -> tuple[Given, dict[str, Reading]]:
    if said.get("quasi_identifiers") == "*":
        raise InputError("quasi_identifiers may be '*' only where sensitive is given too, got no sensitive")
    readings = {name: checked(Reading, each, f"columns.{name}") for name, each in said.get("columns", {}).items()}
    return Given(**{name: value for name, value in said.items() if name != "columns"}), readings


def _without_numbers(proposal: Proposal) -> Proposal:
    """Return the proposal, an identifier of single records left out: control records may be numbered alike."""
    name = proposal.data.identifier
    if name is None or not next(each for each in proposal.columns if each.name == name).is_unique:
        return proposal
    data = proposal.data.model_copy(update={"identifier": None, "drop": [*proposal.data.drop, name]})
    why = "each record has one of its own"
    roles = tuple(Role(name, "dropped", "likely", why) if role.name == name else role for role in proposal.roles)
    return replace(proposal, data=data, roles=roles, table=proposal.table.drop(columns=name))


def _each_alone(metrics: Sequence[str | Mapping[str, Any]], data: Data) -> list[str | Mapping[str, Any]]:
    """Return metrics of which those that guess one column at a time guess each column that is guessed with others."""
    joint = any(not isinstance(each, str) for each in data.sensitive)
    one = {m for m in map(str, metrics) if joint and "sensitive" in METRICS[m].needs and not METRICS[m].jointly}
    return [{"name": each, "sensitive": data.guessed} if each in one else each for each in metrics]


def _without_control(metrics: Sequence[str | Mapping[str, Any]], control: str | None) -> list[str | Mapping[str, Any]]:
    """Return the metrics that can be computed: where there is no control, those that do not need it."""
    names = [each if isinstance(each, str) else str(each["name"]) for each in metrics]
    return [each for each, name in zip(metrics, names, strict=True) if control or "control" not in METRICS[name].needs]


def prepared(
    study: Study, control: str | None, synthetic: str, read: Callable[..., tuple[Table, Cut]] = given.fn
) -> tuple[Study, Sample, str]:
    """Return the study with all its reference generators, its table as ``read`` finds it, and what is to be told of it.

    Raises:
        InputError: The tables cannot be read, do not fit, or the control records are no strangers.
    """
    folder = str(open_workspace(study.workspace))
    table, cut = read(study.data, control, study.seed, folder)
    if any(each.options.get("links") for each in study.synthesizers):
        _refuse_empty_rows(table)
    sample = Sample.of(study.data, table, cut, folder, study.seed)
    if control is None:
        return with_fresh(study, sample), sample, ""
    sample = replace(sample, control=study.data.model_copy(update={"source": control}).address)
    return with_fresh(study, sample), sample, check_strangers(sample, synthetic)


def _refuse_empty_rows(table: Table) -> None:
    """Refuse empty rows of the real table where links count its rows: whether they count these cannot be told."""
    if between := [note for note in table.told if note.endswith(BETWEEN)]:
        rule = "links must number the rows of real, none of them empty"
        raise InputError(f"{rule}, but {between[0]}; delete them there, and number the others from 0")


def study_of(
    meant: Understood,
    synthetic: str,
    what_if: Sequence[Mapping[str, Any]] | None,
    references: References,
    experiment: str,
    tracking_uri: str | None,
    workspace: str,
    seed: int,
    tracking_block: str | None = None,
    offline: bool = False,
    links: str | None = None,
    log_again: bool = False,
    limit_source: str | None = None,
) -> Study:
    """Return the study of one release: one synthesizer that reads a file, beside a copy and a near copy."""
    if references not in get_args(References):
        raise InputError(f"references must be one of {', '.join(get_args(References))}, got {references!r}")
    return load(
        {
            "name": "evaluate",
            "data": meant.data.model_dump(exclude_unset=True),
            "split": {"holdout": 0.5, "repetitions": 1},
            "synthesizers": [{"name": "release", "kind": "files", **_options(synthetic, links, meant.beside)}],
            "references": [] if references == "none" else ["copy", "near_copy"],
            "reference_measures": "all" if references == "all" else "limited",
            "metrics": [_with_changes(each, what_if or ()) for each in _with_links(meant.metrics, links)],
            "thresholds": with_source(meant.thresholds, limit_source or NOT_SAID),
            "tracking": {
                "experiment": experiment,
                "uri": tracking_uri or None,
                "block": tracking_block,
                "offline": offline,
                "log_again": log_again,
            },
            "runner": {"workers": 1},
            "workspace": workspace,
            "seed": seed,
        }
    )


def _options(synthetic: str, links: str | None, drop: Sequence[str]) -> dict[str, Any]:
    given = {"path": synthetic, "links": links, "drop": list(drop)}
    return {name: value for name, value in given.items() if value not in (None, [])}


def asked_text(arguments: Mapping[str, Any]) -> str:
    """Return what was asked of ``evaluate``, as YAML: not the study, whose split nobody asked for."""
    return settings_text({name: arguments[name] for name in sorted(arguments) if arguments[name] not in (None, [], {})})


def check_control(control: str | None, thresholds: Mapping[str, float] | None) -> None:
    """Refuse limits that compare members with control records where there are none.

    Raises:
        InputError: There is such a limit.
    """
    needing = (*AGAINST_CONTROL, "population_gain")
    against = [name for name in thresholds or {} if control is None and limited(name).quantity in needing]
    if against:
        raise InputError(
            f"control must be given for the limit {against[0]!r}, which compares members with real records that "
            "the synthesizer never saw; got none"
        )


def one_setting(limits: Mapping[str, Any] | None, thresholds: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the limits that are given under either name.

    Raises:
        InputError: One is given under both.
    """
    twice = [name for name in limits or {} if name in (thresholds or {})]
    if twice:
        raise InputError(f"limits and thresholds are one setting, got {twice[0]!r} in both")
    return {**(thresholds or {}), **(limits or {})} or None


def check_strangers(sample: Sample, synthetic: str) -> str:
    """Refuse control records that are members, or the release; return what is to be told where some may be.

    Raises:
        InputError: More than half of the control records are no strangers.
    """
    frame, held_out = sample.table.read(), sample.held_out(0, 0)
    members, train = frame[~held_out].reset_index(drop=True), sample.members()
    job = Job(train, train.head(0), len(train), 0, form=sample.form)
    release = run(job, find_synthesizer("files"), {"path": synthetic}).synthetic
    found = strangers(members, frame[held_out].reset_index(drop=True), release, sample.identifier)
    if found.refuse:
        raise InputError(f"control must hold records that the synthesizer never saw, got ones of which {found.refuse}")
    return found.warning


def with_fresh(study: Study, sample: Sample) -> Study:
    """Return the study with the reference generators made of control records too, where there are enough of these."""
    held_out = sample.held_out(0, 0)
    entities = sample.entities()
    count = int(held_out.sum()) if entities is None else len(np.unique(entities[held_out]))
    if not study.references or count < _FEWEST:
        return study
    more = [SynthesizerChoice(name=name, kind=name) for name in _OF_CONTROLS]
    return study.model_copy(update={"references": [*study.references, *more]})


def with_source(limits: Mapping[str, float | Mapping[str, Any]], source: str) -> dict[str, dict[str, Any]]:
    """Return limits with who chose them, where they do not say so themselves."""
    return {
        name: {"source": source, **limit} if isinstance(limit, Mapping) else {"value": limit, "source": source}
        for name, limit in limits.items()
    }


def _with_changes(metric: str | Mapping[str, Any], what_if: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    own = {"name": metric} if isinstance(metric, str) else dict(metric)
    needs = METRICS[own["name"]].needs if own["name"] in METRICS else ()
    fits = [change for change in what_if if "sensitive" in needs or not change.get("noise")]  # noise on what is guessed
    return own | ({"what_if": fits} if fits and "quasi_identifiers" in needs else {})


def _with_links(metrics: Sequence[str | Mapping[str, Any]], links: str | None) -> list[str | Mapping[str, Any]]:
    """Return the metrics, and with links of rows the one that asks for them."""
    names = [each if isinstance(each, str) else each["name"] for each in metrics]
    return [*metrics, *(["hidden_rate"] if links is not None and "hidden_rate" not in names else [])]
