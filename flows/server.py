"""A Prefect API for the time of a command: the one that is configured, or one of our own that all processes share."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from synthrisk.flows.gone import PATIENCE, also_quiet, watched

if TYPE_CHECKING:
    from synthrisk.flows.own_server import OwnServer


@contextmanager
def prefect_api(meanwhile: str = "") -> Iterator[str]:
    """Yield the address of the Prefect API.

    Without one configured, worker processes would each start a server of their own on one SQLite file; so one
    is started here, and its address put where worker processes look. While it starts, the module ``meanwhile`` is
    imported: what the block needs.

    Raises:
        InputError: The configured one does not answer.
    """
    from prefect.settings import PREFECT_API_URL, temporary_settings

    from synthrisk.flows.reach import answers_at, check_prefect

    configured = PREFECT_API_URL.value()
    if configured:
        check_prefect(configured)
        with watched(partial(answers_at, configured), PATIENCE):
            yield configured
        return
    from synthrisk.flows.own_server import OwnServer

    with _ended(OwnServer()) as server, _in_environment(server.api_url):
        if meanwhile:
            import_module(meanwhile)
        server.wait()
        with temporary_settings({PREFECT_API_URL: server.api_url}), watched(server.lives, 0):
            yield server.api_url


@contextmanager
def _ended(server: "OwnServer") -> Iterator["OwnServer"]:
    """End a server after the block."""
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def _in_environment(url: str) -> Iterator[None]:
    """Put the address where worker processes look, and Prefect's own threads, which would start one more server."""
    from prefect.context import refresh_global_settings_context

    before = os.environ.get("PREFECT_API_URL")
    os.environ["PREFECT_API_URL"] = url
    refresh_global_settings_context()
    try:
        yield
    finally:
        os.environ.pop("PREFECT_API_URL")
        if before is not None:
            os.environ["PREFECT_API_URL"] = before
        refresh_global_settings_context()


@contextmanager
def workers_share_the_api() -> Iterator[None]:
    """Have worker processes use the API of the flow that is under way: without one configured it has one of its own."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    url = PREFECT_API_URL.value()
    if not url:
        from prefect.server.api.server import SubprocessASGIServer

        url = SubprocessASGIServer().api_url
    with temporary_settings({PREFECT_API_URL: url}):
        also_quiet()
        yield
