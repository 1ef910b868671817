"""Start a Prefect server and a process worker on loopback, deploy ``deployments/``, and run the tests beside this file.

Everything lives in a temporary folder that is removed at the end; the time is bounded. What is deployed is the
shipped ``prefect.yaml`` but for two settings: the schedule (every minute) and the study (smoke).

    python tests/deployments/run_services.py [arguments of pytest]
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

HERE = Path(__file__).parent
PREFECT_YAML = HERE.parents[1] / "deployments" / "prefect.yaml"
START, DEPLOY, TESTS = 240, 240, 1800  # seconds, on a slow machine
QUIET = {
    "DO_NOT_TRACK": "true",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}


def main() -> int:
    """Return pytest's exit code, or 1 where a service does not start."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that an end from outside leaves nothing behind either
    folder = Path(tempfile.mkdtemp(prefix="synthrisk-services-"))
    environment = surroundings(folder)
    passed = False
    try:
        with service(
            folder, environment, "server", "start", "--host", "127.0.0.1", "--port", port_of(environment)
        ) as server:
            wait_for(server, environment)
            prefect(environment, "work-pool", "create", "local", "--type", "process")
            prefect(environment, "--no-prompt", "deploy", "--all", "--prefect-file", str(shortened(folder)))
            with service(folder, environment, "worker", "start", "--pool", "local"):
                passed = run_tests(environment) == 0
    except (subprocess.SubprocessError, TimeoutError) as error:
        print(f"the services did not start: {error}", file=sys.stderr)
    finally:
        if not passed:
            for log in sorted(folder.glob("*.log")):
                print(f"--- end of {log.name}", *log.read_text("utf-8", "replace").splitlines()[-60:], sep="\n")
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if passed else 1


def surroundings(folder: Path) -> dict[str, str]:
    """Return the environment of all processes: their own folders, no telemetry, nobody's profile or MLflow."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_", "MLFLOW_", "SYNTHRISK_"))}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "home").mkdir()
    own = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_DATABASE_TIMEOUT": "60",
        "SYNTHRISK_HOME": str(folder / "home"),
        "SYNTHRISK_SERVICES": "1",
        "NO_PROXY": "127.0.0.1,localhost",
    }
    return inherited | QUIET | own


def port_of(environment: dict[str, str]) -> str:
    return environment["PREFECT_API_URL"].rpartition(":")[2].partition("/")[0]


@contextmanager
def service(folder: Path, environment: dict[str, str], *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Keep a Prefect process running for the time of the block; at the end its whole process group ends."""
    with (folder / f"{arguments[0]}.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "prefect", *arguments],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            stop(process)


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
    benchmark["schedules"][0]["cron"] = "* * * * *"
    benchmark["parameters"]["study"] = "smoke"
    copy = folder / "prefect.yaml"
    copy.write_text(yaml.safe_dump(settings, sort_keys=False), "utf-8")
    return copy


def prefect(environment: dict[str, str], *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "prefect", *arguments], env=environment, check=True, timeout=DEPLOY)


def run_tests(environment: dict[str, str]) -> int:
    # first the one that ends the schedule of every minute
    files = sorted(HERE.glob("test_*.py"), key=lambda file: (file.stem != "test_deployments", file))
    tests = [sys.executable, "-m", "pytest", "-m", "services", "-v", "--durations=0", f"--confcutdir={HERE}"]
    tests += map(str, files)
    tests += sys.argv[1:]
    return subprocess.run(tests, env=environment, check=False, timeout=TESTS, cwd=HERE.parents[1]).returncode


if __name__ == "__main__":
    raise SystemExit(main())
