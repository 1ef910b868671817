"""Records that a release holds as they are, and how rare keys are, counted in parts."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from synthrisk.metrics.distance.common_rows import reduce_hits
from synthrisk.metrics.distance.unique_exact_matches import reduce_unique
from synthrisk.metrics.partitions.agreed import CONTROLS, MEMBERS, Partitioned
from synthrisk.metrics.partitions.keys import keys, ranks_of_real
from synthrisk.metrics.release.k_anonymity import FROM, KeySizes, ReleaseKeys
from synthrisk.metrics.score import Score


def common_rows_proportion(tables: Partitioned) -> Score:
    """Return the share of real records that occur in the release (``common_rows.common_rows_proportion``)."""
    rows = keys(tables, list(tables.columns))
    rank = ranks_of_real(tables, rows)
    records = pd.DataFrame({"score": (rows.release > 0).astype(float)[rank], "row": rank})
    return Score.of("common_rows_proportion", records, reduce_hits(records), {}, {})


def unique_exact_matches(tables: Partitioned) -> Score:
    """Return the share of real records that are unique and released (``unique_exact_matches``)."""
    rows = keys(tables, list(tables.columns))
    rank, unique = ranks_of_real(tables, rows), rows.real == 1
    score = (unique & (rows.release > 0)).astype(float)
    records = pd.DataFrame({"score": score[rank], "unique": unique[rank]})
    return Score.of("unique_exact_matches", records, reduce_unique(records), {}, {})


def keys_of_real(tables: Partitioned, quasi_identifiers: Sequence[str]) -> KeySizes:
    """Return with how many others the real records share their keys (``k_anonymity.keys_of_real``)."""
    found = keys(tables, quasi_identifiers)
    return _sizes(found.real, found.real)


def keys_of_release(tables: Partitioned, quasi_identifiers: Sequence[str]) -> ReleaseKeys:
    """Return the same of released rows, and of members and control records in the release."""
    found = keys(tables, quasi_identifiers)
    controls = _sizes(found.release, found.counts[CONTROLS]) if tables.rows[CONTROLS] else None
    return ReleaseKeys(_sizes(found.release, found.release), _sizes(found.release, found.counts[MEMBERS]), controls)


def _sizes(sizes: np.ndarray, records: np.ndarray) -> KeySizes:
    """Return the histogram of the sizes of keys, over so many records with each."""
    counts = tuple(float(records[(low <= sizes) & (sizes < high)].sum()) for low, high in pairwise(FROM))
    occurring = sizes[(sizes > 0) & (records > 0)]
    return KeySizes(counts, int(occurring.min()) if len(occurring) else 0, float(records[sizes == 0].sum()))
