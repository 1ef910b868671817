"""What do intervals gain that borrow strength between a study's findings? Coverage, width and power at few repetitions.

Simulated studies have 8 or 30 findings, whose repetitions drift by as much as the records' own noise adds or by less;
real ones attack releases of five generators made of samples of Adult. Crossed and moderated intervals are made of the
same scores.

    python benchmarks/moderated.py                               # both, at the sizes of docs/references.md
    python benchmarks/moderated.py real --studies 15 --rows 1500
    python benchmarks/moderated.py simulated --studies 150
"""

import argparse
from collections.abc import Sequence

import numpy as np
from null_and_power import ATTACKS, attacked, samples

from synthrisk.conf.study import Split
from synthrisk.metrics.intervals.estimates import Estimate, t_test
from synthrisk.metrics.intervals.moderated_intervals import moderate
from synthrisk.metrics.intervals.value_scale import DIFFERENCE
from synthrisk.metrics.study.findings import contributions_of
from synthrisk.tasks.synthesize.cart import cart
from synthrisk.tasks.synthesize.reference_generators import copy, fresh, leaky, marginals

REPETITIONS = (2, 3, 5)
LEAK = 0.07  # memorization of zero_cap at a leak of 10 %, in simulated studies
DRIFTS = (0.0, 0.5, 1.0)  # standard deviations of the repetitions, in those that the records' noise makes
GENERATORS = {"copy": copy, "leaky": leaky, "fresh": fresh, "marginals": marginals, "cart": cart}
KINDS = ("crossed", "moderated")


def simulated(findings: int, repetitions: int, drift: float, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return contributions of a study's findings to memorization, (findings, R, n), and the truth of each.

    Findings differ in their records' noise and in their memorization; the first is a leak of 10 %.
    """
    n = 600
    truth = np.append(LEAK, rng.uniform(0, 0.2, findings - 1))
    noise = rng.uniform(0.2, 0.6, findings)[:, None, None]
    e = (
        truth[:, None, None]
        + rng.normal(0, 0.2, (findings, 1, n))
        + noise * rng.normal(size=(findings, repetitions, n))
    )
    return e + drift * noise / np.sqrt(n) * rng.normal(size=(findings, repetitions, 1)), truth


def both(contributions: Sequence[np.ndarray]) -> dict[str, list[Estimate]]:
    """Return the crossed and the moderated intervals of a study's findings."""
    crossed = [t_test(e, scale=DIFFERENCE).estimate for e in contributions]
    return {"crossed": crossed, "moderated": moderate(crossed)}


def row(name: str, found: Sequence[Estimate], truth: np.ndarray, leaks: Sequence[Estimate]) -> str:
    """Return a line: coverage, quantiles of the half width, and how often the leak was seen."""
    held = np.mean([e.lower <= t <= e.upper for e, t in zip(found, truth, strict=True)])
    half = np.quantile([(e.upper - e.lower) / 2 for e in found], [0.5, 0.9, 0.99])
    seen = np.mean([e.lower > 0 for e in leaks])
    return f"{name:44s}{held:10.3f}" + "".join(f"{h:10.4f}" for h in half) + f"{seen:10.2f}"


def head(title: str) -> None:
    """Print what the columns are."""
    print(f"\n{title}\n{'':44s}{'coverage':>10s}{'half 50 %':>10s}{'90 %':>10s}{'99 %':>10s}{'leak seen':>10s}")


def simulate(studies: int, counts: Sequence[int]) -> None:
    """Print the table of simulated studies."""
    head(f"{studies} simulated studies a design, 600 records; leak: memorization {LEAK:g}")
    for findings in counts:
        for drift in DRIFTS:
            for repetitions in REPETITIONS:
                rng = np.random.default_rng(findings)
                every = [simulated(findings, repetitions, drift, rng) for _ in range(studies)]
                made = [both(list(e)) for e, _ in every]
                truth = np.concatenate([t for _, t in every])
                for kind in KINDS:
                    found = [e for study in made for e in study[kind]]
                    name = f"{findings} findings, drift {drift:g}, R = {repetitions}, {kind}"
                    print(row(name, found, truth, [study[kind][0] for study in made]), flush=True)


def attack_samples(studies: int, rows: int) -> None:
    """Print the table of studies on samples of Adult."""
    split, names = Split(folds=2, repetitions=max(REPETITIONS)), list(GENERATORS)
    attacks = [a for a in ATTACKS if a.metric != "zero_cap" or a.known]
    every = []
    for seed, table in samples(rows, studies):
        planned = [a.planned(list(table.columns)) for a in attacks]
        made = [own for release in GENERATORS.values() for own in attacked(table, split, release, planned, seed)]
        every.append([contributions_of(own).memorization for own in made])
    truth = np.mean([[e.mean() for e in study] for study in every], axis=0)  # over the samples
    leak = names.index("leaky") * len(attacks)
    head(
        f"{studies} samples of {rows} records of Adult, 2 folds; {', '.join(names)} by\n"
        f"{', '.join(a.name for a in attacks)}; truth: mean over the samples; leak: 10 % by {attacks[0].name}"
    )
    for repetitions in REPETITIONS:
        made_ = [both([e[:repetitions] for e in study]) for study in every]
        for kind in KINDS:
            for words, chosen in (
                ("all findings", range(len(truth))),
                (
                    "fresh and marginals",
                    [i for i in range(len(truth)) if names[i // len(attacks)] in ("fresh", "marginals")],
                ),
            ):
                found = [study[kind][i] for study in made_ for i in chosen]
                name = f"R = {repetitions}, {kind}, {words}"
                print(
                    row(name, found, np.tile(truth[list(chosen)], studies), [s[kind][leak] for s in made_]), flush=True
                )


def main() -> None:
    """Run one of the two, or both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("simulated", "real", "both"), nargs="?", default="both")
    parser.add_argument("--studies", type=int, default=0, help="studies a design: 150 (simulated), 15 (real)")
    parser.add_argument("--findings", type=int, nargs="+", default=[8, 30], help="findings of a simulated study")
    parser.add_argument("--rows", type=int, default=1500, help="records of a real study")
    options = parser.parse_args()
    if options.what != "real":
        simulate(options.studies or 150, options.findings)
    if options.what != "simulated":
        attack_samples(options.studies or 15, options.rows)


if __name__ == "__main__":
    main()
