"""The flow ``evaluate``: judge one synthetic table that was made elsewhere."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import yaml
from prefect import flow
from prefect.events import emit_event

from synthrisk.conf import Study, load
from synthrisk.conf.study import SynthesizerChoice
from synthrisk.flows.check import check
from synthrisk.flows.runner import task_runner
from synthrisk.flows.server import workers_share_the_api
from synthrisk.flows.study import Outcome, concluded, conduct
from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.release.strangers import strangers
from synthrisk.metrics.study.quantities import AGAINST_CONTROL, limited
from synthrisk.tasks.data.one_release import given
from synthrisk.tasks.synthesize import Job, run, synthesizer
from synthrisk.tasks.workspace.references import Cut, Sample, Table
from synthrisk.tasks.workspace.store import open_workspace

EVALUATED = "synthetic-data.evaluated"
References = Literal["limited", "all", "none"]
_FEWEST = 4  # control records from which fresh can be made: half of them, and half to compare with


@flow(name="evaluate", flow_run_name="evaluate {synthetic}", persist_result=False)
def evaluate(
    real: str,
    synthetic: str,
    quasi_identifiers: list[str],
    sensitive: list[str],
    control: str | None = None,
    metrics: list[str] | None = None,
    thresholds: dict[str, float] | None = None,
    categorical: list[str] | None = None,
    identifier: str | None = None,
    what_if: list[dict[str, Any]] | None = None,
    references: References = "limited",
    experiment: str = "evaluate",
    tracking_uri: str | None = None,
    workspace: str = ".synthrisk",
    seed: int = 1,
) -> Outcome:
    """Judge one release: the members are ``real``, the non-members ``control``.

    Without control there is a risk with its guess, but no memorization: ask whoever made the release for
    records that were held out.

    Args:
        real: The records that the synthesizer was fitted on: built-in name, path or URL.
        synthetic: The release: CSV or Parquet path or URL.
        quasi_identifiers: Columns that an attacker knows; ``["*"]`` = all others.
        sensitive: Columns that an attacker guesses.
        control: Real records that the synthesizer never saw.
        metrics: Register names; all unless given, without those that need ``control`` where there is none, options
            that only a study can give (``linkability``), or an extra that is not installed.
        thresholds: ``<quantity>/<measure>`` -> limit.
        categorical: Numeric columns that are code lists.
        identifier: Column of ``real`` and ``control``, not of the release, that names the entity of each record.
        what_if: Changes of the quasi-identifiers to preview: ``{"drop": ["age"]}``, ``{"bins": {"age": 5}}``.
        references: Reference generators made from the same records, which show what the measures see: a copy, a near
            copy and, from control records, what an ideal generator would release. ``limited``: attacked with the
            measures that a threshold names; ``all``: with all measures; ``none``: not made, so that no verdict is
            NO EVIDENCE.
        experiment: MLflow experiment.
        tracking_uri: MLflow store; SQLite in the workspace unless given.
        workspace: Folder for typed data, ledgers and the embedded store.
        seed: Root of all randomness.

    Raises:
        InputError: An argument or a table breaks a rule.
    """
    arguments = dict(locals())
    asked = {name: value for name, value in arguments.items() if value not in (None, [], {})}
    without_control = {name: value for name, value in arguments.items() if name != "control"}
    every = [name for name in _without_options() if control or "control" not in METRICS[name].needs]
    check_control(control, thresholds)
    study = study_of(**without_control | {"metrics": metrics or every})
    check(study)
    whole, sample, warning = prepared(study, control, synthetic, given)
    settings = yaml.safe_dump(asked, sort_keys=False, allow_unicode=True)  # not the study: nobody asked for its split
    with workers_share_the_api():
        course = conduct.with_options(task_runner=task_runner(study.runner))
        outcome = course(whole, sample, settings, warning)
    announce(synthetic, outcome)
    return concluded(outcome)


def prepared(
    study: Study, control: str | None, synthetic: str, read: Callable[..., tuple[Table, Cut]] = given.fn
) -> tuple[Study, Sample, str]:
    """Return the study with all its reference generators, its table as ``read`` finds it, and what is to be told of it.

    Raises:
        InputError: The tables cannot be read, do not fit, or the control records are no strangers.
    """
    folder = str(open_workspace(Path(study.workspace)))
    table, cut = read(study.data, control, study.seed, folder)
    sample = Sample.of(study.data, table, cut, folder, study.seed)
    return with_fresh(study, sample), sample, check_strangers(sample, synthetic) if control is not None else ""


def study_of(
    real: str,
    synthetic: str,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    metrics: Sequence[str] | None,
    thresholds: Mapping[str, float] | None,
    categorical: Sequence[str] | None,
    identifier: str | None,
    what_if: Sequence[Mapping[str, Any]] | None,
    references: References,
    experiment: str,
    tracking_uri: str | None,
    workspace: str,
    seed: int,
) -> Study:
    """Return the study of one release: one synthesizer that reads a file, beside a copy and a near copy."""
    if references not in get_args(References):
        raise InputError(f"references must be one of {', '.join(get_args(References))}, got {references!r}")
    known: Any = "*" if list(quasi_identifiers) == ["*"] else list(quasi_identifiers)
    return load(
        {
            "name": "evaluate",
            "data": {"source": real, "quasi_identifiers": known, "sensitive": list(sensitive)}
            | {"categorical": list(categorical or ()), "identifier": identifier},
            "split": {"holdout": 0.5, "repetitions": 1},
            "synthesizers": [{"name": "release", "kind": "files", "path": synthetic}],
            "references": [] if references == "none" else ["copy", "near_copy"],
            "reference_measures": "all" if references == "all" else "limited",
            "metrics": [_with_changes(name, what_if or ()) for name in metrics or _without_options()],
            "thresholds": dict(thresholds or {}),
            "tracking": {"experiment": experiment, "uri": tracking_uri or None},
            "runner": {"workers": 1},
            "workspace": workspace,
            "seed": seed,
        }
    )


def check_control(control: str | None, thresholds: Mapping[str, float] | None) -> None:
    """Refuse limits that compare members with control records where there are none.

    Raises:
        InputError: There is such a limit.
    """
    needing = (*AGAINST_CONTROL, "population_gain")
    against = [name for name in thresholds or {} if control is None and limited(name).quantity in needing]
    if against:
        raise InputError(
            f"control must be given for the threshold {against[0]!r}, which compares members with real records that "
            "the synthesizer never saw; got none"
        )


def check_strangers(sample: Sample, synthetic: str) -> str:
    """Refuse control records that are members, or the release; return what is to be told where some may be.

    Raises:
        InputError: More than half of the control records are no strangers.
    """
    frame, held_out = sample.table.read(), sample.held_out(0, 0)
    members, train = frame[~held_out].reset_index(drop=True), sample.members()
    job = Job(train, train.head(0), len(train), 0, form=sample.form)
    release = run(job, synthesizer("files"), {"path": synthetic}).synthetic
    found = strangers(members, frame[held_out].reset_index(drop=True), release, sample.identifier)
    if found.refuse:
        raise InputError(f"control must hold records that the synthesizer never saw, got ones of which {found.refuse}")
    return found.warning


def with_fresh(study: Study, sample: Sample) -> Study:
    """Return the study with the reference generator ``fresh`` too, where there are control records to make it from."""
    held_out = sample.held_out(0, 0)
    entities = sample.entities()
    count = int(held_out.sum()) if entities is None else len(np.unique(entities[held_out]))
    if not study.references or count < _FEWEST:
        return study
    return study.model_copy(update={"references": [*study.references, SynthesizerChoice(name="fresh", kind="fresh")]})


def _without_options() -> list[str]:
    """Return the installed metrics that need nothing but roles: which columns to link nobody can guess."""
    return [name for name, metric in METRICS.items() if metric.installed and not metric.own_needs]


def _with_changes(metric: str, what_if: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    uses_keys = metric in METRICS and "quasi_identifiers" in METRICS[metric].needs
    return {"name": metric, "what_if": list(what_if) if uses_keys else []}


def announce(synthetic: str, outcome: Outcome) -> None:
    """Emit the event that says whether a release passed, for automations that wait for it."""
    verdicts = {v.quantity: v.word for v in outcome.result.verdicts}
    payload = {"path": synthetic, "passed": outcome.result.passed, "verdicts": verdicts}
    emit_event(EVALUATED, {"prefect.resource.id": f"synthetic-data.{Path(synthetic).stem}"}, payload=payload)
