"""Flow runs whose process was killed are marked as Crashed by the next study of the workspace, and no others."""

import os
import signal
from pathlib import Path
from uuid import UUID

import pytest
from prefect.client.orchestration import get_client

from synthrisk.flows.orchestration.flow_runs import mark_crashed

pytestmark = pytest.mark.proof  # with a Prefect server

SCRIPT = """
import sys, time
from pathlib import Path
from prefect import flow
from prefect.context import FlowRunContext
from synthrisk.flows.orchestration.flow_runs import noted

@flow
def study():
    print(FlowRunContext.get().flow_run.id, flush=True)
    time.sleep(600)

@flow
def benchmark(folder):
    with noted(Path(folder)):
        print(FlowRunContext.get().flow_run.id, flush=True)
        study()

if __name__ == "__main__":
    benchmark(sys.argv[1])
"""


@pytest.fixture
def begun(start_python, tmp_path):
    (tmp_path / "runs.py").write_text(SCRIPT)
    workspace = tmp_path / "workspace"
    processes = [start_python(tmp_path / "runs.py", workspace, cwd=tmp_path) for _ in range(2)]
    yield workspace, processes, [[UUID(each.stdout.readline().strip()) for _ in range(2)] for each in processes]
    for each in processes:
        each.kill()
        each.communicate()


def states(ids: list[UUID]) -> list[str]:
    with get_client(sync_client=True) as client:
        return [str(client.read_flow_run(each).state.name) for each in ids]


def test_runs_of_a_killed_process_alone_are_marked(begun):
    workspace, (killed, lives), (lost, under_way) = begun
    assert mark_crashed(workspace) == []
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert (set(states(lost)), set(mark_crashed(workspace))) == ({"Running"}, set(lost))
    assert (states(lost), states(under_way)) == (["Crashed", "Crashed"], ["Running", "Running"])
    assert lives.poll() is None
    assert [Path(each).stem for each in (workspace / "running").iterdir()] == [str(under_way[0])]
    assert mark_crashed(workspace) == []
