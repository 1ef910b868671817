"""Tests that need a server and a worker run only where ``run_services.py`` has started them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from prefect.client.orchestration import SyncPrefectClient, get_client


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("SYNTHRISK_SERVICES") == "1":
        return
    skip = pytest.mark.skip(reason="needs a server and a worker: make services")
    for item in items:
        if item.path.parent.name == "deployments" and item.get_closest_marker("services"):
            item.add_marker(skip)


@pytest.fixture(scope="module")
def client() -> Iterator[SyncPrefectClient]:
    """Give a client of the server."""
    with get_client(sync_client=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def home() -> Path:
    """Give the folder in which the worker runs."""
    return Path(os.environ["SYNTHRISK_HOME"])
