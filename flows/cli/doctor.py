"""``synthrisk doctor``: what is installed and what answers, on one screen that can be pasted into a bug report.

The screen holds no path, no address, no name of a user or a machine, and no password. This file needs nothing but
Python to be imported, so that ``python -m synthrisk.flows.cli.doctor`` still tells what is broken where the command
line does not start.
"""

import os
import platform
import re
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from http.client import HTTPException
from importlib import metadata
from pathlib import Path
from socket import create_connection
from threading import Thread
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, urlsplit, urlunsplit
from urllib.request import Request, urlopen

NAME = "synthrisk"
FOR_DEVELOPERS = ("docs", "test")
"""Extras that no user needs."""
_MODULES = {"scikit-learn": "sklearn", "pyyaml": "yaml"}  # of others the name with underscores
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*([^;]*)(?:;(.*))?")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([\w.-]+)['\"]")
_WIDTH, _INDENT, _MOST_BROKEN = 79, 12, 4
_TOGETHER = "\N{NO-BREAK SPACE}"  # a blank at which no line ends
_PATIENCE = 180.0  # seconds, for the imports of all base packages on a busy machine
_MARK = "synthrisk doctor:"
_IMPORTS = f"""
import importlib, sys
for name in sys.argv[1:]:
    print("\\n{_MARK} next", flush=True)
    try:
        importlib.import_module(name)
    except BaseException as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) and error.name else ""
        print("\\n{_MARK}", type(error).__name__, missing, flush=True)
print("\\n{_MARK} end", flush=True)
"""


@dataclass(frozen=True)
class Package:
    """A package that synthrisk asks for."""

    name: str
    extra: str  # empty: a base package
    version: str | None  # None: it is not installed
    fault: str = ""

    def __str__(self) -> str:
        return f"{self.name}{_TOGETHER}{self.version or 'absent'}"


def examined(tracking_uri: str | None = None, workspace: str = ".synthrisk") -> tuple[list[str], int]:
    """Return the lines of the screen, and the exit code: 0, or 2 where a base package is broken."""
    packages = list(_packages())
    base = _imported([each for each in packages if not each.extra])
    broken = [each for each in base if each.fault]
    lines = [_machine()]
    lines += _told("Packages", ", ".join(map(str, base)) or "none is known: synthrisk itself is not installed")
    for head, line in zip(("Extras", *[""] * len(packages)), _extras(packages), strict=False):
        lines += _told(head, line)
    lines += _told("Compiled", _compiled({each.name for each in broken}))
    lines += _told("Store", store_line(tracking_uri, workspace))
    lines += _told("Prefect", _in_time(_asked_prefect))
    if broken or not base:
        faults = [f"{each.name} {each.fault}" for each in broken] or ["synthrisk is not installed with its packages"]
        more = [f"{len(faults) - _MOST_BROKEN} more"] if len(faults) > _MOST_BROKEN else []
        lines += _told("Broken", "; ".join(faults[:_MOST_BROKEN] + more))
        lines += _told("", "Install synthrisk again, into an environment of its own.")
        return lines, 2
    return [*lines, *_told("All well", f"the {len(base)} base packages are there and can be imported")], 0


def _machine() -> str:
    cpus = os.cpu_count() or 0
    python = f"{platform.python_implementation()} {platform.python_version()}"
    here = f"{platform.system()} {platform.machine()}, {cpus} processor{'s' * (cpus != 1)}"
    return f"{NAME} {_version(NAME) or 'of no known version'}, {python}, {here}"


def _packages() -> Iterator[Package]:
    """Yield what the installed synthrisk asks for."""
    try:
        asked = metadata.requires(NAME) or []
    except metadata.PackageNotFoundError:
        return
    for each in asked:
        name, specifier, condition = _REQUIREMENT.fullmatch(each).groups()  # type: ignore[union-attr]
        extra = _EXTRA.search(condition or "")
        version = _version(name)
        fault = "is not installed" if version is None else _outside(version, specifier.strip())
        yield Package(name, extra.group(1) if extra else "", version, fault)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name) or None
    except Exception:  # noqa: BLE001 - what a broken installation has left there may be anything
        return None


def _outside(version: str, specifier: str) -> str:
    """Return what is wrong with a version; nothing where that cannot be told."""
    try:
        from packaging.specifiers import SpecifierSet

        fits = SpecifierSet(specifier).contains(version, prereleases=True)
    except Exception:  # noqa: BLE001 - no such package, or no such version: the import tells more
        return ""
    return "" if fits else f"must be {specifier}, got {version}"


def _imported(packages: Sequence[Package]) -> list[Package]:
    """Return packages with their faults: those that cannot be imported have one.

    Another process tries it, for a package that was built for another machine ends Python itself.
    """
    faults: dict[str, str] = {}
    left = [each for each in packages if each.version is not None]
    while left:
        told, code = _try_imports([_MODULES.get(each.name.lower(), each.name.replace("-", "_")) for each in left])
        for package, fault in zip(left, told, strict=False):
            faults[package.name] = fault
        if code == 0 and len(told) == len(left):
            break
        last = left[max(len(told) - 1, 0)]
        faults[last.name] = "cannot be imported in time" if code is None else "ends Python when it is imported"
        left = left[max(len(told), 1) :]
    return [replace(p, fault="; ".join(filter(None, (p.fault, faults.get(p.name, ""))))) for p in packages]


def _try_imports(modules: Sequence[str]) -> tuple[list[str], int | None]:
    """Return the fault of each module that was reached, and the exit code; None where it took too long."""
    command = [sys.executable, "-P", "-W", "ignore", "-c", _IMPORTS, *modules]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PATIENCE)  # noqa: S603 - Python itself
        out, code = done.stdout, done.returncode
    except subprocess.TimeoutExpired as late:
        out, code = late.stdout or b"", None
    said = [line.removeprefix(_MARK).split() for line in out.decode(errors="replace").splitlines() if _MARK in line]
    faults: list[str] = []
    for word, *missing in said:
        if word == "next":
            faults.append("")
        elif word != "end":
            faults[-1] = f"cannot be imported ({' '.join([word, *missing])})"
    return faults, code if code is None or ["end"] in said else code or 1


def _extras(packages: Sequence[Package]) -> Iterator[str]:
    """Yield a line for each extra of which something is there, and one for all others."""
    absent = []
    for extra in dict.fromkeys(each.extra for each in packages if each.extra not in ("", *FOR_DEVELOPERS)):
        asked = [each for each in packages if each.extra == extra]
        if any(each.version for each in asked):
            faults = [f" ({each.fault})" if each.version and each.fault else "" for each in asked]
            told = ", ".join(f"{each}{fault}" for each, fault in zip(asked, faults, strict=True))
            yield f"{extra}: {told}"
        else:
            absent.append(extra)
    if absent:
        yield f"not installed: {', '.join(absent)}"


def _compiled(broken: set[str]) -> str:
    """Return whether what numba compiles is kept on disk."""
    if broken:
        return "not looked at, for a base package is broken"
    try:
        from synthrisk.metrics import compiled
        from synthrisk.metrics.cap import nearest_keys_compiled  # noqa: F401 - imported to be looked for
        from synthrisk.metrics.models import forest_trees  # noqa: F401
        from synthrisk.metrics.neighbours import box_search, differing_cells_compiled  # noqa: F401

        if compiled.are_kept():
            return "all functions are kept on disk"
        return "not all functions are kept on disk: the first run of a kind compiles them"
    except Exception as error:  # noqa: BLE001 - numba may be told to compile nothing
        return f"cannot be looked at ({type(error).__name__})"


def _told(head: str, text: str) -> list[str]:
    """Return a paragraph whose first line begins with a word."""
    indent = " " * _INDENT
    first = f"{head:<{_INDENT}}"
    lines = textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace(_TOGETHER, " ") for line in lines]


def main() -> int:
    """Print the screen; return the exit code."""
    from synthrisk.flows.cli.exit_codes import set_up

    set_up()
    lines, code = examined(*sys.argv[1:3])
    print("\n".join(lines))
    return code


def store_line(tracking_uri: str | None, workspace: str) -> str:
    """Return what kind of store it is, and whether it answers."""
    return _in_time(lambda: _asked_store(tracking_uri, workspace))


_PATIENCE_ANSWERING = 5.0  # seconds of one answer
_LONGEST = 12.0  # seconds in all: looking for a name, and a server that sends a letter now and then, have no limit
_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}
_DATABASES = {"postgresql": "PostgreSQL", "mysql": "MySQL", "mssql": "SQL Server"}
_STORE = "mlflow.db"


def _in_time(ask: Callable[[], str]) -> str:
    """Return an answer, or that there was none; of an error only its kind, for its text may hold an address."""
    found: list[str] = []

    def run() -> None:
        try:
            found.append(ask())
        except Exception as error:  # noqa: BLE001 - whatever it is, the other lines of the screen are told
            found.append(f"cannot be asked ({type(error).__name__})")

    asking = Thread(target=run, daemon=True)
    asking.start()
    asking.join(_LONGEST)
    return found[0] if found else f"no answer in {_LONGEST:g} seconds"


def _asked_store(tracking_uri: str | None, workspace: str) -> str:
    if not tracking_uri:
        if "://" in workspace:
            return "in a workspace that is named by an address; such a workspace is not asked"
        return _workspace(Path(workspace))
    from synthrisk.conf.secrets import resolve

    try:
        filled = resolve(tracking_uri)
    except ValueError:
        return "its address takes a variable that is not set, or that SYNTHRISK_VARIABLES does not name"
    address = urlsplit(filled)
    kind = address.scheme.partition("+")[0] or "file"
    if kind in ("http", "https"):
        return _server("MLflow server", address, ("/health", "/version"))
    if kind == "sqlite":
        return f"SQLite file: {_sqlite(Path(address.path[1:]))}"
    if kind == "file":
        return f"folder: {'is there' if Path(address.path).is_dir() else 'is not there'}"
    if kind in _DATABASES:
        return _database(kind, address)
    return "its address begins with no word that is known"


def _workspace(folder: Path) -> str:
    if (folder / _STORE).exists():
        return f"SQLite in the workspace: {_sqlite(folder / _STORE)}"
    parent = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if parent.is_dir() and os.access(parent, os.W_OK):
        return "SQLite in the workspace: none yet, the first study makes it"
    return "SQLite in the workspace: none yet, and the workspace cannot be written to"


def _sqlite(file: Path) -> str:
    if not file.exists():
        return "is not there yet"
    try:
        address = f"{file.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE_ANSWERING)) as database:
            ((experiments,),) = database.execute("select count(*) from experiments").fetchall()
    except sqlite3.Error as error:
        return f"is no store of MLflow, or cannot be read ({type(error).__name__})"
    return f"answers, with {experiments} experiment{'s' * (experiments != 1)}"


def _database(kind: str, address: SplitResult) -> str:
    name = f"{_DATABASES[kind]} {_place(address.hostname)}"
    if not address.hostname:
        return f"{name}: not asked"
    try:
        create_connection((address.hostname, address.port or _PORTS[kind]), timeout=_PATIENCE_ANSWERING).close()
    except OSError as error:
        return f"{name}: does not answer ({type(error).__name__})"
    return f"{name}: its port is open"


def _asked_prefect() -> str:
    """Return whether a Prefect API is configured, and whether it answers."""
    from synthrisk.flows.orchestration.server import is_configured

    if not is_configured():
        return "no API is configured, and none is needed"
    from prefect.settings import PREFECT_API_URL

    return _server("API", urlsplit(str(PREFECT_API_URL.value())), ("/health", "/admin/version"))


def _server(name: str, address: SplitResult, pages: tuple[str, str]) -> str:
    """Return whether a server answers at the first of its pages; its version is at the second."""
    named = f"{name} {_place(address.hostname)}"
    said = _get(address, pages[0])
    if not said.isdigit():
        return f"{named}: does not answer ({said})"
    if said != "200":
        return f"{named}: answers, with code {said}"
    version = _get(address, pages[1]).strip().strip('"')
    return f"{named}: answers{f', version {version}' if version.replace('.', '').isalnum() and '.' in version else ''}"


def _get(address: SplitResult, page: str) -> str:
    """Return the code of an answer that has no version, else the version; the kind of error where nobody answers.

    User and password of the address are not sent: that somebody answers is told without them.
    """
    server = address.netloc.rpartition("@")[2]
    asked = Request(urlunsplit((address.scheme, server, address.path.rstrip("/") + page, "", "")))  # noqa: S310
    try:
        with urlopen(asked, timeout=_PATIENCE_ANSWERING) as answer:  # noqa: S310 - http or https, and named by the user
            text = answer.read(40).decode("ascii", "replace")
            return text if "version" in page else str(answer.status)
    except HTTPError as error:
        return str(error.code)
    except URLError as error:
        return type(error.reason).__name__ if isinstance(error.reason, Exception) else "URLError"
    except (HTTPException, OSError, ValueError) as error:
        return type(error).__name__


def _place(host: str | None) -> str:
    here = not host or host in ("localhost", "::1") or host.startswith("127.")
    return "on this machine" if here else "on another machine"


if __name__ == "__main__":
    sys.exit(main())
