"""Exact nearest records of Adult and of larger copies, against scikit-learn's brute force on one-hot columns.

Also in how few cells records differ where these are equal or not, against scikit-learn's Hamming distance.

python benchmarks/neighbours.py
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics import Tables
from synthrisk.metrics.neighbours.differing_cells import fewest_differing
from synthrisk.metrics.neighbours.nearest import prepare, real_to_synthetic
from synthrisk.metrics.neighbours.records import SpaceName, mixed, space_of

QUERIES = 1_000  # that the peer answers; its time is scaled to all
ROWS = (10_000, 100_000, 1_000_000)


def adult() -> pd.DataFrame:
    from synthrisk.tasks.data import read  # not in the process whose memory is measured

    return read("adult").drop(columns="income")


def copy(rows: int, seed: int) -> pd.DataFrame:
    """Return what sequential CART releases after Adult: values of its records, mixed."""
    from synthrisk.tasks.synthesize.cart import cart
    from synthrisk.tasks.synthesize.synthesizer import Job

    table = adult()
    return cart(Job(table, table.head(0), rows=rows, seed=seed)).synthetic


def one_hot(real: pd.DataFrame, synthetic: pd.DataFrame, space: SpaceName) -> tuple[np.ndarray, np.ndarray]:
    """Return points whose L1 (gower) or L2 (euclid) distances are those of the space; Adult misses no number."""
    both = pd.concat([real, synthetic], ignore_index=True)
    numeric = both.select_dtypes("number").astype(float)
    levels = pd.get_dummies(both.drop(columns=list(numeric)).astype(object), dummy_na=True, dtype=float)
    levels = levels.loc[:, levels.any()]
    n = len(real)
    if space == "gower":
        scaled, flags = numeric / (numeric.max() - numeric.min()), levels / 2
        points = np.column_stack([scaled, flags]) / real.shape[1]
    else:
        share = levels[:n].mean()
        scaled = (numeric - numeric[:n].mean()) / numeric[:n].std(ddof=0)
        step = np.sqrt(share * (1 - share)).where((share > 0) & (share < 1), 1.0)
        points = np.column_stack([scaled, (levels - share) / step])
    return points[:n], points[n:]


class Seconds(NamedTuple):
    wall: float
    cpu: float


def timed(function: Callable[[], Any]) -> Seconds:
    start, used = perf_counter(), process_time()
    function()
    return Seconds(perf_counter() - start, process_time() - used)


def best(function: Callable[[], Any], repeats: int) -> Seconds:
    """Return the least of each: on a shared machine other processes hold the cores now and then."""
    found = [timed(function) for _ in range(repeats)]
    return Seconds(*(min(each) for each in zip(*found, strict=True)))


def with_scikit_learn(
    real: pd.DataFrame, synthetic: pd.DataFrame, space: SpaceName, repeats: int
) -> tuple[np.ndarray, Seconds]:
    """Return the distances of the first queries, and the seconds that all would take."""
    from sklearn.neighbors import NearestNeighbors

    metric = "manhattan" if space == "gower" else "euclidean"

    def encode() -> Any:
        queries, points = one_hot(real, synthetic, space)
        return queries, NearestNeighbors(n_neighbors=1, algorithm="brute", metric=metric).fit(points)

    queries, search = encode()
    found, _ = search.kneighbors(queries[:QUERIES])
    once, some = best(encode, repeats), best(lambda: search.kneighbors(queries[:QUERIES]), repeats)
    return found[:, 0], Seconds(*(a + b * len(real) / QUERIES for a, b in zip(once, some, strict=True)))


def encoded(real: pd.DataFrame, synthetic: pd.DataFrame, space: SpaceName) -> Tables:
    """Return tables whose encoding is made already; a search is not."""
    tables = Tables(real, synthetic)
    mixed(tables, space_of(tables, space))
    return tables


def compare(repeats: int = 15) -> None:
    """Print times of Adult against its copy, beside scikit-learn's."""
    real, synthetic = adult(), copy(len(adult()), 1)
    text = [t.astype(dict.fromkeys(t.select_dtypes("category"), object)) for t in (real, synthetic)]
    print(
        f"Adult {len(real):,} x {len(synthetic):,}, {real.shape[1]} columns; scikit-learn: {QUERIES:,} queries scaled"
    )
    columns = ("encoded s", "CPU s", "categories s", "text s", "CPU s", "scikit-learn s", "CPU s", "ratio", "CPU ratio")
    print(f"{'space':<8}" + "".join(f"{column:>{len(column) + 3}}" for column in columns))
    for space in ("gower", "euclid"):
        theirs, peer = with_scikit_learn(*text, space, 2)
        ready = [encoded(real, synthetic, space) for _ in range(repeats)]
        ours = best(lambda ready=ready, space=space: real_to_synthetic(ready.pop(), space), repeats)
        framed = best(lambda space=space: real_to_synthetic(Tables(real, synthetic), space), repeats)
        strings = best(lambda space=space: real_to_synthetic(Tables(*text), space), repeats)
        found = real_to_synthetic(Tables(*text), space).distances[:QUERIES, 0]
        off = np.abs(found - theirs).max()  # scikit-learn's L2 takes |a|^2 + |b|^2 - 2ab
        if off > (1e-12 if space == "gower" else 1e-5):
            raise SystemExit(f"distances differ by {off}")
        cells = [*ours, framed.wall, *strings, *peer, peer.wall / strings.wall, peer.cpu / strings.cpu]
        rounded = [f"{x:.0f}" if x > 99 else f"{x:.1f}" if x > 9 else f"{x:.3f}" for x in cells]
        print(f"{space:<8}" + "".join(f"{x:>{len(c) + 3}}" for x, c in zip(rounded, columns, strict=True)), flush=True)


def compare_cells(repeats: int = 3) -> None:
    """Print times of the fewest differing cells, beside scikit-learn's and the search through box trees."""
    from sklearn.neighbors import NearestNeighbors

    both = pd.concat([adult(), copy(len(adult()), 1)], ignore_index=True)
    codes = np.column_stack([np.minimum(pd.factorize(both[name])[0], 255) for name in both])
    real, released = np.array_split(codes, 2)
    columns = [list(each.T) for each in (real, released)]
    ours = best(lambda: fewest_differing(*columns), repeats)
    texts = [pd.DataFrame(each).astype(str) for each in (real, released)]
    trees = best(lambda: real_to_synthetic(encoded(*texts, "gower"), "gower"), 1)
    search = NearestNeighbors(n_neighbors=1, algorithm="brute", metric="hamming").fit(released)
    some, found = timed(lambda: search.kneighbors(real[:QUERIES])), search.kneighbors(real[:QUERIES])[0][:, 0]
    if not np.allclose(found * real.shape[1], fewest_differing(*columns)[:QUERIES]):
        raise SystemExit("counts of differing cells differ")
    peer = Seconds(*(each * len(real) / QUERIES for each in some))
    print(f"\nfewest differing cells, {len(real):,} x {len(released):,}, {real.shape[1]} columns")
    for name, each in {"ours": ours, "box trees": trees, "scikit-learn": peer}.items():
        print(f"{name:<14}{each.wall:8.2f} s {each.cpu:8.2f} CPU s {each.cpu / ours.cpu:8.1f} times")


def peak() -> float:
    """Return the most memory that this process has held, in megabytes (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def measure(folder: Path, space: SpaceName) -> dict[str, float]:
    """Search two stored tables; seconds, and memory before and at most. Runs in a process of its own."""
    real, synthetic = (pd.read_parquet(folder / f"{name}.parquet") for name in ("real", "synthetic"))
    prepare(walks=True)
    whole = peak()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew at what is held now
    held, start, used = peak(), perf_counter(), process_time()
    distances = real_to_synthetic(Tables(real, synthetic), space).distances
    seconds, cpu = perf_counter() - start, process_time() - used
    return {
        "seconds": seconds,
        "cpu": cpu,
        "held": held,
        "peak": peak(),
        "whole": max(whole, peak()),
        "mean": distances.mean(),
    }


def grow() -> None:
    """Print time and memory of larger and larger pairs of copies."""
    columns = f"{'seconds':>8}{'CPU s':>8}{'peak MB':>9}{'by search MB':>14}{'bytes a row':>13}"
    print(f"\n{'rows x rows':<23}{'space':<8}{columns}")
    with TemporaryDirectory() as place:
        for rows in ROWS:
            for name, seed in (("real", 2), ("synthetic", 3)):
                copy(rows, seed).to_parquet(Path(place) / f"{name}.parquet")
            for space in ("gower", "euclid"):
                command = [sys.executable, __file__, place, space]
                found = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
                more = found["peak"] - found["held"]
                print(
                    f"{rows:>10,} x {rows:<10,}{space:<8}{found['seconds']:>8.2f}{found['cpu']:>8.2f}"
                    f"{found['whole']:>9.0f}{more:>14.0f}{more * 2**20 / rows:>13.0f}"
                )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(Path(sys.argv[1]), "gower" if sys.argv[2] == "gower" else "euclid")))
    else:
        prepare(walks=True)
        compare()
        compare_cells()
        grow()
