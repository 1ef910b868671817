"""Does RAPID's permutation test hold its level? How often is p <= .05 where there is nothing to learn?

Real and synthetic tables are drawn independently of each other, y independently of x. A rank test of B = 20 can be
significant at 1/21 = .048 only. Beside it its power: the same with a y that depends on x, weakly.

    python benchmarks/permutation_level.py
"""

import argparse

import numpy as np
import pandas as pd

from synthrisk.metrics import Tables
from synthrisk.metrics.rapid.null_distribution import Permute, permutation_null

KEYS = ["age", "region", "hours"]
DESIGNS: tuple[tuple[str, str, Permute, int], ...] = (
    ("illness", "cart", "synthetic", 20),
    ("illness", "cart", "real", 20),
    ("illness", "cart", "real", 0),
    ("illness", "logistic", "synthetic", 20),
    ("illness", "logistic", "real", 20),
    ("illness", "logistic", "real", 0),
    ("income", "cart", "synthetic", 20),
    ("income", "cart", "real", 20),
    ("income", "cart", "real", 0),
)


def table(rows: int, dependence: float, rng: np.random.Generator) -> pd.DataFrame:
    """Return three keys and two targets, which depend on age and region as strongly as said; 0 = not at all."""
    made = pd.DataFrame({"age": rng.integers(18, 86, rows), "region": rng.choice(["n", "e", "s", "w"], rows)})
    made["hours"] = rng.normal(38, 8, rows).round()
    pull = dependence * ((made["age"] - 52) / 20 + (made["region"] == "n"))
    made["illness"] = pd.cut(pull + rng.normal(0, 1, rows), [-np.inf, 0.2, 1.1, np.inf], labels=list("abc")).astype(str)
    return made.assign(income=np.exp(10 + 0.3 * (pull + rng.normal(0, 1, rows))).round())


def p_values(
    design: tuple[str, str, Permute, int], dependence: float, tables: int = 200, rows: int = 200, seed: int = 0
) -> np.ndarray:
    """Return the p-value on each of the independent pairs of tables."""
    sensitive, attacker, permute, permutations = design
    found = []
    for place in range(tables):
        rng = np.random.default_rng([seed, place])
        pair = Tables(table(rows, dependence, rng), table(rows, dependence, rng))
        roles = {"quasi_identifiers": KEYS, "sensitive": sensitive, "attacker": attacker}
        options = {"threshold": 0.1, "permute": permute, "permutations": permutations, "seed": place}
        found.append(permutation_null(pair, **roles, **options).p_value)
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200, help="pairs of tables a design")
    count = parser.parse_args().tables
    print(
        f"{'sensitive':<11}{'attacker':<10}{'permute':<11}{'B':>3}{'level at .05':>14}{'mean p':>8}{'power at .05':>14}"
    )
    for design in DESIGNS:
        null, alternative = p_values(design, 0.0, count), p_values(design, 0.4, count)
        sensitive, attacker, permute, permutations = design
        figures = f"{np.mean(null <= 0.05):>14.3f}{null.mean():>8.2f}{np.mean(alternative <= 0.05):>14.3f}"
        print(f"{sensitive:<11}{attacker:<10}{permute:<11}{permutations:>3}{figures}", flush=True)


if __name__ == "__main__":
    main()
