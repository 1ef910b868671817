"""A release of 1, 3 and 10 million rows measured in parts: seconds of each stage, peak memory a worker.

python benchmarks/partitions.py [--rows 1000000 3000000 10000000] [--workers 2] [--control]

Members and release of so many rows, with ``--control`` a tenth as many control records, 8 columns, written from seeds
as Parquet files into a temporary folder, a million rows a row group at most, ten groups at least. Each size is measured
in a process of its own, with a local Dask cluster of one thread a worker.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = (1_000_000, 3_000_000, 10_000_000)
KEY, SENSITIVE = ["town", "age", "sex", "born"], "illness"
_CHUNK = 1_000_000
_KINDS = 500  # kinds of people: columns depend on each other through them, as in real tables


def drawn(rows: int, rng: np.random.Generator) -> pa.Table:
    """Return records of people."""
    kind = rng.integers(_KINDS, size=rows)
    usual = rng.random((5, rows)) < 0.9
    age = np.clip((kind * 37 % 80) + 5 + rng.normal(0, 3, rows).round(), 0, 99).astype(np.int64)
    income = np.exp(9 + (kind * 17 % 50) / 25 + rng.normal(0, 0.15, rows)).round(0)
    town = np.where(usual[0], kind * 13 % 1000, rng.integers(1000, size=rows))
    job = np.where(usual[1], kind * 7 % 60, rng.integers(60, size=rows))
    illness = np.where(usual[2], kind % 8, rng.integers(8, size=rows))
    born = (
        np.datetime64("2024-01-01", "ns") - age.astype("timedelta64[D]") * 365 - (kind % 12) * np.timedelta64(30, "D")
    )

    def texts(codes: np.ndarray, name: str) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(codes.astype(np.int32), [f"{name} {i}" for i in range(codes.max() + 1)])

    return pa.table(
        {
            "town": texts(town, "town").cast(pa.string()),
            "age": age,
            "sex": texts(rng.integers(2, size=rows), "sex").cast(pa.string()),
            "born": born,
            "job": texts(job, "job").cast(pa.string()),
            "hours": np.where(usual[3], 35 + kind % 10, rng.integers(0, 80, rows)),
            "income": np.where(rng.random(rows) < 0.02, np.nan, income),
            "illness": texts(illness, "illness").cast(pa.string()),
        }
    )


def written(path: Path, rows: int, seed: int) -> None:
    """Write so many records, chunk after chunk, each from a seed of its own."""
    group, writer = min(_CHUNK, max(1, rows // 10)), None
    for number, start in enumerate(range(0, rows, group)):
        table = drawn(min(group, rows - start), np.random.default_rng([seed, number]))
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=group)
    assert writer is not None
    writer.close()


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(folder: Path, workers: int) -> dict[str, Any]:
    """Return seconds of each stage, and peaks of this process and of each worker in MB."""
    from synthrisk.conf.plan import plan
    from synthrisk.conf.study import Bootstrap, Data
    from synthrisk.metrics.intervals.estimates import Interval
    from synthrisk.metrics.neighbours.nearest import prepare
    from synthrisk.metrics.partitions.findings import IN_PARTS, broken, contributed, found_in, strangers_in_words
    from synthrisk.metrics.partitions.keys import keys_of_real
    from synthrisk.tasks.partitions import cluster, kept_columns, tables_in_parts

    prepare(walks=True)
    files = {path.stem: str(path) for path in folder.glob("*.parquet")}
    data = Data(source=files["real"], quasi_identifiers=KEY, sensitive=[SENSITIVE])
    columns, stages = kept_columns(data, files), dict[str, float]()

    def stage(name: str, work: Callable[[], Any]) -> Any:
        started = time.perf_counter()
        made = work()
        stages[name] = stages.get(name, 0.0) + time.perf_counter() - started
        print(f"{name}: {stages[name]:.1f} s, driver {_peak():,.0f} MB", file=sys.stderr, flush=True)
        return made

    with cluster(None, workers) as client:
        tables = stage("read, agree, code", lambda: _computed(tables_in_parts(client, data, files, columns)))
        planned = plan(list(IN_PARTS), columns, KEY, [SENSITIVE])
        interval = Interval(method=Bootstrap().method)
        for each in planned:
            ledger = stage(each.measure.metric, lambda p=each: contributed(tables, [p], "release"))
            stage("intervals, verdicts", lambda p=each, own=ledger: found_in(tables, p, own, interval, interval))
        stage("k-anonymity", lambda: keys_of_real(tables, KEY))
        stage("look at columns", lambda: broken(tables))
        stage("control records", lambda: strangers_in_words(tables))
        return {"stages": stages, "driver": _peak(), "workers": list(client.run(_peak).values())}


def _computed(tables: Any) -> Any:
    for side in range(3):
        tables.of_side(side, len)  # waits for the parts
    return tables


def run_of(rows: int, workers: int, control: bool) -> dict[str, Any]:
    """Return what is measured in a process of its own."""
    with TemporaryDirectory() as folder:
        for seed, (name, count) in enumerate((("real", rows), ("control", rows // 10 * control), ("synthetic", rows))):
            if count:
                written(Path(folder) / f"{name}.parquet", count, seed)
        size = sum(each.stat().st_size for each in Path(folder).iterdir()) / 2**20
        command = [sys.executable, __file__, "--of", folder, "--workers", str(workers)]
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        return json.loads(told.splitlines()[-1]) | {"files": size}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--of", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--control", action="store_true")
    asked = parser.parse_args()
    if asked.of:
        print(json.dumps(measured(asked.of, asked.workers)))
        return
    every = {rows: run_of(rows, asked.workers, asked.control) for rows in asked.rows}
    print("| stage, s | " + " | ".join(f"{rows:,} rows" for rows in every) + " |")
    print("|---|" + "---|" * len(every))
    for name in next(iter(every.values()))["stages"]:
        print(f"| {name} | " + " | ".join(f"{found['stages'][name]:.1f}" for found in every.values()) + " |")
    print("| all | " + " | ".join(f"{sum(found['stages'].values()):.1f}" for found in every.values()) + " |")
    print("| peak of a worker, MB | " + " | ".join(f"{max(f['workers']):,.0f}" for f in every.values()) + " |")
    print("| peak of the driver, MB | " + " | ".join(f"{f['driver']:,.0f}" for f in every.values()) + " |")
    print("| files, MB | " + " | ".join(f"{f['files']:,.0f}" for f in every.values()) + " |")


if __name__ == "__main__":
    main()
