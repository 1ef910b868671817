from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from samples.labelled import english, further, german, northern, romance, second  # noqa: F401 - they make the tables
from samples.labelled.table import TABLES, Table
from synthrisk.tasks.propose.proposal import Given, Proposal, look

each_table = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)


@pytest.fixture(scope="module")
def proposed(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("labelled")

    @cache
    def propose(table: Table) -> Proposal:
        file = folder / f"{table.name}.csv"
        file.write_bytes(table.file())
        return look(str(file), Given())

    return propose


@each_table
def test_each_column_is_of_a_kind_that_its_steward_would_name(table, proposed):
    kinds = {evidence.name: evidence.kind for evidence in proposed(table).columns}
    assert list(kinds) == list(table.labels)
    assert {name: kind for name, kind in kinds.items() if kind not in table.labels[name].kinds} == {}


@each_table
def test_each_column_has_a_role_that_its_steward_would_give(table, proposed):
    roles = {role.name: role.meaning for role in proposed(table).roles}
    assert set(roles) == set(table.labels)
    assert {name: role for name, role in roles.items() if role not in table.labels[name].roles} == {}
    assert list(roles.values()).count("identifier") <= 1
    assert {"quasi-identifier", "sensitive"} <= set(roles.values())


@each_table
def test_codes_for_nothing_are_missing_and_answers_that_look_like_them_are_not(table, proposed):
    read = proposed(table).table
    wrong = {}
    for name, label in table.labels.items():
        if name in read:
            cells, gone = pd.Series(table.cells[name]), read[name].isna().to_numpy()
            wrong |= {(name, text): "kept" for text in label.missing if not gone[cells == text].all()}
            wrong |= {(name, text): "lost" for text in label.kept if gone[cells == text].any()}
    assert wrong == {}


@each_table
def test_values_are_read_as_those_that_were_written(table, proposed):
    found = proposed(table)
    facts = {name for name, reading in found.data.columns.items() if reading.type == "presence"}
    kept = [name for name in table.labels if name in found.table]
    assert [name for name in kept if name not in facts and not holds_truth(found.table[name], table, name)] == []
    told = {name: found.table[name].to_numpy(bool) for name in kept if name in facts}
    assert [name for name, read in told.items() if not (read == table.labels[name].truth.notna()).all()] == []


def holds_truth(read: pd.Series, table: Table, name: str) -> bool:
    """Say whether a column as read holds what is true; cells that may be missing or answers are left aside."""
    sure = ~pd.Series(table.cells[name]).isin(table.labels[name].unsure).to_numpy()
    return same(read[sure], table.labels[name].truth[sure])


def same(read: pd.Series, truth: pd.Series) -> bool:
    """Say whether a column as read holds the values it was written from: numbers, times, texts, or two answers."""
    filled = truth.notna().to_numpy()
    if not np.array_equal(read.notna().to_numpy(), filled):
        return False
    values, true = read[filled].reset_index(drop=True), truth[filled].reset_index(drop=True)
    if true.empty:
        return True
    if isinstance(true[0], pd.Timestamp):
        return pd.api.types.is_datetime64_any_dtype(values) and (values == pd.to_datetime(true)).all()
    if pd.api.types.is_bool_dtype(values) or set(map(str, values.unique())) <= {"0", "1", "False", "True", "yes", "no"}:
        return len(set(zip(values, true, strict=True))) == true.nunique()
    if pd.api.types.is_numeric_dtype(values):
        return np.allclose(values.astype(float), pd.to_numeric(true, errors="coerce"))
    return values.astype(str).str.strip().tolist() == true.astype(str).str.strip().tolist()
