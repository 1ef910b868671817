"""Singling out and linkability beside Anonymeter's evaluators: who sees which leak, at the same false alarms?

python benchmarks/anonymeter_peers.py [--rows 2000] [--seeds 20] [--attacks 500]

Anonymeter needs other versions than this package: install it into an environment of its own (pip install anonymeter)
and name its Python in ANONYMETER_PYTHON. Without it, our columns are printed alone.

A table of Adult is cut into training records and twice as many held-out ones; ``fresh`` and ``leaky`` release from
one half of the held-out records (``tasks.synthesize.reference_generators``), and the other half are the control
records of all cases, so that both sides have the same size. The statistic of either tool is the lower 95 % limit of
its difference between members and control records: ours as the metric says it, Anonymeter's by Newcombe from its
counts of right guesses. Its threshold is the largest value among its own fresh releases, so the chance of a false alarm
on another one is 1/(seeds + 1) for both. Printed is the share of releases above it, and in brackets that above 0.
"""

import argparse
import os
from functools import partial
from time import process_time

import numpy as np
import pandas as pd
from _anonymeter import run

from synthrisk.metrics import METRICS
from synthrisk.metrics.intervals.proportions import share, share_difference
from synthrisk.tasks.data import read
from synthrisk.tasks.synthesize.reference_generators import copy, fresh, leaky
from synthrisk.tasks.synthesize.synthesizer import Job

SIZE = 4
NEIGHBOURS = (1, 5)
LINKED = {
    "columns_a": ["age", "education", "hours_per_week", "sex"],
    "columns_b": ["occupation", "race", "marital_status", "capital_gain", "native_country"],
}
CASES = {
    "fresh": fresh,
    "leak 5 %": partial(leaky, share=0.05),
    "leak 10 %": partial(leaky, share=0.1),
    "leak 30 %": partial(leaky, share=0.3),
    "copy": copy,
}
OURS = {
    "univariate": ("singling_out", {"mode": "univariate"}),
    "multivariate": ("singling_out", {"size": SIZE}),
} | {f"linkability {k}": ("linkability", {**LINKED, "neighbours": k}) for k in NEIGHBOURS}


def tables(adult: pd.DataFrame, rows: int, seed: int) -> dict[str, dict[str, pd.DataFrame]]:
    """Return real, synthetic and control records of each case."""
    drawn = adult.sample(3 * rows, random_state=seed, ignore_index=True)
    train, held_out = drawn.iloc[:rows], drawn.iloc[rows:].reset_index(drop=True)
    job = Job(train, held_out, rows, seed)
    control = held_out.drop(index=fresh(job).used)  # the same half in all cases: the seed draws it
    return {
        name: {"real": train, "synthetic": release(job).synthetic, "control": control}
        for name, release in CASES.items()
    }


def judged(frames: dict[str, pd.DataFrame], seed: int) -> dict[str, tuple[float, float]]:
    """Return the statistic and the seconds of each of our attacks."""
    found = {}
    for name, (metric, options) in OURS.items():
        start = process_time()
        score = METRICS[metric](frames["real"], frames["synthetic"], control=frames["control"], seed=seed, **options)
        found[name] = score.details["control_lower"], process_time() - start
    return found


def peer_statistic(counts: dict[str, float]) -> float:
    """Return Newcombe's lower limit of Anonymeter's success on members minus that on control records."""
    ones = (np.repeat([1.0, 0.0], [counts[s], counts["attacks"] - counts[s]]) for s in ("right", "control"))
    return share_difference(*(share(each, 0.95) for each in ones)).lower


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--attacks", type=int, default=500)
    options = parser.parse_args()
    adult = read("adult")
    texts = [c for c in adult if not pd.api.types.is_numeric_dtype(adult[c])]
    adult[texts] = adult[texts].astype(object).fillna("missing")
    made = {f"{case}-{s}": t for s in range(options.seeds) for case, t in tables(adult, options.rows, s).items()}
    found = {"ours": {n: judged(t, int(n.rsplit("-", 1)[1])) for n, t in made.items()}}
    if python := os.environ.get("ANONYMETER_PYTHON"):
        settings = {"attacks": options.attacks, "size": SIZE, "neighbours": NEIGHBOURS} | LINKED
        counted = run(python, made, settings)
        found["Anonymeter"] = {
            n: {a: (peer_statistic(c), c["seconds"]) for a, c in each.items()} for n, each in counted.items()
        }
    report(found, options.seeds)


def report(found: dict[str, dict[str, dict[str, tuple[float, float]]]], seeds: int) -> None:
    """Print a row an attack and tool: share of the releases of each case above the threshold, and above 0."""
    print("| attack | tool | " + " | ".join(CASES) + " | CPU s |\n|" + "---|" * (len(CASES) + 3))
    for attack in OURS:
        for tool, by_name in found.items():
            cells = {case: np.array([by_name[f"{case}-{s}"][attack] for s in range(seeds)]) for case in CASES}
            limit = np.nanmax(cells["fresh"][:, 0])
            told = [
                f"{(own > limit).mean():.2f} ({(own > 0).mean():.2f})"
                for own in (each[:, 0] for each in cells.values())
            ]
            seconds = np.mean([each[:, 1] for each in cells.values()])
            print(f"| {attack} | {tool} | {' | '.join(told)} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
