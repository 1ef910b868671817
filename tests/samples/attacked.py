"""People with a class and a number to guess, for the tests of several attackers."""

import numpy as np
import pandas as pd


def ill_and_paid(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """Return people whose illness follows from age, and whose pay follows from age and sex, in part."""
    age, sex = rng.integers(20, 60, rows), rng.choice(["f", "m"], rows)
    ill = np.where((age > 40) ^ (rng.random(rows) < 0.2), "yes", "no")
    pay = 1000 + 20 * age + 300 * (sex == "m") + rng.normal(0, 200, rows)
    return pd.DataFrame({"age": age, "sex": sex, "ill": ill, "pay": pay})


def workers(n: int, seed: int) -> pd.DataFrame:
    """Return people whose pay follows from age and city, in part, and whose band follows from their pay."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"age": rng.integers(20, 80, n), "city": rng.choice(["a", "b", "c"], n)})
    table["hours"] = rng.normal(40, 10, n).round(1)
    table["pay"] = (100.0 * table["age"] + 1000 * (table["city"] == "a") + rng.normal(0, 1200, n)).round()
    return table.assign(band=np.select([table["pay"] < 3500, table["pay"] < 6500], ["low", "middle"], "high"))
