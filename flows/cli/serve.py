"""``synthrisk serve``: a study on a schedule, on this machine alone, without a work pool."""

import asyncio
import math
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefect.client.schemas.schedules import CronSchedule
from pydantic import ValidationError

from synthrisk.conf import Study
from synthrisk.flows.cli.exit_codes import UsageError
from synthrisk.flows.connections import check_prefect
from synthrisk.flows.execution.signals import interruptible
from synthrisk.metrics.errors import InputError

if TYPE_CHECKING:
    from prefect.runner import Runner

_MONDAYS = "0 3 * * 1"
_PATIENCE = 20.0  # seconds after Ctrl-C in which Prefect may pause the schedule, and end the run that is under way
_FORBIDDEN = "/%&<>"  # as Prefect has it
_START = "start one with `prefect server start` and set PREFECT_API_URL=http://127.0.0.1:4200/api"


@dataclass(frozen=True)
class When:
    """When a study runs: by a cron expression in a time zone, every so many seconds, or by hand alone."""

    cron: str | None = None
    timezone: str = "UTC"
    interval: float | None = None

    @property
    def in_words(self) -> str:
        """As one says it."""
        if self.cron is not None:
            return f"at {self.cron!r} ({self.timezone})"
        return "when asked to" if self.interval is None else f"every {self.interval:g} seconds"


def check_when(when: When) -> None:
    """Refuse a schedule that is none.

    Raises:
        InputError: So it is.
    """
    if when.cron is not None and when.interval is not None:
        raise UsageError(f"--cron and --interval must not stand together, got {when.cron!r} and {when.interval:g}")
    if when.interval is not None and not 0 < when.interval < math.inf:
        raise UsageError(f"--interval must be a number of seconds above 0, got {when.interval:g}")
    cron = _MONDAYS if when.cron is None else when.cron
    if not _fits(cron, "UTC"):
        raise UsageError(f"--cron must be five fields such as {_MONDAYS!r}, got {cron!r}")
    if not _fits(_MONDAYS, when.timezone):
        raise UsageError(f"--timezone must be a name such as Europe/Vienna, got {when.timezone!r}")


def _fits(cron: str, timezone: str) -> bool:
    try:
        CronSchedule(cron=cron, timezone=timezone)
    except ValidationError:
        return False
    return True


def check_name(name: str | None) -> None:
    """Refuse a name that no deployment can have.

    Raises:
        InputError: So it is.
    """
    if name is not None and (not name.strip() or set(name) & set(_FORBIDDEN)):
        raise UsageError(f"--name must hold none of {' '.join(_FORBIDDEN)}, and a letter, got {name!r}")


def check_api() -> None:
    """Refuse to serve without a Prefect server that stays: one of our own would end with this command.

    Raises:
        InputError: None is configured, or the one that is does not answer.
    """
    from prefect.settings import PREFECT_API_URL

    url = PREFECT_API_URL.value()
    if not url:
        raise InputError(f"serve must have a Prefect server, got no PREFECT_API_URL; {_START}")
    check_prefect(url)


def serve_study(study: str, settings: Study, overrides: Sequence[str], when: When, name: str | None) -> None:
    """Make a deployment of a study, and run what is due, one run at a time, until Ctrl-C, which pauses its schedule.

    Args:
        study: The file, or the name of a shipped one.
        settings: What it says, checked already.
        overrides: Settings that replace those of the study.
        when: The schedule.
        name: Name of the deployment; the study's unless given.
    """
    import typer
    from prefect.runner import Runner
    from prefect.schedules import Cron, Interval
    from prefect.types.entrypoint import EntrypointType

    from synthrisk.flows.benchmark import benchmark

    file, called = Path(study), name or settings.name
    place = str(file.absolute()) if file.is_file() else study  # whoever reads the deployment sees which file it is
    schedule = Interval(when.interval) if when.interval else None
    schedule = Cron(when.cron, timezone=when.timezone) if when.cron else schedule
    typer.echo(f"serving study {settings.name} from {os.getcwd()} as benchmark/{called}, {when.in_words}")  # noqa: PTH109
    typer.echo(f"now: prefect deployment run benchmark/{called}; Ctrl-C ends, and pauses the schedule")
    runner = Runner(name=called, limit=1)
    deployment = runner.add_flow(
        benchmark,
        name=called,
        schedule=schedule,
        parameters={"study": place, "overrides": list(overrides)},
        description=f"Study {settings.name}, served by `synthrisk serve` on one machine.",
        tags=["synthrisk", f"study:{settings.name}"],
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    with suppress(KeyboardInterrupt):
        asyncio.run(_started(runner, deployment))


async def _started(runner: "Runner", deployment: Any) -> None:
    # here, for the event loop has a way of its own to hear of Ctrl-C
    with interruptible(_PATIENCE, partial(_pause, deployment)):
        await runner.start()


def _pause(deployment: Any) -> None:
    """Pause a schedule; Prefect's runner does so too, where it is not held up."""
    from prefect.client.orchestration import get_client

    with suppress(Exception), get_client(sync_client=True) as client:
        client.pause_deployment(deployment)
