"""The run of the study itself: its headline numbers, settings, tables and report."""

import json
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from synthrisk.metrics.study.headlines import Overview
from synthrisk.metrics.study.results import StudyResult
from synthrisk.tasks.tracking.contributions import log_contributions
from synthrisk.tasks.tracking.dataset import log_real
from synthrisk.tasks.tracking.numbers import log_numbers, numbers_of_study
from synthrisk.tasks.tracking.past import GENERATORS
from synthrisk.tasks.tracking.synthesizer_run import Records
from synthrisk.tasks.tracking.tables import log_tables
from synthrisk.tasks.tracking.tags import study_tags
from synthrisk.tasks.tracking.written import Written
from synthrisk.tasks.workspace.handed import Found


def log_study(
    to: Written, settings: str, pages: Callable[[], Mapping[str, str]], found: Sequence[Found], records: Records
) -> str:
    """Write the run of a study: numbers, settings as YAML, tables, contributions, its pages if any; return its id.

    The pages, by name, are asked for last: they may still be drawn.
    """
    run_id = _open(to)
    _fill(to, run_id, settings)
    if records.mode != "none":
        log_contributions(to.client, run_id, to.result, found, records.names)
    for name, page in pages().items():
        to.client.log_text(run_id, page, name)
    to.client.set_terminated(run_id, "FINISHED" if to.result.valid and not to.result.failures else "FAILED")
    return run_id


def _open(to: Written) -> str:
    words = [f"{h.synthesizer}: {h.word}" for h in to.told.headlines if h.word]
    tags = {"role": "study", "verdict": ", ".join(words) or "none", "mlflow.runColor": "#000000"}
    return to.run(f"study {to.result.name}", tags | study_tags(to.result))


def _fill(to: Written, run_id: str, settings: str) -> None:
    client, result = to.client, to.result
    log_real(client, run_id, to.table)
    log_numbers(client, run_id, numbers_of_study(to.told))
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
            | {"release": result.releases[name].status if name in result.releases else ""}
        )
    return pd.DataFrame(rows)
