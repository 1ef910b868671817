"""What all tests of exposure need."""

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Multiply small matrices on one thread: on a busy machine several wait for each other, fifty times as long."""
    with threadpool_limits(1, user_api="blas"):
        yield
