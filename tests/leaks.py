"""Looking for a text where it must not be: in files, in databases, however it is written down."""

import base64
import re
import sqlite3
from pathlib import Path

import pandas as pd


def holds(text: bytes, secret: str) -> bool:
    """Tell whether the text is there: plain, as JSON escapes it, in hexadecimal, or in any phase of base64."""
    plain = secret.encode()
    forms = [plain, plain.hex().encode(), plain.hex().upper().encode()]
    for phase in range(3):
        coded = base64.b64encode(b"\0" * phase + plain)
        forms.append(coded[(0, 2, 3)[phase] : len(coded) - 4])
    return any(form in text for form in forms)


def dump(database: Path) -> bytes:
    """Return all that an SQLite database holds, as SQL, but for millionths of a second, which may be any six digits."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        return re.sub(r"(:\d\d)\.\d{6}(?!\d)", r"\1", "\n".join(connection.iterdump())).encode()


def read(path: Path) -> bytes:
    """Return what a file says: its bytes, and where it is compressed or a database what is in it."""
    if path.suffix == ".parquet":
        frame = pd.read_parquet(path)
        return " ".join([*map(str, frame.columns), *frame.astype(str).to_numpy().ravel()]).encode()
    if path.suffix == ".db":
        return dump(path)
    return path.read_bytes()


def holding(secrets: list[str], folder: Path) -> list[str]:
    """Return which files of a folder hold which of the secrets."""
    files = {path: read(path) for path in sorted(folder.rglob("*")) if path.is_file()}
    return [f"{path}: {secret}" for path, text in files.items() for secret in secrets if holds(text, secret)]
