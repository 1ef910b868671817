"""A study written to its store: a run each generator, that of the study itself, and what the experiment says of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from synthrisk.tasks.tracking.address import store_address
from synthrisk.tasks.tracking.colours import colours_of
from synthrisk.tasks.tracking.drawn import Drawn
from synthrisk.tasks.tracking.experiment import experiment_of
from synthrisk.tasks.tracking.halves import end_part, is_latest, mark_whole, whole_already
from synthrisk.tasks.tracking.names import Names
from synthrisk.tasks.tracking.notes import Place, log_notes
from synthrisk.tasks.tracking.origin import FLOW_RUN_PAGE
from synthrisk.tasks.tracking.registry import register
from synthrisk.tasks.tracking.repeated import answer_digest, mark_checked, repeated
from synthrisk.tasks.tracking.saved_view import save_view
from synthrisk.tasks.tracking.store import opened
from synthrisk.tasks.tracking.study_run import log_study
from synthrisk.tasks.tracking.synthesizer_run import Records, log_generator
from synthrisk.tasks.tracking.written import Written
from synthrisk.tasks.workspace.record_names import record_hashes
from synthrisk.tasks.workspace.store import private_folder


@dataclass(frozen=True)
class WrittenStudy:
    """Where a study is written."""

    experiment_id: str
    study_id: str
    runs: dict[str, str]  # ids by generator
    checked_again: bool = False  # whether an earlier study has written it, which gave the same answer
    run: str = ""  # id of the study's own run, which has its pages; empty where nobody has looked for it


def write_study(drawn: Drawn, pages: Callable[[], Mapping[str, str]], *, late: bool) -> WrittenStudy:
    """Write a study, unless the experiment holds its answer already; return where it is.

    ``pages`` returns its decision record and report, by name, and is asked last. ``late``: an earlier attempt may have
    left a part of it, or all. Where an error ends it, what is there of it is marked as a part.
    """
    waiting = drawn.waiting
    tracking, estimated = waiting.tracking, waiting.judged.estimated
    folder = private_folder(waiting.workspace)
    uri = store_address(tracking, folder)
    client = opened(uri)
    place = experiment_of(client, waiting.experiment, None if tracking.uri or tracking.block else folder)
    to = Written(
        client,
        place,
        waiting.judged.result,
        estimated.sample.table,
        origin=waiting.origin,
        source=estimated.sample.source,
        answer=answer_digest(waiting.judged, tracking),
    )
    if late:
        there = whole_already(to)
        if there is not None:
            return WrittenStudy(place, waiting.study_id, there)
        to = replace(to, since=int(waiting.since.timestamp() * 1000), is_latest=is_latest(to))
    earlier = None if tracking.log_again else repeated(to)
    if earlier is not None:
        study_id, runs, own = earlier
        mark_checked(to, study_id, waiting.since)
        return WrittenStudy(place, study_id, runs, checked_again=True, run=own)
    try:
        runs, own = _write_to(to, drawn, pages)
        return WrittenStudy(place, waiting.study_id, runs, run=own)
    except BaseException:
        end_part(to, uri)
        raise


def _write_to(to: Written, drawn: Drawn, pages: Callable[[], Mapping[str, str]]) -> tuple[dict[str, str], str]:
    """Write all of a study; return its runs by generator, and its own."""
    waiting = drawn.waiting
    sample, tracking = waiting.judged.estimated.sample, waiting.tracking
    found = waiting.judged.estimated.found
    names = Names(record_hashes(waiting.workspace, sample.table.digest, sample.table.rows))
    every = Records(names, tracking.records)
    exposures = drawn.pages.exposures if tracking.records == "full" else {}
    by_name = {each.name: each for each in found}
    colours, runs = colours_of(to), {}
    for each in to.result.synthesizers:
        exposed = replace(every, page=exposures.get(each))
        runs[each] = log_generator(to, each, colours[each], by_name.get(each), exposed)
    study = log_study(to, waiting.settings, pages, found, every)
    ids = {each: run.run_id for each, run in runs.items()}
    log_notes(to, Place(to.experiment_id, ids, study, to.origin.get(FLOW_RUN_PAGE, "")))
    save_view(to)
    if tracking.registry:
        for each, run in runs.items():
            if run.model_id:
                register(to, each, run)
    mark_whole(to, list(ids.values()), study)
    return ids, study
