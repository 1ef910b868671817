"""The log of the flow run that is under way; outside of flows that of the package."""

import logging
from typing import Any

from prefect import get_run_logger
from prefect.context import FlowRunContext
from prefect.logging import get_logger


def run_log() -> "logging.Logger | logging.LoggerAdapter[Any]":
    """Return where lines go that Prefect's pages shall show, where there is a flow run."""
    return get_run_logger() if FlowRunContext.get() else get_logger("synthrisk")
