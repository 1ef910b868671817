"""All 17 PrivEval metrics on 10,000 Adult records, beside PrivEval's own and SynthEval's five, as ratios.

python benchmarks/distance_metrics.py

Peers need other versions than this package: install them into an environment of their own and name its Python in
SYNTHEVAL_PYTHON (pip install syntheval). For PrivEval, which is no package, name the folder of its source in
PRIVEVAL_SOURCE; the same Python runs it (pip install saiph faiss-cpu beside). Peers that are not named are left out.
"""

import os
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from _distance_peers import PRIVEVAL, SYNTHEVAL, Seconds, run

from synthrisk.metrics import METRICS, Tables
from synthrisk.tasks.data import read

ROWS = 10_000
SENSITIVE = "income"  # all other columns are keys, as in PrivEval
TRAINED = ["detection_mlp", "membership_inference_risk"]
QUICK = {  # and what PrivEval calls them
    "zero_cap": "CZeroCAP",
    "generalized_cap": "CGeneralizedCAP",
    "attribute_inference_risk": "AttributeInference",
    "common_rows_proportion": "CommonRowsProportion",
    "close_value_probability": "CloseValuesProbability",
    "distant_value_probability": "DistantValuesProbability",
    "authenticity": "Authenticity",
    "identifiability_score": "IdentifiabilityScore",
    "nearest_synthetic_neighbour_distance": "NearestSynNeighborDistance",
    "nearest_neighbour_distance_ratio": "NNDR",
    "distance_to_closest_record": "DCR",
    "median_distance_to_closest_record": "MDCR",
    "nearest_neighbour_adversarial_accuracy": "NNAA",
    "hidden_rate": "Hidden_rate",
    "hitting_rate": "Hitting_rate",
}
ALL = QUICK | dict(zip(TRAINED, ["DetectionMLP", "MemInf"], strict=True))
FIVE = {
    "distance_to_closest_record": "dcr",
    "nearest_neighbour_distance_ratio": "nndr",
    "nearest_neighbour_adversarial_accuracy": "nnaa",
    "hitting_rate": "hit_rate",
    "identifiability_score": "eps_risk",
}


def parts() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return real, synthetic and control records: the release takes each column's cells from two real records."""
    adult = read("adult").drop(columns="fnlwgt").sample(2 * ROWS, random_state=0, ignore_index=True)
    real, control = adult.iloc[:ROWS], adult.iloc[ROWS:].reset_index(drop=True)
    rng = np.random.default_rng(1)
    first, second = rng.integers(ROWS, size=(2, ROWS))
    release = {c: np.where(rng.random(ROWS) < 0.7, real[c].iloc[first], real[c].iloc[second]) for c in real}
    return real, pd.DataFrame(release).astype(real.dtypes), control


def seconds(names: list[str], tables: dict[str, pd.DataFrame], repeats: int = 1) -> Seconds:
    """Return the least time of some metrics together, from data frames on: what they share is computed once."""
    keys = [c for c in tables["real"] if c != SENSITIVE]
    found = []
    for _ in range(repeats):
        start, used = perf_counter(), process_time()
        alone, beside = Tables(tables["real"], tables["synthetic"]), Tables(**tables)
        for name in names:
            needs = METRICS[name].needs
            roles = {"quasi_identifiers": keys, "sensitive": [SENSITIVE]} if "sensitive" in needs else {}
            links = {"links": list(range(ROWS))} if name == "hidden_rate" else {}
            METRICS[name].score(beside if "control" in needs else alone, **roles, **links)
        found.append(Seconds(perf_counter() - start, process_time() - used))
    return Seconds(*(min(each) for each in zip(*found, strict=True)))


def line(name: str, ours: Seconds, theirs: list[Seconds]) -> None:
    """Print our time, a peer's, and how many times as long it took."""
    text = f"{name:<42}{ours.wall:>10.3f}{ours.cpu:>9.3f}"
    if theirs:
        peer = Seconds(*(sum(each) for each in zip(*theirs, strict=True)))
        text += f"{peer.wall:>10.2f}{peer.cpu:>9.2f}{peer.wall / ours.wall:>9.0f}{peer.cpu / ours.cpu:>9.0f}"
    print(text, flush=True)


def head(title: str, peer: str) -> None:
    columns = f"{'ours s':>10}{'CPU s':>9}"
    print(f"\n{title:<42}{columns}" + (f"{peer + ' s':>10}{'CPU s':>9}{'ratio':>9}{'CPU':>9}" if peer else ""))


def main() -> None:
    tables = dict(zip(("real", "synthetic", "control"), parts(), strict=True))
    seconds(list(ALL), tables)  # numba compiles or loads
    python, source = os.environ.get("SYNTHEVAL_PYTHON"), os.environ.get("PRIVEVAL_SOURCE")
    peer = run(python, PRIVEVAL, tables) if python and source else {}
    head("one by one", "PrivEval" if peer else "")
    for name, theirs in ALL.items():
        line(name, seconds([name], tables, 1 if name in TRAINED else 3), [peer[theirs]] if peer else [])
    head("together", "PrivEval" if peer else "")
    for title, names, repeats in (("fifteen, nothing trained", QUICK, 9), ("all seventeen", ALL, 3)):
        line(title, seconds(list(names), tables, repeats), [peer[n] for n in names.values()] if peer else [])
    if not peer:
        print("PrivEval was not run: SYNTHEVAL_PYTHON and PRIVEVAL_SOURCE are not both set")
    if not python:
        print("SynthEval was not run: SYNTHEVAL_PYTHON is not set")
        return
    peer = run(python, SYNTHEVAL, tables)
    head("one by one", "SynthEval")
    for name, theirs in FIVE.items():
        line(name, seconds([name], tables, 3), [peer[theirs]])
    head("together", "SynthEval")
    line("five", seconds(list(FIVE), tables, 9), list(peer.values()))


if __name__ == "__main__":
    main()
