"""CAP against a pandas groupby and join of the same counts, on 1,000,000 x 1,000,000 records with 5 keys.

python benchmarks/cap.py
"""

from time import perf_counter

import numpy as np
import pandas as pd

from synthrisk.metrics import METRICS
from synthrisk.tasks.data import read

KEYS, TARGET = ["age", "education", "occupation", "sex", "race"], "income"


def tables(rows: int, text: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two resamples of Adult, one with its ages shifted for some records, as text or categories."""
    adult = read("adult")[[*KEYS, TARGET]]
    rng = np.random.default_rng(0)
    made = []
    for _ in range(2):
        table = adult.iloc[rng.integers(len(adult), size=rows)].reset_index(drop=True)
        table["age"] += rng.integers(0, 2, rows)
        made.append(table.astype(dict.fromkeys([*KEYS[1:], TARGET], object if text else "category")))
    return made[0], made[1]


def with_pandas(real: pd.DataFrame, synthetic: pd.DataFrame) -> float:
    """Return zero-CAP by groupby and join."""
    total = synthetic.groupby(KEYS, observed=True, dropna=False).size().rename("total").reset_index()
    hit = synthetic.groupby([*KEYS, TARGET], observed=True, dropna=False).size().rename("hit").reset_index()
    joined = real.merge(total, on=KEYS, how="left").merge(hit, on=[*KEYS, TARGET], how="left")
    return float((joined["hit"] / joined["total"]).fillna(0).mean())


def main() -> None:
    print(f"{'cells':<12}{'pandas s':>10}{'zero_cap s':>12}{'ratio':>8}{'generalized s':>15}  value")
    for text in (True, False):
        real, synthetic = tables(1_000_000, text)
        best = {"pandas": np.inf, "zero_cap": np.inf, "generalized_cap": np.inf}
        for _ in range(3):
            start = perf_counter()
            expected = with_pandas(real, synthetic)
            best["pandas"] = min(best["pandas"], perf_counter() - start)
            for name in ("zero_cap", "generalized_cap"):
                start = perf_counter()
                found = METRICS[name](real, synthetic, quasi_identifiers=KEYS, sensitive=TARGET).value
                best[name] = min(best[name], perf_counter() - start)
                if name == "zero_cap" and abs(found - expected) > 1e-12:
                    raise SystemExit(f"values differ: {found} and {expected}")
        ratio = best["pandas"] / best["zero_cap"]
        times = f"{best['pandas']:>10.2f}{best['zero_cap']:>12.2f}{ratio:>8.1f}{best['generalized_cap']:>15.2f}"
        print(f"{'text' if text else 'categories':<12}{times}  {expected:.6f}")


if __name__ == "__main__":
    main()
