"""A Prefect API for the time of a command: the one that is configured, or one of our own that all processes share."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from prefect.logging.handlers import APILogHandler
from prefect.server.api.server import SubprocessASGIServer
from prefect.settings import PREFECT_API_URL, temporary_settings

from synthrisk.flows.reach import check_prefect


@contextmanager
def prefect_api() -> Iterator[str]:
    """Yield the address of the Prefect API.

    Without one configured, worker processes would each start a server of their own on one SQLite file; so one
    is started here, and its address put where worker processes look.

    Raises:
        InputError: The configured one does not answer.
    """
    configured = PREFECT_API_URL.value()
    if configured:
        check_prefect(configured)
        yield configured
        return
    server = SubprocessASGIServer()
    server.start()
    before = os.environ.get("PREFECT_API_URL")
    os.environ["PREFECT_API_URL"] = server.api_url
    try:
        with temporary_settings({PREFECT_API_URL: server.api_url}):
            yield server.api_url
    finally:
        APILogHandler().flush()  # what is still to be logged goes to this server
        os.environ.pop("PREFECT_API_URL")
        if before is not None:
            os.environ["PREFECT_API_URL"] = before
        server.stop()


@contextmanager
def workers_share_the_api() -> Iterator[None]:
    """Have worker processes use the API of the flow that is under way: without one configured it has one of its own."""
    with temporary_settings({PREFECT_API_URL: PREFECT_API_URL.value() or SubprocessASGIServer().api_url}):
        yield
