"""A release judged within a run that somebody else has begun: the same metrics and artifacts, in that run."""

from collections.abc import Mapping
from pathlib import Path

import mlflow
from mlflow import MlflowClient
from mlflow.models import EvaluationResult

from synthrisk.tasks.tracking.names import Names
from synthrisk.tasks.tracking.synthesizer_run import GeneratorRun, Records, fill
from synthrisk.tasks.tracking.tags import generator_tags, params_of
from synthrisk.tasks.tracking.written import Written
from synthrisk.tasks.workspace.handed import Judged
from synthrisk.tasks.workspace.record_names import record_hashes


def log_into(run_id: str, judged: Judged, name: str, pages: Mapping[str, str]) -> EvaluationResult:
    """Write what a study says of one generator, and its pages by name, into a run; return its metrics.

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
    to.params(run_id, {key: text for key, text in params.items() if key not in run.data.params})
    numbers = fill(to, name, GeneratorRun(run_id), found.get(name), records)
    for page, text in pages.items():
        client.log_text(run_id, text, page)
    return EvaluationResult({n.key: n.value for n in numbers if not n.step}, {}, run_id)
