"""A study of every metric there is, a plug-in's among them, whose process is killed before it is in its store."""

import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from mlflow import MlflowClient

from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.study.ledger import Measure
from synthrisk.tasks.tracking.store_outage import ids_waiting, read_waiting

pytestmark = pytest.mark.proof

PLUGIN = '''
"""A metric of somebody else: how near a released row is on the first column, on a scale of its own."""

import numpy as np
import pandas as pd

from synthrisk.metrics import Metric, Records, Score
from synthrisk.metrics.score import Reduction


def near(tables):
    """Return exp(-mean distance) to the nearest released value."""
    own, other = (t[tables.columns[0]].to_numpy(float) for t in (tables.real, tables.synthetic))
    far = np.abs(own[:, None] - other[None, :]).min(axis=1)
    records = pd.DataFrame({"score": np.exp(-far), "far": far}, index=tables.real.index)
    return Score.of("acme_near", records, reduce(records), {}, {})


def reduce(records):
    value = float(np.exp(-records["far"].mean()))
    return Reduction(value, value, {})


NEAR = Metric(
    name="acme_near", function=near, group="distance", reference="ACME",
    records=Records(reduce, mean=False, contribution="far", transform=lambda mean: float(np.exp(-mean))),
)
'''
STUDY = """
import os, signal, sys, warnings

import numpy as np
import pandas as pd

from synthrisk.metrics import METRICS
from synthrisk.tasks import attack, estimate, judge, log, sample, synthesize
from synthrisk.tasks.tracking.addresses import Pages

warnings.simplefilter("ignore")
OPTIONS = {
    "train_synthetic_test_real": {"model": "logistic"},
    "rapid": {"attacker": "logistic"},
    "linkability": {"columns_a": ["age", "city"], "columns_b": ["illness"]},
    "singling_out": {"attempts": 20},
}
rng = np.random.default_rng(1)
table = pd.DataFrame({"age": rng.integers(20, 60, 120), "city": rng.choice(["Ulm", "Aalen"], 120)})
table["income"] = rng.normal(30, 9, 120).round(1) + table["age"]
table["illness"] = np.where(rng.random(120) < 0.3, "none", rng.choice(["flu", "cold"], 120))
people = sample.fn(table, ["age", "city"], ["illness"], folds=2, repetitions=2, workspace=sys.argv[1])
metrics = [{"name": name, **OPTIONS.get(name, {})} for name, metric in METRICS.items() if metric.installed]
ledgers = [
    attack.fn(synthesize.fn(people, kind, repetition=r, fold=k), metrics)
    for kind in ("cart", "copy") for r in range(2) for k in range(2)
]
judged = judge.fn(estimate.fn(ledgers, resamples=100), {"memorization/zero_cap": 0.05}, name="all")
log.fn(judged, experiment="at once", pages=Pages(""))
log.fn(judged, pages=lambda: os.kill(os.getpid(), signal.SIGKILL))
"""
DELIVER = "from synthrisk.flows.cli.app import main; main()"


@dataclass(frozen=True)
class Killed:
    """A study whose process was killed, and what says so."""

    workspace: Path
    plugin: Path
    study_id: str

    def log(self, *, plugin: bool) -> subprocess.CompletedProcess[str]:
        """Log what waits by the command, in a process that has the plug-in or not."""
        given = [DELIVER, "log", "--workspace", str(self.workspace)]
        return python(*given, plugin=self.plugin if plugin else None)


def python(*given: str, plugin: Path | None) -> subprocess.CompletedProcess[str]:
    path = {} if plugin is None else {"PYTHONPATH": str(plugin)}
    return subprocess.run([sys.executable, "-c", *given], env=os.environ | path, capture_output=True, text=True)


@pytest.fixture(scope="module")
def killed(tmp_path_factory) -> Iterator[Killed]:
    """A study that logs itself once, and whose process is killed while it is logged a second time."""
    plugin, workspace = tmp_path_factory.mktemp("plugin"), tmp_path_factory.mktemp("workspace") / "w"
    (plugin / "acme_near.py").write_text(PLUGIN)
    facts = plugin / "acme_near-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-near\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[synthrisk.metrics]\nacme_near = acme_near:NEAR\n")
    ended = python(STUDY, str(workspace), plugin=plugin)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    (study_id,) = ids_waiting(workspace)
    return Killed(workspace, plugin, study_id)


def test_without_its_plugin_it_says_which_is_missing_and_goes_on_waiting(killed):
    with pytest.raises(InputError, match="can be logged where the plug-in is installed that gives acme_near, got none"):
        read_waiting(killed.workspace, killed.study_id)
    said = killed.log(plugin=False)
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr.startswith(f"Error: study {killed.study_id} can be logged where the plug-in is installed")
    assert said.stderr.count("\n") == 1
    assert ids_waiting(killed.workspace) == [killed.study_id]


def test_it_holds_every_metric_and_is_delivered_with_the_numbers_that_it_had(killed):
    kept = (killed.workspace / "unlogged" / f"{killed.study_id}.json").read_text("utf-8")
    for name in [*(n for n, metric in METRICS.items() if metric.installed), "acme_near"]:
        assert f'"metric":"{name}"' in kept
    transformed = [n for n, metric in METRICS.items() if metric.records.transform is not None]
    assert len(transformed) >= 3
    for name in [*transformed, "acme_near"]:
        assert f'"transform":{{"metric":"{name}"}}' in kept
    said = killed.log(plugin=True)
    assert said.stdout.startswith(f"logged: study {killed.study_id} in sqlite:"), said.stderr
    assert (said.returncode, said.stderr) == (0, "")
    assert ids_waiting(killed.workspace) == []
    at_once, late = (runs_of(killed.workspace, name) for name in ("at once", "all"))
    assert at_once.keys() == late.keys() == {"study", "cart", "copy"}
    for name, numbers in at_once.items():
        assert numbers.keys() == late[name].keys()
        differ = {k: (v, late[name][k]) for k, v in numbers.items() if not same(v, late[name][k])}
        assert differ == {}
    measured = {key.partition("/")[2] for key in late["cart"]}
    assert {Measure("acme_near", "acme_near").key, *transformed} <= measured


def runs_of(workspace: Path, experiment: str) -> dict[str, dict[str, float]]:
    """Return the numbers of the whole runs of an experiment, by synthesizer."""
    client = MlflowClient(f"sqlite:///{workspace / 'mlflow.db'}")
    runs = client.search_runs([client.get_experiment_by_name(experiment).experiment_id])
    return {
        run.data.tags.get("synthesizer", "study"): run.data.metrics for run in runs if "incomplete" not in run.data.tags
    }


def same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))
