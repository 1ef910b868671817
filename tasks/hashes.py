"""Names for records that say nothing of them: salted hashes, the same in every study of the same table."""

import hashlib
import hmac
import secrets
from pathlib import Path

import numpy as np

from synthrisk.tasks.store import replace_file


def record_hashes(workspace: Path, digest: str, rows: int) -> np.ndarray:
    """Return one 16-digit name a record of the table with this digest, keyed by the workspace's secret salt.

    Whoever holds the workspace can find a record again by its position; nobody else learns anything.
    """
    salt = _salt(workspace)
    return np.array(
        [hmac.new(salt, f"{digest}/{row}".encode(), hashlib.sha256).hexdigest()[:16] for row in range(rows)],
        dtype=object,
    )


def _salt(workspace: Path) -> bytes:
    path = workspace / "salt"
    if not path.exists():
        replace_file(path, secrets.token_hex(32))
    return bytes.fromhex(path.read_text())
