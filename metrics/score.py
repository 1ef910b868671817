"""What a metric returns: the score of a release, and what some of its records come to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.shown import score_html, score_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Reduction(NamedTuple):
    """What the scores of some records come to."""

    value: float
    published: float
    details: dict[str, float]
    reason: str | None = None


@dataclass(frozen=True)
class Ceiling:
    """What real records reach in place of a release, beside which a utility is read."""

    value: float  # their utility
    thinned: float  # the utility of as many rows of the release
    rows: float  # how many rows both have
    details: dict[str, float]  # what else the metric says of the real records

    @property
    def named(self) -> dict[str, float]:
        """All of it as named floats, as they stand among the details of a score."""
        compared = {"ceiling": self.value, "thinned": self.thinned, "ceiling_rows": self.rows}
        return compared | {f"ceiling_{name}": number for name, number in self.details.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Score:
    """The result of one metric on one release.

    Attributes:
        value: Risk in [0, 1], 1 = no privacy left (of a utility metric: 1 = most useful); NaN where
            it is not defined (``reason`` says why).
        published: The same in the scale and direction of the source, of the neighbours or claims found here. What a
            program of the source prints can differ: the metric's docstring says where ("The source: ...").
        records: One row an attacked record: ``score`` and the measure's own columns; None where a metric
            has no per-record form.
        details: Named floats that belong to the value (accuracy, share of unseen keys, curve points).
        settings: The settings in force, so that a number carries its provenance.
        reason: Why the value is not defined; None where it is. It goes to reports and terminals, so it is a
            sentence that holds no cell of a table.
        warning: What makes the value hard to read; None where nothing does.
        ceiling: Of a utility: what real records reach in place of the release; its numbers are among the details too.
    """

    metric: str
    value: float
    published: float
    records: pd.DataFrame | None = None
    details: dict[str, float] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None
    warning: str | None = None
    ceiling: Ceiling | None = None

    @classmethod
    def of(
        cls,
        metric: str,
        records: pd.DataFrame,
        reduction: Reduction,
        details: Mapping[str, float],
        settings: dict[str, Any],
        warning: str | None = None,
    ) -> "Score":
        """Return a score from its records and what they reduce to; ``details`` are those that are not means."""
        value, published, own, reason = reduction
        return cls(metric, value, published, records, {**details, **own}, settings, reason, warning)

    def __repr__(self) -> str:
        """Show the numbers, never a record: those hold true values of the real table."""
        return score_text(self)

    def _repr_html_(self) -> str:
        return score_html(self)

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Draw the score and its yardsticks; return the axes.

        Of RAPID the share at risk against the threshold (of a number the tolerance), with control records and null; of
        others the share of records with at least a score, the value, and the yardsticks beside it.

        Args:
            axes: Where to draw; axes of a new figure unless given.
        """
        from synthrisk.metrics.score_plot import plot_score

        return plot_score(self, axes)

    @property
    def own_details(self) -> dict[str, float]:
        """The details without those of the ceiling."""
        others = {} if self.ceiling is None else self.ceiling.named
        return {name: number for name, number in self.details.items() if name not in others}

    def reason_for(self, found: Reduction) -> str | None:
        """Return why some of the records have no value: the metric's own reason, otherwise the reduction's."""
        return (self.reason or found.reason or "not scored") if np.isnan(found.value) else None


def mean_score(records: pd.DataFrame) -> float:
    """Return the mean of the scored records, NaN where none is scored."""
    scores = records["score"].to_numpy(dtype=float)
    scored = scores[~np.isnan(scores)]
    return float(scored.mean()) if len(scored) else float("nan")
