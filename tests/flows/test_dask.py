"""A Dask cluster by address, whose worker runs in another folder: paths are found, and the numbers are the same."""

import json
import os
import subprocess
import sys
import time

import pytest

from synthrisk.flows.cli.as_json import as_json

RELATIVE = [
    {"name": "mine", "kind": "callable", "path": "generators.py:resample"},
    {"name": "module", "kind": "callable", "path": "generators:resample"},
    {"name": "vendor", "kind": "files", "path": "made/{fold}.csv"},
]


pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def cluster(prefect_database, tmp_path_factory):
    """Give the address of a scheduler with one worker, both in a folder that is not the study's."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    place, quiet = elsewhere / "scheduler.json", {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [
        subprocess.Popen([sys.executable, "-m", f"distributed.cli.{each}", *map(str, options)], cwd=elsewhere, **quiet)
        for each, *options in (
            ("dask_scheduler", "--scheduler-file", place, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"),
            ("dask_worker", "--scheduler-file", place, "--no-nanny", "--nthreads", "1", "--no-dashboard"),
        )
    ]
    last = time.monotonic() + 240
    while not (place.exists() and place.read_text().endswith("}")) and time.monotonic() < last:
        time.sleep(0.1)
    yield json.loads(place.read_text())["address"]
    for each in reversed(started):  # a worker without its scheduler would wait for another
        each.terminate()
        each.wait(30)


@pytest.fixture(scope="module")
def there(run, people, folder, cluster):
    """A study whose generators are named by paths that begin in its folder, run elsewhere; and its parts."""
    (folder / "made").mkdir()
    for fold in (0, 1):
        people(120, seed=5 + fold).to_csv(folder / "made" / f"{fold}.csv", index=False)
    parts = {"synthesizers": RELATIVE, "metrics": ["zero_cap"], "references": ["copy"]}
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        here.syspath_prepend(folder)
        yield run("there", runner={"kind": "dask", "address": cluster}, **parts).result, parts


def test_relative_paths_are_found_by_a_worker_in_another_folder(there, folder):
    result = there[0]
    assert result.failures == {}
    assert {f.synthesizer for f in result.findings} == {"mine", "module", "vendor", "copy"}
    assert os.fspath(folder) not in str(result)


def test_numbers_are_those_of_processes(there, run):
    result, parts = there
    here = run("here", runner={"kind": "processes", "workers": 1}, **parts).result
    assert _numbers(here) == _numbers(result)


def _numbers(result):
    """All that a study says, with all digits."""
    told = as_json(result)
    return json.dumps({name: each for name, each in told.items() if name not in ("study_id", "started", "facts")})
