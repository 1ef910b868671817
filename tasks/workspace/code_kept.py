"""What is known of our source files, kept in the user's cache folder: to parse them all takes half a second."""

import hashlib
import json
import os
import platform
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from platformdirs import user_cache_path

from synthrisk.tasks.workspace.store import draft_name

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
    try:
        folder = Path(user_cache_path("synthrisk", appauthor=False))
    except RuntimeError:  # no home
        return None
    code = [each.read_bytes() for each in (Path(__file__), Path(__file__).with_name("code.py"))]
    key = hashlib.sha256(b"\0".join([str(_ROOT).encode(), platform.python_version().encode(), *code]))
    return folder / f"code-{key.hexdigest()[:12]}.json" if folder.is_absolute() else None


def _read(place: Path | None) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        found = json.loads(place.read_text("utf-8")) if place else {}
        return found if isinstance(found, dict) else {}
    return {}
