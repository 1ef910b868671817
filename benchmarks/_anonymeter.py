"""Anonymeter's evaluators on the same tables: run by a Python of their own, in one process for all tables."""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

_SCRIPT = """
import json, sys, time, warnings
from pathlib import Path
import pandas as pd
from anonymeter.evaluators import LinkabilityEvaluator, SinglingOutEvaluator
warnings.simplefilter("ignore")
settings, found = json.loads(sys.argv[2]), {}
for place in sorted(Path(sys.argv[1]).iterdir()):
    real, released, control = (pd.read_csv(place / f"{name}.csv") for name in ("real", "synthetic", "control"))
    seed = int(place.name.rsplit("-", 1)[1])
    made = {
        mode: SinglingOutEvaluator(real, released, settings["attacks"], settings["size"], control, seed=seed)
        for mode in ("univariate", "multivariate")
    }
    known = settings["columns_a"], settings["columns_b"]
    for k in settings["neighbours"]:
        made[f"linkability {k}"] = LinkabilityEvaluator(real, released, known, min(len(real), len(control)), k, control)
    for name, each in made.items():
        start = time.process_time()
        each.evaluate(**({"n_jobs": 1} if name.startswith("linkability") else {"mode": name}))
        counts = each.results()
        told = {"attacks": counts.n_attacks_ori, "right": counts.n_success, "control": counts.n_control}
        found.setdefault(place.name, {})[name] = told | {"seconds": time.process_time() - start}
Path(sys.argv[1], "..", "found.json").write_text(json.dumps(found))
"""


def run(python: str, tables: dict[str, dict[str, pd.DataFrame]], settings: dict[str, object]) -> dict[str, dict]:
    """Return what each evaluator counted on each set of tables, by the name of the set, which ends in its seed."""
    with TemporaryDirectory() as place:
        for name, frames in tables.items():
            folder = Path(place, "tables", name)
            folder.mkdir(parents=True)
            for own, frame in frames.items():
                frame.to_csv(folder / f"{own}.csv", index=False)
        command = [str(Path(python).absolute()), "-c", _SCRIPT, str(Path(place, "tables")), json.dumps(settings)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"the peer failed: {done.stderr[-800:]}")
        return json.loads(Path(place, "found.json").read_text())
