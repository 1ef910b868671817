"""``synthrisk doctor``: what is installed and what answers, on one screen that can be pasted into a bug report.

The screen holds no path, no address, no name of a user or a machine, and no password. This file needs nothing but
Python to be imported, so that ``python -m synthrisk.flows.cli.doctor`` still tells what is broken where the command
line does not start.
"""

import os
import platform
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata

from synthrisk.flows.cli.answering import prefect_line, store_line

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
    asked: str  # such as >=2.2,<4
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
    lines += _told("Prefect", prefect_line())
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
        yield Package(name, specifier.strip(), extra.group(1) if extra else "", version, fault)


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
    return [
        Package(p.name, p.asked, p.extra, p.version, "; ".join(filter(None, (p.fault, faults.get(p.name, "")))))
        for p in packages
    ]


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
        from synthrisk.metrics.models import forest_compiled  # noqa: F401
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
    from synthrisk.flows.cli.environment import set_up

    set_up()
    lines, code = examined(*sys.argv[1:3])
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main())
