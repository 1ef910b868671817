import pandas as pd
import pytest

from synthrisk.conf.plan import plan
from synthrisk.conf.study import Data
from synthrisk.flows import preflight as module
from synthrisk.flows.preflight import foreseen
from synthrisk.metrics.study.feasibility import Foreseen
from synthrisk.tasks.data.task import given
from synthrisk.tasks.workspace.references import Sample

TABLE = pd.DataFrame({"age": range(40), "zip": [1, 2] * 20, "ill": ["yes", "no", "no", "no"] * 10})


@pytest.fixture
def looks(monkeypatch) -> list[int]:
    found, look = [], module.foresee
    monkeypatch.setattr(module, "foresee", lambda *given: found.append(1) or look(*given))
    return found


def test_a_table_is_looked_at_once_for_the_same_questions(tmp_path, looks):
    def told(metric: str, table: pd.DataFrame) -> Foreseen:
        table.to_csv(tmp_path / "real.csv", index=False)
        data = Data(source=str(tmp_path / "real.csv"), quasi_identifiers=["age", "zip"], sensitive=["ill"])
        sample = Sample.of(data, *given.fn(data, None, 1, str(tmp_path / "ws")), str(tmp_path / "ws"), 1)
        return foreseen(sample, plan([metric], sample.columns, sample.key, sample.sensitive))

    first = told("zero_cap", TABLE)
    assert (told("zero_cap", TABLE), len(looks)) == (first, 1)
    told("generalized_cap", TABLE)
    assert told("generalized_cap", TABLE.assign(ill=[f"of {k}" for k in range(40)])).refusals
    assert (told("zero_cap", TABLE), len(looks)) == (first, 4)
