"""What Prefect calls the artifacts and events of a study: a stable key for each name that somebody gave."""

import hashlib
import re

_LONGEST = 60
_PLAIN = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")
_HAS_DIGEST = re.compile(r"(^|-)x[0-9a-f]{8}$")


def key_of_name(name: str) -> str:
    """Return lowercase letters, digits and dashes, two of them for an underscore; two names never share a key.

    A name of anything else, a long one, or one that ends as if it had a digest, gets some digits of its own digest.

    Example:
        >>> key_of_name("paper_adult"), key_of_name("Adult"), key_of_name("größe/1")
        ('paper--adult', 'adult-xad08defc', 'gr-e-1-x98135d39')
    """
    if len(name) <= _LONGEST and _PLAIN.fullmatch(name) and not _HAS_DIGEST.search(name):
        return name.replace("_", "--")
    front = re.sub(r"[^a-z0-9]+", "-", name.lower())[:_LONGEST].strip("-")
    return f"{front}-x{hashlib.sha256(name.encode()).hexdigest()[:8]}".lstrip("-")
