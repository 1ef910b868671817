"""Names for records that say nothing of them: salted hashes, the same in every study of the same table."""

import hashlib
import secrets
from pathlib import Path
from typing import Any

import numpy as np

from synthrisk.tasks.workspace.kept import keep_file


def record_hashes(workspace: Path, digest: str, rows: int) -> np.ndarray:
    """Return one number a record of the table with this digest, keyed by the workspace's secret salt.

    Its 16 hexadecimal digits are the record's name. Whoever holds the workspace can find a record again by its
    position; nobody else learns anything.
    """
    inner, outer = _keyed(_salt(workspace))
    inner.update(f"{digest}/".encode())
    names = bytearray()
    for row in range(rows):
        text, name = inner.copy(), outer.copy()
        text.update(b"%d" % row)
        name.update(text.digest())
        names += name.digest()[:8]
    return np.frombuffer(names, dtype=">u8").astype(np.uint64)


def _keyed(salt: bytes) -> tuple[Any, Any]:
    """Return both SHA-256 of HMAC (RFC 2104) with the key in; a copy of these costs a third of a new HMAC."""
    block = salt.ljust(64, b"\0")
    return tuple(hashlib.sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))  # type: ignore[return-value]


def _salt(workspace: Path) -> bytes:
    path = workspace / "salt"
    keep_file(path, lambda draft: draft.write_text(secrets.token_hex(32)))
    return bytes.fromhex(path.read_text())
