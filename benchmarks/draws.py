"""The chance that none of some records is drawn, beside scipy's hypergeometric distribution: time and difference.

python benchmarks/draws.py
"""

from time import perf_counter

import numpy as np
from scipy.stats import hypergeom

from synthrisk.metrics.intervals.distributions import none_drawn


def compare(total: int, drawn: int, records: int) -> None:
    """Print one line."""
    count = np.random.default_rng(0).integers(0, total, records)
    start = perf_counter()
    ours = none_drawn(count, total, drawn)
    between = perf_counter()
    theirs = hypergeom.pmf(0, total, count, drawn)
    ratio = (perf_counter() - between) / (between - start)
    print(f"{drawn} of {total}, {records} records: {ratio:.0f}x, largest difference {np.abs(ours - theirs).max():.1e}")


if __name__ == "__main__":
    for total, drawn, records in ((1_000, 300, 1_000), (20_000, 6_000, 20_000), (1_000_000, 1_000, 100_000)):
        compare(total, drawn, records)
