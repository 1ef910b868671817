"""The contributions of records to a synthesizer's findings, in a private file of the workspace."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from synthrisk.metrics.study.contributions import Contributions
from synthrisk.tasks.workspace.store import write_file


def keep_contributions(path: Path, found: Mapping[str, Contributions | np.ndarray]) -> str:
    """Write the contributions of each measure, by key; return where. A measure of releases has its values instead."""
    arrays: dict[str, np.ndarray] = {"keys": np.array(list(found), dtype=np.str_)}
    for place, each in enumerate(found.values()):  # by number: a key may hold what no file name can
        parts = asdict(each) if isinstance(each, Contributions) else {"released": each}
        arrays |= {f"{place}-{name}": values for name, values in parts.items() if values is not None}

    def write(draft: Path) -> None:
        with draft.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)

    return str(write_file(path, write))


def kept_contributions(path: str) -> dict[str, Contributions | np.ndarray]:
    """Return the contributions of each measure, by key."""
    with np.load(path, allow_pickle=False) as kept:
        found: dict[str, Contributions | np.ndarray] = {}
        for place, key in enumerate(kept["keys"]):
            released = kept.get(f"{place}-released")
            if f"{place}-memorization" not in kept:
                found[str(key)] = kept[f"{place}-released"]
            else:
                risk, control, memorization = (kept[f"{place}-{p}"] for p in ("risk", "control", "memorization"))
                found[str(key)] = Contributions(risk, control, memorization, released)
    return found
