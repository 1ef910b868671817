"""What a metric is, what it returns, and the one door through which it is called."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.tables import Tables


@dataclass(frozen=True, eq=False)
class Score:
    """The result of one metric on one release.

    Attributes:
        value: Risk in [0, 1], 1 = no privacy left; NaN where it is not defined (``reason`` says why).
        published: The number that the source would print, in its own scale and direction.
        records: One row an attacked record: ``score`` and the measure's own columns; None where a metric
            has no per-record form.
        details: Named floats that belong to the value (accuracy, share of unseen keys, curve points).
        settings: The settings in force, so that a number carries its provenance.
        reason: Why the value is not defined; None where it is.
    """

    metric: str
    value: float
    published: float
    records: pd.DataFrame | None = None
    details: dict[str, float] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None


@dataclass(frozen=True)
class Metric:
    """The facts of a metric, stated once; calling it scores a release.

    Attributes:
        name: Register name.
        function: ``function(tables, **options) -> Score``.
        group: Family: cap, rapid, distance.
        per_record: Whether ``Score.records`` is given.
        needs: Arguments that must be given: ``quasi_identifiers``, ``sensitive``, ``control``.
        range: Range of ``value``.
        reference: Source.
        scores: The table whose records are scored: ``real`` or ``synthetic``.
        label: ``signal``: may carry a verdict; ``sanity``: never.
        mean: Whether ``value`` is the mean of ``records["score"]``.
        transform: Where it is not: the monotone function of the mean of ``records[contribution]``.
        contribution: The column whose mean makes the value.
        difference_only: Whether only the member/control difference is a signal, never the value.
        against: For metrics that score synthetic records: ``against(tables, rows)``, the value against some of
            the real records, on which member/control differences are taken.
        check_values: Refuses option values that break their rules, before there are tables.
    """

    name: str
    function: Callable[..., Score]
    group: str
    per_record: bool
    needs: tuple[str, ...]
    range: tuple[float, float]
    reference: str
    scores: Literal["real", "synthetic"] = "real"
    label: Literal["signal", "sanity"] = "signal"
    mean: bool = True
    contribution: str = "score"
    transform: Callable[[float], float] | None = None
    difference_only: bool = False
    check_values: Callable[..., None] | None = None
    against: Callable[[Tables, np.ndarray], float] | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """The keyword arguments that the metric takes, ``seed`` and what it needs included."""
        own = [p for p in inspect.signature(self.function).parameters if p != "tables"]
        return tuple(dict.fromkeys([*own, *(n for n in self.needs if n == "control"), "seed"]))

    def check(self, options: dict[str, Any]) -> None:
        """Refuse options that the metric does not take and the absence of those that it needs."""
        for name in options:
            if name not in self.options:
                hint = nearest(name, self.options)
                raise InputError(f"{self.name} takes no argument {name!r}{hint}; it takes {', '.join(self.options)}")
        for name in self.needs:
            if options.get(name) is None:
                raise InputError(f"{self.name} needs the argument {name}, got none")

    def __call__(self, real: pd.DataFrame, synthetic: pd.DataFrame, **options: Any) -> Score:
        """Score a release: build ``Tables``, check the options, call the function.

        Args:
            real: The records attacked.
            synthetic: The release, with the same columns.
            **options: What ``needs`` lists, and the metric's own options; ``seed`` is taken by all.

        Raises:
            InputError: An argument is missing, unknown or breaks its rule.
        """
        self.check(options)
        tables = Tables(real, synthetic, options.pop("control", None) if "control" in self.needs else None)
        return self.score(tables, **options)

    def score(self, tables: Tables, **options: Any) -> Score:
        """Score tables that are already encoded; ``seed`` is dropped where nothing is drawn."""
        seed = options.get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**32:
            raise InputError(f"seed must be a whole number in [0, 2^32), got {seed!r}")
        if "seed" not in inspect.signature(self.function).parameters:
            options.pop("seed", None)
        return self.function(tables, **options)


def mean_score(records: pd.DataFrame) -> float:
    """Return the mean of the scored records, NaN where none is scored."""
    scores = records["score"].to_numpy(dtype=float)
    scored = scores[~np.isnan(scores)]
    return float(scored.mean()) if len(scored) else float("nan")
