"""A study that is killed at random moments, in all its parts, and run again to its end: nothing shows of it."""

import os
import random
import secrets
import signal
import time
from collections import Counter
from contextlib import suppress
from hashlib import sha256

import psutil
import pytest
import yaml
from mlflow import MlflowClient

from synthrisk.flows.cli.exit_codes import BROKEN
from synthrisk.tasks.tracking.store_outage import ids_waiting
from synthrisk.tasks.workspace.work_limits import TAKEN

KINDS = [(way, kind) for kind in ("main", "group", "worker", "server") for way in ("plain", "--prefect")]
"""Who is killed: on a Prefect server of its own, and without Prefect, where workers are forked from a server too."""
FEWEST, MOST = 3, 8  # kills, in both ways, and further ones where none of a whole study came before its end
PREFECT = 1.6  # times as long as without
MARK = "SYNTHRISK_TEST_OF_KILLS"
SLOWLY = """
import time

def slowly(train, rows, seed):
    time.sleep(0.6)
    return train.sample(rows, replace=True, random_state=seed % 2**32)
"""
COMMAND = """
import os, sys
os.environ.pop("PREFECT_API_URL", None)
if __name__ == "__main__":
    sys.argv[1:] = ["benchmark", "{path}", *(each for each in sys.argv[1:] if each == "--prefect")]
    from synthrisk.flows.cli.app import main
    main()
"""


class Study:
    def __init__(self, folder, name, settings, start_python):
        self.workspace, self.folder, self.start_python = folder / name, folder, start_python
        mine = {"name": "slow", "kind": "callable", "path": f"{folder / 'slowly.py'}:slowly"}
        parts = {"synthesizers": [mine, "marginals"], "split": {"folds": 2, "repetitions": 2}, "metrics": ["zero_cap"]}
        study = settings(self.workspace, folder / "people.csv", name="killed", **parts)
        (folder / "slowly.py").write_text(SLOWLY)
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(study))
        self.script = folder / f"{name}.py"
        self.script.write_text(COMMAND.format(path=folder / f"{name}.yaml"))

    def begin(self, way="plain"):
        return self.start_python(self.script, way, cwd=self.folder)

    def found(self):
        client = MlflowClient(f"sqlite:///{self.workspace / 'mlflow.db'}")
        runs = client.search_runs([client.get_experiment_by_name("killed").experiment_id], max_results=1000)
        assert not [run for run in runs if "incomplete" in run.data.tags or run.info.status != "FINISHED"]
        latest = max(run.data.tags["study_id"] for run in runs)
        own = [run.data for run in runs if run.data.tags["study_id"] == latest]
        numbers = {data.tags.get("synthesizer", "study"): data.metrics for data in own}
        paths = [path for kind in ("releases", "ledgers") for path in (self.workspace / kind).rglob("*")]
        kept = [path for path in paths if path.is_file() and path.name != TAKEN]
        return numbers, {str(path.relative_to(self.workspace)): sha256(path.read_bytes()).hexdigest() for path in kept}

    def left_over(self, way):
        drafts = [path for folder in (".", "*") for path in self.workspace.glob(f"{folder}/.draft-*")]
        notes = [] if way == "plain" else self.workspace.glob("running/*.json")
        return [*drafts, *notes, *ids_waiting(self.workspace)]


def _ours(mark):
    found = []
    for each in psutil.process_iter():
        with suppress(psutil.Error):
            own = each.environ().get(MARK) == mark and each.status() != psutil.STATUS_ZOMBIE
            if own and each.pid != os.getpid():
                found.append(each)
    return found


def _target(process, way, kind):
    own = psutil.Process(process.pid)
    while process.poll() is None:
        with suppress(psutil.Error):
            found = _workers(own, way) if kind == "worker" else _server(own, way)
            if found:
                return found[-1]
        time.sleep(0.05)
    return None


def _server(own, way):
    sign = "uvicorn" if way == "--prefect" else "forkserver"
    return [each for each in own.children() if any(sign in part for part in each.cmdline())]


def _workers(own, way):
    if way == "--prefect":
        return [each for each in own.children() if any("spawn_main" in part for part in each.cmdline())]
    return [worker for server in _server(own, way) for worker in server.children()]


def _kill(process, way, kind):
    with suppress(ProcessLookupError, psutil.Error):
        if kind == "main":
            os.kill(process.pid, signal.SIGKILL)
        elif kind == "group":
            os.killpg(process.pid, signal.SIGKILL)
        elif (each := _target(process, way, kind)) is not None:
            each.kill()


def ends_well(process):
    _, err = process.communicate(timeout=240)
    assert process.returncode == 0, err


@pytest.mark.proof
def test_a_study_killed_at_random_moments_ends_as_one_that_was_not(folder, settings, start_python, monkeypatch):
    mark = secrets.token_hex(8)
    monkeypatch.setenv(MARK, mark)
    seed = int(os.environ.get("SYNTHRISK_TEST_SEED") or secrets.randbelow(10**6))
    print(f"to see the same again: SYNTHRISK_TEST_SEED={seed}")
    chance, told = random.Random(seed), Counter()
    plain = Study(folder, "undisturbed", settings, start_python)
    begun = time.monotonic()
    ends_well(plain.begin())
    lasts = {"plain": time.monotonic() - begun}
    lasts["--prefect"] = PREFECT * lasts["plain"]
    truth = plain.found()
    assert len(truth[1]) > 20
    number, study, kinds = 0, None, chance.sample(KINDS, len(KINDS))
    other = next(each for each in kinds if each[0] != kinds[0][0])
    kinds = [kinds[0], other, *(each for each in kinds[1:] if each != other)]
    while number < FEWEST or (number < MOST and not (told["main", True] or told["group", True])):
        way, kind = kinds[number]
        moment = chance.uniform(0.1, 0.95) * lasts[way]
        study = study or Study(folder, f"killed{number}", settings, start_python)
        process = study.begin(way)
        last = time.monotonic() + moment
        while time.monotonic() < last and process.poll() is None:
            time.sleep(0.02)
        _kill(process, way, kind)
        print(f"{number}: {kind}, {way}, after {moment:.2f} s")
        _, err = process.communicate(timeout=240)
        killed = process.returncode != 0
        due = {"worker": 0, "server": BROKEN}.get(kind, -signal.SIGKILL)  # a server may be killed before it answers
        assert process.returncode in (0, due), (way, kind, moment, process.returncode, err)
        assert "Traceback" not in err, (way, kind, moment, err)
        told[kind, killed] += 1
        assert not psutil.wait_procs(_ours(mark), timeout=10)[1]
        number += 1
        if not killed:
            assert study.found() == truth, (way, kind, moment, err)
            assert study.left_over(way) == []
            study = None
    if study is not None:
        ends_well(study.begin("--prefect"))
        assert (study.found(), study.left_over("--prefect")) == (truth, [])
    print(dict(told))
    assert told["main", True] + told["group", True] >= 1
