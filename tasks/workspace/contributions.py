"""The contributions of records to a synthesizer's findings, in a private file of the workspace."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np

from synthrisk.metrics.study.contributions import Contributions, Isolations, Kept, ReleasedValues
from synthrisk.tasks.workspace.kept import there
from synthrisk.tasks.workspace.store import save_arrays, write_file

_KINDS: dict[str, type[Kept]] = {kind.__name__: kind for kind in (Contributions, ReleasedValues, Isolations)}


def keep_contributions(path: Path, found: Mapping[str, Kept]) -> None:
    """Write what is kept of each measure, by key."""
    kinds = [type(each).__name__ for each in found.values()]
    arrays = {"keys": np.array(list(found), dtype=np.str_), "kinds": np.array(kinds, dtype=np.str_)}
    for place, each in enumerate(found.values()):  # by number: a key may hold what no file name can
        arrays |= {f"{place}-{name}": values for name, values in asdict(each).items()}
    write_file(path, lambda draft: save_arrays(arrays, draft))


def kept_contributions(path: str) -> dict[str, Kept]:
    """Return what is kept of each measure, by key."""
    with np.load(there(path), allow_pickle=False) as kept:
        kinds = [_KINDS[str(name)] for name in kept["kinds"]]
        return {
            str(key): kind(*(kept[f"{place}-{part.name}"] for part in fields(kind)))
            for place, (key, kind) in enumerate(zip(kept["keys"], kinds, strict=True))
        }
