"""A study run from the command line: as a flow of Prefect, or its course alone, which begins sooner."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from synthrisk.conf import Study
from synthrisk.flows.worker_pool import begin_early, may_be_found_again


def studied(study: Study, run: Callable[[Any], Any], *, prefect: bool = False) -> Any:
    """Return the outcome of a study.

    Where a Prefect API is configured, and with ``prefect`` on a temporary one, ``run`` is given the flow ``benchmark``;
    elsewhere its course runs here, on worker processes of our own: the same tasks, with no trace in Prefect's history.

    Raises:
        InputError: The study or its data break a rule; nothing has been computed yet.
    """
    processes = study.runner.kind == "processes"
    if processes and not prefect and not may_be_found_again(Path(study.workspace)):
        begin_early()
    from synthrisk.flows.check import check, checked_on

    check(study)
    from synthrisk.flows.calls import PlainCalls
    from synthrisk.flows.configured import is_configured
    from synthrisk.flows.course import course
    from synthrisk.flows.gone import with_or_without
    from synthrisk.flows.pool_calls import pool_calls
    from synthrisk.flows.sample import sample_of

    sample = sample_of(study)
    with checked_on(study, sample):
        if processes and not prefect and not is_configured():
            with pool_calls(study.runner.workers) as calls:
                return course(study, sample, calls)
        from synthrisk.flows.server import prefect_api

        with prefect_api(meanwhile="synthrisk.flows.benchmark"):
            from synthrisk.flows.benchmark import benchmark

            return with_or_without(lambda: run(benchmark), lambda: course(study, sample, PlainCalls()))
