"""What its presence adds to the risk of each single record, and how that is spread over the records.

And whom an attacker would pick: records far from all others, and records whose key hardly anybody else has.
"""

from collections.abc import Sequence
from math import ceil

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import ABOVE_0, BELOW_1, InputError, check_range
from synthrisk.metrics.intervals.distributions import t_quantile
from synthrisk.metrics.neighbours.nearest import real_to_real
from synthrisk.metrics.tables.codes import joint_codes, matches, pack
from synthrisk.metrics.tables.tables import Tables

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def record_exposure(
    scores: np.ndarray, member: np.ndarray, control: np.ndarray, confidence: float = 0.95
) -> pd.DataFrame:
    """Return the memorization of each record with its interval.

    Memorization = mean score as member - mean score as control, over all releases. The t interval is over the
    repetitions that know both sides: few give a wide one, one gives none. A record that never varies has no width.
    ``scores`` are (R, K, n), NaN where not scored; ``member`` and ``control`` (R, K, n) booleans.

    Returns:
        n rows: ``as_member`` and ``as_control`` (mean score over all releases), ``memorization``, ``lower``, ``upper``;
        NaN where not known.

    Example:
        >>> scores = np.array([[[1.0], [0.0]], [[0.8], [0.0]]])
        >>> member = np.array([[[True], [False]]] * 2)
        >>> record_exposure(scores, member, ~member).round(2).to_dict("records")
        [{'as_member': 0.9, 'as_control': 0.0, 'memorization': 0.9, 'lower': -0.37, 'upper': 2.17}]
    """
    known = ~np.isnan(scores)
    sides = {"as_member": member & known, "as_control": control & known}
    means = {name: _mean(scores, mask, (0, 1)) for name, mask in sides.items()}
    memorization = means["as_member"] - means["as_control"]
    both = sides["as_member"], sides["as_control"]
    half = _half_width(scores, *both, confidence) if len(scores) > 1 else np.nan
    limits = {"lower": memorization - half, "upper": memorization + half}
    return pd.DataFrame(means | {"memorization": memorization} | limits, copy=False)


def record_evidence(evidence: np.ndarray, member: np.ndarray, control: np.ndarray, name: str) -> pd.DataFrame:
    """Return the mean over releases of what makes a record's score: RAPID's gain r_i, or of a number its error e_i.

    ``evidence`` is (R, K, n), NaN where not scored; ``member`` and ``control`` (R, K, n) booleans.

    Returns:
        n rows: ``<name>_as_member`` and ``<name>_as_control``; NaN where not known.

    Example:
        >>> gains, member = np.array([[[0.5, -1.0], [0.25, np.nan]]]), np.array([[[True, True], [True, False]]])
        >>> record_evidence(gains, member, ~member, "gain").to_dict("list")
        {'gain_as_member': [0.375, -1.0], 'gain_as_control': [nan, nan]}
    """
    sides, known = {"as_member": member, "as_control": control}, ~np.isnan(evidence)
    means = {f"{name}_{side}": _mean(evidence, mask & known, (0, 1)) for side, mask in sides.items()}
    return pd.DataFrame(means, copy=False)


def _half_width(scores: np.ndarray, member: np.ndarray, control: np.ndarray, confidence: float) -> np.ndarray:
    """Return half of each record's interval, (n,); NaN where fewer than two repetitions know both sides."""
    each = _mean(scores, member, (1,)) - _mean(scores, control, (1,))
    repetitions = (~np.isnan(each)).sum(axis=0)
    squares = np.nansum((each - _mean(each, ~np.isnan(each), (0,))) ** 2, axis=0)
    many = repetitions > 1
    half = np.full(len(repetitions), np.nan)
    n = repetitions[many]
    half[many] = t_quantile(0.5 + confidence / 2, n - 1) * np.sqrt(squares[many] / (n - 1) / n)
    return half


def quantiles(memorization: np.ndarray) -> tuple[float, ...]:
    """Return the quantiles ``QUANTILES`` of the records' memorization; empty where none is known."""
    known = memorization[~np.isnan(memorization)]
    return tuple(float(q) for q in np.quantile(known, QUANTILES)) if len(known) else ()


def _mean(values: np.ndarray, mask: np.ndarray, axis: tuple[int, ...]) -> np.ndarray:
    count = mask.sum(axis=axis)
    total = np.where(mask, values, 0.0).sum(axis=axis)
    return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)


NEIGHBOURS = 5


def vulnerable(
    real: pd.DataFrame,
    quasi_identifiers: Sequence[str],
    share: float = 0.05,
    entities: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """Return the vulnerable records of a table: ``outliers`` and ``rare_keys``, (n,) booleans each.

    ``outliers``: the records with the largest mean distance to their 5 nearest other records (gower, all columns).
    ``rare_keys``: those whose key, the quasi-identifiers together, the fewest records have; among equally many those
    with the rarer levels, by the product of their shares. Each is ``share`` of the records, at least one, with ties of
    the last. They do not depend on a release, so that they are the same for every synthesizer. Of persons with several
    records it is ``share`` of the persons, each with all records, by the one of them that stands out most.

    Args:
        real: n records, at least 2.
        quasi_identifiers: Columns of the key; none gives no ``rare_keys``.
        share: In (0, 1).
        entities: Number of each record's person, (n,); None where each is one of his own.

    Raises:
        InputError: An argument breaks its rule.

    Example:
        >>> people = pd.DataFrame({"age": [30, 60, 31, 90], "job": ["b", "a", "a", "a"]})
        >>> {name: rows.tolist() for name, rows in vulnerable(people, ["job"], 0.25).items()}
        {'outliers': [True, False, False, False], 'rare_keys': [True, False, False, False]}
    """
    check_range("share", share, ABOVE_0, BELOW_1, "a number in (0, 1)")
    tables = Tables(real, real)
    if len(real) < 2:
        raise InputError(f"real must have at least 2 records to tell who is vulnerable, got {len(real)}")
    whose = np.arange(len(real)) if entities is None else np.unique(entities, return_inverse=True)[1]
    found = {"outliers": _highest([apartness(tables)], share, whose)}
    if len(quasi_identifiers):
        known = tables.check_columns("quasi_identifiers", quasi_identifiers)
        columns = [joint_codes([real[c]])[0] for c in known]
        held = matches(pack(columns), 0)
        surprise = -sum(np.log(matches(codes, 0) / len(real)) for codes in columns)
        found["rare_keys"] = _highest([-held, np.round(surprise, 9)], share, whose)
    return found


def apartness(tables: Tables) -> np.ndarray:
    """Return the mean distance of each real record, of two or more, to its 5 nearest others (gower, all columns)."""
    near = real_to_real(tables, "gower", min(NEIGHBOURS, len(tables.real) - 1))
    return np.asarray(near.distances.mean(axis=1).round(12))


def _highest(keys: Sequence[np.ndarray], share: float, whose: np.ndarray) -> np.ndarray:
    """Return the records of those with the highest first key, among equals the highest second one; ties too.

    ``whose``: number of each record's person, whose record with the highest keys counts.
    """
    order = np.lexsort((*keys[::-1], whose))
    last_of_each = order[np.append(np.diff(whose[order]) > 0, True)]
    keys = [key[last_of_each] for key in keys]
    found, among = (np.full(len(keys[0]), own) for own in (False, True))  # chosen, and equal to the last so far
    wanted = ceil(max(1.0, share * len(found)))
    for key in keys:
        last = np.partition(key[among], -wanted)[-wanted]
        above = among & (key > last)
        found |= above
        wanted -= int(above.sum())
        among &= key == last
    return np.asarray((found | among)[whose])
