"""The run of one synthesizer or reference generator, from its start to its last artifact."""

from dataclasses import dataclass

from synthrisk.tasks.tracking.dataset import log_real, log_release
from synthrisk.tasks.tracking.models import close_model, open_model
from synthrisk.tasks.tracking.names import Names
from synthrisk.tasks.tracking.numbers import Number, Tie, log_numbers, numbers_of
from synthrisk.tasks.tracking.records import log_records
from synthrisk.tasks.tracking.release_model import log_release_model
from synthrisk.tasks.tracking.tables import generator_tables, log_tables
from synthrisk.tasks.tracking.tags import generator_tags, params_of
from synthrisk.tasks.tracking.written import Written
from synthrisk.tasks.workspace.handed import Found

_OF_MODEL = ("verdict", "why", "study_id", "data_digest", "references", "invalid")


@dataclass(frozen=True, eq=False)
class Records:
    """What is written of single records."""

    names: Names
    mode: str  # ``hashed``, ``full`` or ``none``
    page: str | None = None  # path of the page of exposure


@dataclass(frozen=True)
class GeneratorRun:
    """Where a generator is written."""

    run_id: str
    model_id: str = ""  # empty for reference generators, which are no answer to which generator is the best


def log_generator(to: Written, name: str, colour: str, found: Found | None, records: Records) -> GeneratorRun:
    """Write one generator; return its run, which has ended, FAILED if the generator did."""
    run = _open(to, name, colour)
    fill(to, name, run, found, records)
    failed = name in to.result.failures
    if run.model_id:
        close_model(to.client, run.model_id, failed=failed)
    to.client.set_terminated(run.run_id, "FAILED" if failed else "FINISHED")
    return run


def _open(to: Written, name: str, colour: str) -> GeneratorRun:
    tags = generator_tags(to.result, to.headline(name)) | {"mlflow.runColor": colour}
    params = params_of(to.result, name)
    run_id = to.run(name, tags)
    to.params(run_id, params)
    if tags["role"] != "synthesizer":
        return GeneratorRun(run_id)
    known = {k: tags[k] for k in _OF_MODEL if k in tags}
    return GeneratorRun(run_id, open_model(to.client, to.experiment_id, run_id, name, params, known))


def fill(to: Written, name: str, run: GeneratorRun, found: Found | None, records: Records) -> list[Number]:
    """Write datasets, numbers, tables and records of one generator into its run; return the numbers."""
    log_real(to.client, run.run_id, to.table, to.source)
    tie = Tie(run.model_id, to.table.digest) if run.model_id else None
    numbers = numbers_of(to.result, to.told, name, ends=not to.is_in_files)
    log_numbers(to.client, run.run_id, numbers, tie)
    log_tables(to.client, run.run_id, generator_tables(to.tables, name))
    if found is not None:
        log_release(to.client, run.run_id, found)
        if run.model_id:
            log_release_model(to.client, run.model_id, run.run_id, found)
        if records.mode != "none":
            log_records(to.client, run.run_id, found, records.page, records.names, records.mode)
    return numbers
