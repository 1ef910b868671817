"""Deployed from Python, limited by a tag, and two shipped automations that act on a risk: all on a real server."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
import yaml
from connections import Answering, serving
from deployed import finished, mlflow_runs, task_runs
from prefect.blocks.notifications import CustomWebhookNotificationBlock
from prefect.client.orchestration import SyncPrefectClient
from waiting import until

from synthrisk.conf import shipped

pytestmark = pytest.mark.services

SHIPPED = Path(__file__).parents[2] / "deployments"


def prefect(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "prefect", *arguments], check=True, timeout=120)


@pytest.fixture(scope="module")
def told() -> Iterator[Queue[dict[str, Any]]]:
    """Listen on loopback; give the messages that come, as the notification block sends them."""
    messages: Queue[dict[str, Any]] = Queue()

    class Listener(Answering):
        def do_POST(self) -> None:
            messages.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.answer(204)

    with serving(Listener) as port:
        address, form = f"http://127.0.0.1:{port}", {"title": "{{subject}}", "text": "{{body}}"}
        block = CustomWebhookNotificationBlock(name="board", url=address, json_data=form)
        messages.put({"block": str(block.save("board", overwrite=True))})
        yield messages


def test_a_risk_pauses_the_deployment_and_is_told(
    client: SyncPrefectClient, home: Path, tmp_path: Path, told: Queue[dict[str, Any]]
) -> None:
    settings: dict[str, Any] = yaml.safe_load(shipped()["smoke"])
    folder = tmp_path / "place"
    folder.mkdir()
    (folder / "vendor.py").write_text("def copy(train, rows, seed):\n    return train.copy()\n")
    vendor = {"name": "vendor", "kind": "callable", "path": "vendor.py:copy"}
    settings |= {"name": "leaking", "synthesizers": [vendor], "references": ["copy"]}
    (folder / "study.yaml").write_text(yaml.safe_dump(settings))
    shutil.copy(SHIPPED / "from_python.py", folder)
    block = told.get(timeout=10)["block"]
    (tmp_path / "notify.yaml").write_text((SHIPPED / "notify.yaml").read_text("utf-8").replace("BLOCK", block))
    prefect("automation", "create", "--from-file", str(SHIPPED / "automations.yaml"))
    prefect("automation", "create", "--from-file", str(tmp_path / "notify.yaml"))
    prefect("concurrency-limit", "create", "kind:callable", "1")
    subprocess.run([sys.executable, "from_python.py", "study.yaml"], cwd=folder, check=True, timeout=240)

    deployment = client.read_deployment_by_name("benchmark/from-python")
    assert (deployment.work_pool_name, deployment.paused) == ("local", False)
    prefect("deployment", "run", "benchmark/from-python")
    run = finished(client, deployment.id, lambda r: not r.auto_scheduled)
    assert (run.state.is_completed(), run.state.name) == (True, "RISK")
    assert set(mlflow_runs(folder, "leaking").values()) == {"FINISHED"}

    while (message := told.get(timeout=120))["title"] != "RISK: vendor of study leaking":
        """Other studies run beside this one, whose risks are told as well."""
    assert "memorization/zero_cap.income" in message["text"]
    until(lambda: client.read_deployment(deployment.id).paused, "the deployment is not paused")

    made = [r for r in task_runs(client, "leaking") if r.name.startswith("synthesize vendor")]
    assert made
    assert all({"generator:vendor", "kind:callable", "study:leaking"} <= set(r.tags) for r in made)
    spans = sorted((r.start_time, r.end_time) for r in made)
    assert all(one[1] <= other[0] for one, other in pairwise(spans)), "one at a time"


def test_the_benchmark_is_deployed_to_a_docker_pool(client: SyncPrefectClient) -> None:
    prefect("work-pool", "create", "containers", "--type", "docker")
    prefect("--no-prompt", "deploy", "--all", "--prefect-file", str(SHIPPED / "prefect.docker.yaml"))
    deployment = client.read_deployment_by_name("benchmark/benchmark-in-a-container")
    assert deployment.job_variables["image"] == "synthrisk"
    assert deployment.entrypoint == "synthrisk.flows.benchmark.benchmark"
    takes = client.read_work_pool("containers").base_job_template["variables"]["properties"]
    assert set(deployment.job_variables) <= set(takes)
    assert os.environ["PREFECT_API_URL"].startswith("http://127.0.0.1:")
