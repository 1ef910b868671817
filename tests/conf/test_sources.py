"""Tables of plugins: their options are refused before anything is read."""

from importlib.metadata import EntryPoint, EntryPoints

import pandas as pd
import pytest

from synthrisk.conf import tables as module
from synthrisk.conf.study import BuiltIn
from synthrisk.metrics import InputError
from synthrisk.metrics.plugins import SOURCE_GROUP
from synthrisk.tasks.data.source import read


def patients(*, ward: str, rows: int = 2) -> pd.DataFrame:
    return pd.DataFrame({"ward": [ward] * rows})


HELD = {
    "patients": patients, "anything": lambda **options: pd.DataFrame([options]), "nothing": lambda: 3, "constant": 3,
    "absent": AttributeError("module has no attribute 'absent'"),
    "gone": ModuleNotFoundError("No module named 'no_such_module'"),
}  # fmt: skip


def loaded(entry):
    if isinstance(HELD[entry.name], Exception):
        raise HELD[entry.name]
    return HELD[entry.name]


@pytest.fixture(autouse=True)
def plugins(monkeypatch):
    found = EntryPoints(EntryPoint(name, f"of_plugins:{name}", SOURCE_GROUP) for name in HELD)
    monkeypatch.setattr(module, "points", lambda group: found)
    monkeypatch.setattr(EntryPoint, "load", loaded)


def test_keyword_options_reach_the_function():
    assert read(BuiltIn(name="patients", options={"ward": "B", "rows": 3})).ward.tolist() == ["B"] * 3
    assert read(BuiltIn(name="anything", options={"depth": 1})).depth.tolist() == [1]


@pytest.mark.parametrize(("name", "options", "told"), [
    ("patients", {"ward": "B", "row": 3}, "takes no option 'row' (did you mean 'rows'?); it takes ward, rows"),
    ("patients", {"rows": 3}, "patients needs the option 'ward', got ['rows']"),
    ("patients", None, "patients needs the option 'ward', got none"),  # the name alone
    ("patients", {}, "patients needs the option 'ward', got none"),
    ("nothing", {}, "table 'nothing' must be a DataFrame of pandas, got int"),
    ("constant", {}, "must be a function, got int"),
    ("absent", {}, "cannot be loaded"), ("gone", {}, "cannot be loaded: No module named 'no_such_module'"),
    ("patient", {}, "no table is called 'patient' (did you mean 'patients'?)"),
])  # fmt: skip
def test_what_cannot_work_is_refused(name, options, told):
    with pytest.raises((InputError, ValueError)) as caught:
        read(BuiltIn(name=name, options=options) if options is not None else name)
    assert told in str(caught.value)
