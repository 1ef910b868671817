"""A study with what its block says, for a command."""

from collections.abc import Iterator
from contextlib import contextmanager

from synthrisk.conf import Study
from synthrisk.conf.study import Tracking
from synthrisk.tasks.tracking.where import with_block


@contextmanager
def tracked(study: Study) -> Iterator[Study]:
    """Yield a study with what its block says; while the block is used there is a Prefect API, which keeps it.

    Raises:
        InputError: There is no such block.
    """
    with block_readable(study.tracking):
        yield with_block(study)


@contextmanager
def block_readable(tracking: Tracking) -> Iterator[None]:
    """Have a Prefect API in the time of the block, where a block is named."""
    if not tracking.block:
        yield
        return
    from synthrisk.flows.server import prefect_api

    with prefect_api():
        yield
