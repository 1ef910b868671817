"""A study whose workspace is a URL, on machines without a common disk: the numbers of one machine, to the bit."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import fsspec
import pandas as pd
import psutil
import pytest
from mlflow import MlflowClient

from synthrisk.conf import load
from synthrisk.flows.benchmark import benchmark
from synthrisk.flows.preflight import check
from synthrisk.metrics import InputError
from synthrisk.tasks.workspace.folders import kept_names, open_workspace, there

pytestmark = pytest.mark.proof

STUDY = {
    "synthesizers": ["cart", {"name": "thief", "kind": "copy"}], "references": [],
    "metrics": ["zero_cap", "distance_to_closest_record"], "thresholds": {"memorization/zero_cap": 0.05},
}  # fmt: skip
READY = "Starting established connection"


@pytest.fixture(scope="module")
def study(run):
    return run("one_machine", **STUDY)


@contextmanager
def on_machine(home: Path, **variables: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"SYNTHRISK_HOME": str(home), **variables}.items():
            patch.setenv(name, value)
        fsspec.get_filesystem_class("s3").clear_instance_cache()  # which holds connections of the machine before
        yield
    fsspec.get_filesystem_class("s3").clear_instance_cache()


@contextmanager
def started(command: list[str], folder: Path, ready: str, **variables: str) -> Iterator[str]:
    folder.mkdir(exist_ok=True)
    environment = os.environ | {"SYNTHRISK_HOME": str(folder / "home")} | variables
    given = {"cwd": folder, "env": environment, "text": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **given) as process:
        try:
            yield next(line for line in process.stderr if ready in line)
        finally:
            own = psutil.Process(process.pid)  # strace ends with what it watches, and itself hears no signal
            (own.children()[0] if command[0].endswith("strace") else own).terminate()


def dask(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "dask", *map(str, arguments), "--no-dashboard"]


def worker(address: str, *more: str) -> list[str]:
    return dask("worker", address, "--nthreads", 1, "--no-nanny", "--host", "127.0.0.1", *more)


def patient_worker(address: str) -> list[str]:
    return worker(address, "--preload", "import synthrisk.tasks.workspace.folders as shared; shared._PATIENCE = 120.0")


@contextmanager
def scheduler(folder: Path) -> Iterator[str]:
    command = dask("scheduler", "--host", "127.0.0.1", "--port", 0)
    with started(command, folder, "Scheduler at:") as line:
        yield line.split()[-1]


def ledgers_in(workspace: Path) -> list[pd.DataFrame]:
    ledgers = [workspace / "ledgers" / name for name in kept_names(workspace / "ledgers")]
    found = [pd.read_parquet(there(each / "ledger.parquet")) for each in ledgers]
    return sorted(found, key=lambda ledger: pd.util.hash_pandas_object(ledger).to_list())


def assert_same(outcome, study):
    own, theirs = outcome.result, study.result
    for part in ("findings", "comparisons", "utility", "answers", "keys", "limits"):
        assert repr(getattr(own, part)) == repr(getattr(theirs, part))
    assert [repr(each) for each in own.verdicts] == [repr(each) for each in theirs.verdicts]
    digests, due = ({n: v for n, v in each.facts.items() if "digest" in n} for each in (own, theirs))
    assert digests == due


def assert_same_ledgers(outcome, study):
    for own, theirs in zip(ledgers_in(outcome.workspace), ledgers_in(study.workspace), strict=True):
        pd.testing.assert_frame_equal(own, theirs, check_exact=True)


def test_on_a_file_url_with_processes(study, folder, settings, tmp_path, threads):
    asked = settings("unused", folder / "people.csv", **STUDY) | {"workspace": f"file://{tmp_path}/share/team"}
    with on_machine(tmp_path / "one"):
        outcome = benchmark(asked)
    assert_same(outcome, study)
    assert_same_ledgers(outcome, study)
    assert outcome.workspace.parent == tmp_path / "one"
    shared = tmp_path / "share" / "team"
    kinds = {"data", "split", "releases", "ledgers", "findings", "vulnerable", "carriers", "exposures", "reports"}
    assert {path.name for path in shared.iterdir()} == kinds | {"salt", "workspace"}
    report = shared / "reports" / outcome.result.study_id / "report.html"
    assert report.read_bytes() == Path(outcome.report).read_bytes()
    with on_machine(tmp_path / "two"):  # finds all cells, and computes none
        again = benchmark(asked | {"runner": threads})
        assert not (open_workspace(asked["workspace"]) / "printed").exists()
    assert again.workspace.parent == tmp_path / "two"
    assert_same(again, study)


def test_in_memory_on_threads(study, folder, settings, tmp_path, threads):
    own = {"workspace": f"memory://{tmp_path.name}", "runner": threads}
    with on_machine(tmp_path / "one"):
        outcome = benchmark(settings("unused", folder / "people.csv", **STUDY) | own)
    assert_same(outcome, study)
    assert_same_ledgers(outcome, study)


@dataclass(frozen=True)
class Cluster:
    address: str
    homes: list[Path]
    traces: list[Path]


@pytest.fixture(scope="module")
def cluster(s3, tmp_path_factory) -> Iterator[Cluster]:
    """Run two workers, each on a machine of its own, and see which files they name."""
    watch = shutil.which("strace")
    if not watch:
        pytest.skip("strace is not installed")
    place = tmp_path_factory.mktemp("cluster")
    traces = [place / "a.trace", place / "b.trace"]
    with ExitStack() as machines:
        address = machines.enter_context(scheduler(place / "scheduler"))
        for trace in traces:
            files = [watch, "-f", "-qq", "--seccomp-bpf", "-e", "trace=%file", "-o", str(trace)]
            machines.enter_context(started([*files, *patient_worker(address)], place / trace.stem, READY, **s3))
        yield Cluster(address, [place / trace.stem / "home" for trace in traces], traces)


@pytest.fixture
def shared(folder, settings, s3, tmp_path, monkeypatch, patient):
    monkeypatch.setattr("synthrisk.flows.connections._PATIENCE", 120.0)
    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    return settings("unused", folder / "people.csv", **STUDY) | {"workspace": f"s3://studies/{tmp_path.name}"}


def test_a_worker_that_cannot_reach_the_workspace(shared, cluster, tmp_path):
    address = cluster.address  # beside two that can, before a study has all workers that come import ours
    with ExitStack() as machines:
        lost = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
        machines.enter_context(started(patient_worker(address), tmp_path / "b", READY, **lost))
        (tmp_path / "c").mkdir()
        (tmp_path / "c" / "synthrisk.py").touch()  # another package of this name: ours cannot be imported there
        machines.enter_context(started(worker(address), tmp_path / "c", READY))
        with on_machine(tmp_path / "command"), pytest.raises(InputError) as refused:
            check(load(shared | {"runner": {"kind": "dask", "address": address}}))
        assert not (tmp_path / "command").joinpath("data").exists()
    told = str(refused.value)
    assert told.startswith("all workers must reach the workspace, but 2 of 4 do not: tcp://127.0.0.1:")
    assert f"says: the workspace {shared['workspace']} cannot be reached (" in told  # a busy worker takes its time
    assert f"cannot look at {shared['workspace']} (Exception): is this version of synthrisk installed?" in told


def test_on_dask_by_address_with_workers_that_see_no_disk_of_the_command(study, shared, cluster, tmp_path):
    command = tmp_path / "command"
    with on_machine(command):
        outcome = benchmark(shared | {"runner": {"kind": "dask", "address": cluster.address}})
    assert_same(outcome, study)
    assert_same_ledgers(outcome, study)
    assert outcome.workspace.parent == command
    for home, trace in zip(cluster.homes, cluster.traces, strict=True):
        calls = trace.read_text(errors="replace")
        assert str(home) in calls
        assert str(command) not in calls
    assert Path(outcome.report).is_relative_to(command)
    assert [Path(page).is_file() for page in outcome.logged.pages.exposures.values()] == [True, True]
    assert len(MlflowClient(outcome.logged.uri).search_runs([outcome.logged.experiment_id])) == 3


def test_a_workspace_that_nobody_answers_for_ends_the_command_at_once(tmp_path, say, s3, patient):
    with on_machine(tmp_path / "command", **s3 | {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}):
        said = say("benchmark", "demo", "--set", "workspace=s3://studies/none")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "Error: workspace must be a place that answers, but the workspace s3://studies/none cannot be reached "
        "(EndpointConnectionError)\n"
    )
