"""How often measures that guess see a leak in new people: independent tables, one generator that plants nothing.

python benchmarks/cap_alarms.py        # 40 tables of 1,000 records of Adult, 2 folds x 2 repetitions, 80 s

A row a measure: mean memorization with its standard error over the tables, and the share of tables whose interval of
memorization, or of the gain over control records, lies above 0.
"""

from tempfile import TemporaryDirectory

import numpy as np

from synthrisk.tasks import attack, estimate, sample, synthesize

KNOWN = ["age", "education", "occupation", "sex", "race"]
GUESSING = ["categorical_cap", "targeted_cap", "zero_cap", "generalized_cap", "attribute_disclosure"]
OTHERS = ["attribute_inference_risk", "common_rows_proportion", "hitting_rate"]
TABLES = 40


def looks(seed: int) -> dict[str, tuple[float, bool, bool]]:
    """Return memorization of each measure on one table, and whether it and the gain over control are seen."""
    with TemporaryDirectory() as place:
        given = sample.fn("adult", KNOWN, ["income"], folds=2, repetitions=2, rows=1000, seed=seed, workspace=place)
        ledgers = [
            attack.fn(synthesize.fn(given, "fresh", repetition, fold, role="reference"), [*GUESSING, *OTHERS])
            for repetition in range(2)
            for fold in range(2)
        ]
        found = estimate.fn(ledgers, method="moderated").compared.findings
    return {
        each.measure.label: (
            each.memorization.value,
            each.memorization.lower > 0,
            each.yardsticks["control"].gain.lower > 0,
        )
        for each in found
        if each.measure.label in GUESSING
    }


def main() -> None:
    every = [looks(seed) for seed in range(1, TABLES + 1)]
    print(f"{'':<24}{'memorization':>14}{'se':>8}{'seen':>8}{'gain seen':>11}")
    for name in GUESSING:
        values, seen, gains = np.transpose([own[name] for own in every])
        error = values.std(ddof=1) / np.sqrt(TABLES)
        print(f"{name:<24}{values.mean():>14.4f}{error:>8.4f}{seen.mean():>8.3f}{gains.mean():>11.3f}", flush=True)


if __name__ == "__main__":
    main()
