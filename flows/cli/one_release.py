"""One release judged from the command line: understood, checked, attacked, and told."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from synthrisk.conf import Study
from synthrisk.conf.plan import plan
from synthrisk.flows.calls import Calls, PlainCalls
from synthrisk.flows.check import check, checked_on
from synthrisk.flows.cli.as_json import check_file, write_json
from synthrisk.flows.cli.ends import UsageError
from synthrisk.flows.cli.long_table import TOGETHER
from synthrisk.flows.cli.proposal_lines import print_guesses, print_left_out, print_proposal, print_roles
from synthrisk.flows.cli.summary import close
from synthrisk.flows.cli.vendor_answer import print_vendor_answer, vendor_answer
from synthrisk.flows.configured import is_configured
from synthrisk.flows.course import course
from synthrisk.flows.gone import with_or_without
from synthrisk.flows.one_release import asked_text, check_control, prepared, study_of, understood, with_fresh
from synthrisk.flows.outcome import Outcome
from synthrisk.flows.pool_calls import pool_calls
from synthrisk.flows.progress import step
from synthrisk.flows.worker_pool import is_begun
from synthrisk.tasks.data.source import check_there
from synthrisk.tasks.propose.measures import check_limit, limits
from synthrisk.tasks.workspace.references import Sample

_WORKERS = 2


class Asked(NamedTuple):
    """What is asked of a release: the study that judges it, on its table."""

    study: Study
    sample: Sample
    warning: str  # why all numbers are hard to read
    arguments: Mapping[str, Any]  # the same as arguments of the flow ``evaluate``


def judged(
    said: Mapping[str, Any],
    others: Mapping[str, Any],
    limit: float | None,
    json_to: Path | None,
    *,
    verbose: bool = False,
    for_vendor: bool = False,
) -> int:
    """Judge one release and print what was found; return the exit code.

    Args:
        said: What the tables are, mean, and are attacked with.
        others: The other arguments of ``evaluate``.
        limit: One number for all measures that can have it.
        json_to: File for the results.
        verbose: Whether all tables are printed before the answer.
        for_vendor: Whether only that is told which may go back to the maker of the release.

    Raises:
        InputError: An argument or a table breaks a rule.
    """
    check_control(said["control"], said["thresholds"])
    if limit is not None:
        _check_limit(limit, said["control"])
    check_file(json_to, [said["real"], others["synthetic"], said["control"] or ""])
    for table in filter(None, (said["real"], others["synthetic"], said["control"])):
        check_there(table)
    with step("reading the tables"):
        asked = asked_of(said, others, limit, shows=not for_vendor, verbose=verbose)
    with checked_on(asked.study, asked.sample):
        outcome = _outcome(*asked)
    if for_vendor:
        print_vendor_answer(outcome.result)
    else:
        close(outcome, verbose=verbose)  # first: what it tells stands though the file cannot be written
    write_json(json_to, outcome.result, vendor_answer(outcome.result) if for_vendor else None)
    return outcome.result.exit_code


def asked_of(
    said: Mapping[str, Any],
    others: Mapping[str, Any],
    limit: float | None,
    *,
    shows: bool = True,
    verbose: bool = False,
) -> Asked:
    """Return the study that ``evaluate`` makes of its arguments; see ``judged``.

    What was proposed is told on the terminal, where it ``shows``; ``verbose``: with what each column holds, and why.

    Raises:
        InputError: An argument or a table breaks a rule.
    """
    meant = understood(**said, synthetic=others["synthetic"])
    if meant.proposal is not None and shows:
        (print_proposal if verbose else print_roles)(meant.proposal)
        print_guesses(meant.proposal)
    check_control(said["control"], meant.thresholds)
    study = study_of(meant, **others)
    check(study)
    whole, sample, warning = prepared(study, said["control"], others["synthetic"])
    if limit is not None:
        planned = plan(study.metrics, sample.columns, study.data.quasi_identifiers, study.data.sensitive)
        controls = int(sample.held_out(0, 0).sum())
        every = limits([p.measure for p in planned], limit, sample.table.rows - controls, controls)
        if not every.values:
            raise UsageError("--limit must stand beside a metric that it can limit, such as rapid; got none")
        if every.left_out and shows:
            print_left_out(every.left_out)
        meant = replace(meant, thresholds=dict(meant.thresholds) | every.values | said["thresholds"])
        whole = with_fresh(study_of(meant, **others), sample)
    arguments = {"real": said["real"], "control": said["control"], **meant.arguments, **others}
    return Asked(whole, sample, warning, arguments)


def _outcome(study: Study, sample: Sample, warning: str, arguments: Mapping[str, Any]) -> Outcome:
    """Run the flow where a Prefect API is configured; elsewhere its course here: to start a server takes longer."""

    def plainly(calls: Calls) -> Outcome:
        return course(study, sample, calls, asked_text(arguments), warning)

    if is_configured():
        from synthrisk.flows.evaluate import evaluate
        from synthrisk.flows.server import prefect_api

        with prefect_api():
            return with_or_without(lambda: evaluate(**arguments), lambda: plainly(PlainCalls()))
    several = bool(study.references) and sample.table.rows <= TOGETHER
    with pool_calls(_WORKERS) if several and is_begun() else nullcontext(PlainCalls()) as calls:
        return plainly(calls)


def _check_limit(limit: float, control: str | None) -> None:
    check_limit(limit)
    if control is None:
        raise UsageError(
            "control must be given for --limit, which compares members with real records that the synthesizer never "
            "saw; got none"
        )
