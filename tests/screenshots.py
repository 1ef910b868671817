"""Takes the pictures of docs/pictures from the true pages: report, MLflow, Prefect and terminal, of one study.

    python tests/screenshots.py [--study demo] [--to docs/pictures] [--keep FOLDER]

It runs the study in a folder of its own (``--keep``: one that may hold a finished run already), against a Prefect
server of its own, opens what the study left behind in Chromium, and writes a PNG a page. Run it after a change of
anything that people look at, and look at the pictures before they are committed.
"""

import argparse
import io
import json
import os
import pty
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from rich.console import Console
from rich.text import Text

from browser import Page, browser

BIN = Path(sys.executable).parent
SIZES = {"wide": (1200, 1500), "tablet": (768, 1400), "phone": (390, 1400)}
DESKTOP = (1400, 900)
SCREEN = (1900, 900)  # MLflow keeps a fourth of it for its assistant
PREFECT_PORT, MLFLOW_PORT = 4317, 5317
START = 180  # seconds until a server answers


def main() -> None:
    """Run the study and take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", default="demo", help="a shipped study, or a file")
    parser.add_argument("--to", type=Path, default=Path("docs/pictures"), help="folder of the pictures")
    parser.add_argument("--keep", type=Path, help="folder in which the study is run")
    given = parser.parse_args()
    given.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        folder = (given.keep or Path(made)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        to, environment = given.to.resolve(), _environment(folder)
        prefect = [str(BIN / "prefect"), "server", "start", "--port", str(PREFECT_PORT), "--host", "127.0.0.1"]
        with _serving(prefect, f"http://127.0.0.1:{PREFECT_PORT}/api/health", environment, folder):
            for command, rows, width, name in (
                (["benchmark", given.study], 24, 80, "terminal"),
                (["compare", given.study, "--all"], 40, 120, "terminal"), (["compare", given.study], 24, 80, "compare"),
            ):  # fmt: skip
                told = _in_terminal(command, folder, environment, width)
                _terminal_picture(told, rows, width, to / f"{name}-{width}x{rows}.png")
            _prefect_pictures(to)
        _report_pictures(_latest(folder), to)
        _mlflow_pictures(folder, environment, to)
    print("\n".join(str(path) for path in sorted(to.glob("*.png"))))


def _environment(folder: Path) -> dict[str, str]:
    own = {
        "PREFECT_HOME": str(folder / "prefect"), "PREFECT_API_URL": f"http://127.0.0.1:{PREFECT_PORT}/api",
        "PREFECT_UI_API_URL": f"http://127.0.0.1:{PREFECT_PORT}/api", "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "true", "TERM": "xterm-256color",
    }  # fmt: skip
    return {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | own


@contextmanager
def _serving(command: list[str], answers_at: str, environment: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Run a server for the time of the block; the block begins once it answers."""
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(command, env=dict(environment), cwd=folder, stdout=log, stderr=log)
        try:
            until = time.monotonic() + START
            while not _answers(answers_at):
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"{command[0]} does not answer; see {folder / 'server.log'}")
                time.sleep(0.5)
            yield
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=30)
            process.kill()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _in_terminal(arguments: list[str], folder: Path, environment: Mapping[str, str], width: int) -> str:
    """Return what a command prints on a terminal of this width, colours included."""
    reader, writer = pty.openpty()
    process = subprocess.Popen(
        [str(BIN / "synthrisk"), *arguments], cwd=folder,
        env=dict(environment) | {"COLUMNS": str(width), "LINES": "24"}, stdout=writer, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(writer)
    told = b""
    with suppress(OSError):  # the terminal ends with the command
        while part := os.read(reader, 65536):
            told += part
    process.wait()
    os.close(reader)
    return told.decode().replace("\r\n", "\n")


def _terminal_picture(told: str, rows: int, width: int, path: Path) -> None:
    """Draw the last rows of what was printed as the terminal shows them."""
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True)
    text = Text.from_ansi(told)
    text.rstrip()  # of what ends a line, behind which colours end
    for line in text.split("\n", allow_blank=True)[-rows + 1 :]:
        console.print(line, soft_wrap=True)
    page = console.export_html(inline_styles=True)
    styled = page.replace("<body", '<body style="margin:12px;font-size:15px;line-height:1.25"', 1)
    with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False) as file:
        file.write(styled)
    with browser() as shown:
        shown.resize(24 + int(width * 9.2), 24 + rows * 20)
        shown.open(Path(file.name).as_uri())
        shown.wait_until_still()
        shown.picture(path)
    Path(file.name).unlink()


def _latest(folder: Path) -> Path:
    return max((folder / ".synthrisk" / "reports").glob("*/report.html"), key=lambda path: path.stat().st_mtime)


def _report_pictures(report: Path, to: Path) -> None:
    """Take the report at three widths, dark, and as printed; and the first page of exposure."""
    with browser() as page:
        for name, (width, height) in SIZES.items():
            page.resize(width, height, mobile=width < SIZES["tablet"][0])
            _open(page, report)
            page.picture(to / f"report-{name}.png")
        page.resize(*SIZES["wide"])
        for name, dark, media in (("dark", True, ""), ("print", False, "print")):
            page.look(dark=dark, media=media)
            _open(page, report)
            page.picture(to / f"report-{name}.png")
        page.look()
        for exposure in sorted(report.parent.glob("exposure-*.html"))[:1]:
            _open(page, exposure)
            page.picture(to / "exposure.png")


def _open(page: Page, path: Path) -> None:
    page.open(path.as_uri())
    page.wait_until_still()


def _mlflow_pictures(folder: Path, environment: Mapping[str, str], to: Path) -> None:
    """Take the saved view of the study, and the page of its first run."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{folder / '.synthrisk' / 'mlflow.db'}")
    (experiment,) = (e for e in client.search_experiments() if e.name != "Default")
    views = [tag.rpartition(".")[2] for tag in experiment.tags if tag.startswith("mlflow.sharedViewState.")]
    run = client.search_runs([experiment.experiment_id], "tags.role = 'synthesizer'")[0].info.run_id
    address = f"http://127.0.0.1:{MLFLOW_PORT}"
    runs = f"{address}/#/experiments/{experiment.experiment_id}/runs"
    shared = f"{runs}?workflowType=machine_learning&viewStateShareKey={views[-1]}"
    links = {"view": shared, "charts": f"{shared}&compareRunsMode=CHART", "run": f"{runs}/{run}"}
    server = [str(BIN / "synthrisk"), "ui", "--port", str(MLFLOW_PORT)]
    with _serving(server, address, environment, folder), browser() as page:
        page.resize(*SCREEN)
        for name, link in links.items():
            page.open(link)
            page.wait_until_still(quiet=3, seconds=90)
            page.picture(to / f"mlflow-{name}.png")


def _prefect_pictures(to: Path) -> None:
    """Take the page of the flow run and that of its artifact."""
    api = f"http://127.0.0.1:{PREFECT_PORT}/api"
    outermost = {"flow_runs": {"parent_task_run_id": {"is_null_": True}}, "sort": "START_TIME_DESC", "limit": 1}
    (flow_run,) = _asked(f"{api}/flow_runs/filter", outermost)
    artifacts = _asked(f"{api}/artifacts/latest/filter", {})
    latest = next(a["latest_id"] for a in artifacts if a["key"].startswith("study-"))
    answer = f"artifacts/artifact/{latest}"
    pages = {"run": f"runs/flow-run/{flow_run['id']}", "artifact": answer, "artifacts": "artifacts", "events": "events"}
    with browser() as page:
        page.resize(*DESKTOP)
        for name, place in pages.items():
            page.open(f"http://127.0.0.1:{PREFECT_PORT}/{place}")
            page.wait_until_still(quiet=3, seconds=90)
            page.picture(to / f"prefect-{name}.png")


def _asked(address: str, body: Mapping[str, object]) -> list[dict[str, str]]:
    request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return list(json.loads(answer.read()))


if __name__ == "__main__":
    main()
