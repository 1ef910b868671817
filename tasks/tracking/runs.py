"""The runs of a study, from their start to the last artifact: one a synthesizer, one of the study itself."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import mlflow
import pandas as pd
from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, InputTag, Param
from mlflow.models import EvaluationResult
from mlflow.types import ColSpec, DataType, Schema
from mlflow.utils.mlflow_tags import MLFLOW_SOURCE_NAME

from synthrisk.conf.secrets import mask, without_secrets
from synthrisk.metrics.verdicts.results import Headline, Overview, StudyResult, overview
from synthrisk.tasks.tracking.history import GENERATORS
from synthrisk.tasks.tracking.names import (
    ANSWER,
    INCOMPLETE,
    generator_tags,
    params_of,
    run_name,
    study_params,
    study_tags,
)
from synthrisk.tasks.tracking.numbers import Number, log_numbers, numbers_of, numbers_of_study
from synthrisk.tasks.tracking.release_model import log_release_model, open_model
from synthrisk.tasks.tracking.tables import (
    Names,
    generator_tables,
    log_contributions,
    log_records,
    log_tables,
    study_tables,
)
from synthrisk.tasks.workspace.digests import key_of
from synthrisk.tasks.workspace.folders import there
from synthrisk.tasks.workspace.records import record_hashes
from synthrisk.tasks.workspace.references import FRAME, FRAMES, Found, Generator, Judged, Table
from synthrisk.tasks.workspace.references import RELEASE as RELEASE_FILE

_RANDOM = 15  # digits of an experiment's id that is no count
_BATCH = 100  # params that MLflow takes at once


@dataclass(frozen=True, eq=False)
class Written:
    """A study that is written to an experiment of a store."""

    client: MlflowClient
    experiment_id: str
    result: StudyResult  # what the study says
    table: Table  # the real table
    since: int | None = None  # when it was to be written, in milliseconds, where that is long ago
    is_latest: bool = True  # whether the experiment holds no later study
    origin: Mapping[str, str] = field(default_factory=dict)  # tags that say who ran it, and where
    source: str = ""  # where the real table comes from
    answer: str = ""  # digest of what is written, see ``repeated``

    @cached_property
    def told(self) -> Overview:
        """The answer of the study, in its words and numbers."""
        return overview(self.result)

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables of the study by name."""
        return study_tables(self.result)

    @property
    def is_in_files(self) -> bool:
        """Whether the store keeps a metric as a file, so that no other can begin with its key and a slash.

        A server does not say so. But MLflow's file store, on which older servers begin unless told otherwise, numbers
        experiments by 18 digits at random, and its databases count them.
        """
        return len(self.experiment_id) >= _RANDOM and "databricks" not in self.client.tracking_uri

    def run(self, name: str, tags: Mapping[str, str]) -> str:
        """Start a run, which is marked as incomplete until all runs of the study are written; return its id."""
        part = f"not all of the study is here: synthrisk log {self.result.study_id}"
        marked = {**self.origin, **tags, INCOMPLETE: part}
        named = run_name(name, self.result.study_id)
        return str(self.client.create_run(self.experiment_id, self.since, marked, named).info.run_id)

    def params(self, run_id: str, params: Mapping[str, str]) -> None:
        """Write the params of a run."""
        every = [Param(name, value) for name, value in params.items()]
        for start in range(0, len(every), _BATCH):
            self.client.log_batch(run_id, params=every[start : start + _BATCH])

    def headline(self, name: str) -> Headline:
        """What the study says of one generator."""
        return next(h for h in self.told.headlines if h.synthesizer == name)


REAL, RELEASE = "real", "release"
_CONTEXT = "mlflow.data.context"
_TYPES = {"b": DataType.boolean, "i": DataType.long, "u": DataType.long, "f": DataType.double, "M": DataType.datetime}

_FILES = ("s3", "gs", "wasbs", "abfss", "hdfs", "ftp", "sftp", "dbfs")
"""Schemes of addresses at which MLflow itself looks for files."""


def log_real(client: MlflowClient, run_id: str, table: Table, source: str = "") -> None:
    """Record schema, counts and digest of the real table, and where it comes from."""
    client.log_inputs(run_id, datasets=[_real(table, source)])


def log_release(client: MlflowClient, run_id: str, found: Found) -> None:
    """Record schema and counts of a generator's first release, one digest of all its releases, and who made them."""
    releases = [each.release for each in found.ledgers]
    if releases and (there(releases[0].path) / RELEASE_FILE).exists():  # a workspace may keep ledgers alone
        digest = key_of(*(each.key for each in releases))[:16]
        client.log_inputs(run_id, datasets=[given(releases[0].synthetic(), RELEASE, digest, maker_of(found.generator))])


def source_of(address: str) -> tuple[str, str]:
    """Return the type and the text of MLflow's source of a dataset: a file or address that MLflow can load, or a name.

    What has no type of its own in MLflow (a built-in table, a database, OpenML) is named as code, by the tag that
    names the source of a run.

    Example:
        >>> source_of("/data/people.csv")
        ('local', '{"uri": "/data/people.csv"}')
        >>> source_of("https://host/people.csv")
        ('http', '{"url": "https://host/people.csv"}')
        >>> source_of("adult")
        ('code', '{"tags": {"mlflow.source.name": "adult"}}')
    """
    told = FRAME if FRAMES in address else mask(without_secrets(address))
    scheme = told.partition(":")[0].lower() if re.match(r"\w[\w+.-]+:", told) else ""
    if scheme in ("http", "https"):
        return "http", json.dumps({"url": told})
    if scheme in _FILES:
        return scheme, json.dumps({"uri": told})
    if told and not scheme and Path(told).is_absolute():
        return "local", json.dumps({"uri": told})
    return "code", json.dumps({"tags": {MLFLOW_SOURCE_NAME: told} if told else {}})


def maker_of(generator: Generator) -> str:
    """Return where a generator's releases come from: the files that it reads, or its kind."""
    path = generator.options.get("path") if generator.kind == "files" else None
    if not isinstance(path, str):
        return f"synthesizer {generator.kind}"
    if FRAMES in path:
        return FRAME
    return path if "://" in path else str(Path(generator.folder, path).absolute())


@cache
def _real(table: Table, source: str) -> DatasetInput:
    return given(table.read(), REAL, table.digest, source)


def given(table: pd.DataFrame, name: str, digest: str, source: str = "") -> DatasetInput:
    """Return a table as MLflow's dataset, with where it comes from.

    The types are those of its columns: to infer them, as ``mlflow.data.from_pandas`` does, looks at each cell of text.
    """
    schema = json.dumps({"mlflow_colspec": Schema([_column(table[c], mask(str(c))) for c in table]).to_dict()})
    profile = json.dumps({"num_rows": len(table), "num_elements": table.size})
    kind, address = source_of(source)
    entity = Dataset(name=name, digest=digest, source_type=kind, source=address, schema=schema, profile=profile)
    return DatasetInput(entity, tags=[InputTag(_CONTEXT, name)])


def _column(column: pd.Series, name: str) -> ColSpec:
    kind = "" if isinstance(column.dtype, pd.CategoricalDtype) else column.dtype.kind
    return ColSpec(_TYPES.get(kind, DataType.string), name, required=not column.hasnans)


_OF_MODEL = ("verdict", "why", "study_id", "data_digest", "references", "invalid")


@dataclass(frozen=True, eq=False)
class Records:
    """What is written of single records."""

    names: Names
    mode: str  # ``hashed``, ``full`` or ``none``
    page: str | None = None  # path of the page of exposure


class GeneratorRun(NamedTuple):
    """Where a generator is written."""

    run_id: str
    model_id: str = ""  # empty for reference generators, which are no answer to which generator is the best


def log_generator(to: Written, name: str, colour: str, found: Found | None, records: Records) -> GeneratorRun:
    """Write one generator; return its run, which has ended, FAILED if the generator did."""
    run = _open_generator_run(to, name, colour)
    fill(to, name, run, found, records)
    failed = name in to.result.failures
    if run.model_id:
        to.client.finalize_logged_model(run.model_id, "FAILED" if failed else "READY")
    to.client.set_terminated(run.run_id, "FAILED" if failed else "FINISHED")
    return run


def _open_generator_run(to: Written, name: str, colour: str) -> GeneratorRun:
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
    tied = {"model_id": run.model_id, "dataset_name": REAL, "dataset_digest": to.table.digest} if run.model_id else {}
    numbers = numbers_of(to.result, to.told, name, ends=not to.is_in_files)
    log_numbers(to.client, run.run_id, numbers, tied)
    log_tables(to.client, run.run_id, generator_tables(to.tables, name))
    if found is not None:
        log_release(to.client, run.run_id, found)
        if run.model_id:
            log_release_model(to.client, run.model_id, run.run_id, found)
        if records.mode != "none":
            log_records(to.client, run.run_id, found, records.page, records.names, records.mode)
    return numbers


def log_study(
    to: Written, settings: str, pages: Callable[[], Mapping[str, str]], found: Sequence[Found], records: Records
) -> str:
    """Write the run of a study: numbers, settings as YAML, tables, contributions, its pages if any; return its id.

    The pages, by name, are asked for last: they may still be drawn.
    """
    words = [f"{h.synthesizer}: {h.word}" for h in to.told.headlines if h.word]
    tags = {"role": "study", "verdict": ", ".join(words) or "none", "mlflow.runColor": "#000000"}
    run_id = to.run(f"study {to.result.name}", tags | {ANSWER: to.answer} | study_tags(to.result))
    to.params(run_id, study_params(to.result))
    log_real(to.client, run_id, to.table, to.source)
    log_numbers(to.client, run_id, numbers_of_study(to.told))
    log_study_tables(to, run_id, settings)
    if records.mode != "none":
        log_contributions(to.client, run_id, to.result, found, records.names)
    for name, page in pages().items():
        to.client.log_text(run_id, page, name)
    to.client.set_terminated(run_id, "FINISHED" if to.result.valid and not to.result.failures else "FAILED")
    return run_id


def log_study_tables(to: Written, run_id: str, settings: str) -> None:
    """Write what was asked of a study, and its tables, into a run."""
    client, result = to.client, to.result
    client.log_text(run_id, settings, "study.yaml")
    client.log_table(run_id, generators_table(result, to.told), GENERATORS)
    log_tables(client, run_id, to.tables, parquet=True)
    for name, facts in (("checks", result.checks), ("verdicts", result.verdicts)):
        client.log_text(run_id, json.dumps([vars(f) for f in facts], indent=1, default=bool), f"{name}.json")


def generators_table(result: StudyResult, told: Overview) -> pd.DataFrame:
    """Return the answer, a row a generator: verdict and why, headline numbers, role, failure, what releases showed."""
    rows = []
    for h in told.headlines:
        name, settings = h.synthesizer, result.settings.get(h.synthesizer, {})
        worst, useful = h.worst.found if h.worst else None, h.utility.value if h.utility else None
        rows.append(
            {"synthesizer": name, "verdict": h.word, "sentence": h.sentence}
            | {"worst_measure": h.worst.name if h.worst else ""}
            | {"worst": worst.value if worst else None}
            | {"worst_lower": worst.lower if worst else None, "worst_upper": worst.upper if worst else None}
            | {"as_if": h.as_if, "at_most": h.at_most, "would_decide": h.would_decide, "carried": h.carried}
            | {"utility_measure": h.utility.measure.key if h.utility else ""}
            | {"utility": useful.value if useful else None}
            | {"role": h.role, "kind": settings.get("kind", ""), "answer": result.answers.get(name, "")}
            | {"failure": result.failures.get(name, "")}
            | {"cost": result.costs[name].words if name in result.costs else ""}
            | {"release": result.releases[name].status if name in result.releases else ""}
        )
    return pd.DataFrame(rows)


def log_into(run_id: str, judged: Judged, name: str, pages: Mapping[str, str], settings: str) -> EvaluationResult:
    """Write a study, what it says of one generator, and its pages by name, into one run; return its metrics.

    The run stays open, and keeps its own tags and parameters where ours have the same names.
    """
    client = MlflowClient(mlflow.get_tracking_uri())
    run = client.get_run(run_id)
    sample, found = judged.estimated.sample, {each.name: each for each in judged.estimated.found}
    to = Written(client, run.info.experiment_id, judged.result, sample.table, source=sample.source)
    records = Records(Names(record_hashes(Path(sample.workspace), sample.table.digest, sample.table.rows)), "hashed")
    for key, text in generator_tags(judged.result, to.headline(name)).items():
        if key not in run.data.tags:
            client.set_tag(run_id, key, text)
    params = params_of(judged.result, name)
    absent = {key: text for key, text in params.items() if key not in run.data.params}
    to.params(run_id, {key: FRAME if FRAMES in text else text for key, text in absent.items()})
    log_study_tables(to, run_id, settings)
    log_contributions(client, run_id, judged.result, list(found.values()), records.names)
    numbers = fill(to, name, GeneratorRun(run_id), found.get(name), records)
    for page, text in pages.items():
        client.log_text(run_id, text, page)
    return EvaluationResult({n.key: n.value for n in numbers if not n.step}, {}, run_id)
