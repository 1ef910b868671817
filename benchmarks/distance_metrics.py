"""All 17 PrivEval metrics on 10,000 Adult records, one by one and together, and SynthEval's five where it is installed.

python benchmarks/distance_metrics.py

SynthEval needs other versions than this package: install it into an environment of its own and name its Python in
SYNTHEVAL_PYTHON; then both run in one go, and the ratio is printed.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import pandas as pd

from synthrisk.metrics import METRICS, Tables
from synthrisk.tasks.data import read

ROWS = 10_000
KEYS, SENSITIVE = ["age", "education", "occupation", "sex", "race"], ["income"]
TRAINED = ("detection_mlp", "membership_inference_risk")
SEVENTEEN = [
    *("zero_cap", "generalized_cap", "attribute_inference_risk", "common_rows_proportion", "close_value_probability"),
    *("distant_value_probability", "authenticity", "identifiability_score", "nearest_synthetic_neighbour_distance"),
    *("nearest_neighbour_distance_ratio", "distance_to_closest_record", "median_distance_to_closest_record"),
    *("nearest_neighbour_adversarial_accuracy", "hidden_rate", "hitting_rate", *TRAINED),
]
PEER = """
import sys, time
import pandas as pd
from syntheval import SynthEval
real, synthetic, control = (pd.read_csv(sys.argv[1] + f"/{n}.csv") for n in ("real", "synthetic", "control"))
cats = [c for c in real if real[c].dtype == object or str(real[c].dtype).startswith("str")]
judge = SynthEval(real, holdout_dataframe=control, cat_cols=cats, verbose=False)
metrics = {"dcr": {}, "nndr": {}, "nnaa": {}, "hit_rate": {}, "eps_risk": {}}
start = time.perf_counter()
judge.evaluate(synthetic, "income", **metrics)
print(time.perf_counter() - start)
"""
OF_PEER = [
    *("distance_to_closest_record", "nearest_neighbour_distance_ratio", "nearest_neighbour_adversarial_accuracy"),
    *("hitting_rate", "identifiability_score"),
]


def parts() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return real, synthetic and control records: the release takes each column's cells from two real records."""
    adult = read("adult").drop(columns="fnlwgt").sample(2 * ROWS, random_state=0, ignore_index=True)
    real, control = adult.iloc[:ROWS], adult.iloc[ROWS:].reset_index(drop=True)
    rng = np.random.default_rng(1)
    first, second = rng.integers(ROWS, size=(2, ROWS))
    release = {c: np.where(rng.random(ROWS) < 0.7, real[c].iloc[first], real[c].iloc[second]) for c in real}
    return real, pd.DataFrame(release).astype(real.dtypes), control


def seconds(names: list[str], real: pd.DataFrame, synthetic: pd.DataFrame, control: pd.DataFrame) -> float:
    """Return the time of some metrics on tables that are encoded once, from data frames on."""
    start = perf_counter()
    tables, beside = Tables(real, synthetic), Tables(real, synthetic, control)
    for name in names:
        needs = METRICS[name].needs
        roles = {"quasi_identifiers": KEYS, "sensitive": SENSITIVE} if "sensitive" in needs else {}
        links = {"links": list(range(len(synthetic)))} if name == "hidden_rate" else {}
        METRICS[name].score(beside if "control" in needs else tables, **roles, **links)
    return perf_counter() - start


def main() -> None:
    real, synthetic, control = parts()
    seconds(SEVENTEEN[:15], real.head(200), synthetic.head(200), control.head(200))  # numba compiles
    for name in SEVENTEEN:
        print(f"{name:<42}{seconds([name], real, synthetic, control):>9.3f} s alone")
    quick = min(seconds(SEVENTEEN[:15], real, synthetic, control) for _ in range(3))
    print(f"{'fifteen without ' + ' and '.join(TRAINED):<42}\n{quick:>51.3f} s together")
    print(f"{'all seventeen':<42}{seconds(SEVENTEEN, real, synthetic, control):>9.3f} s together")
    peer = os.environ.get("SYNTHEVAL_PYTHON")
    if not peer:
        print("SynthEval was not run: SYNTHEVAL_PYTHON is not set")
        return
    own = min(seconds(OF_PEER, real, synthetic, control) for _ in range(3))
    with TemporaryDirectory() as place:
        for name, table in (("real", real), ("synthetic", synthetic), ("control", control)):
            table.to_csv(Path(place) / f"{name}.csv", index=False)
        done = subprocess.run([peer, "-c", PEER, place], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"SynthEval failed: {done.stderr[-500:]}")
    time = float(done.stdout.split()[-1])
    print(f"SynthEval dcr, nndr, nnaa, hit_rate, eps_risk {time:.1f} s, ours {own:.3f} s: {time / own:.0f}x")


if __name__ == "__main__":
    main()
