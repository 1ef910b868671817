"""Every command of ``docs/tour.md``, on a server of its own; ports are free ones, tables are a third as long."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from connections import free_port

pytestmark = pytest.mark.services

ROOT = Path(__file__).parents[2]
BLOCKS = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
STAYS, PATIENCE = "# stays open\n", 240  # seconds, on a slow machine


@dataclass
class Tour:
    """A reader who types what the page says."""

    place: Path
    ports: dict[str, int]
    terminals: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    folder: str = ""

    def environment(self) -> dict[str, str]:
        own = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_", "MLFLOW_", "SYNTHRISK_"))}
        own |= {k: v for k, v in os.environ.items() if k.endswith(("POLL_FREQUENCY", "LOOP_SECONDS"))}  # how often
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        return own | {"PREFECT_HOME": str(self.place / "prefect"), "PATH": path}

    def follow(self, language: str, text: str) -> None:
        for shown, free in self.ports.items():
            text = text.replace(shown, str(free))
        where = self.place / "clone" / self.folder
        text = re.sub(r"\b[24]000\b", lambda rows: str(int(rows[0]) // 3), text)
        if language == "python":
            (where / text.splitlines()[0].removeprefix("# ")).write_text(text)
        elif text.startswith(STAYS):
            self.open(text, where)
        elif language == "bash":
            command = ["bash", "-ec", text + "\npwd > ../now || true"]
            done = subprocess.run(command, cwd=where, env=self.environment(), timeout=600, check=False)
            assert done.returncode == 0, text
            self.folder = "tour" if "cd tour" in text else self.folder

    def open(self, text: str, where: Path) -> None:
        name = text.removeprefix(STAYS).splitlines()[-1]
        streams = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "start_new_session": True}
        env = self.environment() | {"PYTHONUNBUFFERED": "1"}
        with (self.place / f"{len(self.terminals)}.log").open("wb") as log:
            self.terminals[name] = subprocess.Popen(["bash", "-ec", text], cwd=where, env=env, stdout=log, **streams)
        ready = {
            "prefect server": lambda: self.asked("/health") is True,
            "synthrisk serve": lambda: self.asked("/deployments/name/benchmark/nightly"),
            "python releases.py": lambda: self.asked("/deployments/name/evaluate/releases"),
            "python listen.py": lambda: socket.create_connection(("127.0.0.1", self.ports["8765"])).close() or True,
        }
        (is_ready,) = [look for begins, look in ready.items() if name.startswith(begins)]
        self.wait_for(is_ready, name)

    def wait_for(self, holds, what: str, seconds: float = PATIENCE) -> object:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with suppress(OSError):
                if found := holds():
                    return found
            time.sleep(1)
        raise AssertionError(f"{what}: not in {seconds} s; " + self.logs()[-4000:])

    def asked(self, path: str, **body: object) -> object:
        """Return what the server answers."""
        url, data = f"http://127.0.0.1:{self.ports['4200']}/api{path}", json.dumps(body).encode() if body else None
        with urlopen(Request(url, data, {"Content-Type": "application/json"}), timeout=60) as answer:
            return json.load(answer)

    def runs(self, deployment: str) -> list[dict[str, object]]:
        return self.asked("/flow_runs/filter", deployments={"name": {"any_": [deployment]}}, limit=20)

    def logs(self) -> str:
        return "\n".join(log.read_text("utf-8", "replace") for log in sorted(self.place.glob("*.log")))


@pytest.fixture(scope="module")
def tour(tmp_path_factory) -> Iterator[Tour]:
    place = tmp_path_factory.mktemp("tour")
    (place / "clone").mkdir()
    (place / "clone" / "deployments").symlink_to(ROOT / "deployments")
    reader = Tour(place, {"4200": free_port(), "8765": free_port()})
    try:
        *blocks, last = BLOCKS.findall((ROOT / "docs" / "tour.md").read_text("utf-8"))
        for language, text in blocks:
            reader.follow(language, text)
        yield reader
        reader.follow(*last)  # what cleans up
        assert "PREFECT_API_URL" not in (place / "prefect" / "profiles.toml").read_text("utf-8")
    finally:
        for sign in (signal.SIGINT, signal.SIGKILL):
            for each in reader.terminals.values():
                with suppress(ProcessLookupError):
                    os.killpg(each.pid, sign)
            last = time.monotonic() + 10
            for each in reader.terminals.values():
                with suppress(subprocess.TimeoutExpired):
                    each.wait(max(0.1, last - time.monotonic()))


def test_the_nightly_benchmark_has_run(tour):
    states = [run["state_type"] for run in tour.runs("nightly") if not run["auto_scheduled"]]
    assert states == ["COMPLETED"]
    (schedule,) = tour.asked("/deployments/name/benchmark/nightly")["schedules"]
    assert schedule["schedule"] == {"cron": "0 2 * * *", "timezone": "Europe/Vienna", "day_or": True}


def test_the_published_release_is_judged(tour):
    def ended() -> object:
        return [run for run in tour.runs("releases") if run["state_type"] in ("COMPLETED", "FAILED", "CRASHED")]

    (run,) = tour.wait_for(ended, "the release is judged")
    assert (run["state_type"], run["state_name"], run["name"]) == ("COMPLETED", "RISK", "evaluate july.csv")
    assert run["created_by"]["type"] == "AUTOMATION"


def test_the_listener_is_told(tour):
    tour.wait_for(lambda: "RISK: release july.csv" in tour.logs(), "the message")
