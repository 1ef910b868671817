"""Tasks in worker processes without Prefect: chains, failures, retries, lost workers; and a study says the same."""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import process
from pathlib import Path
from threading import Thread
from unittest.mock import Mock

import psutil
import pytest
import yaml

from synthrisk.conf import load
from synthrisk.flows.benchmark import benchmark
from synthrisk.flows.cli.benchmark import studied
from synthrisk.flows.cli.evaluate import as_json
from synthrisk.flows.execution import pool
from synthrisk.flows.execution.calls_and_retries import LOST, OURS, How
from synthrisk.flows.execution.pool import pool_calls, pool_of
from synthrisk.metrics.errors import InputError

TASKS = """
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from synthrisk.metrics.errors import InputError

def task(function):  # as Prefect's, whose import takes a worker seconds
    return SimpleNamespace(fn=function)

@task
def add(value, to=1):
    return value + to

@task
def process():
    return os.getpid()

@task
def note(name, path, after=None):
    with Path(path).open("a") as file:
        file.write(name)
    return name

@task
def refuses(value):
    raise InputError(f"got {value}")

@task
def unsure(path):
    tries = Path(path).read_text() if Path(path).exists() else ""
    Path(path).write_text(tries + "x")
    if len(tries) < 2:
        raise ValueError("not yet")
    return len(tries) + 1

@task
def killed():
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    (folder / "tasks_for_workers.py").write_text(TASKS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        import tasks_for_workers

        yield tasks_for_workers


@pytest.fixture(scope="module")
def calls(tasks):
    with pool_calls(2) as calls:
        yield calls


def test_a_task_runs_in_another_process_and_takes_the_answers_of_others(calls, tasks):
    assert calls.submit(tasks.process).result() != os.getpid()
    both = calls.submit(tasks.add, calls.submit(tasks.add, 1), to=3)
    assert (both.failure(), both.result(), calls.call(tasks.add, 1, to=2)) == (None, 5, 3)
    assert calls.call(tasks.process) == os.getpid()
    assert calls.here().submit(tasks.process).result() == os.getpid()


def test_a_failed_task_is_tried_again_as_often_as_is_said_and_then_told_raised_and_passed_on(calls, tasks, tmp_path):
    assert calls.submit(tasks.unsure, tmp_path / "two", how=How(2)).result() == 3
    assert calls.submit(tasks.unsure, tmp_path / "one", how=How(1)).failure() == "not yet"
    failed = calls.submit(tasks.refuses, 7)
    after = calls.submit(tasks.add, failed)
    assert (failed.failure(), after.failure()) == ("got 7", "got 7")
    with pytest.raises(InputError, match="got 7"):
        after.result()


def test_what_takes_an_answer_is_called_before_new_chains_begin(tasks, tmp_path):
    path = tmp_path / "order"
    with pool_calls(1) as calls:
        chains = [calls.submit(tasks.note, name, path) for name in "abcdef"]
        ends = [calls.submit(tasks.note, name, path, each) for name, each in zip("ABCDEF", chains, strict=True)]
        assert [each.result() for each in ends] == list("ABCDEF")
    order = path.read_text()
    assert sorted(order) == sorted("abcdefABCDEF")
    assert all(order.index(name.upper()) <= order.index(name) + 3 for name in "abcdef")


def test_a_killed_worker_fails_what_was_under_way_and_the_rest_goes_on(tasks):
    with pool_calls(1) as calls:
        killed = calls.submit(tasks.killed)
        waits = calls.submit(tasks.add, killed)
        others = [calls.submit(tasks.add, i) for i in range(6)]
        assert (killed.failure(), waits.failure()) == (LOST, LOST)
        assert [each.failure() for each in others[1:]] == [None] * 5
        assert [each.result() for each in others[1:]] == [2, 3, 4, 5, 6]
        calls.renew()
        assert calls.submit(tasks.add, 1).result() == 2


@pytest.mark.proof
def test_workers_are_forked_anew_where_the_process_that_they_come_from_is_killed(tasks):
    with pool_calls(1) as calls:
        child = psutil.Process(calls.submit(tasks.process).result())
        child.parent().kill()
        answer = calls.submit(tasks.process)
        while answer.failure() is None and answer.result() == child.pid:  # who has not heard of it yet
            time.sleep(0.05)
            answer = calls.submit(tasks.process)
        assert calls.submit(tasks.add, 1).result() == 2


def refusing(error):
    return Mock(submit=Mock(side_effect=error), _processes={})


def test_workers_that_cannot_be_had_are_asked_for_again_and_not_for_ever(tasks, monkeypatch):
    errors = ConnectionResetError("gone"), EOFError("unexpected EOF")
    refusals = [refusing(error) for error in errors]
    monkeypatch.setattr(pool, "pool_of", lambda n: refusals.pop() if refusals else pool_of(n))
    with pool_calls(1) as calls:
        assert calls.submit(tasks.add, 1).result() == 2
    for error in errors:
        monkeypatch.setattr(pool, "pool_of", lambda _, error=error: refusing(error))
        with pool_calls(1) as calls:
            assert calls.submit(tasks.add, 1).failure() == str(error)


def test_where_no_workers_can_be_made_at_all_the_call_fails_and_nobody_waits(tasks, monkeypatch):
    monkeypatch.setattr(pool, "pool_of", Mock(side_effect=OSError("no room for a queue")))
    with pool_calls(1) as calls:
        first = calls.submit(tasks.add, 1)
        assert (first.failure(), calls.submit(tasks.add, first).failure()) == ("no room for a queue",) * 2


def test_a_worker_that_is_killed_while_its_pool_ends_keeps_nobody_waiting(tasks, monkeypatch):
    for place in (0, 1):
        calls = pool.PoolCalls(2)
        for answer in [calls.submit(tasks.process) for _ in range(8)]:
            answer.result()
        workers = list(calls._pool._processes.values())
        shutdown = process._ExecutorManagerThread.shutdown_workers

        def killing(manager, workers=workers, place=place, shutdown=shutdown):
            if len(workers) == 2:
                workers[place].kill()
                workers[place].join()
            shutdown(manager)

        with monkeypatch.context() as here:
            here.setattr(process._ExecutorManagerThread, "shutdown_workers", killing)
            here.setattr(pool, "_IDLE", 5)
            ending = Thread(target=calls.end, daemon=True)
            ending.start()
            ending.join(60)
        assert not ending.is_alive()
        assert len(workers) == 2


def test_what_is_ours_is_done_in_the_command_where_its_worker_is_killed(tasks):
    with pool_calls(1) as calls:
        killed = calls.submit(tasks.killed)
        ours = [calls.submit(tasks.process, how=OURS) for _ in range(3)]
        assert (killed.failure(), [each.failure() for each in ours]) == (LOST, [None] * 3)


@pytest.mark.proof
def test_a_study_without_prefect_is_that_of_the_flow_to_the_bit(
    folder, settings, monkeypatch, tmp_path, prefect_database, threads
):
    refuse = Mock(side_effect=AssertionError("a server is started"))
    whole = settings(tmp_path / "plain", folder / "people.csv", references=["copy"])
    monkeypatch.setattr("synthrisk.flows.orchestration.server.is_configured", lambda: False)
    monkeypatch.setattr("synthrisk.flows.orchestration.server.prefect_api", refuse)
    plain = studied(load(whole), refuse)
    other = whole | {"workspace": str(tmp_path / "flow"), "runner": threads}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(other))
    flow = benchmark(str(tmp_path / "study.yaml"))
    ours, theirs = as_json(plain.result), as_json(flow.result)
    for each in (ours, theirs):
        each.pop("study_id")
        each["facts"].pop("started")
    assert ours == theirs
    assert Path(plain.report).is_file()
    assert len(plain.logged.runs) == len(flow.logged.runs)


INTERRUPTED = """
import os, signal, time
from synthrisk.flows.execution.pool import begin_early, pool_of
heard = []
signal.signal(signal.SIGINT, lambda *_: heard.append(1))
begin_early()
for _ in range(10):
    time.sleep(0.1)
    os.killpg(0, signal.SIGINT)
assert len(heard) == 10
print(pool_of(1).submit(os.getppid).result() > 0)
"""


@pytest.mark.proof
def test_workers_are_there_below_a_long_path_and_signals_while_they_are_made_ready_are_for_the_command_alone(tmp_path):
    place = tmp_path / ("a" * 60) / ("b" * 60)
    place.mkdir(parents=True)
    given = {"env": os.environ | {"TMPDIR": str(place)}, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], start_new_session=True, **given)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_where_no_path_is_short_enough_a_sentence_says_so(monkeypatch):
    monkeypatch.setattr(pool, "_SHORT", ())
    monkeypatch.setattr(tempfile, "tempdir", "/" + "a" * 75)
    with pytest.raises(InputError, match=r"TMPDIR must be a path of at most 75 bytes, .* got one of 76"):
        pool._begin()
    monkeypatch.setattr(tempfile, "tempdir", "/" + "a" * 74)
    with pool._short_place():
        assert tempfile.gettempdir() == "/" + "a" * 74
