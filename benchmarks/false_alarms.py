"""How often is a generator of other people called RISK? Studies of Adult in which every limit of .05 is set at once.

python benchmarks/false_alarms.py --studies 200 [--rows 1000] [--limit 0.05]

Printed is, for each limit that sets members against control records, the share of the studies in which ``fresh`` as a
synthesizer is called RISK, INCONCLUSIVE and NO EVIDENCE; no verdict should be RISK in more than one study of twenty.
Limits on a risk itself are left out: other people are as easily guessed as members are.
"""

import argparse
import logging
import tempfile
from collections import Counter
from pathlib import Path

from _in_process import limits_of, studied
from null_and_power import samples

from synthrisk.metrics.verdicts.quantities import AGAINST_CONTROL
from synthrisk.metrics.verdicts.verdicts import Beside, judge

KEY, SECRET = ["age", "education", "occupation", "sex", "race"], "income"
METRICS = [
    "zero_cap",
    "generalized_cap",
    "common_rows_proportion",
    {"name": "membership", "attackers": ["density_ratio", "distance_difference"]},
    "distance_to_closest_record",
    {"name": "rapid", "attackers": ["logistic"]},
]
KINDS = {"copy": "copy", "near_copy": "near_copy"}


def settings(folder: str, seed: int) -> dict:
    """Return the study: two folds, three repetitions."""
    return {
        "name": "fresh",
        "data": {"source": "adult", "quasi_identifiers": KEY, "sensitive": [SECRET]},
        "split": {"folds": 2, "repetitions": 3},
        "synthesizers": [{"name": "strangers", "kind": "fresh"}],
        "references": list(KINDS),
        "metrics": METRICS,
        "workspace": folder,
        "seed": seed,
    }


def words_of(result, limit: float) -> dict[str, str]:
    """Return the verdict on each limit that may be set on the study."""
    limits = dict.fromkeys(limits_of(result, AGAINST_CONTROL), limit)
    return {v.quantity: v.word for v in judge(result.findings, limits, [], Beside(KINDS))}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--limit", type=float, default=0.05)
    chosen = parser.parse_args()
    logging.disable(logging.WARNING)
    counts: dict[str, Counter] = {}
    invalid = suspicious = 0
    for seed, table in samples(chosen.rows, chosen.studies):
        with tempfile.TemporaryDirectory() as folder:
            result = studied(settings(folder, seed), table, Path(folder))
        for quantity, word in words_of(result, chosen.limit).items():
            counts.setdefault(quantity, Counter())[word] += 1
        invalid += any(not c.passed for c in result.checks)
        suspicious += bool(result.releases["strangers"].suspicious)
    print(f"| limit {chosen.limit:g} on | RISK | INCONCLUSIVE | NO EVIDENCE |\n|---|---|---|---|")
    for quantity, found in counts.items():
        shares = (found[w] / found.total() for w in ("RISK", "INCONCLUSIVE", "NO EVIDENCE"))
        print(f"| `{quantity}` | {' | '.join(f'{s:.3f}' for s in shares)} |")
    print(f"{chosen.studies} studies: INVALID in {invalid}, release suspicious in {suspicious}")


if __name__ == "__main__":
    main()
