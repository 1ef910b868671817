"""``synthrisk evaluate``: one release judged and told, as JSON too; or in parts on a Dask cluster."""

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import typer
from rich.console import Console

from synthrisk.conf import Study
from synthrisk.conf.plan import plan
from synthrisk.conf.study import Bootstrap
from synthrisk.flows.cli.exit_codes import TOGETHER, UsageError
from synthrisk.flows.evaluate_settings import (
    EVERY,
    asked_text,
    check_control,
    prepared,
    study_of,
    understood,
    with_fresh,
    with_source,
)
from synthrisk.flows.execution.calls_and_retries import Calls, PlainCalls
from synthrisk.flows.execution.pool import is_begun, pool_calls
from synthrisk.flows.orchestration.progress import paused, step
from synthrisk.flows.orchestration.server import is_configured, with_or_without
from synthrisk.flows.outcome import Outcome
from synthrisk.flows.preflight import check, checked_on
from synthrisk.flows.study_course import course
from synthrisk.flows.terminal.answer import close, form_of, lines_of, print_vendor_answer, vendor_answer
from synthrisk.flows.terminal.proposal import print_guesses, print_left_out, print_proposal, print_roles
from synthrisk.flows.terminal.tables import full_tables, notes
from synthrisk.flows.time_estimate import in_words, seconds_in_parts
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.partitions.findings import IN_PARTS, check_planned
from synthrisk.metrics.release.validity import releases_table
from synthrisk.metrics.study.findings import utility_table
from synthrisk.metrics.study.ledger import Planned
from synthrisk.metrics.verdicts.limits import check_limits
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.metrics.verdicts.tables import TABLES, league_table
from synthrisk.tasks.data.source import check_there
from synthrisk.tasks.partitions import MANY, cluster, judged_in_parts, kept_columns, rows_of, tables_in_parts
from synthrisk.tasks.propose.measures import check_limit, limits
from synthrisk.tasks.workspace.references import Sample
from synthrisk.tasks.workspace.store import check_writable, replace_file

_KEYS = {"comparison": "comparisons"}  # of tables that JSON calls otherwise


def as_json(result: StudyResult) -> dict[str, Any]:
    """Return all numbers and verdicts as plain values; what is not defined is null."""
    return {
        "study_id": result.study_id,
        "exit_code": result.exit_code,
        "valid": result.valid,
        "warning": result.warning or None,
        "warnings": list(result.warnings),
        "says_nothing": result.empty,
        "releases": _rows(releases_table(result.releases)),
        "findings": _rows(league_table(result)),
        "utility": _rows(utility_table(result.utility)),
        "verdicts": [{name: _plain(value) for name, value in vars(v).items()} for v in result.verdicts],
        "checks": [vars(c) for c in result.checks],
        "invalid": result.invalid or None,
        **{_KEYS.get(name, name): _rows(table_of(result)) for name, table_of in TABLES.items()},
        "failures": dict(result.failures),
        "facts": dict(result.facts),
    }


def check_file(json_to: Path | None, read: Sequence[str]) -> None:
    """Refuse a file of ``--json`` that cannot be written, or is one of those that are ``read``.

    Raises:
        InputError: So it is.
    """
    if json_to is None:
        return
    check_writable("--json", json_to, folder=False)
    if json_to.resolve() in [Path(each).resolve() for each in read]:
        raise UsageError(f"--json must be a file of its own, got {str(json_to)!r}, which the command reads")


def write_json(json_to: Path | None, result: StudyResult, told: Mapping[str, Any] | None = None) -> None:
    """Write the results of a study as JSON where a file is given, or in their place what is ``told`` of them."""
    if json_to is not None:
        replace_file(json_to, json.dumps(as_json(result) if told is None else told, indent=2) + "\n")


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(k): _plain(v) for k, v in row.items()} for row in table.to_dict("records")]


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
    _check_source(others["limit_source"], limit, said["thresholds"])
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
    write_json(json_to, outcome.as_logged, vendor_answer(outcome.result) if for_vendor else None)
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
        with paused():
            (print_proposal if verbose else print_roles)(meant.proposal)
            print_guesses(meant.proposal)
    check_control(said["control"], meant.thresholds)
    study = study_of(meant, **others)
    check(study)
    whole, sample, warning = prepared(study, said["control"], others["synthetic"])
    if limit is not None:
        planned = plan(study.metrics, sample.columns, study.data.quasi_identifiers, study.data.sensitive)
        every = limits([p.measure for p in planned], limit, *sample.how_many(0, 0))
        if not every.values:
            raise UsageError("--limit must stand beside a metric that it can limit, such as rapid; got none")
        if every.left_out and shows:
            with paused():
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
        from synthrisk.flows.orchestration.server import prefect_api

        with prefect_api():
            return with_or_without(lambda: evaluate(**arguments), lambda: plainly(PlainCalls()))
    several = bool(study.references) and sample.table.rows <= TOGETHER
    with pool_calls(_WORKERS) if several and is_begun() else nullcontext(PlainCalls()) as calls:
        return plainly(calls)


def _check_source(source: str | None, limit: float | None, thresholds: Mapping[str, Any]) -> None:
    if source and limit is None and not thresholds:
        raise UsageError("--limit-source must stand beside --limit or --limit-on, got neither")


def _check_limit(limit: float, control: str | None) -> None:
    check_limit(limit)
    if control is None:
        raise UsageError(
            "control must be given for --limit, which compares members with real records that the synthesizer never "
            "saw; got none"
        )


ENGINES = ("memory", "dask")
_USUAL: Mapping[str, object] = {
    "references": "none",
    "what_if": [],
    "experiment": "evaluate",
    "tracking_uri": None,
    "workspace": ".synthrisk",
    "offline": False,
    "links": None,
    "log_again": False,
}
_OPTIONS = {"what_if": "without, --coarsen and --noise", "tracking_uri": "tracking-uri", "log_again": "log-again"}


def check_engine(engine: str, address: str | None) -> None:
    """Refuse an engine that there is not, and the address of a cluster for another.

    Raises:
        InputError: So it is.
    """
    if engine not in ENGINES:
        raise UsageError(f"--engine must be one of {', '.join(ENGINES)}, got {engine!r}")
    if address is not None and engine != "dask":
        raise UsageError(f"--dask belongs to --engine dask, got --engine {engine}")


def suggest(real: str) -> None:
    """Say on the terminal that a table of many rows may be judged in parts."""
    rows = rows_of(real)
    if rows is not None and rows >= MANY:
        typer.echo(f"real holds {rows:,} records: with --engine dask they are judged in parts, see docs", err=True)


def judged_on_dask(
    said: Mapping[str, Any],
    others: Mapping[str, Any],
    limit: float | None,
    json_to: Path | None,
    address: str | None,
    *,
    verbose: bool = False,
    for_vendor: bool = False,
) -> int:
    """Judge one release in parts and print what was found; return the exit code.

    Args:
        said: What the tables are, mean, and are attacked with.
        others: The other arguments of ``evaluate``; those that are not for parts must be as usual.
        limit: One number for all measures that can have it.
        json_to: File for the results.
        address: Scheduler of a Dask cluster; None starts one of processes of this machine.
        verbose: Whether all tables are printed before the answer.
        for_vendor: Whether only that is told which may go back to the maker of the release.

    Raises:
        InputError: An argument or a table breaks a rule, or asks for what is not computed in parts.
    """
    _refuse_others(said, others)
    check_control(said["control"], said["thresholds"])
    source = others["limit_source"]
    _check_source(source, limit, said["thresholds"])
    named = None if list(said["metrics"] or []) in ([], [EVERY]) else said["metrics"]
    meant = understood(**{**said, "metrics": named or (None if said["study"] else list(IN_PARTS))})
    check_control(said["control"], meant.thresholds)
    if meant.data.identifier is not None or meant.data.columns or meant.data.rows is not None:
        raise InputError("engine dask takes no identifier, columns or rows of a study, got one of them in its data")
    files = {"real": said["real"], "synthetic": others["synthetic"]}
    files |= {"control": said["control"]} if said["control"] is not None else {}
    check_file(json_to, list(files.values()))
    columns = kept_columns(meant.data, files)
    planned = plan(meant.metrics, columns, meant.data.quasi_identifiers, meant.data.sensitive)
    thresholds = dict(meant.thresholds)
    if limit is not None:
        thresholds |= _limits(planned, limit, said["real"], said["control"]) | said["thresholds"]
    thresholds = with_source(thresholds, source) if source else thresholds
    check_limits(list(thresholds), [p.measure for p in planned])
    check_planned(planned, list(thresholds))
    with step("starting the workers of Dask") as tell, cluster(address, os.cpu_count() or 1) as client:
        tell("reading the tables in parts")
        tables = tables_in_parts(client, meant.data, files, columns)
        told = _Told(planned, tables.real_rows, len(columns), tell)
        result = judged_in_parts(tables, meant.data, planned, thresholds, Bootstrap(), others["seed"], told)
    write_json(json_to, result, vendor_answer(result) if for_vendor else None)
    if for_vendor:
        print_vendor_answer(result)
    else:
        _close(result, verbose=verbose)
    return result.exit_code


class _Told:
    """Tells how long all measures will take, and then each with the share of the work that is done before it."""

    def __init__(self, planned: Sequence[Planned], rows: int, columns: int, tell: Callable[[str], None]):
        self._tell, self._done = tell, 0.0
        self._seconds = {p.measure.key: seconds_in_parts(p.measure.metric, rows, columns) for p in planned}
        self._all = max(sum(self._seconds.values()), 1e-9)
        tell(f"{rows:,} real records, {columns} columns: {in_words(self._all)}")

    def __call__(self, step: str) -> None:
        """Tell what is done next."""
        far = f", {100 * self._done / self._all:.0f} %" if step in self._seconds else ""
        self._done += self._seconds.get(step, 0.0)
        self._tell(f"{step}{far}")


def _refuse_others(said: Mapping[str, Any], others: Mapping[str, Any]) -> None:
    for name, usual in _USUAL.items():
        if others[name] != usual:
            shown = "left out" if usual in ([], None, False) else repr(usual)
            raise UsageError(f"--{_OPTIONS.get(name, name)} must be {shown} with --engine dask, got {others[name]!r}")
    if said["identifier"] is not None or said["missing"]:
        raise UsageError("--identifier and --missing must be left out with --engine dask, got one of them")
    if said["study"] is None and not (said["quasi_identifiers"] and said["sensitive"]):
        raise UsageError(
            "--quasi-identifiers and --sensitive, or --study, must be given with --engine dask, which proposes no "
            "roles; got none"
        )


def _limits(planned: list[Any], limit: float, real: str, control: str | None) -> dict[str, float]:
    check_limit(limit)
    if control is None:
        raise UsageError("control must be given for --limit, which compares members with strangers; got none")
    members, controls = (rows_of(each) or 0 for each in (real, control))
    return limits([p.measure for p in planned], limit, members, controls, groups=False).values


def _close(result: StudyResult, *, verbose: bool) -> None:
    console = Console(highlight=False)
    for line in [
        *(full_tables(result) if verbose else ()),
        *notes(result),
        *lines_of(result, console.width, form_of(console, verbose=verbose)),
    ]:
        console.print(line, soft_wrap=True) if not verbose else console.print(line)
