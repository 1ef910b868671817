"""A study with what its block says, for a command."""

from collections.abc import Iterator
from contextlib import contextmanager

from synthrisk.conf import Study
from synthrisk.tasks.tracking.where import with_block


@contextmanager
def tracked(study: Study) -> Iterator[Study]:
    """Yield a study with what its block says; while the block is used there is a Prefect API, which keeps it.

    Raises:
        InputError: There is no such block.
    """
    if not study.tracking.block:
        yield study
        return
    from synthrisk.flows.server import prefect_api

    with prefect_api():
        yield with_block(study)
