"""What all tests of searches need."""

import pytest

from synthrisk.metrics.neighbours.nearest import prepare


@pytest.fixture(autouse=True, scope="session")
def walks():
    """Compile the walks through trees: few records are not searched by them before."""
    prepare(walks=True)
