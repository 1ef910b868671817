"""What other packages take for the same metrics on the same tables: run by their own Python, in a process each.

The interpreter is the first argument of ``run``: peers need other versions than this package.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pandas as pd

_READ = """
import json, sys, time
import pandas as pd
def clock():
    return time.perf_counter(), time.process_time()
def since(start):
    return [now - then for now, then in zip(clock(), start)]
tables = [pd.read_csv(f"{sys.argv[1]}/{name}.csv") for name in ("real", "synthetic", "control")]
texts = [c for c in tables[0] if not pd.api.types.is_numeric_dtype(tables[0][c])]
tables = [t.fillna(dict.fromkeys(texts, "missing")) for t in tables]  # SynthEval refuses empty cells
found = {}
"""
SYNTHEVAL = (
    _READ
    + """
from syntheval import SynthEval
judge = SynthEval(tables[0], holdout_dataframe=tables[2], cat_cols=texts, verbose=False)
for name in ("dcr", "nndr", "nnaa", "hit_rate", "eps_risk"):
    start = clock()
    judge.evaluate(tables[1], "income", **{name: {}})
    found[name] = since(start)
"""
)
# Its own get_results.py: text as numbers for some metrics, all columns but the sensitive one as keys.
PRIVEVAL = (
    _READ
    + """
import os
import numpy as np
np.float_ = np.float64  # a name that its code needs and NumPy 2 has no more
sys.path.insert(0, os.environ["PRIVEVAL_SOURCE"])
import get_metric_results as all_metrics
def timed(name, function):
    def run(*args, **options):
        start = clock()
        value = function(*args, **options)
        found[name] = since(start)
        return value
    return run
for module in list(vars(all_metrics).values()):
    if hasattr(module, "calculate_metric"):
        module.calculate_metric = timed(module.__name__.split(".")[-1], module.calculate_metric)
real, synthetic = (t.astype({c: object for c in texts}) for t in tables[:2])
both = pd.concat([real, synthetic], ignore_index=True)
for c in texts:
    both[c] = np.unique(both[c].astype(str), return_inverse=True)[1]
numbers = both[: len(real)].copy(), both[len(real) :].copy()
all_metrics.get_metric_results(real, synthetic, *numbers, sensitive_attributes=["income"])
"""
)


class Seconds(NamedTuple):
    wall: float
    cpu: float


def run(python: str, script: str, tables: dict[str, pd.DataFrame]) -> dict[str, Seconds]:
    """Return the seconds of each of a peer's metrics; a peer that fails, or says that a metric did, ends the run."""
    source = {"PRIVEVAL_SOURCE": str(Path(os.environ.get("PRIVEVAL_SOURCE", "")).absolute())}
    with TemporaryDirectory() as place:
        for name, table in tables.items():
            table.to_csv(Path(place) / f"{name}.csv", index=False)
        tail = f"{script}\njson.dump(found, open(sys.argv[1] + '/found.json', 'w'))"
        done = subprocess.run(
            [Path(python).absolute(), "-c", tail, place],
            capture_output=True,
            text=True,
            check=False,
            cwd=place,  # SynthEval leaves a file there
            env=os.environ | source | {"MPLBACKEND": "agg"},
        )
        failed = [line for line in done.stdout.splitlines() if line.startswith("Error")]
        if done.returncode or failed:
            sys.exit(f"the peer failed: {failed or done.stderr[-800:]}")
        found = json.loads((Path(place) / "found.json").read_text())
    return {name: Seconds(*times) for name, times in found.items()}
