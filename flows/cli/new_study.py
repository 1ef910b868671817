"""A first study for a table: every line commented, roles guessed, ready to run."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pandas as pd
import yaml

from synthrisk.conf import load, schema
from synthrisk.conf.study import Data, Split
from synthrisk.metrics import InputError, Tables
from synthrisk.metrics.tables.kinds import kind
from synthrisk.tasks.data import read, typed
from synthrisk.tasks.workspace.store import check_writable, replace_file


@dataclass(frozen=True)
class Roles:
    """What is known of a table's columns; what is left out is guessed."""

    sensitive: Sequence[str] = ()
    quasi_identifiers: Sequence[str] = ()
    missing: Sequence[str] = ()
    drop: Sequence[str] = ()


def write_study(data: str, to: Path, roles: Roles, force: bool) -> str:
    """Write a study and its schema beside it; return what was written.

    Raises:
        InputError: The file is there already, the table cannot be read, or a column is absent.
    """
    check_writable("--to", to, folder=False)
    if to.exists() and not force:
        raise InputError(f"--to must be a new file (or give --force), got {str(to)!r}, which is there")
    frame = read(data, roles.missing)
    kept = [str(c) for c in frame.columns if c not in roles.drop]
    hidden = list(roles.sensitive) or kept[-1:]
    known = list(roles.quasi_identifiers) or [c for c in kept if c not in hidden]
    Tables(frame.head(1), frame.head(1)).check_roles(known, hidden)
    settings = Data(
        source=data, quasi_identifiers=known, sensitive=hidden, missing=list(roles.missing), drop=list(roles.drop)
    )
    types = typed(frame, settings, Split(holdout=0.5), 0)
    categorical = [c for c in hidden if kind(types[c]) == "categorical"]
    schema_file = to.with_suffix(".schema.json")
    text = (
        (files("synthrisk.flows.cli") / "new_study.yaml.txt")
        .read_text("utf-8")
        .format(
            schema=schema_file.name,
            file=to,
            name=json.dumps(re.sub(r"[^A-Za-z0-9_]+", "-", Path(data).stem).strip("-") or "study"),
            source=json.dumps(data, ensure_ascii=False),
            known=json.dumps(known, ensure_ascii=False),
            hidden=json.dumps(hidden, ensure_ascii=False),
            missing=json.dumps(list(roles.missing), ensure_ascii=False),
            drop=json.dumps(list(roles.drop), ensure_ascii=False),
            first=json.dumps(f"memorization/rapid.{hidden[0]}", ensure_ascii=False),
            columns=_columns(types),
            metrics="\n".join(_metrics(hidden, categorical)),
        )
    )
    load(yaml.safe_load(text))
    replace_file(to, text)
    replace_file(schema_file, json.dumps(schema(), indent=1))
    return f"{to} and {schema_file}"


def _metrics(hidden: Sequence[str], categorical: Sequence[str]) -> list[str]:
    if not categorical:
        return ["  - {name: rapid, attackers: [random_forest]}"]
    own = (
        "" if list(categorical) == list(hidden) else f", sensitive: {json.dumps(list(categorical), ensure_ascii=False)}"
    )
    return [f"  - {{name: zero_cap{own}}}", "  - {name: rapid, attackers: [random_forest]}"]


def _columns(types: pd.DataFrame) -> str:
    lines = ["  # Columns as they were read:"]
    for name in types.columns:
        column = types[name]
        missing = int(column.isna().sum())
        lines.append(
            f"  #   {json.dumps(str(name), ensure_ascii=False)}: {kind(column)}, {column.nunique()} values"
            + (f", {missing} missing" if missing else "")
        )
    return "\n".join(lines)
