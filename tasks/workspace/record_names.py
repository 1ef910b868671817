"""Names for records that say nothing of them: salted hashes, the same in every study of the same table."""

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

import numpy as np

from synthrisk.tasks.workspace.store import replace_file


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
        draft = replace_file(workspace / f".draft-salt-{os.getpid()}", secrets.token_hex(32))
        with suppress(FileExistsError):  # another process was first: its salt holds
            os.link(draft, path)
        draft.unlink()
    return bytes.fromhex(path.read_text())
