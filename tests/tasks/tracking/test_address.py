"""Where runs go: the workspace unless a store is named."""

from synthrisk.conf.study import Tracking
from synthrisk.tasks.tracking.addresses import store_address


def test_store_is_the_workspaces_unless_named(tmp_path, monkeypatch):
    assert store_address(Tracking(), tmp_path) == f"sqlite:///{tmp_path / 'mlflow.db'}"
    monkeypatch.setenv("SYNTHRISK_TEST", "s3cret")
    monkeypatch.setenv("SYNTHRISK_VARIABLES", "SYNTHRISK_TEST")
    assert store_address(Tracking(uri="http://u:${SYNTHRISK_TEST}@host"), tmp_path) == "http://u:s3cret@host"
