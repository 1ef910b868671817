"""Start a Prefect server and a process worker on loopback, deploy ``deployments/``, and run the tests beside this file.

Everything lives in a temporary folder that is removed at the end; the time is bounded. What is deployed is the
shipped ``prefect.yaml`` but for two settings: the schedule (every minute) and the study (smoke). Groups of files run
one after the other: side by side on two cores a study takes four minutes in place of one, and no patience holds.

    python tests/deployments/run_services.py [files with tests that start their own services] [arguments of pytest]
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import yaml

HERE = Path(__file__).parent
PREFECT_YAML = HERE.parents[1] / "deployments" / "prefect.yaml"
START, DEPLOY, TESTS = 240, 240, 1800  # seconds, on a slow machine
NO_TESTS = 5  # pytest's exit code
# in the first group the order matters: one test ends the schedule of every minute, and the automations come after it
ON_THE_SERVER = ((HERE / "test_deployments.py", HERE / "test_automations.py"), (HERE / "test_serve.py",))
ALONE = (HERE / "test_tour.py",)  # with a server of its own
OFTEN = {  # seconds between two questions, where Prefect's own are 10 to 60
    "PREFECT_RUNNER_POLL_FREQUENCY": "2",
    "PREFECT_WORKER_QUERY_SECONDS": "2",
    "PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS": "10",
}
OFF = ("SERVER_ANALYTICS_ENABLED", "CLOUD_ENABLE_ORCHESTRATION_TELEMETRY", "TELEMETRY_ENABLE_RESOURCE_METRICS")
QUIET = {"DO_NOT_TRACK": "true", "MLFLOW_DISABLE_TELEMETRY": "true", **{f"PREFECT_{name}": "false" for name in OFF}}


def main() -> int:
    """Return 0 where all tests pass, or 1, also where a service does not start."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that an end from outside leaves nothing behind either
    files = [each for each in sys.argv[1:] if Path(each).is_file()]
    options = [each for each in sys.argv[1:] if each not in files]
    folder = Path(tempfile.mkdtemp(prefix="synthrisk-services-"))
    environment = surroundings(folder)
    failed: list[str] = []

    def run(names: Sequence[str | Path], own: dict[str, str]) -> None:
        code = tested([*names, *options], own)
        if code and not (options and code == NO_TESTS):  # -k may choose none of a group
            failed.append(f"failed: {', '.join(Path(name).name for name in names)}")

    try:
        run([f"--confcutdir={HERE}", *ALONE], environment)
        if files:
            run(files, dict(os.environ))
        with deployed(folder, environment):
            for group in ON_THE_SERVER:
                run([f"--confcutdir={HERE}", *group], environment)
    except (subprocess.SubprocessError, TimeoutError) as error:
        failed.append(f"the services did not start, or their tests did not end: {error}")
    finally:
        if failed:
            for log in sorted(folder.glob("*.log")):
                print(f"--- end of {log.name}", *log.read_text("utf-8", "replace").splitlines()[-60:], sep="\n")
        shutil.rmtree(folder, ignore_errors=True)
    print(*failed, sep="\n", flush=True)
    return 1 if failed else 0


@contextmanager
def deployed(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """Keep a server with the deployments, and a worker, running for the time of the block."""
    port = port_of(environment)
    with service(folder, environment, "server", "start", "--host", "127.0.0.1", "--port", port) as server:
        wait_for(server, environment)
        prefect(environment, "work-pool", "create", "local", "--type", "process")
        prefect(environment, "--no-prompt", "deploy", "--all", "--prefect-file", str(shortened(folder)))
        with service(folder, environment, "worker", "start", "--pool", "local"):
            yield


def surroundings(folder: Path) -> dict[str, str]:
    """Return the environment of all processes: their own folders, no telemetry, nobody's profile or MLflow."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_", "MLFLOW_", "SYNTHRISK_"))}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "home").mkdir()
    own = {
        **{"SYNTHRISK_HOME": str(folder / "home"), "SYNTHRISK_SERVICES": "1", "PREFECT_HOME": str(folder / "prefect")},
        **{"PREFECT_API_URL": f"http://127.0.0.1:{port}/api", "PREFECT_SERVER_DATABASE_TIMEOUT": "60"},
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "NO_PROXY": "127.0.0.1,localhost",
    }
    return inherited | QUIET | OFTEN | own


def port_of(environment: dict[str, str]) -> str:
    return environment["PREFECT_API_URL"].rpartition(":")[2].partition("/")[0]


@contextmanager
def service(folder: Path, environment: dict[str, str], *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Keep a Prefect process running for the time of the block; at the end its whole process group ends."""
    command = [sys.executable, "-m", "prefect", *arguments]
    with (folder / f"{arguments[0]}.log").open("w") as log:
        process = started(command, environment, folder, stdout=log, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            stop(process)


def started(command, environment: dict[str, str], folder: Path, **streams) -> "subprocess.Popen[bytes]":
    """Start a process that reads nothing, in a group of its own."""
    own = {"cwd": folder, "stdin": subprocess.DEVNULL, "start_new_session": True}
    return subprocess.Popen(command, env=environment, **own, **streams)


def stop(process: "subprocess.Popen[bytes]") -> None:
    """Ask once, wait, then kill the group: workers do not listen once their server has gone."""
    for sign, patience in ((signal.SIGTERM, 20), (signal.SIGKILL, 20)):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue


def wait_for(server: "subprocess.Popen[bytes]", environment: dict[str, str]) -> None:
    """Wait until the server answers; raise where it has ended or takes too long."""
    until = time.monotonic() + START
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{environment['PREFECT_API_URL']}/health", timeout=5):
                return
        except OSError:
            time.sleep(1)
    raise TimeoutError(f"the Prefect server ended or gave no answer in {START} s")


def shortened(folder: Path) -> Path:
    """Return a copy of the shipped file with another schedule and a smaller study; the rest as shipped."""
    settings = yaml.safe_load(PREFECT_YAML.read_text("utf-8"))
    (benchmark,) = [d for d in settings["deployments"] if d["name"] == "benchmark"]
    benchmark["schedules"][0]["cron"], benchmark["parameters"]["study"] = "* * * * *", "smoke"
    copy = folder / "prefect.yaml"
    copy.write_text(yaml.safe_dump(settings, sort_keys=False), "utf-8")
    return copy


def prefect(environment: dict[str, str], *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "prefect", *arguments], env=environment, check=True, timeout=DEPLOY)


def tested(arguments: Sequence[str | Path], environment: dict[str, str]) -> int:
    """Run pytest, for a time that is bounded, and return its exit code."""
    command = [sys.executable, "-m", "pytest", "-m", "services", "-v", "--durations=0", *arguments]
    process = started(command, environment, HERE.parents[1])
    try:
        return process.wait(TESTS)
    finally:
        stop(process)


if __name__ == "__main__":
    raise SystemExit(main())
