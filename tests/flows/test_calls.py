"""The two ways to call tasks: what fails, what is tried again, and that the course of a study does not see which."""

import pickle
from collections.abc import Callable

import cloudpickle
import pytest
from prefect import flow, task
from prefect.utilities.annotations import quote

from synthrisk.flows.calls import PlainCalls, TaskRuns, _handed
from synthrisk.metrics.errors import InputError


def counting(fails: int, error: type[Exception] = ValueError) -> tuple[Callable[..., int], list[int]]:
    """Return a task that fails so many times, then adds one to what it is given; and the list of its runs."""
    runs: list[int] = []

    @task
    def add(value: int) -> int:
        runs.append(value)
        if len(runs) <= fails:
            raise error(f"failed {len(runs)}")
        return value + 1

    return add, runs


def test_a_call_runs_once_and_when_it_is_asked_for():
    add, runs = counting(0)
    answer = PlainCalls().submit(add, 4)
    assert runs == []
    assert (answer.result(), answer.failure(), answer.result()) == (5, None, 5)
    assert runs == [4]


def test_a_call_takes_the_answers_of_others():
    add, runs = counting(0)
    calls = PlainCalls()
    assert calls.submit(add, calls.submit(add, 1)).result() == 3
    assert runs == [1, 2]


def test_a_failed_call_is_tried_again_as_often_as_is_said():
    add, runs = counting(2)
    assert PlainCalls().submit(add, 1, retries=2).failure() is None
    assert runs == [1, 1, 1]
    add, runs = counting(2)
    assert PlainCalls().submit(add, 1, retries=1).failure() == "failed 2"
    assert len(runs) == 2


def test_a_failure_is_told_and_raised_and_passed_on():
    add, _ = counting(9, InputError)
    calls = PlainCalls()
    failed = calls.submit(add, 1)
    after = calls.submit(add, failed)
    assert (failed.failure(), after.failure()) == ("failed 1", "failed 1")
    with pytest.raises(InputError, match="failed 1"):
        failed.result()


def test_call_runs_at_once():
    add, runs = counting(0)
    assert PlainCalls().call(add, value=2) == 3
    assert runs == [2]


def test_task_runs_in_this_process_run_when_they_are_asked_for_and_take_the_answers_of_others():
    add, runs = counting(0)

    @flow
    def adds() -> tuple[list[int], int, list[int]]:
        calls = TaskRuns().here()
        answer = calls.submit(add, calls.submit(add, 1))
        return list(runs), answer.result(), list(runs)

    assert adds() == ([], 3, [1, 2])


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


def test_what_a_task_run_gets_is_the_same_after_it_was_sent_to_another_process():
    (given,), named = _handed([[1, {"a": None}]], {"name": (2,)})
    for each, meant in ((given, [1, {"a": None}]), (named["name"], (2,))):
        for sent in (each, cloudpickle.loads(cloudpickle.dumps(each)), pickle.loads(pickle.dumps(each))):
            assert isinstance(sent, quote)
            assert sent.unquote() == meant
