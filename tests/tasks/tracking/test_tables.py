from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synthrisk.metrics.study.ledger import Cell
from synthrisk.tasks.tracking import tables
from synthrisk.tasks.tracking.tables import REVEALING, TOP, Names, contributions_table, given, log_records, ordered
from synthrisk.tasks.workspace.records import keep_exposed, read_coded, write_records
from synthrisk.tasks.workspace.references import LEDGER

NUMBERS = np.array([7, 2**63, 0, 12], dtype=np.uint64)
HASHES = [f"{number:016x}" for number in NUMBERS]
PLACES = np.array([2, 0, 3, 1])


@pytest.mark.parametrize("rows", [np.tile(np.arange(4), 3), np.array([3, 1, 1, 0, 2, 3, 0, 1])], ids=["blocks", "some"])
def test_records_stand_in_the_order_of_their_names_and_those_of_one_as_they_stood(rows):
    rank = {record: i for i, record in enumerate(PLACES)}
    by_hand = sorted(range(len(rows)), key=lambda i: (rank[rows[i]], i))
    assert ordered(rows, PLACES).tolist() == by_hand


def test_hashed_records_hold_no_guess_and_full_ones_their_row(tmp_path):
    table = pa.table({"record": [0, 1, 2, 3], "score": [0.0, 0.1, 0.2, 0.3], "truth": list("abcd")})
    pq.write_table(table, tmp_path / "x.parquet")

    def named(mode, left_out=()):
        return given(Names(NUMBERS), read_coded(tmp_path / "x.parquet", left_out), mode)

    hashed = named("hashed", REVEALING).to_pylist()
    assert hashed == [{"record": HASHES[i], "score": i / 10} for i in PLACES]
    full = named("full")
    assert (full.column_names, full["record"].to_pylist()) == (["record", "score", "truth", "row"], HASHES)
    assert full["row"].to_pylist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("mode", "beside"), [("hashed", set()), ("full", {"gain_as_member", "gain_as_control"})])
def test_the_gain_of_each_record_is_told_with_full_records_alone(tmp_path, mode, beside):
    scores = {"record": [0, 1, 2, 3], "score": [0.0, 1.0, 0.0, 1.0], "gain": [0.1] * 4}
    pq.write_table(pa.table(scores), tmp_path / LEDGER)
    numbers = {"as_member": 0.5, "as_control": 0.25, "memorization": 0.25, "lower": 0.0, "upper": 0.5}
    own = pd.DataFrame(numbers | {"gain_as_member": 0.1, "gain_as_control": 0.2}, index=range(4))
    keep_exposed(tmp_path / "exposed.parquet", {"rapid.income": own})
    written = {}
    client = SimpleNamespace(  # looks at what is written while it is there
        log_artifacts=lambda _, place, __: written.update(
            {path.name: set(pq.read_schema(path).names) for path in Path(place).iterdir()}
        ),
        log_table=lambda _, table, name: written.update({name: set(table.columns)}),
    )
    ledger = SimpleNamespace(path=str(tmp_path), cell=Cell("cart", 0, 0))
    found = SimpleNamespace(ledgers=(ledger,), exposed=str(tmp_path / "exposed.parquet"))
    log_records(client, "run", found, None, Names(NUMBERS), mode)
    for name in ("memorization.parquet", "records/most_exposed.json"):
        assert {c for c in written[name] if c.startswith(("gain", "error"))} == beside
    assert ("gain" in written["ledger.parquet"]) == (mode == "full")


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_texts_of_either_kind_are_read_as_codes(tmp_path, kind):
    pq.write_table(pa.table({"record": [0, 1], "metric": pa.array(["a", "a"], kind)}), tmp_path / "x.parquet")
    read = read_coded(tmp_path / "x.parquet")
    assert pa.types.is_dictionary(read.schema.field("metric").type)
    write_records(read, tmp_path / "y.parquet")
    for again in (pq.read_table(tmp_path / "y.parquet"), tables._as_texts(read)):
        assert again.schema.field("metric").type == pa.string()


COLUMNS = {
    **{"record": np.tile(np.arange(4), 2), "member": pa.array([True] * 8), "claim": pa.array([True, False] * 4)},
    **{"at_risk": pa.array([True, None] * 4), "fold": np.zeros(8, dtype=np.int64), "score": [0.0, -0.0] * 4},
    **{"gain": pa.nulls(8, pa.float64()), "metric": pa.array(["a"] * 4 + ["b"] * 4).dictionary_encode()},
}


@pytest.mark.parametrize("rows", [slice(0, 8), slice(1, 7), slice(0, 0)], ids=["all", "some", "none"])
def test_cells_move_with_their_record(rows):
    table = pa.table(COLUMNS).slice(rows.start, rows.stop - rows.start)
    order = ordered(table["record"].to_numpy(), PLACES)
    made, moved = given(Names(NUMBERS), table, "hashed"), table.take(order)
    assert made["record"].to_pylist() == [HASHES[i] for i in moved["record"].to_pylist()]
    for name in [*COLUMNS][1:]:
        assert made[name].to_pylist() == moved[name].to_pylist()
    signs = [np.signbit(each["score"].to_numpy()).tolist() for each in (made, moved)]
    assert signs[0] == signs[1]


def test_the_order_is_found_anew_for_other_rows():
    names = Names(NUMBERS)
    for rows in ([0, 1, 2, 3], [3, 3, 1], [0, 1, 2, 3], [], [0, 1, 2, 3] * 2):
        order, named = names.placed(np.array(rows, dtype=np.int64))
        assert order.tolist() == ordered(np.array(rows, dtype=np.int64), PLACES).tolist()
        assert named.to_pylist() == sorted(HASHES[i] for i in rows)


@pytest.mark.parametrize("known", [0, 3, 150])
def test_the_most_exposed_come_first_and_of_equals_those_that_stand_first(known):
    amounts = np.where(np.arange(200) < known, np.arange(200) % 7, np.nan)
    exposed = pa.table({"record": np.arange(200), "memorization": pa.array(amounts, from_pandas=True)})
    top = pd.DataFrame({"memorization": amounts}).nlargest(TOP, "memorization")
    assert tables._most_exposed(exposed)["record"].to_pylist() == top.index.tolist()


NAMES = Names(NUMBERS)
RISK = np.array([[0.1, 0.2, np.nan, 0.4], [0.5, np.nan, np.nan, -0.0]])


def found(name, entities=None, role="synthesizer"):
    sample = SimpleNamespace(entities=lambda: entities)
    return SimpleNamespace(name=name, generator=SimpleNamespace(role=role), sample=sample)


def table_of(monkeypatch, arrays, entities=None):
    """Return the table of generators with these arrays each, and a reference."""
    monkeypatch.setattr(tables, "_judged", lambda result, each, records: arrays[each.name])
    generators = [found("copy", entities, "reference"), *(found(name, entities) for name in arrays)]
    return contributions_table(None, generators, NAMES)


def by_hand(arrays):
    rows = [
        {"synthesizer": name, "record": HASHES[i], "repetition": r} | {key: array[r, i] for key, array in own.items()}
        for name, own in arrays.items()
        for r in range(2)
        for i in range(4)
    ]
    every = pd.DataFrame(rows)
    every = every.dropna(how="all", subset=every.columns[3:])
    return every.sort_values(["synthesizer", "record", "repetition"]).reset_index(drop=True)


@pytest.mark.parametrize("arrays", [
    {"b": {"risk/y": RISK, "risk/x": RISK * 2}, "a": {"risk/x": RISK}},
    {"a": {"risk/x": np.nan_to_num(RISK)}, "b": {"risk/z": RISK}}, {"a": {"risk/x": RISK}},
], ids=["columns in the order of the generators", "rows without a value are dropped", "one"])  # fmt: skip
def test_rows_and_columns_are_those_by_hand(monkeypatch, arrays):
    made = table_of(monkeypatch, arrays).to_pandas()
    expected = by_hand(arrays)
    pd.testing.assert_frame_equal(made.astype({"synthesizer": object}), expected, check_exact=True)


def test_the_entity_of_a_record_is_its_first_record(monkeypatch):
    made = table_of(monkeypatch, {"a": {"risk/x": RISK[:1]}}, np.array([5, 1, 5, 1])).to_pandas()
    assert made.columns.tolist() == ["synthesizer", "record", "entity", "repetition", "risk/x"]
    assert made["record"].tolist() == [HASHES[i] for i in (0, 3, 1)]
    assert made["entity"].tolist() == [HASHES[i] for i in (0, 1, 1)]


def test_nothing_is_contributed(monkeypatch):
    assert len(table_of(monkeypatch, {"a": {}, "b": {"risk/x": RISK * np.nan}})) == 0
    assert len(table_of(monkeypatch, {})) == 0
