import copy
import inspect
import pickle
import subprocess
import sys

import cloudpickle
import pytest
from prefect import Task, flow

from synthrisk.tasks.report import report
from synthrisk.tasks.sample import split
from synthrisk.tasks.workspace.verb import _Verb, verb


@verb("double", "twice {number}")
def double(number: int) -> int:
    """Return twice a number."""
    return 2 * number


def test_a_verb_is_a_prefect_task():
    assert isinstance(double, Task)
    assert (double.name, double.task_run_name, double.persist_result) == ("double", "twice {number}", False)
    assert (double.with_options(retries=3).retries, double.fn(2), double.__doc__) == (3, 4, "Return twice a number.")
    assert list(inspect.signature(double).parameters) == ["number"]


@pytest.mark.proof
def test_a_flow_of_somebody_else_calls_submits_and_maps_it(prefect_database):
    @flow
    def own() -> tuple[int, int, list[int]]:
        return double(1), double.submit(2).result(), double.map([3, 4]).result()

    assert own() == (2, 4, [6, 8])


def test_what_is_set_on_it_is_set_on_the_task_and_one_that_is_not_made_yet_has_nothing():
    own = verb("own")(lambda: None)
    own.retries = 3
    assert own.with_options().retries == own.retries == 3
    with pytest.raises(AttributeError, match="fn"):
        _Verb.__new__(_Verb).fn()


def test_it_is_itself_after_a_journey():
    assert pickle.loads(pickle.dumps(report)) is report
    assert cloudpickle.loads(cloudpickle.dumps(report)) is report
    assert copy.deepcopy(split) is split


@pytest.mark.proof
def test_commands_and_workers_need_not_import_prefect():
    code = (
        "import sys\n"
        "import synthrisk.flows.cli.evaluate, synthrisk.flows.cli.benchmark\n"
        "own = {'prefect', 'mlflow', 'matplotlib', 'sklearn', 'numba'} & set(sys.modules)\n"
        "import synthrisk.flows.execution.forkserver\n"
        "print(own, 'prefect' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["set()", "False"]
