"""The flow ``evaluate``: judge one synthetic table that was made elsewhere."""

from pathlib import Path
from typing import Any

from prefect import flow
from prefect.events import emit_event

from synthrisk.conf.secrets import masked, masks_errors
from synthrisk.flows.benchmark import conduct
from synthrisk.flows.evaluate_settings import (
    EVERY,
    UNDERSTOOD,
    References,
    asked_text,
    check_control,
    one_setting,
    prepared,
    study_of,
    understood,
)
from synthrisk.flows.execution.task_runs import task_runner
from synthrisk.flows.orchestration.artifacts import Ended
from synthrisk.flows.orchestration.events import announce
from synthrisk.flows.orchestration.flow_runs import MetricNames, StudyName, file_of, name_of_evaluation, noted, tagged
from synthrisk.flows.orchestration.server import workers_share_the_api
from synthrisk.flows.outcome import Outcome, concluded, in_sentences, keeps_end
from synthrisk.flows.preflight import check
from synthrisk.tasks.data.task import given
from synthrisk.tasks.tracking.addresses import with_block
from synthrisk.tasks.workspace.folders import open_workspace

EVALUATED = "synthetic-data.evaluated"


@flow(name="evaluate", flow_run_name=name_of_evaluation, persist_result=False, **keeps_end)
@masks_errors
def evaluate(
    real: str,
    synthetic: str,
    quasi_identifiers: list[str] | None = None,
    sensitive: list[str | list[str]] | None = None,
    control: str | None = None,
    metrics: MetricNames = None,
    thresholds: dict[str, float | dict[str, Any]] | None = None,
    categorical: list[str] | None = None,
    identifier: str | None = None,
    what_if: list[dict[str, Any]] | None = None,
    references: References = "limited",
    experiment: str = "evaluate",
    tracking_uri: str | None = None,
    workspace: str = ".synthrisk",
    seed: int = 1,
    missing: list[str] | None = None,
    drop: list[str] | None = None,
    columns: dict[str, Any] | None = None,
    study: StudyName = None,
    tracking_block: str | None = None,
    offline: bool = False,
    links: str | None = None,
    log_again: bool = False,
    gate: bool = False,
    limits: dict[str, float | dict[str, Any]] | None = None,
    limit_source: str | None = None,
) -> Outcome:
    """Judge one release: the members are ``real``, the non-members ``control``.

    Without control there is a risk with its guess, but no memorization: ask whoever made the release for
    records that were held out.

    Args:
        real: The records that the synthesizer was fitted on: built-in name, path or URL.
        synthetic: The release: path or URL of a CSV, JSON, Parquet, Feather, Excel, Stata, SPSS or SAS file.
        quasi_identifiers: Columns that an attacker knows; ``["*"]`` = all others. Proposed unless given.
        sensitive: Columns that an attacker guesses; those guessed together in a list of their own. Proposed unless
            given.
        control: Real records that the synthesizer never saw.
        metrics: Register names, or mappings as in a study. Unless given those of ``study``; else ``["all"]``, without
            those that need ``control`` where there is none, options that only a study can give (``linkability``), or an
            extra that is not installed; or, where the roles are proposed, the recommended ones.
        thresholds: The limits, under the name that ``limits`` had before.
        categorical: Numeric columns that are code lists.
        identifier: Column of ``real`` and ``control`` that names the entity of each record.
        what_if: Changes of the quasi-identifiers to preview: ``{"drop": ["age"]}``, ``{"bins": {"age": 5}}``.
        references: Reference generators made from the same records, which show what the measures see: a copy, a near
            copy and, from control records, what an ideal generator would release, and that without the rows near to
            members. ``limited``: attacked with the
            measures that a limit names, or could name where there is none; ``all``: with all measures; ``none``:
            not made, so that no verdict is NO EVIDENCE.
        experiment: MLflow experiment.
        tracking_uri: MLflow store; SQLite in the workspace unless given.
        workspace: Folder for typed data, ledgers and the embedded store; or a URL, as in a study.
        seed: Root of all randomness.
        missing: Texts that mean a missing cell in any column.
        drop: Columns to leave out, of the real table or of the release alone.
        columns: How single columns are read, as in a study.
        study: Path of a study's YAML file, or name of a shipped one: what its ``data`` says of the columns, its metrics
            and limits hold for this release, where nothing else is given.
        tracking_block: Name of a Prefect block ``SynthriskTracking`` that holds the MLflow store, in place of
            ``tracking_uri``.
        offline: Ask no tracking server: keep what is to be logged in the workspace, until ``synthrisk log``.
        links: A file that says which record of ``real`` each row of the release was made from, for ``hidden_rate``: one
            column, with its name in the first line, of whole numbers, 0 for the first record, -1 for none.
        log_again: Write runs to MLflow though the experiment holds the same answer on this release already.
        gate: Whether the run ends as failed, under the name of its verdict, unless all limits are shown to be kept.
        limits: Limits, by ``<quantity>/<measure>``: each a number, or ``{value, source}``. Those of ``study`` unless
            given.
        limit_source: Who chose the limits that do not say so themselves.

    Raises:
        GateError: A gate stops the release; nothing else is wrong with it.
        InputError: An argument or a table breaks a rule.
    """
    arguments = {name: value for name, value in locals().items() if name not in ("gate", "limits")}
    arguments["thresholds"] = one_setting(limits, thresholds)
    settings = asked_text(arguments)
    if quasi_identifiers and sensitive and not (metrics or study):
        arguments["metrics"] = [EVERY]
    meant = understood(**{name: arguments[name] for name in UNDERSTOOD}, synthetic=synthetic)
    check_control(control, meant.thresholds)
    place = experiment, tracking_uri, workspace, seed, tracking_block, offline, links, log_again, limit_source
    one = with_block(study_of(meant, synthetic, what_if, references, *place))
    check(one)
    with tagged(experiment), noted(open_workspace(workspace)):
        whole, sample, warning = prepared(one, control, synthetic, given)
        with workers_share_the_api():
            named = f"study {file_of(synthetic)}"
            course = conduct.with_options(flow_run_name=lambda: named, task_runner=task_runner(one.runner))
            outcome = course(whole, sample, settings, warning)
    also = [
        one.data.model_copy(update={"source": table}).address for table in (synthetic, control) if table is not None
    ]
    announce(Ended(outcome, "evaluate", experiment, f"release {file_of(synthetic)}", also))
    emit_evaluated(synthetic, outcome)
    return concluded(outcome, gate=gate)


def emit_evaluated(synthetic: str, outcome: Outcome) -> None:
    """Emit the event that says whether a release passed, for automations that wait for it."""
    verdicts = {v.quantity: v.word for v in outcome.result.verdicts}
    message = f"{file_of(synthetic)} was evaluated. {in_sentences(outcome.result)}"
    payload = {"path": synthetic, "passed": outcome.result.passed, "verdicts": verdicts, "message": message}
    emit_event(EVALUATED, {"prefect.resource.id": f"synthetic-data.{Path(synthetic).stem}"}, payload=masked(payload))
