"""The keys of what is kept: a digest of all that decides it: settings, data, versions, and the code that makes it.

An edit of the code changes a key if, and only if, it may change the result. What is known of our source files is kept
in the user's cache folder: to parse them all takes half a second.
"""

import ast
import hashlib
import json
import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import fsspec
from platformdirs import user_cache_path

from synthrisk.metrics.plugins import points
from synthrisk.tasks.workspace.store import draft_name


def key_of(*parts: Any) -> str:
    """Return a digest of plain values; equal values give equal keys in every process."""
    text = json.dumps(parts, sort_keys=True, default=str, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Return the installed versions of distributions."""
    return {p: _version(p) for p in packages}


_version = cache(version)


def file_digest(path: str | Path) -> str:
    """Return the digest of the bytes of a file or fsspec URL."""
    with fsspec.open(str(path), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:20]


_ROOT = Path(__file__).parents[2]
_SETTLED = 2.0  # seconds after which an edit moves a file's times for certain
_LOCK = Lock()
_KEPT: dict[str, Any] = {}
_LOADED: list[Path | None] = []  # where they are kept, once it was looked there
_NEW: list[str] = []


class Source(NamedTuple):
    """A file as it is run, without comments, docstrings and places of lines; modules of ours it imports, and names."""

    runs: str  # digest
    imports: tuple[tuple[str, str], ...]


def kept(path: Path, stat: os.stat_result) -> Source | None:
    """Return what is known of a file that was not written since."""
    with _LOCK:
        if not _LOADED:
            _LOADED.append(_place())
            _KEPT.update(_read(_LOADED[0]))
        found: Any = _KEPT.get(str(path))
    with suppress(TypeError, ValueError):  # no such entry, or one that is none
        stamp, runs, imports = found
        if stamp == _stamp(stat):
            return Source(str(runs), tuple((str(module), str(name)) for module, name in imports))
    return None


def keep(path: Path, stat: os.stat_result, source: Source) -> None:
    """Remember what was found in a file of ours, for ``save``."""
    if path.is_relative_to(_ROOT) and time.time() - max(stat.st_mtime, stat.st_ctime) > _SETTLED:
        with _LOCK:
            _KEPT[str(path)] = [_stamp(stat), source.runs, source.imports]
            _NEW.append(str(path))


def save() -> None:
    """Write what was found since, where the cache folder can be written."""
    with _LOCK:
        place = _LOADED[0] if _LOADED else None
        if place is None or not _NEW:
            return
        found = _read(place) | {path: _KEPT[path] for path in _NEW}
        _NEW.clear()
        draft = place.with_name(f"{draft_name()}{place.name}")
        with suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                draft.write_text(json.dumps(found))
                draft.replace(place)
            finally:
                draft.unlink(missing_ok=True)


def _stamp(stat: os.stat_result) -> list[int]:
    """Return what an edit moves: the time of the last change too, which no copy sets back."""
    return [stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_size]


def _place() -> Path | None:
    """Return where it is kept: a file for each installation, version of Python, and edit of how files are looked at."""
    folder = cache_folder()
    parts = (str(_ROOT).encode(), platform.python_version().encode(), Path(__file__).read_bytes())
    key = hashlib.sha256(b"\0".join(parts))
    return folder and folder / f"code-{key.hexdigest()[:12]}.json"


def cache_folder() -> Path | None:
    """Return the folder of what is kept for the user on this machine; None where there is none."""
    try:
        folder = Path(user_cache_path("synthrisk", appauthor=False))
    except RuntimeError:  # no home
        return None
    return folder if folder.is_absolute() else None


def _read(place: Path | None) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        found = json.loads(place.read_text("utf-8")) if place else {}
        return found if isinstance(found, dict) else {}
    return {}


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
            version = f"{point.dist.name} {point.dist.version}" if point.dist else ""
            others.append(f"{version} {_source(point.module)}".strip())
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
            total.update(name.encode() + _source_of(path).runs.encode())
    save()
    return total.hexdigest()[:12]


def _imported(name: str, tops: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules of ours that a module imports."""
    path = _path(name, tops)
    for module, inside in _source_of(path).imports if path else ():
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
def _source_of(path: Path) -> Source:
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
