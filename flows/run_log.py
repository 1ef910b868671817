"""The log of the flow run that is under way; outside of flows that of the package."""

import logging
from typing import Any

from synthrisk.flows.flow_run import flow_run

_OURS = logging.getLogger("synthrisk")
_OURS.addHandler(logging.NullHandler())  # commands say themselves what is to be known


def run_log() -> "logging.Logger | logging.LoggerAdapter[Any]":
    """Return where lines go that Prefect's pages shall show, where there is a flow run."""
    if flow_run() is None:
        return _OURS
    from prefect import get_run_logger

    return get_run_logger()
