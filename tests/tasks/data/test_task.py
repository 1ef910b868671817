from synthrisk.conf.study import Data, Split
from synthrisk.tasks.data import Table
from synthrisk.tasks.data.task import data


def test_task_returns_a_reference(tmp_path):
    settings = Data(source="adult", quasi_identifiers="*", sensitive=["income"], rows=100)
    table = data.fn(settings, Split(), str(tmp_path), 1)
    assert isinstance(table, Table)
    assert table.rows == len(table.read()) == 100
    assert data.name == "data"
