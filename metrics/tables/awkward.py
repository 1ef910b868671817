"""Small hand-made tables that hold what real tables hold and code forgets: an attack must cope with each."""

import numpy as np
import pandas as pd

_TEXTS = ["O'Brien", '"quoted"', "Łódź", "日本", "", "a,b\n", "x == 1"]


def targets() -> pd.DataFrame:
    """Return 12 distinct records: missing cells of every kind, negative and huge numbers, dates, quotes, constants."""
    return pd.DataFrame(
        {
            "number": [-3.5, 0.0, np.nan, 1e-9, -3.5, 2.0, 100.25, np.nan, 0.0, -1.0, 2.0, 7.5],
            "huge": np.array([2**53 + 1, -(2**62), 0, 5, 5, 2**53, -1, 7, 9, 2**62, 3, 2**53 + 1]),
            "count": pd.array([1, None, 3, 3, 0, -2, None, 1, 1, 2, 3, 0], dtype="Int64"),
            "text": [*_TEXTS, None, "only real", "O'Brien", "Łódź", None],
            "level": pd.Categorical([*"abcabcabcab", None], categories=[*"dcba"]),
            "flag": [True, False, True, True, False, False, True, False, True, False, True, True],
            "day": pd.to_datetime(
                ["1969-12-31", "NaT", "2020-02-29", "2020-03-01", "2262-01-01", "1900-01-01"] * 2, format="%Y-%m-%d"
            ),
            "constant": 7,
            "empty": np.full(12, np.nan),
        }
    )


def release() -> pd.DataFrame:
    """Return 16 records with the same columns: copies, repeated records, and levels that no target has."""
    own = targets()
    other = own.iloc[[0, 1, 2, 3, 4, 5]].assign(
        number=[-0.5, 1e6, np.nan, 3.25, -2.0, 0.125],
        text=np.array(["only synthetic", "日本", None, "' OR 1=1 --", "x == 1", ""], dtype=object),
        flag=[False, False, True, False, True, True],
    )
    table = pd.concat([own.iloc[[0, 3, 6, 6, 6, 9, 10]], other, other.iloc[[1, 1, 4]]], ignore_index=True)
    return table.astype({"level": own["level"].dtype})


def control() -> pd.DataFrame:
    """Return 8 records of the targets' kind that are not among them."""
    own = targets().iloc[[1, 2, 4, 5, 7, 8, 10, 11]].reset_index(drop=True)
    return own.assign(number=own["number"].fillna(4.0) - 1.5, flag=~own["flag"])


def pairs() -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Return targets and release of each case by its name."""
    people, released = targets(), release()
    return {
        "12 targets and 16 records": (people, released),
        "one target and one record": (people.iloc[[0]], released.iloc[[10]].reset_index(drop=True)),
        "one target": (people.iloc[[2]], released),
        "one record": (people, released.iloc[[0]]),
        "a release of equal records": (people.iloc[:5], released.iloc[[1] * 6].reset_index(drop=True)),
        "two columns": (people[["text", "flag"]].drop_duplicates(), released[["text", "flag"]]),
    }
