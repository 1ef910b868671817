"""The two ways to call tasks: what fails, what is tried again, and that the course of a study does not see which."""

import os
import pickle
import threading
import time
from collections.abc import Callable
from uuid import uuid4

import cloudpickle
import pytest
from prefect import flow, task
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import TaskRunFilter, TaskRunFilterName
from prefect.task_runners import ProcessPoolTaskRunner, ThreadPoolTaskRunner
from waiting import until

from synthrisk.flows.execution.calls_and_retries import LOST, OURS, How, PlainCalls
from synthrisk.flows.execution.task_runs import TaskRuns, _Quoted
from synthrisk.metrics.errors import InputError


def counting(fails: int, error: type[Exception] = ValueError) -> tuple[Callable[..., int], list[int]]:
    runs: list[int] = []

    @task
    def add(value: int) -> int:
        runs.append(value)
        if len(runs) <= fails:
            raise error(f"failed {len(runs)}")
        return value + 1

    return add, runs


def test_a_call_runs_once_when_it_is_asked_for_and_takes_the_answers_of_others():
    add, runs = counting(0)
    answer = PlainCalls().submit(add, 4)
    assert runs == []
    assert (answer.result(), answer.failure(), answer.result(), runs) == (5, None, 5, [4])
    calls = PlainCalls()
    assert (calls.submit(add, calls.submit(add, 1)).result(), runs) == (3, [4, 1, 2])
    assert (calls.call(add, value=2), runs) == (3, [4, 1, 2, 2])


def test_a_failed_call_is_tried_again_as_often_as_is_said_after_waits_that_double_up_to_an_hour():
    for how, failure, count, seconds in ((How(2), None, 3, 0), (How(1), "failed 2", 2, 0), (How(2, 0.1), None, 3, 0.3)):
        (add, runs), before = counting(2), time.monotonic()
        assert PlainCalls().submit(add, 1, how=how).failure() == failure
        assert (runs, time.monotonic() - before >= seconds) == ([1] * count, True)
    assert (How(4, 2.0).delays, How(3, 3000.0).delays) == ([2, 4, 8, 16], [3000, 3600, 3600])
    assert (How(0, 5.0).delays, len(How(80, 1.0).delays)) == ([], 50)


def test_a_failure_is_told_and_raised_and_passed_on():
    add, _ = counting(9, InputError)
    calls = PlainCalls()
    failed = calls.submit(add, 1)
    after = calls.submit(add, failed)
    assert (failed.failure(), after.failure()) == ("failed 1", "failed 1")
    with pytest.raises(InputError, match="failed 1"):
        failed.result()


@pytest.mark.proof
@pytest.mark.usefixtures("prefect_database")
def test_task_runs_in_this_process_run_when_they_are_asked_for_and_take_the_answers_of_others():
    add, runs = counting(0)

    @flow
    def adds() -> tuple[list[int], int, list[int]]:
        calls = TaskRuns().here()
        answer = calls.submit(add, calls.submit(add, 1))
        return list(runs), answer.result(), list(runs)

    assert adds() == ([], 3, [1, 2])


@pytest.mark.proof
@pytest.mark.usefixtures("prefect_database")
def test_a_task_run_gets_what_it_is_given_though_prefect_does_not_look_inside():
    @task
    def same(*given: object, **named: object) -> object:
        return given, named

    @flow
    def handed() -> object:
        calls = TaskRuns()
        earlier = calls.submit(same, 1)
        return calls.call(same, [1, {"a": None}], name=(2, "x")), calls.submit(same, earlier, [3], name={4}).result()

    called, submitted = handed()
    assert called == (([1, {"a": None}],), {"name": (2, "x")})
    assert submitted == ((((1,), {}), [3]), {"name": {4}})


@pytest.mark.proof
def test_prefect_waits_and_tries_again(prefect_database):
    name, runs = f"unsure-{uuid4()}", []

    @task(name=name, task_run_name=name)
    def unsure() -> int:
        runs.append(1)
        if len(runs) < 3:
            raise ValueError("not yet")
        return len(runs)

    @flow(task_runner=ThreadPoolTaskRunner(max_workers=1))
    def tries() -> int:
        return TaskRuns().submit(unsure, how=How(2, 0.2, ("kind:unsure",))).result()

    assert tries() == 3
    wanted = TaskRunFilter(name=TaskRunFilterName(any_=[name]))
    with get_client(sync_client=True) as client:
        (run,) = until(lambda: client.read_task_runs(task_run_filter=wanted), seconds=60)  # it hears of runs by events
    assert run.tags == ["kind:unsure"]
    assert (run.empirical_policy.retries, run.empirical_policy.retry_delay) == (2, [0.2, 0.4])


@pytest.mark.proof
@pytest.mark.parametrize(("limit", "most"), [(1, 1), (2, 2)])
def test_a_limit_on_a_tag_holds_for_tasks_at_once(start_python, limit, most):
    tag, inside, seen, lock = f"kind:licensed-{limit}", [0], [], threading.Lock()
    made = start_python("-m", "prefect", "concurrency-limit", "create", tag, limit, cwd=".")
    _, err = made.communicate()
    assert made.returncode == 0, err

    @task
    def heavy() -> None:
        with lock:
            inside[0] += 1
            seen.append(inside[0])
        until(lambda: max(seen) >= most, seconds=30, pause=0.05)  # until there are as many as there may be
        time.sleep(0.5)
        with lock:
            inside[0] -= 1

    @flow(task_runner=ThreadPoolTaskRunner(max_workers=3))
    def many() -> None:
        for answer in [TaskRuns().submit(heavy, how=How(tags=(tag,))) for _ in range(3)]:
            answer.result()

    many()
    assert (len(seen), max(seen)) == (3, most)


@pytest.mark.proof
def test_what_is_ours_is_done_here_where_its_worker_is_killed(prefect_database):
    @task
    def falls(parent: int) -> int:
        if os.getpid() != parent:
            os.kill(os.getpid(), 9)
        return parent

    @flow(task_runner=ProcessPoolTaskRunner(max_workers=1))
    def loses() -> tuple[str | None, list[int]]:
        calls, own = TaskRuns(), os.getpid()
        foreign = calls.submit(falls, own)
        beside = calls.submit(falls, own, how=OURS)
        lost = foreign.failure()
        after = calls.submit(falls, own, how=OURS)  # there are no workers left
        assert (beside.failure(), after.failure()) == (None, None)
        return lost, [beside.result(), after.result()]

    assert loses() == (LOST, [os.getpid()] * 2)


@pytest.mark.parametrize("value", [1, (1, 2), [{"a": None}], "x"])
def test_what_is_quoted_is_the_same_in_another_process(value):
    assert pickle.loads(cloudpickle.dumps(_Quoted(value))) == _Quoted(value)
    assert _Quoted(value).unquote() == value


SERVED = """
import sys, threading
from uuid import uuid4
from prefect import flow, task
from prefect.futures import PrefectDistributedFuture
from prefect.task_runners import PrefectTaskRunner
from prefect.task_worker import serve
from synthrisk.flows.execution.calls_and_retries import PlainCalls
from synthrisk.flows.execution.task_runs import TaskRuns, _Run
from synthrisk.flows.orchestration.server import watched

@task(name="served-NAME")
def add(value: int) -> int:
    if value > 8:
        raise ValueError("too much")
    return value + 1

@flow(task_runner=PrefectTaskRunner())
def adds() -> None:
    calls = TaskRuns()
    first = calls.submit(add, 1)
    second, failed = calls.submit(add, value=first.result()), calls.submit(add, 9)
    print("found", second.result(), second.failure(), failed.failure())

if __name__ == "__main__":
    if sys.argv[1:]:
        serve(add)
    else:
        adds()
        nobody_does_it = PrefectDistributedFuture(uuid4())
        with watched(lambda: False, 0):
            lost = _Run(nobody_does_it, PlainCalls().submit(add, 4))
            print("found", lost.result(), lost.failure())
"""


@pytest.mark.proof
def test_futures_that_can_only_ask_the_server_are_as_good(start_python, tmp_path):
    (tmp_path / "served_tasks.py").write_text(SERVED.replace("NAME", str(uuid4())))
    worker = start_python("served_tasks.py", "serve", cwd=tmp_path)
    try:
        out, err = start_python("served_tasks.py", cwd=tmp_path).communicate(timeout=120)
    finally:
        worker.terminate()
        worker.communicate(timeout=30)
    told = [line for line in out.splitlines() if line.startswith("found")]
    assert told == ["found 3 None too much", "found 5 None"], err
