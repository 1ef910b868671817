"""Ledgers that a test has made by hand, in a folder as the attack leaves them, their release looked at and whole."""

import json
from functools import cache
from pathlib import Path

import pandas as pd

from synthrisk.metrics.release.validity import as_plain, check_release
from synthrisk.metrics.study.ledger import values_as_plain
from synthrisk.tasks.workspace.references import CHECK, LEDGER, VALUES


def keep_ledger(place: Path, values, rows: pd.DataFrame | None = None) -> Path:
    """Write what the measures say, with the rows of the ledger where there are any, and that the release is whole."""
    place.mkdir(parents=True, exist_ok=True)
    if rows is not None:
        rows.to_parquet(place / LEDGER)
    (place / VALUES).write_text(json.dumps(values_as_plain(values)))
    (place / CHECK).write_text(_whole())
    return place


@cache
def _whole():
    people = pd.DataFrame({"age": range(40)})
    return json.dumps(as_plain(check_release(people, None, people + 0.5)))
