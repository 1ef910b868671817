"""Small tables of all kinds of cells, their rows told apart by ``a`` and, where there is one, by ``b``."""

from decimal import Decimal

import numpy as np
import pandas as pd

ALIKE = {  # their rows are equal
    "constant": pd.DataFrame({"a": [1, 1], "b": ["x", "x"]}),
    "missing": pd.DataFrame({"a": [np.nan, np.nan], "b": [None, None]}),
}
APART = {
    "one row": pd.DataFrame({"a": [1], "b": ["x"]}),
    "one missing": pd.DataFrame({"a": [np.nan], "b": [None]}),
    "duplicates": pd.DataFrame({"a": [1, 1, 2], "b": ["x", "x", "y"]}),
    "huge": pd.DataFrame({"a": [2**60, 2**60 + 1, 2**60 + 2], "b": [2**63, 2**63 + 1, 2**64 - 1]}),
    "huge, one missing": pd.DataFrame({"a": pd.array([2**60, 2**60 + 1, None], dtype="Int64")}),
    "unicode": pd.DataFrame({"a": ["Łódź 'x'", 'a"b'], "b": ["\0", "\0b"]}),
    "booleans": pd.DataFrame({"a": [True, False], "b": [False, True]}),
    "nullable": pd.DataFrame({"a": pd.array([True, None], dtype="boolean"), "b": pd.array([1, None], "Int8")}),
    "dates": pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2021-01-01"]), "b": pd.to_timedelta([1, 2], "D")}),
    "close dates": pd.DataFrame({"a": pd.to_datetime([1600000000000000001, 1600000000000000002])}),
    "nan and NA": pd.DataFrame({"a": pd.Series([1.0, 0.0, 2.0], dtype="Float64") / pd.Series([1.0, 0.0, 1.0])}),
    "sparse": pd.DataFrame({"a": pd.arrays.SparseArray([0, 0, 3, 5])}),
    "arrow": pd.DataFrame({"a": pd.array([2**60, 2**60 + 1, None], dtype="int64[pyarrow]")}),
    "decimals": pd.DataFrame({"a": pd.Series([Decimal("0.1"), Decimal("0.10"), Decimal(2)], dtype=object)}),
    "zones": pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2021-01-01"]).tz_localize("Europe/Berlin")}),
    "categories": pd.DataFrame({"a": pd.Categorical(["u", "v"], ["v", "u", "w"]), "b": pd.Categorical([1, 2])}),
    "intervals": pd.DataFrame({"a": pd.cut([1, 5], [0, 2, 8])}),
    "negative": pd.DataFrame({"a": [-1.5, -0.0, 3.0], "b": [-7, -8, -9]}),
}
