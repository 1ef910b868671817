"""Any task runner of Prefect by its import path: made with its options, refused in a sentence where it is none."""

import os
import subprocess
import sys

import pytest
from prefect import flow, task
from prefect.client.orchestration import get_client
from prefect.settings import PREFECT_API_URL, PREFECT_CLIENT_MAX_RETRIES, get_current_settings, temporary_settings
from prefect.task_runners import ProcessPoolTaskRunner, ThreadPoolTaskRunner
from prefect.utilities.annotations import quote

from synthrisk.conf.study import Runner
from synthrisk.flows.execution.task_runs import task_runner

THREADS = "prefect.task_runners:ThreadPoolTaskRunner"
_READS_ONCE = hasattr(ProcessPoolTaskRunner(), "_cached_context")  # Prefect, up to 3.8


def test_a_task_runner_by_import_path_is_made_with_its_options():
    made = task_runner(Runner(kind=THREADS, options={"max_workers": 3}))
    assert isinstance(made, ThreadPoolTaskRunner)
    assert made._max_workers == 3
    assert isinstance(task_runner(Runner()), ProcessPoolTaskRunner)


@pytest.mark.proof
def test_task_runs_of_a_worker_ask_the_api_of_their_flow_through_one_client_with_settings_read_once(prefect_database):
    @task
    def ask(turn: int) -> tuple[int, str, int, int]:
        client, settings = get_client(sync_client=True), get_current_settings()
        client.asked = getattr(client, "asked", 0) + 1
        return client.asked, str(client.api_url), settings.client.max_retries, id(settings)

    @flow
    def several() -> list[tuple[int, str, int, int]]:
        return ask.map(range(3)).result()

    with temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 13}):
        found = several.with_options(task_runner=task_runner(Runner(workers=1)))()
    turns, urls, retries, settings = zip(*found, strict=True)
    assert turns == (1, 2, 3)
    assert {url.rstrip("/") for url in urls} == {PREFECT_API_URL.value()}
    assert (set(retries), len(set(settings))) == ({13}, 1 if _READS_ONCE else 3)


@pytest.mark.proof
def test_a_worker_has_what_a_users_flow_has_set_before_it_submits(prefect_database, monkeypatch):
    @task
    def see(given: list[int]) -> tuple[object, str | None, int]:
        return given, os.environ.get("A_TOKEN"), get_current_settings().client.max_retries

    @flow
    def asking() -> tuple[object, str | None, int]:
        monkeypatch.setenv("A_TOKEN", "set in the flow")
        with temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 17}):
            return see.submit(quote([1, 2])).result()

    found = asking.with_options(task_runner=task_runner(Runner(workers=1)))()
    assert found == ([1, 2], "set in the flow", 17)


SERVICES = """
from prefect.concurrency.services import ConcurrencySlotAcquisitionWithLeaseService as Slots
from prefect.settings import PREFECT_API_URL, temporary_settings
from synthrisk.flows.execution.workers import serve_several_servers

def slots(port):
    with temporary_settings({PREFECT_API_URL: f"http://127.0.0.1:{port}/api"}):
        return Slots.instance(frozenset({"tag:study:smoke"}))

if __name__ == "__main__":
    print(slots(1) is slots(2))
    serve_several_servers()
    serve_several_servers()
    print(slots(1) is slots(2), slots(1) is slots(1), slots(2) is slots(2))
"""


@pytest.mark.proof
def test_a_worker_asks_the_server_of_each_command(tmp_path):
    script = tmp_path / "services.py"
    script.write_text(SERVICES)
    said = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=240)
    assert said.stdout.split() == ["True", "False", "True", "True"], said.stderr  # first as Prefect has it


_ASKED = """
from multiprocessing import active_children
from synthrisk.flows.execution.pool import compile_beside
from synthrisk.metrics.compiled import is_kept
from synthrisk.metrics.models.forest_trees import grow
from synthrisk.metrics.neighbours.box_search import VECTORS, WALKS

before = [is_kept(each) for each in (grow, *VECTORS, *WALKS)]
compile_beside()
(compiling,) = active_children()
compiling.join()
print(compiling.exitcode, any(before), all(map(is_kept, (grow, *VECTORS, *WALKS))), bool(grow.signatures))
"""


@pytest.mark.proof  # compiles everything anew
def test_what_many_releases_need_is_compiled_in_a_process_of_its_own_and_found_on_disk(tmp_path):
    own = {"capture_output": True, "text": True, "check": True, "env": os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}}
    told = subprocess.run([sys.executable, "-c", _ASKED], **own).stdout.split()
    assert told == ["0", "False", "True", "False"]
