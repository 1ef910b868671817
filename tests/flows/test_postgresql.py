"""A new PostgreSQL store that several open at once: none fails, and no metric is lost. PostgreSQL is Debian's."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import pytest
from connections import free_port, is_taken
from mlflow import MlflowClient
from waiting import until

pytestmark = pytest.mark.services

OPEN = """
import sys
from synthrisk.tasks.tracking.store import opened
opened(sys.argv[1]).create_experiment(sys.argv[2])
"""


def _program(name: str) -> str:
    found = [str(each) for each in sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))][-1:]
    place = shutil.which(name) or next(iter(found), None)
    if place is None:
        pytest.skip(f"needs PostgreSQL's {name}")
    return place


@pytest.fixture(scope="module")
def server():
    initdb, postgres = _program("initdb"), _program("postgres")
    open_to_all = "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"
    folder = Path(tempfile.mkdtemp(prefix="synthrisk-postgresql-", dir=open_to_all))
    as_whom = {}
    if os.getuid() == 0:  # PostgreSQL does not run as the superuser
        shutil.chown(folder, "nobody")
        as_whom = {"user": "nobody", "cwd": folder}
    port = free_port()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    made = [initdb, "-D", f"{folder}/data", "-U", "synthrisk", "-A", "trust", "-E", "UTF8", "--no-sync"]
    subprocess.run(made, check=True, **as_whom, **quiet)
    place = ["-c", "listen_addresses=127.0.0.1", "-p", str(port), "-c", f"unix_socket_directories={folder}"]
    process = subprocess.Popen([postgres, "-D", f"{folder}/data", *place], **as_whom, **quiet)
    until(lambda: is_taken(port), "no PostgreSQL", 60)
    yield f"127.0.0.1:{port}"
    process.send_signal(signal.SIGINT)  # at once, whoever is still connected
    process.wait(60)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def new_store(server):
    import psycopg

    name = f"store{time.monotonic_ns()}"
    with psycopg.connect(f"postgresql://synthrisk@{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"postgresql+psycopg://synthrisk@{server}/{name}"


def test_a_new_store_that_four_processes_open_at_once(new_store):
    processes = [
        subprocess.Popen([sys.executable, "-c", OPEN, new_store, f"study {n}"], stderr=subprocess.PIPE, text=True)
        for n in range(4)
    ]
    said = [(each.communicate()[1], each.returncode) for each in processes]
    assert [code for _, code in said] == [0] * 4, said
    names = {each.name for each in MlflowClient(new_store).search_experiments()}
    assert names == {"Default", *(f"study {n}" for n in range(4))}


def test_four_studies_at_once_on_a_new_store_are_there_with_all_their_metrics(new_store, start_alone, people, tmp_path):
    people(120, seed=1).to_csv(tmp_path / "real.csv", index=False)
    people(120, seed=2).to_csv(tmp_path / "release.csv", index=False)
    roles = ("--quasi-identifiers", "age,city", "--sensitive", "income", "--metric", "zero_cap", "--references", "none")
    limit = ("--threshold", "risk/zero_cap=0.01", "--tracking-uri", new_store, "--log-again")
    started = [
        start_alone("evaluate", "real.csv", "release.csv", *roles, *limit, "--workspace", f"w{n}", cwd=tmp_path)
        for n in range(4)
    ]
    said = [(*each.communicate(timeout=500), each.returncode) for each in started]
    assert [code for *_, code in said] == [1] * 4, said
    assert not any(re.search("not logged yet|Traceback", out + err) for out, err, _ in said)
    client = MlflowClient(new_store)
    runs = client.search_runs([client.get_experiment_by_name("evaluate").experiment_id])
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert not any("incomplete" in run.data.tags for run in runs)
    studies = defaultdict(dict)
    for data in (run.data for run in runs):
        studies[data.tags["study_id"]][data.tags.get("synthesizer", "study")] = data.metrics
    first, *others = studies.values()
    assert (set(first), any(first.values())) == ({"release", "study"}, True)
    assert others == [first] * 3
