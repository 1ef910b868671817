"""Write a study to MLflow: one flat run a synthesizer, so that list, charts and compare page show them at once."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from synthrisk.conf.load import checked, refuse_passwords
from synthrisk.conf.secrets import secrets_of, without_secrets
from synthrisk.conf.study import Tracking
from synthrisk.tasks.expose import expose
from synthrisk.tasks.pages.report import without_values
from synthrisk.tasks.report import report
from synthrisk.tasks.tracking.address import experiment_of, store_address
from synthrisk.tasks.tracking.asked import described
from synthrisk.tasks.tracking.colours import colours_of
from synthrisk.tasks.tracking.logged import Logged, Pages
from synthrisk.tasks.tracking.notes import Place, log_notes
from synthrisk.tasks.tracking.registry import register
from synthrisk.tasks.tracking.saved_view import save_view
from synthrisk.tasks.tracking.store import opened
from synthrisk.tasks.tracking.study_run import log_study
from synthrisk.tasks.tracking.synthesizer_run import Records, log_generator
from synthrisk.tasks.tracking.where import allowed
from synthrisk.tasks.tracking.written import Written
from synthrisk.tasks.workspace.failure import told_safely
from synthrisk.tasks.workspace.handed import Judged
from synthrisk.tasks.workspace.record_names import record_hashes
from synthrisk.tasks.workspace.store import private_folder
from synthrisk.tasks.workspace.verb import check_given, verb


@verb("log")
def log(
    judged: Judged,
    *,
    experiment: str | None = None,
    tracking_uri: str | None = None,
    records: Literal["hashed", "full", "none"] = "hashed",
    registry: bool = False,
    exposure: bool = True,
    settings: str | None = None,
    pages: Pages | None = None,
    tracking_block: str | None = None,
) -> Logged:
    """Write runs, metrics, tags and artifacts of a study to MLflow, and its report; return where they are.

    Args:
        judged: What the study says.
        experiment: MLflow experiment; the study's name unless given.
        tracking_uri: MLflow store; SQLite in the workspace unless given.
        records: Per-record artifacts: ``hashed``, ``full`` (with values of the real table) or ``none``.
        registry: Whether each synthesizer gets a version in MLflow's registry, with the alias that its verdict earns.
        exposure: Whether a page for each judged synthesizer says who is at risk, and why.
        settings: What was asked, as YAML; what the references remember of it unless given.
        pages: Report and pages of exposure where they are written already.
        tracking_block: Name of a Prefect block ``SynthriskTracking`` that holds the address, in place of it.

    Raises:
        InputError: ``records`` is none of these, or the address names a variable that is not set.
    """
    check_given("judged", judged, Judged, "judge")
    given = {
        "experiment": experiment,
        "uri": tracking_uri,
        "block": tracking_block,
        "records": records,
        "registry": registry,
    }
    refuse_passwords(given)
    tracking = allowed(checked(Tracking, given, "log"))
    sample, asked = judged.estimated.sample, settings or described(judged)
    own = pages or Pages(
        report.fn(judged, asked),
        {
            found.name: expose.fn(found, judged.result.study_id, judged.estimated.settings.confidence)
            for found in judged.estimated.found
            if exposure and found.generator.role == "synthesizer"
        },
    )
    folder = private_folder(Path(sample.workspace).absolute())
    uri = store_address(tracking, folder)
    # a store's errors name its address, with the password
    return told_safely(folder, "log", lambda: _logged(uri, judged, tracking, folder, asked, own), secrets_of(uri))


def _logged(uri: str, judged: Judged, tracking: Tracking, folder: Path, asked: str, own: Pages) -> Logged:
    result, estimated, client = judged.result, judged.estimated, opened(uri)
    table = estimated.sample.table
    name = tracking.experiment or result.name
    place = experiment_of(client, name, None if tracking.uri or tracking.block else folder)
    every = Records(record_hashes(folder, table.digest, table.rows), tracking.records)
    to, by_name = Written(client, place, result, table), {found.name: found for found in estimated.found}
    colours, runs = colours_of(to), {}
    for each in result.synthesizers:
        exposed = replace(every, page=own.exposures.get(each))
        runs[each] = log_generator(to, each, colours[each], by_name.get(each), exposed)
    page = Path(own.report).read_text("utf-8")
    told = page if tracking.records == "full" else without_values(page)
    study = log_study(to, asked, told, estimated.found, every)
    ids = {each: run.run_id for each, run in runs.items()}
    log_notes(to, Place(place, ids, study))
    save_view(to)
    if tracking.registry:
        for each, run in runs.items():
            if run.model_id:
                register(to, each, run)
    return Logged(without_secrets(uri), place, result.study_id, ids, own, name)
