"""Children end with the process that started them, though it is killed."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

SERVER = (
    "from synthrisk.flows.orchestration.server import OwnServer; import time; "
    "print(OwnServer()._process.pid, flush=True); "
)
WORKER = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import os, time
from synthrisk.flows.execution.workers import begin
if __name__ == "__main__":
    pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=begin)
    pool.submit(os.getpid)
    print(*pool._processes, flush=True)
    time.sleep(600)
"""
FORKED = """
import os, time
from synthrisk.flows.execution.pool import pool_of
if __name__ == "__main__":
    pool = pool_of(1)
    pool.submit(os.getpid)
    print(*pool._processes, flush=True)
    time.sleep(600)
"""
SCRIPTS = {"server": f"{SERVER}time.sleep(600)", "worker": WORKER, "forked worker": FORKED}


@pytest.mark.parametrize("after", [0, 2], ids=["before it watches", "while it watches"])
@pytest.mark.parametrize("kind", [pytest.param("server", marks=pytest.mark.proof), "worker", "forked worker"])
def test_a_child_of_a_killed_process_ends_within_ten_seconds(tmp_path, kind, after):
    script = tmp_path / "starts.py"
    script.write_text(SCRIPTS[kind])
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    child = psutil.Process(int(parent.stdout.readline()))
    time.sleep(after)
    os.kill(parent.pid, signal.SIGKILL)
    parent.communicate(timeout=30)
    child.wait(timeout=30 if kind == "server" else 10)  # a server that is still importing looks a little later
    assert not psutil.pid_exists(child.pid)
