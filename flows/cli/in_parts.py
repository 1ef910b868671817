"""One release judged in parts on a Dask cluster: ``evaluate --engine dask``."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from synthrisk.conf.plan import plan
from synthrisk.conf.study import Bootstrap
from synthrisk.flows.cli.answer_lines import lines_of
from synthrisk.flows.cli.as_json import check_file, write_json
from synthrisk.flows.cli.ends import UsageError
from synthrisk.flows.cli.full_tables import full_tables
from synthrisk.flows.cli.notes import notes
from synthrisk.flows.cli.vendor_answer import print_vendor_answer, vendor_answer
from synthrisk.flows.durations import in_words, seconds_in_parts
from synthrisk.flows.one_release import EVERY, check_control, understood
from synthrisk.flows.progress import step
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.partitions.findings import IN_PARTS, check_planned
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.verdicts import check_limits
from synthrisk.tasks.partitions.judged import judged_in_parts
from synthrisk.tasks.partitions.on_dask import cluster
from synthrisk.tasks.partitions.read import MANY, kept_columns, rows_of, tables_in_parts
from synthrisk.tasks.propose.measures import check_limit, limits

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
_OPTIONS = {"what_if": "without and --coarsen", "tracking_uri": "tracking-uri", "log_again": "log-again"}


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


def judged(
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
    for line in [*(full_tables(result) if verbose else ()), *notes(result), *lines_of(result, console.width)]:
        console.print(line, soft_wrap=True) if not verbose else console.print(line)
