"""Why a store has failed: its own words, without what is secret in them and without what it was told."""

import os
import re
from collections.abc import Iterator
from urllib.parse import unquote

from mlflow.exceptions import RestException

from synthrisk.conf.secrets import secrets_of, without_secrets

_STATUS = re.compile(r"error code (\d{3})\b|\b(\d{3}) (?:Client|Server) Error\b|too many (\d{3}) error")
_ECHOED = re.compile(  # what follows is what the store was told, or a page of somebody between us and it
    r"\s*(?:\[SQL:|\[parameters:|Response body:|Response text:|Response:|DETAIL:|\(Background on this error).*", re.S
)
_QUOTED = re.compile(r"""(?<!\w)(?<!host=)(['"])(?!/)(?:(?!\1).)*\1(?!\w)""", re.S)
_LOGIN = re.compile(r"\b(Basic|Bearer)\s+\S+", re.IGNORECASE)
_ADDRESS = re.compile(r"\S+://\S+")
_VARIABLES = ("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN", "DATABRICKS_TOKEN")
_USER = "MLFLOW_TRACKING_USERNAME"
_LONGEST = 300  # characters of a text


def reason_of(error: BaseException, uri: str, *, quote: bool = True) -> str:
    """Return in a few words why a store does not do its work: ``refused (401)``, ``failed (500)``, or what it says.

    ``quote``: repeat the words of the store where there is no status that says it; else the kind of error alone.
    """
    status = next(filter(None, map(_status, _chain(error))), 0)
    if 400 <= status < 500 and not _says_why(error):
        return f"refused ({status})"
    if status >= 500:
        return f"failed ({status})"
    if any(isinstance(each, ConnectionError | TimeoutError) or _never_answered(each) for each in _chain(error)):
        return "does not answer"
    told = text_of(error, uri).splitlines()[-1] if quote else type(error).__name__
    return f"refused ({status}): {told}" if status else f"failed: {told}"


def text_of(error: BaseException, uri: str) -> str:
    """Return what the errors say that lie below each other, a line each, the cause last.

    Passwords, tokens and users of addresses are left out, and so is all that stands in quotation marks or follows as
    statement, parameters or body: these repeat what the store was told.
    """
    lines = [f"{type(each).__name__}: {_clean(str(each), uri)}".rstrip(": ") for each in _chain(error)]
    return "\n".join(dict.fromkeys(lines))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and those that it was raised from, or on."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or each.__context__


def _status(error: BaseException) -> int:
    """Return the status of HTTP that an error tells of, or 0."""
    answered = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(answered, int):
        return answered
    if isinstance(error, RestException):
        return int(error.get_http_status_code())
    found = _STATUS.search(str(error))
    return int(next(filter(None, found.groups()))) if found else 0


def _says_why(error: BaseException) -> bool:
    """Tell whether it is MLflow that refuses, in words of its own, and not who is asked for a password."""
    return isinstance(error, RestException) and _status(error) not in (401, 403)


def _never_answered(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] in ("requests", "urllib3") and any(
        word in type(error).__name__ for word in ("Connect", "Timeout")
    )


def _clean(text: str, uri: str) -> str:
    text = _ECHOED.sub("", text)
    for secret in (*secrets_of(uri), *filter(None, map(os.environ.get, _VARIABLES))):
        text = text.replace(secret, "...")
    for user in filter(None, (_user(uri), os.environ.get(_USER))):
        text = re.sub(rf"(?<!\w){re.escape(user)}(?!\w)", "...", text)
    text = _ADDRESS.sub(lambda found: without_secrets(found.group()), _LOGIN.sub(r"\1 ...", text))
    text = " ".join(_QUOTED.sub(r"\1...\1", text).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _user(uri: str) -> str:
    """Return the user of an address, decoded; empty where there is none."""
    named = re.match(r"[\w+.-]+://([^/@:]+)(?::[^@]*)?@", uri)
    return unquote(named.group(1)) if named else ""
