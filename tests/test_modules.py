"""Every module can be imported under a short name, though some packages have a function of that name, too."""

import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import prefect
import pytest

from synthrisk import conf, flows, metrics, tasks


def all_modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        module = import_module(found.name)
        yield module
        if found.ispkg:
            yield from all_modules(module)


OF_TASKS = [name for name in tasks.__all__ if find_spec(f"{tasks.__name__}.{name}")]


@pytest.fixture(scope="module")
def modules() -> dict[str, ModuleType]:
    rooms = (conf, flows, metrics, tasks)
    return {module.__name__: module for room in rooms for module in (room, *all_modules(room))}


def test_import_as_gives_the_module_and_all_that_it_holds(modules):
    assert len(modules) > 200
    for name, module in modules.items():
        place: dict[str, object] = {}
        exec(f"import {name} as short", place)
        short = place["short"]
        held = {own: what for own, what in vars(module).items() if not own.startswith("__")}
        lost = [own for own, what in held.items() if getattr(short, own) is not what]
        assert not lost, f"import {name} as c: c.{lost[0]} is not what the module holds"
        assert short is module or name.rpartition(".")[2] in OF_TASKS, f"{name} is hidden by {short!r}"


@pytest.mark.proof
def test_the_first_import_of_a_module_may_be_that_one():
    code = (
        "import synthrisk.tasks.synthesize.cart as c\n"
        "from synthrisk.tasks.synthesize import cart\n"
        "from synthrisk.tasks import synthesize\n"
        "print(c.CART.name, c is cart, synthesize.fn.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["cart", "True", "synthesize"], done.stderr


@pytest.mark.parametrize("name", OF_TASKS)
def test_a_task_keeps_all_that_is_prefects(modules, name):
    held = {own for own in vars(modules[f"{tasks.__name__}.{name}"]) if not own.startswith("_")}
    task = getattr(tasks, name)
    assert not held & {own for own in [*dir(prefect.Task), *vars(task._task)] if not own.startswith("_")}
    assert isinstance(task, prefect.Task)


def test_what_the_module_holds_is_not_set_through_the_task():
    import synthrisk.tasks.judge as short

    with pytest.raises(AttributeError, match=r"check_given is set in sys.modules\['synthrisk.tasks.judge'\] alone"):
        short.check_given = None
