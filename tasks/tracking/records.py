"""What single records contribute: ledgers and the most exposed, under salted hashes."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from mlflow import MlflowClient

from synthrisk.tasks.tracking.names import Names
from synthrisk.tasks.workspace.coded_table import read_coded, repeated
from synthrisk.tasks.workspace.exposed import EVIDENCE
from synthrisk.tasks.workspace.handed import Found
from synthrisk.tasks.workspace.kept import there
from synthrisk.tasks.workspace.record_tables import write_records
from synthrisk.tasks.workspace.references import LEDGER

TOP = 100
# a class's share, its baseline, tells the class; so does a gain, which is made of it
REVEALING = ["guessed", "truth", "confidence", "baseline", "gain", "gain_as_member", "gain_as_control"]


def log_records(client: MlflowClient, run_id: str, found: Found, page: str | None, names: Names, mode: str) -> None:
    """Write the ledger and the exposed records of one generator to its run, records named as ``mode`` says."""
    with TemporaryDirectory() as place:
        folder, parts, left_out = Path(place), [], () if mode == "full" else REVEALING
        for each in found.ledgers:
            part = _without_empty(read_coded(there(each.path) / LEDGER, left_out))
            of_cell = {"repetition": each.cell.repetition, "fold": each.cell.fold}
            for name, number in of_cell.items():
                part = part.append_column(name, repeated(number, len(part)))
            parts.append(part)
        if not any(len(part) for part in parts):
            return  # no measure of the study scores records
        ledger = pa.concat_tables(parts, promote_options="default")
        write_records(given(names, ledger, mode), folder / "ledger.parquet")
        exposed = read_coded(there(found.exposed), left_out)
        bare = [c for c in EVIDENCE if c in exposed.column_names and exposed[c].null_count == len(exposed)]
        exposed = exposed.drop_columns(bare)
        if len(exposed):
            exposed = given(names, exposed, mode)
            write_records(exposed, folder / "memorization.parquet")
        client.log_artifacts(run_id, place, "records")
        if page and mode == "full":  # it holds values of the real table
            client.log_artifact(run_id, page, "records")
        if not len(exposed):
            return  # claims say nothing of single records
        top = _as_texts(_most_exposed(exposed)).to_pandas()
        if len(top):
            client.log_table(run_id, top, "records/most_exposed.json")


def given(names: Names, records: pa.Table, mode: str) -> pa.Table:
    """Return the rows with names in place of positions; unless ``mode`` is ``full`` not in the table's order."""
    rows, place = records["record"].to_numpy(), records.column_names.index("record")
    if mode == "full":
        kept = records.append_column("row", records["record"])
        return kept.set_column(place, "record", names.texts.take(pa.array(rows)))
    order, named = names.placed(rows)
    columns = {c: named if c == "record" else _taken(records[c], order) for c in records.column_names}
    return pa.table(columns).replace_schema_metadata(records.schema.metadata)


def _taken(column: pa.ChunkedArray, order: np.ndarray) -> pa.ChunkedArray:
    """Return the cells in another order, which is the same where all of them are the same."""
    return column if _is_one(column) else column.take(order)


def _is_one(column: pa.ChunkedArray) -> bool:
    if column.null_count or not (pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)):
        return column.null_count == len(column)
    ends = pc.min_max(column)
    return bool(ends["min"] == ends["max"])


def _most_exposed(exposed: pa.Table) -> pa.Table:
    if exposed["memorization"].null_count == len(exposed):
        return exposed.slice(0, TOP)  # what the following returns, in a moment
    amounts = pd.DataFrame({"memorization": exposed["memorization"].to_numpy()})
    return exposed.take(amounts.nlargest(TOP, "memorization").index.to_numpy())


def _as_texts(table: pa.Table) -> pa.Table:
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, table[field.name].cast(pa.string()))
    return table


def _without_empty(table: pa.Table) -> pa.Table:
    """Return the columns that hold a value."""
    return table.select([name for name in table.column_names if table[name].null_count < len(table)])
