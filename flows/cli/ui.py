"""The MLflow page of a workspace."""

import subprocess
import sys
from pathlib import Path

from synthrisk.conf.study import Tracking
from synthrisk.flows.reach import check_port, check_tracking
from synthrisk.tasks.tracking.address import store_of


def serve(port: int, tracking_uri: str | None, workspace: Path) -> int:
    """Run MLflow's server on this machine alone until it is stopped; return its exit code."""
    tracking = Tracking(uri=tracking_uri)
    check_tracking(tracking)
    uri = store_of(tracking, workspace)
    if uri.startswith("http"):
        print(f"the store is a server already: open {uri}")
        return 0
    check_port(port)
    print(f"open http://127.0.0.1:{port}/#/experiments  (Ctrl-C stops)", flush=True)
    command = [
        sys.executable,
        "-m",
        "mlflow",
        "server",
        "--backend-store-uri",
        uri,
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    try:
        return subprocess.run(command, check=False).returncode  # noqa: S603 - our own command
    except KeyboardInterrupt:
        return 0
