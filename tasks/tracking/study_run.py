"""The run of the study itself: its settings, tables and report."""

import json
from collections.abc import Sequence

import pandas as pd
from mlflow import MlflowClient

from synthrisk.metrics.release.summary import releases_table
from synthrisk.metrics.study.result_tables import TABLES, details_table, interval_table, league_table
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.utility import utility_table
from synthrisk.tasks.tracking.dataset import log_dataset
from synthrisk.tasks.tracking.past import GENERATORS
from synthrisk.tasks.tracking.tags import shared_tags
from synthrisk.tasks.workspace.references import Table


def log_study(
    client: MlflowClient, experiment: str, result: StudyResult, table: Table, study_yaml: str, artifacts: Sequence[str]
) -> str:
    """Write the run of a study; return its id."""
    words = {name: result.verdict(name) for name in result.synthesizers}
    tags = {
        "role": "study",
        "verdict": ", ".join(f"{n}: {w}" for n, w in words.items() if w) or "none",
        **shared_tags(result),
    }
    run_id = client.create_run(experiment, run_name=f"study {result.name}", tags=tags).info.run_id
    log_dataset(client, run_id, table)
    client.log_text(run_id, study_yaml, "study.yaml")
    client.log_table(run_id, generators_table(result), GENERATORS)
    client.log_table(run_id, league_table(result), "league.json")
    if result.utility:
        client.log_table(run_id, utility_table(result.utility), "utility.json")
    client.log_text(run_id, interval_table(result).to_csv(index=False), "intervals.csv")
    client.log_text(run_id, details_table(result).to_csv(index=False), "details.csv")
    for name, table_of in TABLES.items():
        rows = table_of(result)
        if len(rows):
            client.log_text(run_id, rows.to_csv(index=False), f"{name}.csv")
    if result.releases:
        client.log_text(run_id, releases_table(result.releases).to_csv(index=False), "releases.csv")
    for name, facts in (("checks", result.checks), ("verdicts", result.verdicts)):
        client.log_text(run_id, json.dumps([vars(f) for f in facts], indent=1, default=bool), f"{name}.json")
    for path in artifacts:
        client.log_artifact(run_id, path)
    return str(run_id)


def generators_table(result: StudyResult) -> pd.DataFrame:
    """Return who ran, a row a generator: role, kind, answer of a reference, overall verdict, failure, releases."""
    rows = [
        {"synthesizer": name, "verdict": result.verdict(name), "role": settings["role"], "kind": settings["kind"]}
        | {"answer": result.answers.get(name, ""), "failure": result.failures.get(name, "")}
        | {"release": result.releases[name].status if name in result.releases else ""}
        for name, settings in result.settings.items()
    ]
    return pd.DataFrame(rows)
