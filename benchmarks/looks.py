"""Looks through a disguise at a sample of people, beside looks at all: the same word, in a part of the time.

A release of strangers, some of whose rows are members in a disguise: a third of their cells drawn anew, or, as all of
the release, numbers stretched and levels renamed. Shown are CPU seconds, whether members stand out, and the excess.

python benchmarks/looks.py
"""

from time import process_time

import numpy as np
import pandas as pd
from scale import drawn

from synthrisk.metrics import Tables
from synthrisk.metrics.neighbours import nearest
from synthrisk.metrics.release import nearness

ROWS, COLUMNS = 100_000, 15
SHARES = (0.0, 0.005, 0.02, 0.05, 0.1)  # of the members that are released in a disguise


def thirds(rows: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return rows with a third of the cells of strangers."""
    others = drawn(len(rows), COLUMNS, seed)
    others.index = rows.index
    return rows.where(np.random.default_rng(seed).random(rows.shape) > 1 / 3, others)


def renamed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with other numbers in the same order, and other levels as frequent."""
    return rows.apply(lambda c: c * 1.3 + 5 if pd.api.types.is_numeric_dtype(c) else "x" + c.astype(str))


def main() -> None:
    """Print what each look sees."""
    real, control, strangers = (drawn(ROWS, COLUMNS, seed) for seed in (1, 2, 3))
    most, all_pairs = nearness._MOST_PAIRS, 2 * ROWS * ROWS
    print(f"{'disguise':<10}{'share':>7}" + "".join(f"{who:>34}" for who in ("all", "drawn")))
    for name in ("cells", "renamed"):
        for share in SHARES:
            members = real.iloc[: int(share * ROWS)]
            seen = thirds(members, 4) if name == "cells" else members
            release = pd.concat([seen, strangers.iloc[len(members) :]], ignore_index=True).astype(real.dtypes.to_dict())
            release = renamed(release) if name == "renamed" else release
            told = []
            for nearness._MOST_PAIRS in (all_pairs, most):
                nearest._SUMS.clear()  # what the other has found is not to serve this one
                nearest._KEPT.clear()
                start, both = process_time(), Tables(real, release, control=control).with_control()
                found = nearness.nearness(both)
                ends = f"{found.excess.value:+.4f} [{found.excess.lower:+.4f}, {found.excess.upper:+.4f}]"
                told.append(f"{process_time() - start:5.1f} {'seen' if found.suspicious else '-':>5} {ends:>26}")
            print(f"{name:<10}{share:>7.1%}" + "".join(f"{each:>39}" for each in told), flush=True)


if __name__ == "__main__":
    main()
