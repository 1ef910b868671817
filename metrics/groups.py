"""A finding's numbers for some of the records alone: those who are vulnerable, apart from a uniform sample."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from synthrisk.metrics.findings import Attacked, Finding, Interval, find


def find_groups(
    finding: Finding, attacked: Attacked, groups: Mapping[str, np.ndarray], interval: Interval
) -> dict[str, Finding]:
    """Return the finding of each group of records, estimated as that of all records is.

    Args:
        finding: That of all records.
        attacked: All scores, of a metric whose value is a plain mean, with or without a transform.
        groups: (n,) booleans by name.
        interval: How intervals are made.

    Returns:
        A finding a group, by name; its detail ``records`` says how many there are.
    """
    found = {}
    for name, rows in groups.items():
        own = replace(
            attacked,
            scores=np.where(rows, attacked.scores, np.nan),
            contribution=None if attacked.contribution is None else np.where(rows, attacked.contribution, np.nan),
            gain=None,
            details={"records": (float(rows.sum()),) * 2},
        )
        found[name] = find(finding.synthesizer, finding.role, finding.measure, own, interval)
    return found
