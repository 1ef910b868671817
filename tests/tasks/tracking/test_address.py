"""Where runs go: the workspace unless a store is named, and never with the password in what is said of it."""

from synthrisk.conf.study import Tracking
from synthrisk.tasks.tracking.address import store_address, without_user


def test_store_is_the_workspaces_unless_named(tmp_path, monkeypatch):
    assert store_address(Tracking(), tmp_path) == f"sqlite:///{tmp_path / 'mlflow.db'}"
    monkeypatch.setenv("SYNTHRISK_TEST", "s3cret")
    assert store_address(Tracking(uri="http://u:${SYNTHRISK_TEST}@host"), tmp_path) == "http://u:s3cret@host"


def test_links_and_results_never_hold_the_stores_password():
    assert without_user("http://u:s3cret@host:5000/x") == "http://host:5000/x"
    assert without_user("sqlite:////a/mlflow.db") == "sqlite:////a/mlflow.db"
