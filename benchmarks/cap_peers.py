"""CAP against SDMetrics, and generalized CAP on 1,000,000 x 1,000,000 records with 8 keys: time and memory.

python benchmarks/cap_peers.py
"""

import resource
import subprocess
import sys
import warnings
from functools import partial
from time import perf_counter
from timeit import repeat

import numpy as np
import pandas as pd
from sdmetrics.single_table import CategoricalCAP, CategoricalGeneralizedCAP

from synthrisk.metrics import METRICS
from synthrisk.metrics.cap.nearest_keys import compiled_pairs, plain_pairs
from synthrisk.metrics.tables.codes import matches
from synthrisk.metrics.tables.tables import Tables
from synthrisk.tasks.data import read

KEYS = ["age", "workclass", "education", "occupation", "race", "sex", "relationship", "hours_per_week"]
FIVE = ["age", "education", "occupation", "sex", "race"]
TARGET = "income"


def tables(rows: int, seed: int) -> list[pd.DataFrame]:
    """Return two resamples of Adult in which 5 % of each column's cells are shuffled, so that keys are unseen."""
    adult = read("adult")[[*KEYS, TARGET]].astype({TARGET: "category"})
    adult = adult.astype({c: "category" for c in KEYS if c not in ("age", "hours_per_week")})
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(2):
        table = adult.iloc[rng.integers(len(adult), size=rows)].reset_index(drop=True)
        for column in KEYS:
            moved = np.flatnonzero(rng.random(rows) < 0.05)
            table.loc[moved, column] = table[column].to_numpy()[rng.permutation(moved)]
        made.append(table)
    return made


def ours(name: str, real: pd.DataFrame, synthetic: pd.DataFrame, keys: list[str]) -> tuple[float, float]:
    """Return the least of twenty times, and the published value."""
    best = np.inf
    for _ in range(20):
        start = perf_counter()
        score = METRICS[name](real, synthetic, quasi_identifiers=keys, sensitive=TARGET)
        best = min(best, perf_counter() - start)
    return best, score.published


def beside_sdmetrics() -> None:
    heads = f"{'metric':<18}{'rows':>7}{'keys':>6}{'cells':>12}"
    print(f"{heads}{'SDMetrics s':>13}{'ours s':>9}{'ratio':>7}  published by both")
    peers = (CategoricalCAP, "categorical_cap", 10_000), (CategoricalGeneralizedCAP, "generalized_cap", 2_000)
    for peer, name, rows in peers:
        for keys in (FIVE, KEYS):
            text = [t[[*keys, TARGET]].astype(object).where(t.notna(), "?") for t in tables(rows, 1)]
            start = perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = peer.compute(*text, key_fields=keys, sensitive_fields=[TARGET])
            peer_time = perf_counter() - start
            for cells, kind in (("text", object), ("categories", "category")):
                time, found = ours(name, *(t.astype(dict.fromkeys(keys[1:], kind)) for t in text), keys)
                if abs(expected - found) > 1e-9:
                    raise SystemExit(f"values differ: {expected} and {found}")
                counts = f"{name:<18}{rows:>7}{len(keys):>6}{cells:>12}"
                print(f"{counts}{peer_time:>13.2f}{time:>9.4f}{peer_time / time:>7.0f}  {found:.6f}")


def all_pairs() -> None:
    """Compare the compiled comparison of keys with numpy's, on the keys that are unseen."""
    print("all pairs of 2,000 x 2,000 keys: numpy ms, compiled ms, ratio")
    for keys in (FIVE, KEYS):
        encoded = Tables(*tables(2_000, 1))
        columns, target = [encoded.codes([c]) for c in keys], encoded.codes([TARGET])
        unseen = np.flatnonzero(matches(encoded.codes(keys)) == 0)
        real = np.column_stack([c.tables[0][unseen] for c in (*columns, target)]).astype(np.uint8)
        synthetic = np.stack([c.tables[1] for c in (*columns, target)]).astype(np.uint8)
        times = []
        for way in (plain_pairs, compiled_pairs()):
            args = real, synthetic, np.ones(synthetic.shape[1], dtype=np.int64)
            way(*args)
            times.append(min(repeat(partial(way, *args), number=1, repeat=20)) * 1e3)
        print(f"{len(keys)} keys, {len(unseen)} unseen: {times[0]:.2f} {times[1]:.2f} {times[0] / times[1]:.1f}")


def a_million() -> None:
    real, synthetic = tables(1_000_000, 2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = perf_counter()
    score = METRICS["generalized_cap"](real, synthetic, quasi_identifiers=KEYS, sensitive=TARGET)
    time = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"generalized_cap, 1,000,000 x 1,000,000, 8 keys, {score.details['unseen_keys']:.1%} of the keys unseen:")
    print(f"{time:.2f} s, peak of the process {peak / 1e6:.2f} GB ({before / 1e6:.2f} GB before the call)")


if __name__ == "__main__":
    if "--million" in sys.argv:
        a_million()
    else:
        beside_sdmetrics()
        all_pairs()
        subprocess.run([sys.executable, __file__, "--million"], check=True)
