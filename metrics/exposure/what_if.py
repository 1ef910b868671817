"""Preview of a mitigation: the same release and attack, by an attacker who knows less."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import ABOVE_0, InputError, check_range, nearest
from synthrisk.metrics.intervals.estimates import difference
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.tables.tables import Tables


@dataclass(frozen=True)
class Change:
    """A change of what an attacker knows of the quasi-identifiers, or noise on what is released (``coarsen.binned``).

    ``merge`` is of categorical columns: named groups of levels, or so many with the rare ones put together.
    """

    drop: Sequence[str] = ()  # columns that he does not know
    bins: Mapping[str, int] = field(default_factory=dict)  # columns that he knows in so many parts
    binning: str = "quantile"  # how numeric ones are cut
    noise: Mapping[str, float] = field(default_factory=dict)  # of the range of numeric ones; sensitive: on the release
    merge: Mapping[str, int | Mapping[str, Sequence[Any]]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name in labels and tables: ``without-age``, ``hours-in-4``; of levels only how many groups they make."""
        parts = {**self.bins, **{c: n for c, n in self.merge.items() if not isinstance(n, Mapping)}}
        words = [f"without-{c}" for c in self.drop] + [f"{c}-in-{n}" for c, n in parts.items()]
        words += [f"{c}-noise-{share:g}" for c, share in self.noise.items()]
        words += [f"{c}-merged-{len(n)}" for c, n in self.merge.items() if isinstance(n, Mapping)]
        return re.sub(r"[^A-Za-z0-9_\-]", "_", "-".join(words))

    def options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a metric as they are after the change.

        Raises:
            InputError: A column is no quasi-identifier, none is left, or nothing is changed.
        """
        known, hidden = list(options["quasi_identifiers"]), options.get("sensitive") or []
        noisy = [*known, *([hidden] if isinstance(hidden, str) else hidden)]
        roles = {"drop": self.drop, "bins": self.bins, "noise": self.noise, "merge": self.merge}
        named = [column for columns in roles.values() for column in columns]
        if not named:
            raise InputError("what_if must drop or coarsen a quasi-identifier, got neither")
        for role, columns in roles.items():
            for column in columns:
                allowed = noisy if role == "noise" else known
                if column not in allowed:
                    what = "quasi-identifiers" + (" or the sensitive column" if role == "noise" else "")
                    raise InputError(f"what_if: {role} must name {what}, got {column!r}{nearest(str(column), allowed)}")
        twice = [column for column in named if named.count(column) > 1]
        if twice:
            raise InputError(f"what_if must change each quasi-identifier in one way, got {twice[0]!r} in several")
        for column, share in self.noise.items():
            check_range(f"noise of {column!r}", share, ABOVE_0, 1, "a number above 0 and at most 1")
        changes = {**self.bins, **self.merge, **{c: float(share) for c, share in self.noise.items()}}
        left = [c for c in known if c not in self.drop]
        if not left:
            raise InputError(f"what_if must leave a quasi-identifier, got all dropped: {list(self.drop)!r}")
        own = options.get("bins")
        if isinstance(own, int) and changes:
            raise InputError("what_if cannot name bins where bins is one number for all columns: name them there too")
        bins = {c: n for c, n in {**(own if isinstance(own, Mapping) else {}), **changes}.items() if c not in self.drop}
        changed = {**options, "quasi_identifiers": left}
        return {**changed, "bins": bins, "binning": self.binning} if bins else changed


def what_if(
    metric: Metric,
    real: pd.DataFrame,
    synthetic: pd.DataFrame,
    changes: Sequence[Change],
    confidence: float = 0.95,
    **options: Any,
) -> pd.DataFrame:
    """Score a release as it is and after each change of the quasi-identifiers, in both tables alike.

    The synthesizer is not fitted again: this is a preview of what fewer or coarser quasi-identifiers would do to the
    risk, and what noise on the sensitive column of the release would (section 6.3 of the RAPID paper).

    Args:
        metric: A metric with a score a real record that takes ``quasi_identifiers``.
        real: The records attacked.
        synthetic: The release.
        changes: What to try, each on its own.
        confidence: Confidence level.
        **options: The metric's arguments.

    Returns:
        One row as it is and one a change: change, value, difference to the first, and its interval over the
        records (paired: the same records, the same seed).

    Raises:
        InputError: A change breaks a rule, or the metric does not fit.

    Example:
        >>> from synthrisk.metrics import METRICS
        >>> real = pd.DataFrame({"age": [30, 31, 40, 41], "sex": list("fmfm"), "vote": list("abab")})
        >>> tried = what_if(METRICS["zero_cap"], real, real, [Change(drop=["age"]), Change(bins={"age": 2})],
        ...                 quasi_identifiers=["age"], sensitive="vote")
        Traceback (most recent call last):
        ...
        synthrisk.metrics.errors.InputError: what_if must leave a quasi-identifier, got all dropped: ['age']
        >>> what_if(METRICS["zero_cap"], real, real, [Change(bins={"age": 2})],
        ...         quasi_identifiers=["age"], sensitive="vote")["value"].tolist()
        [1.0, 0.5]
    """
    if metric.reduce is None or "quasi_identifiers" not in metric.needs:
        raise InputError(f"what_if needs a metric with quasi_identifiers and a score a real record, got {metric.name}")
    metric.check(options)
    if options.pop("control", None) is not None:
        raise InputError("what_if compares scores on real: call it on the control records for theirs, got control")
    tables = Tables.identified(real, synthetic, identifier=options.pop("identifier", None))
    tried = [("as it is", options), *((c.name, c.options(options)) for c in changes)]
    scores = [(name, metric.score(tables, **own)) for name, own in tried]
    first, rows = _cube(scores[0][1].records), []
    for name, score in scores:
        change = difference(first, _cube(score.records), confidence, entities=tables.entities)
        rows.append((name, score.value, change.value, change.lower, change.upper))
    return pd.DataFrame(rows, columns=["change", "value", "difference", "lower", "upper"])


def _cube(records: pd.DataFrame | None) -> np.ndarray:
    assert records is not None  # noqa: S101 - a metric with a reduction has records
    return records["score"].to_numpy(dtype=float)[None, None, :]
