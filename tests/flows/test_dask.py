"""A Dask cluster by address, whose worker has two threads and runs in another folder: the numbers are the same."""

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
import yaml
from waiting import until

from synthrisk.flows.cli.evaluate import as_json

STUDY = {
    "synthesizers": [
        {"name": "mine", "kind": "callable", "path": "generators.py:resample"},
        {"name": "module", "kind": "callable", "path": "generators:resample"},
        {"name": "vendor", "kind": "files", "path": "made/{fold}.csv"},
        {"name": "ctgan", "options": {"epochs": 1, "batch_size": 20}},
        {"name": "draws", "kind": "callable", "path": "generators.py:draws"},
    ],
    "metrics": ["zero_cap", {"name": "rapid", "attackers": ["logistic"]}], "references": ["copy"],
    "split": {"folds": 2, "repetitions": 1},
}  # fmt: skip


pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def cluster(prefect_database, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    place, quiet = elsewhere / "scheduler.json", {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [
        subprocess.Popen([sys.executable, "-m", f"distributed.cli.{each}", *map(str, options)], cwd=elsewhere, **quiet)
        for each, *options in (
            ("dask_scheduler", "--scheduler-file", place, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"),
            ("dask_worker", "--scheduler-file", place, "--no-nanny", "--nthreads", "2", "--no-dashboard"),
        )
    ]
    until(lambda: place.exists() and place.read_text().endswith("}"), "no scheduler", 240)
    yield json.loads(place.read_text())["address"]
    for each in reversed(started):  # a worker without its scheduler would wait for another
        each.terminate()
        try:
            each.wait(60)
        except subprocess.TimeoutExpired:  # on a machine with no time to spare
            each.kill()
            each.wait()


@pytest.fixture(scope="module")
def found(cluster, run, people, folder):
    (folder / "made").mkdir()
    for fold in (0, 1):
        people(120, seed=5 + fold).to_csv(folder / "made" / f"{fold}.csv", index=False)
    runners = {
        "on-processes": {"kind": "processes", "workers": 2},
        "on-workers": {"kind": "dask", "address": cluster},
    }
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        here.syspath_prepend(folder)
        return {name: run(name, runner=runner, **STUDY) for name, runner in runners.items()}


def test_a_worker_in_another_folder_gives_the_numbers_of_processes_to_the_byte(found, folder):
    result = found["on-workers"].result
    assert {f.synthesizer for f in result.findings} == {each["name"] for each in STUDY["synthesizers"]} | {"copy"}
    assert os.fspath(folder) not in str(result)
    told, other = (_numbers(each.result) for each in found.values())
    assert other == told
    assert all(each.result.failures == {} for each in found.values())
    for kind in ("releases/*/release.parquet", "ledgers/*/ledger.parquet", "ledgers/*/values.json"):
        made, other = (_bytes(each, kind) for each in found.values())
        assert len(made) == 14  # of five generators, copy and nonmembers, at two places each
        assert other == made


def _bytes(outcome, kind):
    return {file.parent.name: sha256(file.read_bytes()).hexdigest() for file in Path(outcome.workspace).glob(kind)}


def _numbers(result):
    told = as_json(result)
    return json.dumps({name: each for name, each in told.items() if name not in ("study_id", "started", "facts")})


TWICE = """
import sys
from synthrisk.flows.cli.app import main
for study in sys.argv[1:]:
    sys.argv[1:] = ["benchmark", study]
    try:
        main()
    except SystemExit as end:
        print("ended with", end.code)
"""


def test_two_commands_without_a_prefect_api_share_a_worker(cluster, settings, folder, start_python):
    parts = {"metrics": ["zero_cap"], "runner": {"kind": "dask", "address": cluster}}
    for seed in (1, 2):
        study = settings(folder / f"shared-{seed}", folder / "people.csv", seed=seed, **parts)
        (folder / f"shared-{seed}.yaml").write_text(yaml.safe_dump(study))
    process = start_python("-c", TWICE, "shared-1.yaml", "shared-2.yaml", cwd=folder, api=False)
    out, err = process.communicate(timeout=400)
    assert out.count("ended with 0") == 2, out + err
