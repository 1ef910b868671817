"""Which code made a result: a digest that an edit changes if, and only if, it may change the result."""

import ast
import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

from synthrisk.metrics.plugins import points
from synthrisk.tasks.workspace.code_kept import Source, keep, kept, save

_OURS = "synthrisk"
_ONE_AT_A_TIME = Lock()
_Asked = tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, Path], ...]]
_KNOWN: dict[_Asked, str] = {}
_ROOMS = ("metrics", "conf", "tasks", "flows")


def folders() -> dict[str, Path]:
    """Return where each of our top packages is."""
    return {name: Path(str(files(f"{_OURS}.{name}"))) for name in _ROOMS}


def code_digest(modules: Iterable[str], alone: Iterable[str] = (), where: Mapping[str, Path] | None = None) -> str:
    """Return a digest of our modules, with all of ours that they import, directly or not, at the top or in functions.

    What is compared is what the interpreter runs: comments, docstrings and layout move nothing, nor does any module
    that none of these imports. The version of Python counts. Modules named in ``alone`` count without their imports;
    ``where`` is the folder of each top package, those installed unless given.

    Example:
        >>> code_digest(["synthrisk.metrics.cap.cap"]) == code_digest(["synthrisk.metrics.rapid.rapid"])
        False
    """
    tops = folders() if where is None else dict(where)
    asked = tuple(sorted(set(modules))), tuple(sorted(set(alone))), tuple(sorted(tops.items()))
    if asked not in _KNOWN:
        _KNOWN[asked] = _digest(asked)
    return _KNOWN[asked]


def entry_point_code(group: str, names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the modules of ours behind entry points, and what is known of the code of others.

    Of others: distribution, version and the digest of the package or file, so that an edited plugin is another one.
    """
    found = points(group)
    ours, others = [], []
    for name in sorted(set(names)):
        point = found[name]
        if point.module.startswith(f"{_OURS}.") and (point.dist is None or point.dist.name == _OURS):
            ours.append(point.module)
        else:
            others.append(_foreign(point))
    return ours, others


def known() -> dict[_Asked, str]:
    """Return the digests that this process has found, for another one to ``learn``."""
    return dict(_KNOWN)


def learn(digests: Mapping[_Asked, str]) -> None:
    """Take digests that another process has found in the same files: to parse them all takes half a second."""
    _KNOWN.update(digests)


def _digest(asked: _Asked) -> str:
    modules, alone, where = asked
    tops, seen, ahead = dict(where), set(), list(modules)
    while ahead:
        name = ahead.pop()
        if name not in seen:
            seen.add(name)
            ahead.extend(_imported(name, tops))
    total = hashlib.sha256(platform.python_version().encode())
    for name in sorted(seen | set(alone)):
        path = _path(name, tops)
        if path is not None:
            total.update(name.encode() + _read(path).runs.encode())
    save()
    return total.hexdigest()[:12]


def _imported(name: str, tops: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules of ours that a module imports."""
    path = _path(name, tops)
    for module, inside in _read(path).imports if path else ():
        yield module
        if inside and _path(f"{module}.{inside}", tops):
            yield f"{module}.{inside}"


def _path(name: str, tops: Mapping[str, Path]) -> Path | None:
    """Return the file of a module of ours; None where there is none."""
    parts = name.split(".")
    if len(parts) < 2 or parts[1] not in tops:
        return None
    place = tops[parts[1]].joinpath(*parts[2:])
    package = place / "__init__.py"
    file = package if package.is_file() else place.with_suffix(".py")
    return file if file.is_file() else None


@cache
def _read(path: Path) -> Source:
    stat = path.stat()
    known = kept(path, stat)
    if known is None:
        known = _parsed(path)
        keep(path, stat, known)
    return known


def _parsed(path: Path) -> Source:
    with _ONE_AT_A_TIME:  # CPython 3.11 fails where threads parse at the same time
        tree = ast.parse(path.read_bytes())
    imports: list[tuple[str, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports += [(each.name, "") for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            imports += [(node.module or "", each.name) for each in node.names]
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [each for each in node.body if not _is_text(each)] or [ast.Pass()]
    runs = hashlib.sha256(ast.dump(tree).encode(errors="surrogatepass")).hexdigest()
    return Source(runs, tuple(each for each in imports if each[0].startswith(f"{_OURS}.")))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _foreign(point: EntryPoint) -> str:
    version = f"{point.dist.name} {point.dist.version}" if point.dist else ""
    return f"{version} {_source(point.module)}".strip()


@cache
def _source(module: str) -> str:
    """Return the digest of somebody else's top package, or of the file where it is one; empty where none is found."""
    top = module.split(".")[0]
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return ""
    places = [Path(p) for p in (spec.submodule_search_locations or ())] if spec else []
    sources = [s for place in places for s in sorted(place.rglob("*.py"))]
    if spec and not sources and spec.origin and Path(spec.origin).is_file():
        sources = [Path(spec.origin)]
    total = hashlib.sha256()
    for source in sources:
        total.update(source.name.encode() + source.read_bytes())
    return total.hexdigest()[:12] if sources else ""
