"""The flow run that is under way, asked without the second that it takes to import Prefect."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prefect.context import FlowRunContext


def flow_run() -> "FlowRunContext | None":
    """Return its context; None where there is none, such as where nothing has imported Prefect yet."""
    if "prefect.context" not in sys.modules:
        return None
    from prefect.context import FlowRunContext

    return FlowRunContext.get()
