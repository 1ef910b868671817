"""What Prefect calls the artifacts and events of a study: a stable key for each name that somebody gave."""

import hashlib
import re

_LONGEST = 60
_LOOKS_SHORTENED = re.compile(r"-[0-9a-f]{8}$")


def key_of_name(name: str) -> str:
    """Return lowercase letters, digits and single dashes; two names never share a key.

    A name that is no such key already, is long, or ends as if it had a digest, gets some digits of its own digest.

    Example:
        >>> key_of_name("adult"), key_of_name("Adult"), key_of_name("größe/1")
        ('adult', 'adult-ad08defc', 'gr-e-1-98135d39')
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST].strip("-")
    if plain == name and plain and not _LOOKS_SHORTENED.search(plain):
        return plain
    return f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}".lstrip("-")
