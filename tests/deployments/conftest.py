"""Tests that need a server and a worker run only where ``run_services.py`` has started them."""

import os

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("SYNTHRISK_SERVICES") == "1":
        return
    skip = pytest.mark.skip(reason="needs a server and a worker: make services")
    for item in items:
        if item.path.parent.name == "deployments" and item.get_closest_marker("services"):
            item.add_marker(skip)
