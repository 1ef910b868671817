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
WORKERS = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import os, time
from synthrisk.flows.execution.pool import pool_of
from synthrisk.flows.execution.workers import begin
if __name__ == "__main__":
    pools = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=begin), pool_of(1)
    for pool in pools:
        pool.submit(os.getpid)
    print(*(process for pool in pools for process in pool._processes), flush=True)
    time.sleep(600)
"""
SCRIPTS = {"server": f"{SERVER}time.sleep(600)", "spawned and forked workers": WORKERS}


@pytest.mark.proof
@pytest.mark.parametrize("after", [0, 2], ids=["before they watch", "while they watch"])
@pytest.mark.parametrize("kind", SCRIPTS)
def test_children_of_a_killed_process_end_within_ten_seconds(tmp_path, kind, after):
    script = tmp_path / "starts.py"
    script.write_text(SCRIPTS[kind])
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    children = [psutil.Process(int(each)) for each in parent.stdout.readline().split()]
    assert len(children) == (1 if kind == "server" else 2)
    time.sleep(after)
    os.kill(parent.pid, signal.SIGKILL)
    parent.communicate(timeout=30)
    for child in children:
        child.wait(timeout=30 if kind == "server" else 10)  # a server that is still importing looks a little later
        assert not psutil.pid_exists(child.pid)
