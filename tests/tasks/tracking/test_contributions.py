"""What each record adds, in the order of the synthesizers' and the records' names."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from synthrisk.tasks.tracking import tables
from synthrisk.tasks.tracking.tables import Names, contributions_table

NAMES = Names(np.array([7, 2**63, 0, 12], dtype=np.uint64))
RISK = np.array([[0.1, 0.2, np.nan, 0.4], [0.5, np.nan, np.nan, -0.0]])


def found(name, entities=None, role="synthesizer"):
    sample = SimpleNamespace(entities=lambda: entities)
    return SimpleNamespace(name=name, generator=SimpleNamespace(role=role), sample=sample)


def table(monkeypatch, arrays, entities=None):
    """Return the table of generators with these arrays each, and a reference."""
    monkeypatch.setattr(tables, "_judged", lambda result, each, records: arrays[each.name])
    generators = [found("copy", entities, "reference"), *(found(name, entities) for name in arrays)]
    return contributions_table(None, generators, NAMES)


def by_hand(arrays):
    texts = [f"{number:016x}" for number in (7, 2**63, 0, 12)]
    rows = [
        {"synthesizer": name, "record": texts[i], "repetition": r} | {key: array[r, i] for key, array in own.items()}
        for name, own in arrays.items()
        for r in range(2)
        for i in range(4)
    ]
    every = pd.DataFrame(rows)
    every = every.dropna(how="all", subset=every.columns[3:])
    return every.sort_values(["synthesizer", "record", "repetition"]).reset_index(drop=True)


@pytest.mark.parametrize(
    "arrays",
    [
        {"b": {"risk/y": RISK, "risk/x": RISK * 2}, "a": {"risk/x": RISK}},
        {"a": {"risk/x": np.nan_to_num(RISK)}, "b": {"risk/z": RISK}},
        {"a": {"risk/x": RISK}},
    ],
    ids=["columns in the order of the generators", "rows without a value are dropped", "one"],
)
def test_rows_and_columns_are_those_by_hand(monkeypatch, arrays):
    made = table(monkeypatch, arrays).to_pandas()
    expected = by_hand(arrays)
    pd.testing.assert_frame_equal(made.astype({"synthesizer": object}), expected, check_exact=True)


def test_the_entity_of_a_record_is_its_first_record(monkeypatch):
    made = table(monkeypatch, {"a": {"risk/x": RISK[:1]}}, np.array([5, 1, 5, 1])).to_pandas()
    assert made.columns.tolist() == ["synthesizer", "record", "entity", "repetition", "risk/x"]
    names = NAMES.texts.to_pylist()
    assert made["record"].tolist() == [names[i] for i in (0, 3, 1)]
    assert made["entity"].tolist() == [names[i] for i in (0, 1, 1)]


def test_nothing_is_contributed(monkeypatch):
    assert len(table(monkeypatch, {"a": {}, "b": {"risk/x": RISK * np.nan}})) == 0
    assert len(table(monkeypatch, {})) == 0
