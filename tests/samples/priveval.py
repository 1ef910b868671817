"""PrivEval's reference tables and values (``tests/reference/priveval``)."""

import json
from pathlib import Path

import pandas as pd

REFERENCE = Path(__file__).parents[1] / "reference" / "priveval"


def schema(data):
    return json.loads((REFERENCE / data / "schema.json").read_text())


def priveval(data):
    """Return the real table, the synthetic table, and all that is expected of them."""
    tables = (
        pd.read_csv(REFERENCE / data / f"{t}.csv", dtype=dtypes(schema(data)["columns"])) for t in ("real", "synthetic")
    )
    return *tables, json.loads((REFERENCE / data / "expected.json").read_text())


def typed(kinds, *tables):
    """Return tables with the types that the references have."""
    return [t.astype(dtypes(kinds)) for t in tables]


def dtypes(kinds):
    return {c: "float64" if kind == "numeric" else "object" for c, kind in kinds.items()}
