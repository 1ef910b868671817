"""Build ``deployments/Dockerfile`` without Docker, and run a study in it.

Buildah builds the file as it stands. Where no registry of images can be reached, the base image is made here: a minimal
Debian with Python 3.11, under the name that the file asks for. Needs root, and ``apt-get install buildah debootstrap``.

    python tests/deployments/build_image.py
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
BASE = "localhost/python:3.11-slim"  # found by its short name too
PACKAGES = "python3,python3-pip,python3-venv,ca-certificates"
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
TRIES = {
    "nobody is root": "test $(id -u) = 1000",
    "the folders are private": "test $(stat -c %a /data) = 700 && test $(stat -c %a ~/.prefect) = 700",
    "a worker would start": "prefect worker start --help > /dev/null",
    "a study runs": "synthrisk benchmark smoke || test $? -eq 1",  # 1: a limit is not shown to be kept
    "its workspace is in the volume": "test -f /data/.synthrisk/mlflow.db",
}


class Builder:
    """Buildah with a store of its own, which goes with its folder."""

    def __init__(self, folder: Path) -> None:
        store = ["--root", str(folder / "store"), "--runroot", str(folder / "run"), "--storage-driver", "vfs"]
        self._command = ["buildah", *store]

    def __call__(self, *arguments: str) -> str:
        done = subprocess.run([*self._command, *arguments], stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout.strip()


def main() -> int:
    """Return 0 where the image is built and a study runs in it."""
    absent = [tool for tool in ("buildah", "debootstrap") if shutil.which(tool) is None]
    if absent or os.geteuid():
        print(f"needs root, and apt-get install {' '.join(absent) or 'nothing more'}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="synthrisk-image-") as name:
        folder = Path(name)
        buildah = Builder(folder)
        make_base(buildah, folder / "debian")
        file = ROOT / "deployments" / "Dockerfile"
        buildah("build", "--isolation", "chroot", "--pull-never", "-f", str(file), "-t", "synthrisk", str(ROOT))
        container = buildah("from", "--pull-never", "synthrisk")
        for told, command in TRIES.items():
            buildah("run", "--isolation", "chroot", container, "--", "sh", "-ec", command)
            print(f"in the image: {told}", flush=True)
    return 0


def make_base(buildah: Builder, debian: Path) -> None:
    """Make the image that the file begins with; pip asks the index that this machine's pip asks."""
    release = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(debian)]
    subprocess.run(release, check=True, stdout=subprocess.DEVNULL)
    (debian / "usr/bin/python").symlink_to("python3")
    for managed in debian.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
        managed.unlink()
    for each in ("etc/pip.conf", CERTIFICATES):
        if Path("/", each).exists():
            shutil.copyfile(Path("/", each), debian / each)
    container = buildah("from", "scratch")
    buildah("copy", "--quiet", container, str(debian), "/")
    buildah("config", "--env", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", container)
    buildah("config", "--env", f"PIP_CERT=/{CERTIFICATES}", container)
    buildah("commit", "--quiet", container, BASE)


if __name__ == "__main__":
    raise SystemExit(main())
