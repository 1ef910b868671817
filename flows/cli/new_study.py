"""A first study for a table: every line commented, roles guessed, ready to run."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml

from synthrisk.conf import load, schema
from synthrisk.conf.study import Data, Split
from synthrisk.metrics import InputError, Tables
from synthrisk.metrics.tables.kinds import kind
from synthrisk.tasks.data import read, typed
from synthrisk.tasks.workspace.store import replace_file

_TEXT = """\
# yaml-language-server: $schema={schema}
# A study of synthrisk. Run it:  synthrisk benchmark {file}
name: {name}

data:
  source: {source}
  # What an attacker knows of a person from elsewhere. Think of the worst neighbour.
  quasi_identifiers: {known}
  # What nobody should learn; each column is attacked on its own.
  sensitive: {hidden}
  # Texts that mean a missing cell, beside the empty one; columns to leave out.
  missing: {missing}
  drop: {drop}
  # Number codes that stand for categories (also postcodes): list them here.
  categorical: []
  # Column that names the person, where one has several rows: they stay on one side of every split.
  # identifier: person_id
{columns}

# Each record is held out once a repetition; attacks on it then are the yardstick for attacks on members.
split: {{folds: 3, repetitions: 3}}

synthesizers:
  - cart
  # - gaussian_copula                                  # needs: pip install 'synthrisk[sdv]'
  # - {{name: ctgan, epochs: 100}}
  # - {{name: mine, kind: callable, path: "generators.py:make"}}   # function(train, rows, seed)
  # - {{name: vendor, kind: files, path: "releases/{{repetition}}-{{fold}}.csv"}}

# Reference generators, whose answer is known; if they do not behave, the study is INVALID. Without copy and near_copy
# no verdict can be NO EVIDENCE, for nothing shows that the study would have seen a copy.
references: [copy, near_copy, {{name: leaky, share: 0.1}}, fresh, marginals]

metrics:
{metrics}
  - common_rows_proportion                             # released as they are: equal in every column
  - {{name: membership, attackers: [density_ratio]}}     # near copies: who was in the training data?
  - distance_to_closest_record                         # how much nearer the release comes to members
  - accuracy                                           # utility, beside the risk
  # - {{name: inference, attackers: [nearest_record, key_class]}}   # claims, judged as the GDA Score does

# Which leak would this study have seen? Releases with these shares of training records tell.
# power: {{shares: [0.01, 0.05]}}

# Limits that a release must keep, and who chose them. No limit, no verdict. Memorization: what a
# record's presence in the training data adds to its own risk. tpr: members found where 1 % of others are taken for one.
# thresholds:
#   {first}: {{value: 0.05, source: "who chose it"}}
#   memorization/common_rows_proportion: {{value: 0.01, source: "who chose it"}}
#   tpr/membership: {{value: 0.05, source: "who chose it"}}

tracking: {{records: hashed}}   # full: with guesses and true values (sensitive!); none: no records
runner: {{workers: 2}}
seed: 1
"""


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
    text = _TEXT.format(
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
