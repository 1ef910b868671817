"""What people wait for first: help, lists, the evaluation of one release, and the page of MLflow.

python benchmarks/first_answers.py

The evaluation is of 10,000 records of Adult beside 10,000 others as the release and 10,000 as control records, with
``zero_cap`` and ``distance_to_closest_record``. The page is asked for until it answers; its processes and their memory
are counted then.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import psutil
from overhead import COMMAND, least, show

LISTS = (["--help"], ["metrics"], ["schema"])
ROWS = 10_000


def tables(folder: Path, rows: int = ROWS) -> None:
    """Write real table, release and control records."""
    from synthrisk.tasks.data import read

    adult = read("adult").sample(3 * rows, random_state=0)
    for place, name in enumerate(("real", "release", "control")):
        adult.iloc[place * rows : (place + 1) * rows].to_csv(folder / f"{name}.csv", index=False)


def evaluation(folder: Path) -> list[str]:
    """Return the command that evaluates the release in a new workspace."""
    files = [str(folder / f"{name}.csv") for name in ("real", "release", "control")]
    roles = ["--quasi-identifiers", "age,education,occupation,sex,race", "--sensitive", "income"]
    measures = ["--metric", "zero_cap", "--metric", "distance_to_closest_record"]
    return [*COMMAND, "evaluate", *files[:2], "--control", files[2], *roles, *measures, "--workspace", "{folder}"]


def page(workspace: str) -> None:
    """Print how long the page of MLflow takes to answer, and what stands behind it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    start = time.perf_counter()
    command = [*COMMAND, "ui", "--port", str(port), "--workspace", workspace]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        while True:
            try:
                with urlopen(f"http://127.0.0.1:{port}/") as answer:
                    answer.read()
                break
            except OSError:
                time.sleep(0.05)
        clock = time.perf_counter() - start
        own = psutil.Process(process.pid)
        every = [own, *own.children(recursive=True)]
        memory = sum(each.memory_info().rss for each in every) / 1024**2
        processors = sum(sum(each.cpu_times()[:2]) for each in every)
        print(f"{'synthrisk ui, ' + str(len(every)) + ' processes':<40}{clock:>8.1f}{processors:>10.1f}{memory:>9.0f}")
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def main() -> None:
    print(f"{'':<40}{'clock':>8}{'CPU s':>10}{'MB':>9}")
    for words in LISTS:
        show(f"synthrisk {' '.join(words)}", least([*COMMAND, *words]))
    show("import synthrisk.metrics", least([sys.executable, "-c", "import synthrisk.metrics"]))
    with TemporaryDirectory() as place:
        tables(Path(place))
        show(f"synthrisk evaluate, {ROWS:,} records", least(evaluation(Path(place))))
        workspace = f"{place}/smoke"
        subprocess.run([*COMMAND, "benchmark", "smoke", "--set", f"workspace={workspace}"], capture_output=True)
        page(workspace)


if __name__ == "__main__":
    main()
