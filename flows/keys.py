"""What Prefect calls the artifacts, events and assets of a study: a stable key for each name that somebody gave."""

import hashlib
import re
from pathlib import Path

from synthrisk.conf.secrets import mask, without_secrets

_LONGEST = 60
_PLAIN = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")
_IN_ASSETS = re.compile(r"[^\w.~:/@!$()*+,;=-]+")  # what keys of assets must not have, in one pass
_LONGEST_ASSET = 512
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


def asset_key(address: str) -> str:
    """Return the key of the asset that is at an address: the address itself, as far as keys can be addresses.

    User, password and token are taken out, and the parameters of a query. A path is one of this machine, a name one of
    ours. What keys cannot hold becomes a dash, and then digits of a digest are added, so that no two share a key.

    Example:
        >>> asset_key("/data/real.csv"), asset_key("adult"), asset_key("s3://bucket/july.parquet?token=abc")
        ('file:///data/real.csv', 'synthrisk://adult', 's3://bucket/july.parquet')
        >>> asset_key("postgresql+psycopg://me:${PASSWORD}@host/db"), asset_key("/data/réel 1.csv")
        ('postgresql://host/db', 'file:///data/réel-1.csv-xe14af626')
    """
    told = re.split(r"[?#]", mask(without_secrets(address)))[0]
    scheme, has_scheme, place = told.partition("://")
    if not has_scheme:
        name, is_kind, rest = told.partition(":")
        scheme, place = ("file", told) if Path(told).is_absolute() else (name, rest) if is_kind else ("synthrisk", told)
    scheme = re.sub(r"[^a-z0-9]", "", scheme.partition("+")[0].lower()) or "synthrisk"
    plain = _IN_ASSETS.sub("-", place)
    key = f"{scheme}://{plain}"
    if plain == place and len(key) <= _LONGEST_ASSET:
        return key
    return f"{key[: _LONGEST_ASSET - 10]}-x{hashlib.sha256(place.encode()).hexdigest()[:8]}"
