"""Do the intervals of the pooled true-positive rate hold the truth? Simulated studies with a known answer.

A record's scores over the releases of a study are normal and correlated (its place in the crowd). ``fresh``: members
score like others. ``leak``: a share of the members scores higher than anybody else in a release, drawn anew for each
release; ``same records``: it is always the same records that leak. ``twins``: what leaks is tied with two of a thousand
others. ``rounded``: few distinct scores. ``shifted``: all members score a little higher.

    python benchmarks/pooled_rates.py --studies 400
"""

import argparse
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.intervals.rates import POOLED_RATES, pooled_rates

_TOP = 10.0


@dataclass(frozen=True)
class Design:
    """A simulated study: ``leaked`` members at the top, ``twins`` others tied with them, all members ``shifted``."""

    name: str
    correlation: float = 0.5
    leaked: float = 0.0
    same_records: bool = False
    twins: float = 0.0
    rounded: bool = False
    shifted: float = 0.0

    def truth(self, rate: float) -> float:
        """Return the true-positive rate at the threshold of the population."""
        if rate < self.twins:
            return rate / self.twins * (self.leaked + (1 - self.leaked) * self.twins)
        crowd = (rate - self.twins) / (1 - self.twins)
        return self.leaked + (1 - self.leaked) * (
            self.twins + (1 - self.twins) * float(norm.sf(norm.isf(crowd) - self.shifted))
        )

    def scores(self, member: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the scores of all records against all releases."""
        shape = member.shape
        crowd = (
            rng.normal(size=shape[2]) * self.correlation**0.5 + rng.normal(size=shape) * (1 - self.correlation) ** 0.5
        )
        crowd = crowd + self.shifted * member
        found = crowd.round(1) if self.rounded else crowd
        found = np.where(rng.random(shape) < self.twins, _TOP, found)
        drawn = rng.random(shape[2] if self.same_records else shape) < self.leaked
        top = _TOP if self.twins else _TOP + rng.random(shape)
        return np.where(member & drawn, top, found)


DESIGNS = (
    Design("fresh"),
    Design("fresh, correlation .95", 0.95),
    Design("fresh, rounded", rounded=True),
    Design("shifted by .5", shifted=0.5),
    Design("leak .005", leaked=0.005),
    Design("leak .05", leaked=0.05),
    Design("leak .05, same records", leaked=0.05, same_records=True),
    Design("leak .05, twins", leaked=0.05, twins=0.002),
)
SIZES = ((1000, 5, 2), (4000, 5, 2), (4000, 3, 5), (20000, 1, 2))


def held(design: Design, records: int, repetitions: int, folds: int, studies: int) -> list[str]:
    """Return for each rate how often the interval holds the truth, lies below it, above it; and its mean width."""
    place = np.arange(folds)[None, :, None]
    limits: dict[float, list[tuple[float, float]]] = {rate: [] for rate in POOLED_RATES}
    for seed in range(studies):
        rng = np.random.default_rng([seed, records, repetitions])
        fold = np.stack([rng.permutation(records) % folds for _ in range(repetitions)])[:, None, :]
        member = fold != place
        found = pooled_rates(design.scores(member, rng), member, ~member, Interval(resamples=200, seed=seed))
        for rate, each in found.items():
            limits[rate].append((each.lower, each.upper))
    texts = []
    for rate, pairs in limits.items():
        lower, upper = np.array(pairs).T
        truth = design.truth(rate)
        width = np.mean(upper - lower)
        low, high = np.mean(upper < truth), np.mean(lower > truth)
        texts.append("-" if np.isnan(width) else f"{1 - low - high:.3f} ({low:.3f}, {high:.3f}; {width:.4f})")
    return texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200, help="simulated studies a design and size")
    arguments, _ = parser.parse_known_args()
    print("coverage of the 95 % interval (share below the truth, share above; mean width)\n")
    print("| design | records, repetitions, folds | " + " | ".join(f"FPR {rate:g}" for rate in POOLED_RATES) + " |")
    print("|---" * (2 + len(POOLED_RATES)) + "|")
    for design in DESIGNS:
        for size in SIZES:
            cells = held(design, *size, arguments.studies)
            print(f"| {design.name} | {', '.join(map(str, size))} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
