"""What a metric returns: the score of a release, and what some of its records come to.

A score shows itself in a console and a notebook, short and without a record, and as a picture.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.intervals.estimates import estimate
from synthrisk.metrics.intervals.yardsticks import (
    CURVE,
    CURVE_NAMES,
    NUMBER_CURVE_NAMES,
    TOLERANCES,
    threshold_curve,
    tolerance_curve,
)

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
        meaning: What the metric says, in a sentence.
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
    meaning: str = ""

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
        told = [self.metric, f"value={number(self.value)}"]
        told += [f"{name}={number(self.details[name])}" for name in YARDSTICKS if name in self.details]
        told += [] if self.records is None else [f"{len(self.records):,} records"]
        told += [f"({self.reason})"] if self.reason else []
        return f"<Score {' '.join(told)}>"

    def _repr_html_(self) -> str:
        # what is read first and the worst records; all other numbers are folded, and curves are drawn by ``plot``
        known = {n: v for n, v in self.details.items() if not n.startswith("ceiling_") and "curve_" not in n}
        rows = [("value", _value_html(self))]
        first = ("isolated_share", *_FIRST) if "isolated_share" in known else _FIRST
        rows += [(_called(self, name), number(known.pop(name))) for name in first if name in known]
        rows += [] if self.records is None else [("records", f"{len(self.records):,}")]
        said = "".join(f"<p>{escape(text)}</p>" for text in (self.meaning, self.reason, self.warning) if text)
        rest = [("published", number(self.published)), *((name, number(value)) for name, value in known.items())]
        folded = f"<details><summary>all numbers</summary>{table(['', ''], rest)}</details>"
        return f"{table([self.metric, ''], rows)}{said}{_worst_html(self)}{folded}"

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Draw the score and its yardsticks; return the axes.

        Of RAPID the share at risk against the threshold (of a number the tolerance), with control records and null; of
        others the share of records with at least a score, the value, and the yardsticks beside it; where each record
        scores 0 or 1, a bar each.

        Args:
            axes: Where to draw; axes of a new figure unless given.
        """
        if axes is None:
            from matplotlib import pyplot as plt

            axes = plt.subplots()[1]
        axes.set_title(self.metric)
        if CURVE_NAMES[0] in self.details or NUMBER_CURVE_NAMES[0] in self.details:
            _draw_curves(self, axes)  # of several attacker models that of each, their mean and the largest of them
        elif len(scores := _scored(self)) > 1 and set(scores) <= {0.0, 1.0} and 0 <= self.value <= 1:
            _draw_shares(self, axes)
            return axes
        else:
            _draw_spread(self, axes)  # where no records are kept: value and yardsticks alone
        axes.set_ylim(bottom=0)
        if axes.get_legend_handles_labels()[0]:
            axes.legend()
        return axes

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
    return mean_of_known(records["score"].to_numpy(dtype=float))


def mean_of_known(numbers: Sequence[float] | np.ndarray) -> float:
    """Return the mean of the numbers that are there, NaN where none is."""
    every = np.asarray(numbers, dtype=float)
    known = every[~np.isnan(every)]
    return float(known.mean()) if len(known) else float("nan")


YARDSTICKS = ("control", "population", "guess", "ceiling")
"""Yardsticks of a score, in the order in which they are read."""


def number(value: float) -> str:
    """Return a number as it is shown: three decimals, or that there is none."""
    return "none" if isnan(value) else f"{value:.3f}"


_FIRST = ("control", "guess", "memorization")  # what stands beside the value; all else is folded
_WORST = 5  # records that a notebook names


def _called(score: "Score", name: str) -> str:
    """Return what a yardstick is called: that of claims which name no target is no risk of control records."""
    of_isolated = {"isolated_share": "members among those singled out", "control": "members among them by chance"}
    return of_isolated.get(name, name) if "isolated_share" in score.details else name


def _value_html(score: "Score") -> str:
    """Return the value with the 95 % interval of the mean of its records; alone where it is no such mean."""
    records = np.array([]) if score.records is None else score.records["score"].to_numpy(dtype=float)
    scores = records[~np.isnan(records)]
    if len(scores) < 2 or not abs(scores.mean() - score.value) < 1e-9:
        return number(score.value)
    found = estimate(scores[None])
    return f"{number(score.value)} [{number(found.lower)}, {number(found.upper)}]"


def _worst_html(score: "Score") -> str:
    """Return the records of the highest scores by their place among ``records``: no cell and no label."""
    if score.records is None or "score" not in score.records:
        return ""
    scores = score.records["score"].to_numpy(dtype=float)
    worst = [place for place in np.argsort(-scores, kind="stable") if not isnan(scores[place])][:_WORST]
    rows = [(str(place), number(scores[place])) for place in worst]
    return table(["row of records (from 0)", "score"], rows) if rows else ""


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table in HTML, whatever its texts hold."""
    top = "".join(f"<th style='text-align:left'>{escape(str(each))}</th>" for each in head)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def said_of(function: Callable[..., Any]) -> str:
    """Return what a function says of itself in one line: the first of its docstring."""
    return ((function.__doc__ or "").strip().splitlines() or [""])[0].rstrip(".")


_DASHES: tuple[Any, ...] = ("--", ":", "-.", (0, (1, 4)))  # one a yardstick
_OWN = "#0072b2"
_COLOURS = ("#d55e00", "#009e73", "#b0578d", "#8a6d00", "#3aa0d8")  # one an attacker model


def _scored(score: Score) -> np.ndarray:
    """Return the scores of the records that have one, in ascending order."""
    records = np.array([]) if score.records is None else score.records["score"].to_numpy(dtype=float)
    return np.sort(records[~np.isnan(records)])


def _draw_shares(score: Score, axes: "Axes") -> None:
    """Draw scores that are all 0 or 1: a bar a share, from 0 to 1, that of the members with its interval."""
    scores, details = _scored(score), score.details
    known = {"value": score.value} | {_called(score, name): details[name] for name in YARDSTICKS if name in details}
    known |= {"null": details["null_real_mean"]} if "null_real_mean" in details else {}
    bars = {name: (value, value, value) for name, value in known.items() if np.isfinite(value)}
    found = estimate(scores[None])
    if abs(scores.mean() - score.value) < 1e-9 and np.isfinite([found.lower, found.upper]).all():
        bars["value"] = score.value, found.lower, found.upper
        reach = [[score.value - found.lower], [found.upper - score.value]]
        axes.errorbar(score.value, "value", xerr=reach, capsize=4, color="black")
    for name, (value, lower, upper) in bars.items():
        axes.barh(name, value, height=0.6, color=_OWN if name == "value" else "dimgrey", zorder=0)
        text = number(value) + (f" [{number(lower)}, {number(upper)}]" if upper > lower else "")
        place, side, colour = (lower, "right", "white") if upper > 0.6 else (upper, "left", "black")
        beside = 8 if side == "left" else -8
        axes.annotate(text, (place, name), (beside, 0), textcoords="offset points", ha=side, va="center", color=colour)
    axes.set_xlim(0, 1)
    room = 0.5 + max(3 - len(bars), 0) / 2
    axes.set_ylim(len(bars) - 1 + room, -room)
    _, lower, upper = bars["value"]
    axes.set_xlabel(f"share (value: of {len(scores):,} records{', with its 95 % interval' * (upper > lower)})")


def _draw_spread(score: Score, axes: "Axes") -> None:
    scores = _scored(score)
    if len(scores):
        share = 1 - np.arange(len(scores)) / len(scores)
        axes.step(scores, share, where="pre", label=f"{len(scores):,} records")
        axes.set_ylabel("share of records with at least this score")
    lines: list[tuple[str, float, Any]] = [("value", score.value, "-")]
    known = [(_called(score, name), score.details[name]) for name in YARDSTICKS if name in score.details]
    lines += [(name, value, dash) for (name, value), dash in zip(known, _DASHES, strict=False)]
    for name, value, dash in lines:
        if np.isfinite(value):
            axes.axvline(value, linestyle=dash, color="black", label=f"{name} {number(value)}")
    axes.set_xlabel("score" if len(scores) else "value")


_TOGETHER = {"max": "rapid_max", "mean": "rapid_mean", "record": "rapid_envelope"}
"""What several attackers together are called, by what a score takes of them."""


def _draw_curves(score: Score, axes: "Axes") -> None:
    """Draw the share at risk against the threshold; the numbers in the legend are those at the threshold in force."""
    details, of_gain = score.details, CURVE_NAMES[0] in score.details
    if of_gain:
        names, places, limit, said = CURVE_NAMES, CURVE, score.settings["threshold"], "threshold of the gain (tau)"
    else:
        limit = details["tolerance"]
        names, places, said = NUMBER_CURVE_NAMES, TOLERANCES * limit, "tolerance of the error (epsilon)"
    models = list(_curves_of_models(score, places, of_gain))
    for (name, curve), colour in zip(models, _COLOURS * len(models), strict=False):
        axes.plot(places, curve, color=colour, linewidth=1, label=f"{name} {number(details[f'value_{name}'])}")
    drawn = score.settings["envelope"] if models else ""
    if models and drawn != "mean":
        mean = np.mean([curve for _, curve in models], axis=0)
        axes.plot(places, mean, "-.", color=_OWN, label=f"rapid_mean {number(details['rapid_mean'])}")
    if models and drawn != "record":
        best = details["rapid_envelope"]
        axes.plot([limit], [best], "o", color=_OWN, label=f"rapid_envelope {number(best)}")
    lines = [("", _TOGETHER.get(drawn, "value"), score.value, _OWN, "-")]
    lines += [("control_", "control", details.get("control", np.nan), "black", "--")]
    lines += [("null_real_", "null", details.get("null_real_mean", np.nan), "black", ":")]
    for before, called, at_limit, colour, dash in lines:
        if before + names[0] in details:
            own = [details[before + name] for name in names]
            label = f"{called} {number(at_limit)}"
            axes.plot(places, own, color=colour, linestyle=dash, linewidth=1.2 if before else 2, label=label)
    axes.axvline(limit, color="grey", linewidth=0.8, label=f"{'threshold' if of_gain else 'tolerance'} {limit:g}")
    axes.set_xlabel(said)
    axes.set_ylabel("share of records at risk")
    axes.set_ylim(top=1.02)


def _curves_of_models(score: Score, places: np.ndarray, of_gain: bool) -> Iterator[tuple[str, np.ndarray]]:
    """Return the curve of each of several attacker models."""
    if score.records is None:
        return
    before, curve = ("gain_", threshold_curve) if of_gain else ("error_", tolerance_curve)
    for column in score.records:
        if str(column).startswith(before):
            yield str(column).removeprefix(before), curve(score.records[column].to_numpy(dtype=float), places)
