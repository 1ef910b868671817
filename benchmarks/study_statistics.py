"""The statistics of a study in arrays, beside the plain loops that say the same.

python benchmarks/study_statistics.py

CPU seconds, best of three. The bootstrap: 10 measures of 6,000 records and 3 repetitions, risk and memorization, 500
resamples by each method; the loop draws positions and takes the mean over repetitions anew in each resample. What the
limits differ by is given in Monte Carlo errors: the standard error of a difference of two bootstraps' limits.
"""

import hashlib
import hmac
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from synthrisk.metrics.exposure import attribution as attributions
from synthrisk.metrics.exposure.attribution import attribution
from synthrisk.metrics.intervals.bootstrap import _counts, bootstraps
from synthrisk.tasks.data.example_tables import read_adult
from synthrisk.tasks.workspace.records import record_hashes

METHODS = ("crossed_bootstrap", "records", "repetitions", "pigeonhole")
MEASURES, REPETITIONS, RECORDS, RESAMPLES = 10, 3, 6_000, 500
_DENSITY = 0.0584  # of the normal distribution at its 2.5 % quantile


def seconds(work: Callable[[], Any], runs: int = 3) -> tuple[float, Any]:
    """Return the least CPU seconds of some runs, and what the last one gave."""
    took = []
    for _ in range(runs):
        before = getrusage(RUSAGE_SELF)
        made = work()
        after = getrusage(RUSAGE_SELF)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(took), made


def contributions(seed: int, records: int = RECORDS) -> np.ndarray:
    """Return contributions (R, n) of a measure: right or wrong if the seed is even, else with long tails."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        return np.asarray(rng.gamma(0.3, size=(REPETITIONS, records)) + rng.gamma(0.2, size=records))
    return (rng.random((REPETITIONS, records)) < rng.beta(0.3, 0.7, records)).astype(float)


def in_a_loop(e: np.ndarray, method: str, resamples: int, spread: float, seed: int) -> np.ndarray:
    """Return resampled means by a loop over resamples."""
    rng, (repetitions, n) = np.random.default_rng(seed), e.shape
    if method == "repetitions":
        return np.asarray(e.mean(axis=1)[rng.integers(repetitions, size=(resamples, repetitions))].mean(axis=1))
    draws = np.empty(resamples)
    for b in range(resamples):
        rows = rng.integers(repetitions, size=repetitions) if method == "pigeonhole" else slice(None)
        draws[b] = e[rows].mean(axis=0)[rng.integers(n, size=n)].mean()
    return draws + rng.normal(0, spread, resamples) if method == "crossed_bootstrap" else draws


def bootstrap_of_a_synthesizer() -> tuple[float, float]:
    """Return the seconds of all intervals of one synthesizer: loops, and arrays."""
    every = [contributions(seed) for seed in range(2 * MEASURES)]

    def loops() -> None:
        for e in every:
            for method in METHODS:
                in_a_loop(e, method, RESAMPLES, 0.01, 1)

    def arrays() -> None:
        _counts.cache_clear()
        for e in every:
            bootstraps(e, None, METHODS, RESAMPLES, 1, 0.01)

    return seconds(loops, 1)[0], seconds(arrays)[0]


def differences(resamples: int = 4_000) -> list[tuple[str, str, float, float]]:
    """Return by scores and method how far limits lie from those of the loop, in Monte Carlo errors, and the spreads."""
    found = []
    for seed, kind in ((0, "right or wrong"), (1, "long tails")):
        e = contributions(seed)
        spread = 0.3 * float(e.std()) / np.sqrt(RECORDS)
        made = bootstraps(e, None, METHODS, resamples, 1, spread)
        for method in METHODS:
            plain = in_a_loop(e, method, resamples, spread, 2)
            error = plain.std() * np.sqrt(2 * 0.025 * 0.975 / resamples) / _DENSITY
            apart = np.quantile(made[method], (0.025, 0.975)) - np.quantile(plain, (0.025, 0.975))
            found.append((kind, method, float(np.abs(apart).max() / error), float(made[method].std() / plain.std())))
    return found


def pairs_of_adult() -> tuple[float, float]:
    """Return the seconds of the regression of a flag on 12 columns of 6,000 records: all 66 pairs, and those fitted."""
    table = read_adult().sample(RECORDS, random_state=1).reset_index(drop=True)
    columns = [c for c in table.columns if c not in ("income", "fnlwgt", "education_num")]
    flag = (table["income"] == table["income"].iloc[0]).to_numpy(float)
    fitted = attributions.FITTED_PAIRS
    few, some = seconds(lambda: attribution(flag, table, columns), 1)
    attributions.FITTED_PAIRS = 10**6
    try:
        many, every = seconds(lambda: attribution(flag, table, columns), 1)
    finally:
        attributions.FITTED_PAIRS = fitted
    strongest = ["first", "second", "statistic", "p_value", "p_holm"]
    same = int(
        (some.interactions[strongest] == every.interactions[strongest].head(len(some.interactions))).all(axis=1).sum()
    )
    print(
        f"of {len(every.interactions)} pairs {len(some.interactions)} are fitted; {same} of them are the first {same}"
    )
    return many, few


def names(rows: int = 100_000) -> tuple[float, float]:
    """Return the seconds of the names of records: an HMAC made anew for each, and copies of a keyed one."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        record_hashes(place, "digest", 1)
        salt = bytes.fromhex((place / "salt").read_text())
        texts = [f"digest/{row}".encode() for row in range(rows)]
        plain, expected = seconds(lambda: [hmac.new(salt, text, hashlib.sha256).hexdigest()[:16] for text in texts])
        own, found = seconds(lambda: record_hashes(place, "digest", rows))
    if [f"{number:016x}" for number in found.tolist()] != expected:
        raise RuntimeError("the names differ")
    return plain, own


def main() -> None:
    rows = [
        ("intervals of a synthesizer, 10 measures, 6,000 records", *bootstrap_of_a_synthesizer()),
        ("regression of a flag on 12 columns, 6,000 records", *pairs_of_adult()),
        ("names of 100,000 records", *names()),
    ]
    print("| what | plain CPU s | ours CPU s | ratio |\n|---|---|---|---|")
    for what, plain, own in rows:
        print(f"| {what} | {plain:.2f} | {own:.3f} | {plain / own:.1f} |")
    print("\n| scores | method | limits apart, Monte Carlo errors | spread, ours / loop |\n|---|---|---|---|")
    for kind, method, apart, ratio in differences():
        print(f"| {kind} | {method} | {apart:.2f} | {ratio:.3f} |")


if __name__ == "__main__":
    main()
