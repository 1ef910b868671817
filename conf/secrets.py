"""Secrets in addresses: refused where they are written, left out where an address is shown.

Settings are kept in the report, in MLflow and in Prefect. A secret is named as ``${NAME}`` and taken from the
environment when the address is used.
"""

import re
from urllib.parse import unquote

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
