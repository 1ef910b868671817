"""Ctrl-C and SIGTERM: one line, the exit code of the signal, nothing left; and freed memory is not asked for again."""

import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest
import yaml
from prefect.client.orchestration import get_client
from waiting import until

from synthrisk.flows.execution import signals

_FAULTS = """
import resource
from synthrisk.flows.execution.signals import keep_freed_memory
if {kept}:
    keep_freed_memory()
for _ in range(20):
    b"x" * 40_000_000
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="an allocator of its own")
def test_freed_memory_is_not_taken_from_the_system_again():
    faults = [
        int(subprocess.run([sys.executable, "-c", _FAULTS.format(kept=kept)], check=True, capture_output=True).stdout)
        for kept in (False, True)
    ]
    assert faults[1] < faults[0] / 4


def test_a_pool_that_the_environment_names_stays_and_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL", raising=False)
    monkeypatch.setattr(signals.ctypes, "CDLL", lambda name: object())
    signals.keep_freed_memory()
    assert "ARROW_DEFAULT_MEMORY_POOL" not in signals.os.environ
    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", "mimalloc")

    class Library:
        gnu_get_libc_version = mallopt = staticmethod(lambda *_: 1)

    monkeypatch.setattr(signals.ctypes, "CDLL", lambda name: Library)
    signals.keep_freed_memory()
    assert signals.os.environ["ARROW_DEFAULT_MEMORY_POOL"] == "mimalloc"


@pytest.mark.parametrize(("most", "expected"), [(2**31, 2**31 - 1), (2**25, 2**25), (0, None)])
def test_an_older_library_is_told_the_most_that_it_takes_or_nothing(monkeypatch, most, expected):
    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", "system")
    taken = {}

    class Library:
        gnu_get_libc_version = None

        @staticmethod
        def mallopt(parameter: int, value: int) -> bool:
            if parameter == -3 and value > most:
                return False
            taken[parameter] = value
            return True

    monkeypatch.setattr(signals.ctypes, "CDLL", lambda name: Library)
    signals.keep_freed_memory()
    assert (taken.get(-3), -1 in taken) == (expected, expected is not None)


STUCK = """
import time
from pathlib import Path

def stuck(train, rows, seed):
    Path(__file__).with_suffix(".begun").touch()
    time.sleep(3600)
"""


@pytest.fixture(scope="module")
def study(folder, settings):
    (folder / "stopped.py").write_text(STUCK)
    slow = {"name": "stuck", "kind": "callable", "path": f"{folder / 'stopped.py'}:stuck"}
    path = folder / "stopped.yaml"
    own = settings(folder / "stopped", folder / "people.csv", name="stopped", synthesizers=[slow])
    path.write_text(yaml.safe_dump(own))
    return path


def stopped(start, study, folder, number: int, whole_group: bool, **how):
    (begun := folder / "stopped.begun").unlink(missing_ok=True)
    process = start("benchmark", study, cwd=folder, **how)
    until(lambda: process.poll() is not None or begun.exists(), "no worker", 180)
    assert process.poll() is None, process.stderr.read()
    children = psutil.Process(process.pid).children(recursive=True)
    asked = time.monotonic()
    (os.killpg if whole_group else os.kill)(process.pid, number)
    _, err = process.communicate(timeout=60)
    return process, children, time.monotonic() - asked, err


@pytest.mark.proof
@pytest.mark.parametrize("api", [True, False], ids=["a flow", "without Prefect"])
@pytest.mark.parametrize(("number", "whole_group"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_the_first_signal_ends_all_in_one_line(start, study, folder, number, whole_group, api):
    process, children, seconds, err = stopped(start, study, folder, number, whole_group, api=api)
    assert (process.returncode, seconds < 20) == (128 + number, True)  # 5 on a free machine
    assert "stopped: what is finished is kept, and the same command goes on from there" in err
    assert "Traceback" not in err
    assert children
    assert not psutil.wait_procs(children, timeout=5)[1]


@pytest.mark.proof
def test_prefect_hears_of_it(study, prefect_database):
    with get_client(sync_client=True) as client:
        runs = [run for run in client.read_flow_runs(limit=200) if run.name in ("benchmark stopped", "study stopped")]
    assert (len(runs), {run.state.name for run in runs}) == (4, {"Cancelled"})


@pytest.mark.proof
def test_init_ends_at_once_with_the_process_in_which_it_tries_how_long_a_study_takes(start, folder, tmp_path):
    process = start("init", "adult", "--yes", cwd=tmp_path)
    while "Trying how long" not in (line := process.stderr.readline()):
        assert line
    until(lambda: psutil.Process(process.pid).children(), "no process", 60)
    children = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.split("\n")[-2]) == (130, "stopped: nothing was written")
    assert not psutil.wait_procs(children, timeout=5)[1]
    assert not (tmp_path / "study.yaml").exists()


UNHEARD = """
import time
from synthrisk.flows.execution.signals import stoppable
with stoppable():
    print("ready", flush=True)
    try:
        time.sleep(60)
    finally:
        time.sleep(60)
"""


@pytest.mark.proof
def test_it_ends_though_nobody_reads_what_it_says():
    with subprocess.Popen([sys.executable, "-c", UNHEARD], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stderr.close()
        process.terminate()
        try:
            assert process.wait(20) == 128 + signal.SIGTERM
        finally:
            process.kill()


@pytest.mark.proof
def test_nothing_stands_below_the_sentence_on_a_terminal():
    code = (
        "import time\n"
        "from synthrisk.flows.execution.signals import stoppable\n"
        "from synthrisk.flows.orchestration.progress import step\n"
        "with stoppable(), step('opening the store'):\n"
        "    time.sleep(60)\n"
    )
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", code], stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        said = b""
        while b"opening the store" not in said:
            said += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        with suppress(OSError):  # the other side is closed
            while more := os.read(ours, 4096):
                said += more
        assert process.wait(20) == 128 + signal.SIGINT
    os.close(ours)
    assert said.endswith(b"the same command goes on from there\r\n")
    assert b"store" not in said.partition(b"stopped")[0].rpartition(b"\x1b[2K")[2]


INTERRUPTIBLE = """
import signal, subprocess, sys, time
from synthrisk.flows.execution.signals import interruptible

signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it

def wait(seconds):  # in pieces: a signal just before a sleep begins is only heard when it has ended
    for _ in range(int(seconds * 20)):
        time.sleep(0.05)

child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
with interruptible({patience}, lambda: print("meanwhile", flush=True)):
    try:
        print(child.pid, flush=True)
        wait(60)
    finally:
        wait({ends})
"""


@pytest.mark.proof
@pytest.mark.parametrize(
    ("patience", "ends", "signals", "code"),
    [(30, 0.1, 1, -signal.SIGINT), (1, 60, 1, 130), (60, 60, 2, 130)],
)
def test_what_ends_by_itself_is_ended_where_it_does_not(patience, ends, signals, code):
    script = INTERRUPTIBLE.format(patience=patience, ends=ends)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        child = psutil.Process(int(process.stdout.readline()))
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
        try:
            assert (process.wait(20), process.stdout.readline()) == (code, b"meanwhile\n")
            assert bool(psutil.wait_procs([child], timeout=2)[1]) == (code != 130)
        finally:
            process.kill()
            with suppress(psutil.Error):
                child.kill()
