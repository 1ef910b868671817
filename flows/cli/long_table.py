"""Tables of so many records that their releases are attacked one after the other, by the command itself."""

from pathlib import Path

TOGETHER = 200_000
"""Records: of more the releases are attacked one after the other, for each takes 2.5 kB a record."""
_BLOCK = 2**22  # bytes read at once


def is_long(path: str | None) -> bool:
    """Tell whether a CSV file on this machine has more lines than records that are attacked together.

    No cell is looked at: it is asked before anything is imported, and decides only how soon an answer is there.
    """
    lines = 0
    try:
        if path is None or not path.endswith(".csv") or not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            while lines <= TOGETHER and (block := file.read(_BLOCK)):
                lines += block.count(b"\n")
    except (OSError, ValueError):
        return False  # whoever reads it says why
    return lines > TOGETHER
