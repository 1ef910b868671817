"""The command line: ``synthrisk``. Each command imports what it needs, so that help is there at once."""

import io
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from synthrisk.flows.cli.exit_codes import Commands, Leaving, UsageError, is_long, set_up, told
from synthrisk.flows.execution.signals import keep_freed_memory, stoppable

app = typer.Typer(
    name="synthrisk",
    cls=Commands,
    help="May this synthetic table go out? Disclosure risk of synthetic tables, with intervals and yardsticks.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="Setting that replaces the study's: a.b=value; a.b+=value adds to a list or a mapping."),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print all tables before the answer.")]
Workspace = Annotated[str, typer.Option(help="Folder of typed data, ledgers and the embedded MLflow store; or a URL.")]
TrackingUri = Annotated[str | None, typer.Option(help="MLflow store; SQLite in the workspace unless given.")]

LimitSource = Annotated[str, typer.Option(help="Who chose the limit: it stands in the decision record.")]
JsonTo = Annotated[Path | None, typer.Option("--json", help="File for the results as JSON.")]
_NOISE = (
    "Noise, as a share of a column's range or of its cells: income=0.1. What is guessed has it in the release, what is "
    "known in what the attacker knows."
)
_FEWEST_PARTS = 2
Offline = Annotated[
    bool, typer.Option("--offline", help="Ask no tracking server: `synthrisk log` delivers what is to be logged.")
]
LogAgain = Annotated[
    bool, typer.Option("--log-again", help="Write runs to MLflow though it holds the same answer already.")
]


def _tell_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"synthrisk {version('synthrisk')}")
        raise typer.Exit()


@app.callback()
def every(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Tell the version, and end.")
    ] = False,
) -> None:
    """Take what is said before the name of a command."""


_CODES = (
    "Exit codes: 0 all limits are shown to be kept, or none is set; 1 a limit is crossed, or not shown to be kept; "
    "2 wrong input; 3 the study is INVALID; 4 the run itself failed; 130 it was stopped with Ctrl-C."
)


@app.command(epilog=f"Example: `synthrisk benchmark study.yaml --set split.folds=3`\n\n{_CODES}")
def benchmark(
    study: Annotated[str, typer.Argument(help="YAML file, or a shipped one: demo, adult, paper_health ...")] = "demo",
    overrides: Set = None,
    workspace: Annotated[
        str | None, typer.Option(help="Folder of data, ledgers and MLflow store, or a URL; in place of the study's.")
    ] = None,
    offline: Offline = False,
    log_again: LogAgain = False,
    prefect: Annotated[
        bool, typer.Option("--prefect", help="Leave a trace in Prefect's history where no Prefect API is configured.")
    ] = False,
    json_to: JsonTo = None,
    verbose: Verbose = False,
) -> None:
    """Run a study: compare synthesizers on a real table."""
    from synthrisk.flows.orchestration.server import begun_early

    asked = list(overrides or ())
    asked += [f"workspace={json.dumps(workspace)}"] if workspace is not None else []
    asked += [f"tracking.{name}=true" for name, given in (("offline", offline), ("log_again", log_again)) if given]
    with stoppable(), begun_early(wanted=prefect):
        from synthrisk.conf import load
        from synthrisk.flows.preflight import tracked

        with tracked(load(study, asked)) as settings:
            if workspace not in (None, settings.workspace):
                told = f"the block {settings.tracking.block}, which names {settings.workspace!r}"
                raise UsageError(f"--workspace must be left out beside {told}, got {workspace!r}")
            if json_to is not None:
                from synthrisk.flows.cli.evaluate import check_file

                check_file(json_to, [study, settings.data.address])
            from synthrisk.flows.cli.benchmark import studied

            outcome = studied(settings, lambda flow: flow(study, asked), prefect=prefect)
    from synthrisk.flows.terminal.answer import close

    close(outcome, verbose=verbose)  # first: what it tells stands though the file cannot be written
    if json_to is not None:
        from synthrisk.flows.cli.evaluate import write_json

        write_json(json_to, outcome.as_logged)
    raise typer.Exit(outcome.result.exit_code)


@app.command("try", epilog=f"Example: `synthrisk try study.yaml --drop race --coarsen age=5`\n\n{_CODES}")
def try_changes(
    study: Annotated[str, typer.Argument(help="YAML file of the study, or a shipped one.")],
    drop: Annotated[list[str] | None, typer.Option(help="An attacker who does not know a,b.")] = None,
    coarsen: Annotated[list[str] | None, typer.Option(help="An attacker who knows age in 5 parts: age=5.")] = None,
    noise: Annotated[list[str] | None, typer.Option(help=_NOISE)] = None,
    overrides: Set = None,
    workspace: Annotated[str | None, typer.Option(help="Folder of the study's releases, in place of its own.")] = None,
    verbose: Verbose = False,
) -> None:
    """Try what would help: others who know less, or noise on the releases; each number before and after.

    The runs are those of a study of its own, NAME-try: `record`, `ui` and `compare` of NAME go on showing the study.
    """
    from synthrisk.conf import load
    from synthrisk.conf.plan import with_changes
    from synthrisk.conf.study import try_name
    from synthrisk.flows.preflight import check
    from synthrisk.flows.study_course import sample_of
    from synthrisk.tasks.tracking.addresses import with_block

    changes = _changes(drop, coarsen, noise)
    if not changes:
        raise UsageError("--drop, --coarsen or --noise must name a column to try, got none")
    asked = [*(overrides or ()), *([f"workspace={json.dumps(workspace)}"] if workspace is not None else [])]
    settings = with_block(load(study, asked))
    check(settings)
    changed = with_changes(settings, changes, sample_of(settings).columns)
    metrics = [each.model_dump(mode="json", exclude_defaults=True) for each in changed.metrics]
    own = [f"name={json.dumps(try_name(changed.name))}", f"metrics={json.dumps(metrics)}"]
    if changed.tracking.experiment:
        own.append(f"tracking.experiment={json.dumps(try_name(changed.tracking.experiment))}")
    benchmark(study, [*(overrides or ()), *own], workspace, verbose=verbose)


@app.command(
    epilog="Example: `synthrisk evaluate real.csv synthetic.csv --control heldout.csv --limit 0.05`. The roles of the "
    "columns are proposed, unless `--quasi-identifiers age,sex --sensitive income` or `--study study.yaml` give them."
    f"\n\n{_CODES}"
)
def evaluate(
    real_table: Annotated[
        str | None, typer.Argument(metavar="REAL", help="Records that the synthesizer was fitted on.")
    ] = None,
    release: Annotated[str | None, typer.Argument(metavar="SYNTHETIC", help="The release.")] = None,
    real: Annotated[str | None, typer.Option(help="Records that the synthesizer was fitted on: path or URL.")] = None,
    synthetic: Annotated[str | None, typer.Option(help="The release: CSV, Excel, SPSS ...: path or URL.")] = None,
    study: Annotated[str | None, typer.Option(help="Study whose columns, metrics and limits hold here.")] = None,
    quasi_identifiers: Annotated[str, typer.Option(help="What an attacker knows: a,b,c; '*' for all others.")] = "",
    sensitive: Annotated[str, typer.Option(help="What an attacker guesses: a,b; a+b together.")] = "",
    control: Annotated[str | None, typer.Option(help="Real records that the synthesizer never saw.")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="Metric, or all; the recommended unless given.")] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option("--limit-on", help="Limit on one quantity of one measure: risk/rapid.income=0.1."),
    ] = None,
    by_old_name: Annotated[list[str] | None, typer.Option("--threshold", hidden=True)] = None,
    limit: Annotated[
        float | None, typer.Option(help="Limit on what a person's record may add to attacks on that person: 0.05.")
    ] = None,
    limit_source: LimitSource = "",
    categorical: Annotated[str, typer.Option(help="Numeric columns that are code lists: a,b.")] = "",
    identifier: Annotated[str | None, typer.Option(help="Column that names the entity of a record.")] = None,
    missing: Annotated[str, typer.Option(help="Texts that mean a missing cell in any column: NA,?.")] = "",
    drop: Annotated[str, typer.Option(help="Columns of either table to leave out: a,b.")] = "",
    without: Annotated[list[str] | None, typer.Option(help="Preview: an attacker who does not know a,b.")] = None,
    coarsen: Annotated[list[str] | None, typer.Option(help="Preview: one who knows age in 5 parts: age=5.")] = None,
    noise: Annotated[list[str] | None, typer.Option(help=f"Preview: {_NOISE[:1].lower()}{_NOISE[1:]}")] = None,
    references: Annotated[
        str,
        typer.Option(
            help="Reference generators (copy, near copy, fresh) beside the release: attacked with the 'limited' "
            "measures, with 'all', or 'none'. Without them no verdict is NO EVIDENCE."
        ),
    ] = "limited",
    json_to: JsonTo = None,
    experiment: Annotated[str, typer.Option(help="MLflow experiment.")] = "evaluate",
    tracking_uri: TrackingUri = None,
    workspace: Workspace = ".synthrisk",
    seed: Annotated[int, typer.Option(help="Root of all randomness.", min=0)] = 1,
    offline: Offline = False,
    log_again: LogAgain = False,
    engine: Annotated[
        str, typer.Option(help="'memory', or 'dask': Parquet files in parts, for tables that outgrow one machine.")
    ] = "memory",
    dask: Annotated[str | None, typer.Option(help="Scheduler of a Dask cluster; processes here unless given.")] = None,
    links: Annotated[
        str | None,
        typer.Option(help="File: the row of REAL (from 0; -1: none) that each released row was made from."),
    ] = None,
    for_vendor: Annotated[
        bool,
        typer.Option("--for-vendor", help="Tell, also in --json, only what may go back to the maker of the release."),
    ] = False,
    verbose: Verbose = False,
) -> None:
    """Judge one synthetic table that was made elsewhere."""
    if engine == "memory" and references != "none" and not is_long(real_table or real):
        from synthrisk.flows.execution.pool import begin_early

        begin_early()  # while this process imports what it needs
    from synthrisk.flows.cli.evaluate import check_engine, judged, suggest
    from synthrisk.flows.cli.evaluate import judged_on_dask as judged_in_parts

    check_engine(engine, dask)
    if verbose and for_vendor:
        raise UsageError("--verbose and --for-vendor must not stand together, got both")
    said: dict[str, Any] = {
        "real": _one("real", real_table, real),
        "control": control,
        "study": study,
        "metrics": metric,
        "thresholds": _limits([*(threshold or ()), *(by_old_name or ())]),
        "quasi_identifiers": _names(quasi_identifiers),
        "sensitive": _targets(sensitive),
        "categorical": _names(categorical),
        "identifier": identifier,
        "missing": _names(missing),
        "drop": _names(drop),
        "columns": {},
    }
    others: dict[str, Any] = {
        "synthetic": _one("synthetic", release, synthetic),
        "what_if": _changes(without, coarsen, noise),
        "references": references,
        "experiment": experiment,
        "tracking_uri": tracking_uri,
        "workspace": workspace,
        "seed": seed,
        "offline": offline,
        "links": links,
        "log_again": log_again,
        "limit_source": limit_source or None,
    }
    with stoppable():
        if engine == "dask":
            code = judged_in_parts(said, others, limit, json_to, dask, verbose=verbose, for_vendor=for_vendor)
        else:
            suggest(said["real"])
            code = judged(said, others, limit, json_to, verbose=verbose, for_vendor=for_vendor)
    raise typer.Exit(code)


@app.command(epilog="Example: `synthrisk init patients.csv --limit 0.05 --limit-source 'disclosure board'`")
def init(
    data: Annotated[str, typer.Argument(help="The real table: path, URL or built-in name.")],
    to: Annotated[Path, typer.Option(help="File to write.")] = Path("study.yaml"),
    sensitive: Annotated[str, typer.Option(help="What nobody should learn: a,b. Proposed unless given.")] = "",
    quasi_identifiers: Annotated[str, typer.Option(help="What an attacker knows: a,b. Proposed unless given.")] = "",
    identifier: Annotated[str | None, typer.Option(help="Column that names the person of a record.")] = None,
    categorical: Annotated[str, typer.Option(help="Numeric columns that are code lists: a,b.")] = "",
    missing: Annotated[str, typer.Option(help="Texts that mean a missing cell in any column: NA,?.")] = "",
    drop: Annotated[str, typer.Option(help="Columns to leave out: a,b. Proposed unless given.")] = "",
    limit: Annotated[
        float | None, typer.Option(help="Limit on what a person's record may add to attacks on that person: 0.05.")
    ] = None,
    limit_source: LimitSource = "",
    quick: Annotated[bool, typer.Option("--quick", help="A study of about a minute and a half.")] = False,
    thorough: Annotated[bool, typer.Option("--thorough", help="All records, five folds five times.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing: take what is proposed.")] = False,
    force: Annotated[bool, typer.Option(help="Replace a file that is there.")] = False,
) -> None:
    """Look at a table and write a commented study of about five minutes for it; on a terminal it asks."""
    from synthrisk.flows.cli.init import Limit, new_study
    from synthrisk.tasks.propose.proposal import Given

    if quick and thorough:
        raise UsageError("--quick and --thorough must not stand together, got both")
    given = Given(
        _names(sensitive), _names(quasi_identifiers), _names(missing), _names(drop), identifier, _names(categorical)
    )
    effort = "quick" if quick else "thorough" if thorough else "usual"
    asks = not yes and sys.stdin.isatty()
    new_study(data, to, given, Limit(limit, limit_source), effort, force=force, asks=asks)


@app.command(epilog="Example: `synthrisk split study.yaml --to parts/`")
def split(
    study: Annotated[str, typer.Argument(help="YAML file, or a shipped study.")],
    to: Annotated[Path, typer.Option(help="Folder for the training parts.")],
    csv: Annotated[bool, typer.Option(help="Write CSV instead of Parquet.")] = False,
    overrides: Set = None,
) -> None:
    """Write the training parts of a study as files, for generators outside Python."""
    from synthrisk.conf import load
    from synthrisk.flows.cli.benchmark import write_parts

    parts = write_parts(load(study, overrides or ()), to, "csv" if csv else "parquet")
    typer.echo(
        f"wrote {len(parts)} training parts to {to}; release each as {{repetition}}-{{fold}} and add to the study:"
    )
    typer.echo('synthesizers: [{name: vendor, kind: files, path: "releases/{repetition}-{fold}.parquet"}]')


@app.command(epilog="Example: `synthrisk metrics zero_cap`")
def metrics(
    name: Annotated[str | None, typer.Argument(help="All of this metric; of each one line unless given.")] = None,
    markdown: Annotated[bool, typer.Option(help="As the Markdown table of docs/metrics.md.")] = False,
    leaks: Annotated[bool, typer.Option("--leaks", help="Which planted leaks each has seen, and is blind to.")] = False,
) -> None:
    """List the metrics, a line each: what it needs, and what it sees; or say all of one."""
    from synthrisk.flows.cli.metrics import markdown_table, print_leaks, print_metric, print_metrics

    given = [each for each, told in (("--leaks", leaks), ("--markdown", markdown), (repr(name), name)) if told]
    if len(given) > 1:
        raise UsageError(f"--leaks and --markdown are of all metrics and stand alone, got {' and '.join(given)}")
    if leaks:
        print_leaks()
    elif name:
        print_metric(name)
    elif markdown:
        typer.echo(markdown_table())
    else:
        print_metrics()


@app.command(epilog="Example: `synthrisk atlas --table adult --leak leaky_near --studies 20`")
def atlas(
    full: Annotated[bool, typer.Option("--full", help="All tables: hours, not minutes.")] = False,
    table: Annotated[list[str] | None, typer.Option(help="This table alone; may be given again.")] = None,
    leak: Annotated[list[str] | None, typer.Option(help="This leak alone; may be given again.")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="This risk measure alone; may be given again.")] = None,
    studies: Annotated[int | None, typer.Option(help="Studies of each table.", min=1)] = None,
    rows: Annotated[int | None, typer.Option(help="Records of each study.", min=40)] = None,
    to: Annotated[Path, typer.Option(help="Folder for digest, tables and heat map.")] = Path("atlas"),
    workers: Annotated[int, typer.Option(help="Processes at the same time.", min=1)] = 2,
    workspace: Workspace = ".synthrisk-atlas",
) -> None:
    """Measure what each measure sees of leaks of known dose; broken off, it goes on where it was."""
    from synthrisk.conf.grid import FULL, REDUCED, grid_of
    from synthrisk.flows.atlas import run_atlas

    grid = grid_of(FULL if full else REDUCED, table or (), leak or (), metric or (), studies, rows)
    with stoppable():
        run_atlas(grid, to, workspace, workers)


@app.command(epilog="Example: `synthrisk compare demo --history`")
def compare(
    experiment: Annotated[str, typer.Argument(help="MLflow experiment, named as the study.")] = "demo",
    measure: Annotated[str | None, typer.Option(help="This measure: rapid.income; or all of rapid.")] = None,
    every: Annotated[bool, typer.Option("--all", help="A table of each measure too.")] = False,
    history: Annotated[bool, typer.Option(help="All studies of the experiment: what has become worse?")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print as CSV.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON, with all numbers.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print as Markdown tables.")] = False,
    tracking_uri: TrackingUri = None,
    workspace: Workspace = ".synthrisk",
) -> None:
    """Compare the synthesizers of the latest study, or each with itself in the studies before."""
    from synthrisk.conf.study import Tracking
    from synthrisk.flows.cli.compare import compare as print_comparison
    from synthrisk.flows.terminal.comparison import Asked
    from synthrisk.tasks.workspace.folders import folder_of

    forms = [name for name, given in (("csv", csv), ("json", as_json), ("markdown", markdown)) if given]
    if len(forms) > 1:
        raise UsageError(f"--{' and --'.join(forms)} must not stand together")
    asked = Asked(experiment, measure, every, history, forms[0] if forms else "")
    print_comparison(asked, Tracking(uri=tracking_uri), folder_of(workspace))


@app.command(epilog="Example: `synthrisk log 20261123-013609-1ddbd6`")
def log(
    study_id: Annotated[
        str | None, typer.Argument(metavar="STUDY_ID", help="Study that waits; all that do unless given.")
    ] = None,
    workspace: Workspace = ".synthrisk",
) -> None:
    """Log studies that wait in the workspace, for their tracking server was away or not to be asked."""
    from synthrisk.flows.cli.benchmark import deliver_studies
    from synthrisk.tasks.workspace.folders import folder_of

    deliver_studies(study_id, folder_of(workspace))


@app.command(epilog="Example: `synthrisk ui --open demo`")
def ui(
    study: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Study, the latest of this name: its report and its view.")
    ] = None,
    opens: Annotated[bool, typer.Option("--open", help="Open the pages in the browser.")] = False,
    port: Annotated[int, typer.Option(help="Port on this machine.", min=1, max=65535)] = 5000,
    tracking_uri: TrackingUri = None,
    workspace: Workspace = ".synthrisk",
) -> None:
    """Start the MLflow page of the workspace, until Ctrl-C; `--open NAME` opens the latest study of a name."""
    from synthrisk.flows.cli.ui import serve
    from synthrisk.tasks.workspace.folders import folder_of

    raise typer.Exit(serve(port, tracking_uri, folder_of(workspace), study, opens))


@app.command(epilog="Example: `synthrisk record demo --to record.html`")
def record(
    study: Annotated[str, typer.Argument(metavar="NAME", help="Study, the latest of this name.")],
    to: Annotated[Path | None, typer.Option(help="File to copy it to.")] = None,
    opens: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    tracking_uri: TrackingUri = None,
    workspace: Workspace = ".synthrisk",
) -> None:
    """Say where the decision record of a study is: two pages for who signs, with the report as their appendix."""
    from synthrisk.flows.cli.ui import show_record
    from synthrisk.tasks.workspace.folders import folder_of

    show_record(study, tracking_uri, folder_of(workspace), to, opens)


@app.command(epilog='Example: `synthrisk serve study.yaml --cron "0 3 * * 1" --timezone Europe/Vienna`')
def serve(
    study: Annotated[str, typer.Argument(help="YAML file, or a shipped study.")],
    cron: Annotated[str | None, typer.Option(help="When: five fields, 0 3 * * 1 is Mondays at three.")] = None,
    timezone: Annotated[str, typer.Option(help="Time zone of --cron.")] = "UTC",
    interval: Annotated[float | None, typer.Option(help="Seconds between two starts, in place of --cron.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the deployment; the study's unless given.")] = None,
    overrides: Set = None,
) -> None:
    """Run a study on a schedule, on this machine, until Ctrl-C; a Prefect server must be there."""
    from synthrisk.flows.cli.serve import When, check_api, check_name, check_when, serve_study

    when = When(cron, timezone, interval)
    check_when(when)
    check_name(name)
    check_api()
    from synthrisk.conf import load
    from synthrisk.flows.preflight import check, check_on
    from synthrisk.flows.study_course import sample_of
    from synthrisk.tasks.tracking.addresses import with_block

    settings = with_block(load(study, overrides or ()))
    check(settings)
    check_on(settings, sample_of(settings))
    serve_study(study, settings, overrides or (), when, name)


@app.command(epilog="Example: `synthrisk schema > study.schema.json`")
def schema() -> None:
    """Print the JSON schema of a study."""
    from synthrisk.conf import schema as study_schema

    typer.echo(json.dumps(study_schema(), indent=2))


@app.command(epilog="Example: `synthrisk doctor --tracking-uri http://mlflow.example:5000`")
def doctor(tracking_uri: TrackingUri = None, workspace: Workspace = ".synthrisk") -> None:
    """Tell on one screen what is installed and what answers: for a bug report. Nothing private is in it."""
    from synthrisk.flows.cli.doctor import examined

    lines, code = examined(tracking_uri, workspace)
    typer.echo("\n".join(lines))
    raise typer.Exit(code)


def process() -> None:
    """Run the command line as all that a process is for; with it the process ends, at once."""
    leaving = Leaving()
    keep_freed_memory()
    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, int):
            leaving.with_code(end.code)
        raise


def main() -> None:
    """Run the command line, and raise the ``SystemExit`` that it ends with."""
    try:
        command()
    except SystemExit as end:
        _leave(end.code)
        raise


def command() -> None:
    """Run the command line; what goes wrong is one sentence, with exit code 2 or 4 (``ends``)."""
    set_up()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # letters that the terminal lacks are no error
    with told():
        app()


def _leave(code: object) -> None:
    """End at once where Prefect was asked and hears nothing more."""
    if "synthrisk.flows.orchestration.server" in sys.modules:
        from synthrisk.flows.orchestration.server import leave

        leave(code if isinstance(code, int) else int(code is not None))


def _one(option: str, argument: str | None, given: str | None) -> str:
    """Return what is given once, as an argument or as an option."""
    if (argument is None) == (given is None):
        got = "none" if given is None else f"{argument!r} and {given!r}"
        raise UsageError(f"{option} must be given once, as an argument or as --{option}, got {got}")
    return str(argument or given)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if text and not names:
        raise UsageError(f"columns must be named as a,b,c, got {text!r}")
    return names


def _targets(text: str) -> list[str | list[str]]:
    """Return what is guessed: columns, or lists of those that stand between plus signs; ++ is a plus sign of a name."""
    parts = [[each.strip().replace("\0", "+") for each in name.replace("++", "\0").split("+")] for name in _names(text)]
    for part in parts:
        if not all(part):
            raise UsageError(f"--sensitive must be a,b, or a+b for columns guessed together (++: a +), got {text!r}")
    return [part[0] if len(part) == 1 else part for part in parts]


def _limits(texts: list[str] | tuple[str, ...]) -> dict[str, float]:
    limits = {}
    for text in texts:
        try:
            name, value = text.rsplit("=", 1)
            limit = float(value)
        except ValueError:
            raise UsageError(f"--limit-on must be <quantity>/<measure>=number, got {text!r}") from None
        if name in limits:
            raise UsageError(f"--limit-on must be given once for each quantity and measure, got {name!r} twice")
        limits[name] = limit
    return limits


def _changes(drop: list[str] | None, coarsen: list[str] | None, noise: list[str] | None) -> list[dict[str, Any]]:
    """Return what is changed of what the attacker knows, or of what is guessed, one thing at a time."""
    ways = (("drop", _names, drop), ("bins", _parts, coarsen), ("noise", _shares, noise))
    return [{name: read(each)} for name, read, texts in ways for each in texts or ()]


def _parts(text: str) -> dict[str, int]:
    parts = {}
    for each in _names(text):
        name, _, number = each.rpartition("=")
        if not name or not number.isdecimal() or int(number) < _FEWEST_PARTS:
            raise UsageError(f"--coarsen must be <column>=<number of parts, at least {_FEWEST_PARTS}>, got {each!r}")
        parts[name] = int(number)
    return parts


def _shares(text: str) -> dict[str, float]:
    shares = {}
    for each in _names(text):
        name, _, said = each.rpartition("=")
        try:
            shares[name] = float(said)
        except ValueError:
            shares[name] = 0.0
        if not name or not 0 < shares[name] <= 1:
            raise UsageError(f"--noise must be <column>=<share above 0 and at most 1>, got {each!r}")
    return shares


if __name__ == "__main__":
    process()
