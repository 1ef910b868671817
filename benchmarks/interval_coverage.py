"""Do the 95 % intervals of memorization hold the truth 95 times in 100, and how wide are they?

Studies are simulated with a known truth: records differ in how easy they are to attack and in what their
presence adds, releases differ in how much they leak, repetitions differ in what their seeds memorize, and each
score has noise of its own. The scores go through ``find`` as those of a real study do.

    python benchmarks/interval_coverage.py                        # crossed only, 1,000 studies a design
    python benchmarks/interval_coverage.py --all --studies 300    # all five methods
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from synthrisk.metrics.intervals.estimates import METHODS, Estimate, Interval
from synthrisk.metrics.study.findings import Attacked, Finding, find
from synthrisk.metrics.study.ledger import Measure


@dataclass(frozen=True)
class Design:
    """What a simulated study looks like.

    Attributes:
        records: n.
        repetitions: R.
        folds: K; 1 = holdout.
        holdout: Share held out where ``folds`` is 1.
        fresh: Half of the held-out records are neither member nor control.
        binary: Scores are 0 or 1 instead of continuous.
        memorization: The truth.
        drift: Standard deviation of the repetition's own memorization around the truth.
        unscored: Share of the scores that are missing.
        group: Records of one entity, which share their effects and their noise.
    """

    records: int = 600
    repetitions: int = 3
    folds: int = 3
    holdout: float = 0.2
    fresh: bool = False
    binary: bool = True
    memorization: float = 0.0
    drift: float = 0.0
    unscored: float = 0.0
    group: int = 1

    @property
    def name(self) -> str:
        """Words for the table."""
        parts = f"{self.folds} folds" if self.folds > 1 else f"holdout {self.holdout:g}"
        more = [
            "fresh" if self.fresh else "",
            "binary" if self.binary else "continuous",
            f"drift {self.drift:g}" if self.drift else "",
            f"unscored {self.unscored:g}" if self.unscored else "",
            f"entities of {self.group}" if self.group > 1 else "",
        ]
        return ", ".join([f"{parts} x {self.repetitions}", f"n {self.records}", *filter(None, more)])


DESIGNS = (
    Design(),
    Design(drift=0.01),
    Design(drift=0.02),
    Design(drift=0.05),
    Design(repetitions=2, folds=2, records=300),
    Design(repetitions=2, folds=2, records=300, drift=0.05),
    Design(repetitions=5, folds=5, records=2000, drift=0.01),
    Design(binary=False),
    Design(binary=False, repetitions=2, drift=0.02),
    Design(unscored=0.4),
    Design(fresh=True),
    Design(fresh=True, repetitions=2),
    Design(fresh=True, repetitions=5, folds=5, records=2000),
    Design(fresh=True, binary=False, repetitions=1),
    Design(folds=1),
    Design(folds=1, repetitions=2),
    Design(folds=1, repetitions=5, drift=0.05),
    Design(folds=1, holdout=0.5, repetitions=2),
    Design(folds=1, binary=False, repetitions=1),
    Design(folds=1, binary=True, repetitions=1),
    Design(folds=1, fresh=True, records=2000),
    Design(group=5),
    Design(group=5, folds=1, holdout=0.5),
)


def simulate(design: Design, rng: np.random.Generator) -> Attacked:
    """Draw the scores of one study; the expected memorization is ``design.memorization``."""
    shape = (design.repetitions, design.folds, design.records)
    entity = np.arange(design.records) // design.group
    places = len(np.unique(entity))
    folds = np.stack([rng.permutation(places)[entity] for _ in range(design.repetitions)])
    cut = folds % design.folds if design.folds > 1 else (folds >= round(design.holdout * places)).astype(int)
    held_out = cut[:, None, :] == np.arange(design.folds)[None, :, None]
    member, control = ~held_out, held_out.copy()
    if design.fresh:
        for r in range(design.repetitions):
            for k in range(design.folds):
                out = np.flatnonzero(held_out[r, k])
                control[r, k, rng.permutation(out)[: len(out) // 2]] = False
    ease = rng.uniform(0.25, 0.55, places)[entity]
    own = design.memorization * rng.uniform(0, 2, places)[entity]  # what presence adds to the record
    release = rng.uniform(-0.05, 0.05, shape[:2])[:, :, None]
    drift = rng.normal(0, design.drift, design.repetitions)[:, None, None]
    expected = ease + release + member * (own + drift)
    if design.binary:
        noise = rng.uniform(size=(*shape[:2], places))[:, :, entity]
        scores = (noise < expected).astype(float)
    else:
        scores = expected + rng.normal(0, 0.2, (*shape[:2], places))[:, :, entity]
    scores[rng.uniform(size=shape) < design.unscored] = np.nan
    return Attacked(scores, member, control, entities=entity if design.group > 1 else None)


def findings(
    design: Design, studies: int, seed: int, methods: tuple[str, ...] = (), resamples: int = 500
) -> list[Finding]:
    """Return the findings of many simulated studies."""
    rng, measure = np.random.default_rng(seed), Measure("m", "zero_cap")
    intervals = [Interval(resamples=resamples, seed=s) for s in range(studies)]
    return [find("a", "synthesizer", measure, simulate(design, rng), each, methods) for each in intervals]


def coverage(found: Sequence[Estimate], truth: float) -> tuple[float, float]:
    """Return the share of intervals that hold the truth, and their mean width."""
    held = [e.lower <= truth <= e.upper for e in found]
    return float(np.mean(held)), float(np.mean([e.upper - e.lower for e in found]))


def main() -> None:
    """Print coverage and mean width of each design, under a null and an alternative."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=1000, help="simulated studies a design")
    parser.add_argument("--all", action="store_true", help="all methods, not the default one alone")
    parser.add_argument("--resamples", type=int, default=500, help="resamples of the bootstrap methods")
    parser.add_argument("--only", default="", help="designs whose words contain this")
    options = parser.parse_args()
    methods = METHODS if options.all else ()
    print(f"{'design':58s} truth" + f"{'reported':>20s}" + "".join(f"{m:>20s}" for m in methods))
    for place, base in enumerate(DESIGNS):
        if options.only not in base.name:
            continue
        for truth in (0.0, 0.15):
            design = Design(**{**vars(base), "memorization": truth})
            found = findings(design, options.studies, place, methods, options.resamples)
            cells = [coverage([f.memorization for f in found], truth)]
            cells += [coverage([f.intervals["memorization"][m] for f in found], truth) for m in methods]
            words = ["none" if np.isnan(width) else f"{share:.3f} ({width:.3f})" for share, width in cells]
            print(f"{design.name:58s} {truth:5.2f}" + "".join(f"{w:>20s}" for w in words), flush=True)


if __name__ == "__main__":
    main()
