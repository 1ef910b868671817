"""Secrets in addresses: refused where they are written, filled in where the owner of the machine allows it, and masked.

Settings are kept in the report, in MLflow and in Prefect. A secret is named as ``${NAME}`` and taken from the
environment when the address is used. A study could so have any variable sent to any host, such as the key of a cloud:
only variables are taken that ``SYNTHRISK_VARIABLES``, which no study can set, names. Their values are masked in every
text that leaves the process: errors, lines of the log, Prefect's states, artifacts and events, MLflow's tags and notes.
"""

import html
import json
import logging
import os
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar, cast
from urllib.parse import unquote

from synthrisk.metrics.errors import InputError

_P = ParamSpec("_P")
_T = TypeVar("_T")

ALLOWED = "SYNTHRISK_VARIABLES"
"""The environment variable that names those which an address may take, separated by commas."""
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_VARIABLE = re.compile(rf"\$\{{({_NAME})\}}")
_SHORTEST = 4  # letters of a value: the masks of a shorter one would stand in every sentence
_LONG = 8  # letters from which a value is masked within words too
_BEGINS = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2}))"  # a word does, also one behind a percent-encoded mark
_GROWN: dict[tuple[str, str], set[str]] = {}  # by variable and value, the words that it has become a part of

_ADDRESS = re.compile(r"^\s*[A-Za-z][\w+.-]*(?:::[A-Za-z][\w+.-]*)*://")
_PASSWORD = re.compile(r"://[^/@:]*:(?!\$\{)[^@]+@")
_TOKEN = re.compile(r"^\s*https?://(?!\$\{)[^/?#@:]+@", re.IGNORECASE)  # of a database it is the name of a user
_NAMES = r"[\w.-]*(?:password|passwd|pwd|secret|token|sig|signature|credential|api[_-]?key|access[_-]?key)"
_VALUE = re.compile(rf"[?&;](?:{_NAMES})=(?!\$\{{)[^&;#\s]", re.IGNORECASE)
_SHOWN_USER = re.compile(r"//(?:[^/@:]*:[^@]*|[^/@]*)@")  # a password may hold a slash
_SHOWN_VALUE = re.compile(rf"([?&;]{_NAMES}=)[^&;#\s]*", re.IGNORECASE)


def has_secret(text: str) -> bool:
    """Tell whether a text is an address with a password, token or signature written out.

    Example:
        >>> [has_secret(each) for each in ("s3://bucket/a.csv?token=abc", "postgresql+psycopg://me:${PASSWORD}@host/db")]
        [True, False]
    """
    if _PASSWORD.search(text):
        return True
    return bool(_ADDRESS.match(text) and (_TOKEN.match(text) or _VALUE.search(text)))


def secrets_of(address: str) -> list[str]:
    """Return what is secret in an address, as it stands there and decoded, the longest first.

    Example:
        >>> secrets_of("http://me:s%20cret@host:5000/x?sig=abc&v=2")
        ['s%20cret', 's cret', 'abc']
    """
    found = [shown.group(0)[2:-1].rpartition(":")[2] for shown in _SHOWN_USER.finditer(address)]
    found += [shown.group(0).partition("=")[2] for shown in _SHOWN_VALUE.finditer(address)]
    return sorted({form for each in found if each for form in (each, unquote(each))}, key=len, reverse=True)


def without_secrets(address: str) -> str:
    """Return an address without user, password, token and signature.

    Example:
        >>> without_secrets("http://me:secret@host:5000/x?sig=abc&v=2")
        'http://host:5000/x?sig=...&v=2'
    """
    return _SHOWN_VALUE.sub(r"\1...", _SHOWN_USER.sub("//", address))


def check_variables(text: str) -> None:
    """Refuse an address that names a variable which may not be taken, is not set, or is too short to be masked.

    Raises:
        InputError: So it is; the text names the variable, never its value.
    """
    for name in _VARIABLE.findall(text):
        allowed = _allowed()
        if name not in allowed:
            raise InputError(
                f"the environment variable {name} must be named in {ALLOWED} before an address can take it, got "
                f"{', '.join(allowed) or 'none'} there; if its value may be sent to that address, set "
                f"{ALLOWED}={','.join([*allowed, name])}"
            )
        value = os.environ.get(name)
        if value is None:
            raise InputError(f"the environment must have the variable {name} that the study names, got none")
        if len(value) < _SHORTEST:
            raise InputError(
                f"the environment variable {name} must have at least {_SHORTEST} letters, for its value is masked in "
                f"every text, got {len(value)}"
            )


def resolve(text: str) -> str:
    """Return ``text`` with each ``${NAME}`` replaced by the environment variable of that name.

    From then on the lines of all logs of this process are masked.

    Raises:
        InputError: A variable may not be taken, is not set, or is too short to be masked.
    """
    check_variables(text)
    names = _VARIABLE.findall(text)
    if not names:
        return text
    filled = _VARIABLE.sub(lambda match: os.environ[match.group(1)], text)
    words = set(_words(filled)) - set(_words(text))
    for name in names:
        value = os.environ[name]
        grown = {word for word in words if value.lower() in word.lower()}  # pre${NAME}post is one word
        _GROWN.setdefault((name, value), set()).update(grown)
    _mask_logs()
    return filled


def mask(text: str) -> str:
    """Return a text with ``${NAME}`` in place of each value that an address may take, in whatever way it is written.

    A value is found in letters of either case, percent-encoded once or twice, and as JSON, HTML and Python write it;
    of one that is an address itself also its parts. One of fewer than eight letters is found where it is a word.
    """
    every = _secret_texts()
    if not every:
        return text
    pattern, names = _pattern(every)
    return pattern.sub(lambda match: f"${{{names[match.lastindex or 1]}}}", text)


def masked(value: _T) -> _T:
    """Return plain values (texts, lists, tuples, mappings) with all their texts masked; others as they are."""
    found: Any = value
    if type(found) is str:
        return cast("_T", mask(found))
    if type(found) in (list, tuple):
        return cast("_T", type(found)(masked(each) for each in found))
    if type(found) is dict:
        return cast("_T", {masked(name): masked(each) for name, each in found.items()})
    return value


def masks_errors(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return the function with the texts of its errors masked."""

    @wraps(function)
    def run(*arguments: _P.args, **named: _P.kwargs) -> _T:
        with masking():
            return function(*arguments, **named)

    return run


@contextmanager
def masking() -> Iterator[None]:
    """Mask the text of an error that leaves the block; one that masks nothing passes as it is."""
    try:
        yield
        return
    except Exception as error:
        shown = "".join(traceback.format_exception(error))
        if mask(shown) == shown:
            raise
        told = _masked_error(error)
    raise told  # outside the except block, so that it does not carry the first error along


def _masked_error(error: Exception) -> Exception:
    error.args = masked(error.args)
    text = str(error)
    told = error if mask(text) == text else RuntimeError(f"{type(error).__name__}: {mask(text)}")
    told.__cause__ = told.__context__ = None
    return told


def _allowed() -> list[str]:
    """Return the names of the variables that an address may take.

    Raises:
        InputError: What stands there are no names.
    """
    names = [each.strip() for each in os.environ.get(ALLOWED, "").split(",") if each.strip()]
    for each in names:
        if not re.fullmatch(_NAME, each):
            raise InputError(f"{ALLOWED} must be names of environment variables separated by commas, got {each!r}")
    return names


def _secret_texts() -> tuple[tuple[str, str], ...]:
    """Return each variable with each text that is masked for it, the longest first.

    All variables that may be taken, not those alone that were: who filled one in may be another process.
    """
    names = [each.strip() for each in os.environ.get(ALLOWED, "").split(",")]
    values = [(name, os.environ[name]) for name in names if os.environ.get(name)]
    found = [(name, each) for name, value in values for each in (value, *_GROWN.get((name, value), ()))]
    every = {(name, form) for name, each in found for form in (each, unquote(each), *_parts(each))}
    return tuple(sorted((each for each in every if len(each[1]) >= _SHORTEST), key=lambda each: (-len(each[1]), each)))


def _parts(value: str) -> list[str]:
    """Return what is secret in a value that is an address: what stands for a password, and each longer part."""
    if "://" not in value:
        return []
    return [*secrets_of(value), *(part for part in re.split(r"[/?#&=@:]+", value) if len(part) >= _LONG)]


def _words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z0-9]+", text)


@lru_cache(maxsize=8)
def _pattern(every: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str], Mapping[int, str]]:
    """Return a pattern with a group for each text, and the variable of each group."""
    groups = []
    for _, text in every:
        letters = "".join(_written(letter) for letter in text)
        groups.append(f"({letters})" if len(text) >= _LONG else f"({_BEGINS}{letters}(?![A-Za-z0-9]))")
    return re.compile("|".join(groups), re.IGNORECASE), {i: name for i, (name, _) in enumerate(every, 1)}


def _written(letter: str) -> str:
    """Return a pattern of all ways in which a letter is written."""
    percent = "".join(f"%(?:25)*{byte:02x}" for byte in letter.encode(errors="surrogateescape"))
    ways = {re.escape(letter), percent}
    if not (letter.isascii() and letter.isalnum()):
        code = ord(letter)
        ways |= {re.escape(html.escape(letter)), re.escape(json.dumps(letter)[1:-1]), rf"\\{re.escape(letter)}"}
        ways |= {f"&\\#0*{code};", f"&\\#x0*{code:x};", *([r"\+"] if letter == " " else [])}
    return f"(?:{'|'.join(sorted(ways, key=lambda way: (-len(way), way)))})"


def _mask_logs() -> None:
    """Have each line of each log of this process masked, with the traceback that belongs to it."""
    made_before = logging.getLogRecordFactory()
    if getattr(made_before, "masks", False):
        return

    def made(*arguments: Any, **named: Any) -> logging.LogRecord:
        record = made_before(*arguments, **named)
        try:
            text = record.getMessage()
        except Exception:  # noqa: BLE001 - what does not fit its own template is told by ``logging``, as ever
            return record
        if mask(text) != text:
            record.msg, record.args = mask(text), None
        if record.exc_info:
            shown = logging.Formatter().formatException(record.exc_info)
            if mask(shown) != shown:
                record.exc_info, record.exc_text = None, mask(shown)
        return record

    made.masks = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(made)
