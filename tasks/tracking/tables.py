"""Tables of a study as artifacts: JSON that MLflow shows as tables, the verdict first, and Parquet for programs."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from mlflow import MlflowClient

from synthrisk.metrics.release.summary import releases_table
from synthrisk.metrics.study.league import league, promised
from synthrisk.metrics.study.result_tables import (
    TABLES,
    details_table,
    interval_table,
    league_table,
)
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.utility import utility_table

_OF_GENERATORS = {"measures": "league", "limits": "limits", "yardsticks": "yardsticks"}
_NUMBERS = [f"{name}{end}" for name in ("memorization", "risk") for end in ("", "_lower", "_upper")]
_GUESSES = ["guess", "risk_gain", "control", "control_gain", "population", "population_gain"]
_FIRST = ["synthesizer", "measure", "verdict", *_NUMBERS, *_GUESSES, "role"]
"""What a league table starts with, for who looks at it on a page."""


def study_tables(result: StudyResult) -> dict[str, pd.DataFrame]:
    """Return the tables of a study by name; those without rows are left out."""
    every = {
        "league": judged_league(result),
        "utility": utility_table(result.utility),
        **{name: table_of(result) for name, table_of in TABLES.items()},
        "intervals": interval_table(result),
        "details": details_table(result),
        "releases": releases_table(result.releases) if result.releases else pd.DataFrame(),
        "release_values": release_values(result),
    }
    return {name: table for name, table in every.items() if len(table)}


def generator_tables(study: Mapping[str, pd.DataFrame], name: str) -> dict[str, pd.DataFrame]:
    """Return the tables of one generator, out of those of its study: measures with verdicts, limits, yardsticks."""
    every = {own: study[of] for own, of in _OF_GENERATORS.items() if of in study}
    own = {key: table[table["synthesizer"] == name] for key, table in every.items()}
    if "limits" in own:
        first = ["name", "word", "value", "lower", "upper", "limit", "reason"]
        own["limits"] = own["limits"][[*first, *(c for c in own["limits"] if c not in first)]]
    spare = ["synthesizer", "role"]
    return {key: table.drop(columns=spare).reset_index(drop=True) for key, table in own.items() if len(table)}


def judged_league(result: StudyResult) -> pd.DataFrame:
    """Return the league table with the verdict on each measure, or why there is none, among its first columns."""
    words = {(row.synthesizer, row.measure): row.verdict for rows in league(result).values() for row in rows}
    table = league_table(result)
    if not len(table):
        return table
    if epsilons := promised(result):
        table["epsilon"] = [epsilons.get(name, "") for name in table["synthesizer"]]
    table["verdict"] = [words[who] for who in zip(table["synthesizer"], table["measure"], strict=True)]
    return table[[*_FIRST, *(c for c in table if c not in _FIRST)]]


def release_values(result: StudyResult) -> pd.DataFrame:
    """Return the value of each release, a row a finding and release, numbered by repetition and fold."""
    rows = [
        {"synthesizer": f.synthesizer, "measure": f.measure.key, "release": number, "risk": value}
        for f in result.findings
        for number, value in enumerate(f.release_risk)
    ]
    return pd.DataFrame(rows)


def log_tables(client: MlflowClient, run_id: str, tables: Mapping[str, pd.DataFrame], *, parquet: bool = False) -> None:
    """Write tables to a run, each as ``<name>.json``, and with ``parquet`` in the folder ``tables`` too."""
    for name, table in tables.items():
        client.log_table(run_id, table, f"{name}.json")
    if parquet:
        with TemporaryDirectory() as place:
            for name, table in tables.items():  # Parquet takes one type a column
                mixed = [c for c in table if pd.api.types.infer_dtype(table[c], skipna=True).startswith("mixed")]
                table.astype(dict.fromkeys(mixed, str)).to_parquet(
                    Path(place) / f"{name}.parquet", compression="zstd", index=False
                )
            client.log_artifacts(run_id, place, "tables")
