"""The classical table measures of disclosure: what unanimous and unique key classes of the release say."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from synthrisk.metrics.cap import encoded, matches
from synthrisk.metrics.encode import Codes
from synthrisk.metrics.metric import Metric, Score
from synthrisk.metrics.tables import Tables


def attribute_disclosure(tables: Tables, *, quasi_identifiers: Sequence[str], sensitive: Sequence[str] | str) -> Score:
    """DiSCO: share of real records whose key class in the release is unanimous, and right about them.

    ``value = mean(score)``, in [0, 1], high = the release discloses much; ``published`` is the same in percent. A
    high value may be due to a common sensitive value: read it beside ``guess`` and control.

    Args:
        tables: Real (n records) and synthetic (m records).
        quasi_identifiers: Columns that the attacker knows.
        sensitive: Column or columns guessed; several are taken jointly.

    Returns:
        A ``Score``; ``records``: score (1 disclosed and correct), claim (the class is unanimous), baseline.
        Details, as shares of the real records: ``rep_u`` (unique on the keys in both tables), ``i_s`` (key
        occurs in the release), ``di_s`` (its class there is unanimous), ``di_sco`` (and right: the value),
        ``di_sdi_o`` (and the record's class in the real table is unanimous too).

    Raises:
        InputError: A column is absent, or both a quasi-identifier and sensitive.

    Example:
        >>> real = pd.DataFrame({"age": [30, 30, 40, 50], "vote": ["a", "b", "a", "b"]})
        >>> release = pd.DataFrame({"age": [30, 30, 40, 40], "vote": ["a", "a", "b", "a"]})
        >>> ATTRIBUTE_DISCLOSURE(real, release, quasi_identifiers=["age"], sensitive="vote").value
        0.25
    """
    key, pair, known, hidden = encoded(tables, quasi_identifiers, sensitive)
    real_key, synthetic_key = (np.bincount(codes, minlength=key.size)[key.tables[0]] for codes in key.tables)
    unanimous_release, unanimous_real = values_in_class(key, pair, 1) == 1, values_in_class(key, pair, 0) == 1
    correct = unanimous_release & (matches(pair) > 0)
    target = tables.codes(hidden)
    frequency = np.bincount(target.tables[0], minlength=target.size) / len(correct)
    records = pd.DataFrame(
        {
            "score": correct.astype(float),
            "claim": unanimous_release,
            "baseline": frequency[target.tables[0]],
        },
        index=tables.real.index,
    )
    shares = {
        "rep_u": (real_key == 1) & (synthetic_key == 1),
        "i_s": synthetic_key > 0,
        "di_s": unanimous_release,
        "di_sco": correct,
        "di_sdi_o": correct & unanimous_real,
    }
    details = {name: float(flags.mean()) for name, flags in shares.items()} | {"guess": float(frequency.max())}
    value = details["di_sco"]
    settings = {"quasi_identifiers": known, "sensitive": hidden}
    return Score("attribute_disclosure", value, 100 * value, records, details, settings)


def values_in_class(key: Codes, pair: Codes, table: int) -> np.ndarray:
    """Return for each real record how many sensitive values its key class holds in a table: 0 real, 1 synthetic."""
    _, first = np.unique(pair.tables[table], return_index=True)  # one row for each key and value
    return np.asarray(np.bincount(key.tables[table][first], minlength=key.size)[key.tables[0]])


ATTRIBUTE_DISCLOSURE = Metric(
    name="attribute_disclosure",
    function=attribute_disclosure,
    group="cap",
    per_record=True,
    needs=("quasi_identifiers", "sensitive"),
    range=(0.0, 1.0),
    reference="Raab, Nowok and Dibben, Practical privacy metrics for synthetic data (DiSCO, repU)",
)
