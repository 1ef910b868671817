"""Targeted CAP: an attacker who only speaks where the release leaves no doubt, and abstains elsewhere."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from synthrisk.metrics.cap.cap import commonest_share, continuity, encoded, has_sets
from synthrisk.metrics.cap.pools import pools
from synthrisk.metrics.metric import Metric, Reduction, Score, mean_score
from synthrisk.metrics.tables.codes import frequencies, matches, values_in_class
from synthrisk.metrics.tables.tables import Tables


def targeted_cap(tables: Tables, *, quasi_identifiers: Sequence[str], sensitive: Sequence[str] | str) -> Score:
    """TCAP: precision of the claims that unanimous key classes make.

    A synthetic key class whose records all hold one sensitive value claims that value for every real record with
    its key; the attacker abstains where the class is divided or the key does not occur.
    ``value = published = right claims / claims``, in [0, 1], high = what the release says without doubt is true.

    A missing cell is a value of its own, as a key and as what is guessed: it equals another missing cell and nothing
    else.

    Args:
        tables: Real (n records) and synthetic (m records).
        quasi_identifiers: Columns that the attacker knows.
        sensitive: Column or columns guessed; several are matched jointly.

    Returns:
        A ``Score``; ``records``: score (1 right, 0 wrong, NaN abstained), claim, baseline (share of the record's
        sensitive values among the real records), seen (its key occurs in the release). Details:
        ``claim_probability`` (claims/records), ``right_among_seen`` (right claims over the records whose key
        occurs, which Raab et al. print as TCAP), ``unseen_keys``, ``guess``, ``ceiling`` (the real table as
        release: all its claims are right, so 1). Not defined where no class makes a claim.

    Raises:
        InputError: A column is absent, or both a quasi-identifier and sensitive.

    Example:
        >>> real = pd.DataFrame({"age": [30, 30, 40, 50], "vote": ["a", "b", "a", "b"]})
        >>> release = pd.DataFrame({"age": [30, 30, 40, 40], "vote": ["a", "a", "b", "a"]})
        >>> TARGETED_CAP(real, release, quasi_identifiers=["age"], sensitive="vote").value
        0.5
    """
    key, pair, known, hidden = encoded(tables, quasi_identifiers, sensitive)
    claim, seen, right = values_in_class(key, pair, 1)[key.tables[0]] == 1, matches(key) > 0, matches(pair) > 0
    if has_sets(tables, known, hidden):  # a class is all records that may have the key; a set says no one value
        found = pools(tables, known, hidden)
        seen, right = found.distance == 0, found.hit > 0
        claim = seen & found.unanimous
    target = tables.codes(hidden)
    frequency = frequencies(target)
    columns = {"score": np.where(claim, right, np.nan), "claim": claim}
    columns |= {"baseline": frequency[target.tables[0]], "seen": seen}
    records = pd.DataFrame(columns, index=tables.real.index)
    ceiling = 1.0 if (values_in_class(key, pair, 0)[key.tables[0]] == 1).any() else float("nan")
    return Score.of(
        "targeted_cap",
        records,
        reduce_claims(records),
        {"guess": float(frequency.max()), "ceiling": ceiling},
        {"quasi_identifiers": known, "sensitive": hidden},
        continuity(tables, known, 1 - seen.mean()),
    )


def reduce_claims(records: pd.DataFrame) -> Reduction:
    """Return the precision of the claims and how often a claim is made."""
    value, right, seen = mean_score(records), records["score"].sum(), records["seen"].sum()
    details = {
        "claim_probability": float(records["claim"].mean()),
        "right_among_seen": float(right / seen) if seen else float("nan"),
        "unseen_keys": float(1 - records["seen"].mean()),
    }
    reason = "no synthetic key class is unanimous on a real record's key" if np.isnan(value) else None
    return Reduction(value, value, details, reason)


TARGETED_CAP = Metric(
    name="targeted_cap",
    function=targeted_cap,
    group="cap",
    needs=("quasi_identifiers", "sensitive"),
    reduce=reduce_claims,
    guess="guess",
    ceiling="ceiling",
    best_answer=commonest_share,
    looks_up=True,
    jointly=True,
    reference="Taub, Elliot, Pampaka and Smith 2018, doi:10.1007/978-3-319-99771-1_9",
)
