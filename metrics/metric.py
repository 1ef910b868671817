"""What a metric is, what it returns, and the one door through which it is called."""

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, is_whole, nearest
from synthrisk.metrics.intervals.linearised import contributions, linearised
from synthrisk.metrics.intervals.yardsticks import against_control, against_guess, against_population
from synthrisk.metrics.metric_rules import ROLES, check_rules
from synthrisk.metrics.tables.coarsen import Bins, binned, check_bins
from synthrisk.metrics.tables.tables import Tables


class Reduction(NamedTuple):
    """What the scores of some records come to."""

    value: float
    published: float
    details: dict[str, float]
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class Score:
    """The result of one metric on one release.

    Attributes:
        value: Risk in [0, 1], 1 = no privacy left (of a utility metric: 1 = most useful); NaN where
            it is not defined (``reason`` says why).
        published: The number that the source would print, in its own scale and direction.
        records: One row an attacked record: ``score`` and the measure's own columns; None where a metric
            has no per-record form.
        details: Named floats that belong to the value (accuracy, share of unseen keys, curve points).
        settings: The settings in force, so that a number carries its provenance.
        reason: Why the value is not defined; None where it is. It goes to reports and terminals, so it is a
            sentence that holds no cell of a table.
        warning: What makes the value hard to read; None where nothing does.
    """

    metric: str
    value: float
    published: float
    records: pd.DataFrame | None = None
    details: dict[str, float] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None
    warning: str | None = None

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


@dataclass(frozen=True)
class Metric:
    """The facts of a metric, stated once; calling it scores a release.

    Attributes:
        name: Register name.
        function: ``function(tables, **options) -> Score``.
        group: Family: cap, rapid, distance.
        per_record: Whether the value follows from scores of single records: no median does.
        needs: Arguments that must be given: ``quasi_identifiers``, ``sensitive``, ``control``, or options of its own.
        range: Range of ``value``.
        reference: Source.
        scores: The table whose records are scored: ``real`` or ``synthetic``.
        label: ``signal``: may carry a verdict; ``sanity``: never; ``utility``: no risk at all, a high value is
            useful, ``control`` gives its ceiling, and a study values each release on its members.
        mean: Whether ``value`` is the mean of ``records["score"]``.
        transform: Where it is not: the monotone function of the mean of ``records[contribution]``.
        contribution: The column whose mean makes the value.
        weight: Where the value is a weighted mean of the scores: the column of weights.
        copied: The score of every member on an exact copy of the members, where the definition settles it.
        difference_only: Whether only the member/control difference is a signal, never the value.
        against: For metrics that score synthetic records, and for medians: ``against(tables, rows, **options)``, the
            value against some of the real records, on which member/control differences are taken. It takes all
            options of the metric.
        check_values: Refuses option values that break their rules, before there are tables.
        check_table: Refuses options that do not fit the real table: ``check_table(real, **options)``.
        package: A package of an extra, without which the metric cannot be computed.
        reduce: What some of the ``records`` come to: for groups of records (members, control, a class).
        answered: The share of members that the attack had an answer for, from what is said of them (``details``), where
            a record without an answer has a score; None where such a record has none.
        own_control: Whether the function itself compares with ``tables.control`` where that is given, since it scores
            no real records.
        ranking: The column of ``records`` that ranks real records by how likely they are members, with a minus sign in
            front where low values are the likely ones: of it a study takes true-positive rates at low false-positive
            rates, and the bound of epsilon.
        uninformed: The detail that says what an attacker without information reaches, which independent columns
            (the reference generator ``marginals``) must not exceed: the guess, unless noise alone puts records at
            risk, as the noise of RAPID's confidence does.
        same_difference_as: Another metric whose scores of single real records are the same under the same options, so
            that both member/control differences are one number and no two findings. A study looks whether they are.
        claims: Whether it is an attack that speaks of some records and abstains of others, judged against S: how often
            such claims are right by luck.
        population: Whether real non-members in place of the release are a yardstick: what they alone say of each
            member. Not where it needs control records to tell members from: as the release these say of nobody that he
            was in. Not where it is told what the rows of the release were made from: no non-member was made from a
            member.
        isolated: For claims that name no target: ``isolated(tables, **options)``, which members and then control
            records they isolate, (n + c,). A study's memorization is taken on it: see ``isolated.memorized_in_study``.
    """

    name: str
    function: Callable[..., Score]
    group: str
    per_record: bool
    needs: tuple[str, ...]
    range: tuple[float, float]
    reference: str
    scores: Literal["real", "synthetic"] = "real"
    label: Literal["signal", "sanity", "utility"] = "signal"
    mean: bool = True
    contribution: str = "score"
    weight: str | None = None
    transform: Callable[[float], float] | None = None
    copied: float | None = None
    difference_only: bool = False
    check_values: Callable[..., None] | None = None
    check_table: Callable[..., None] | None = None
    package: str | None = None
    against: Callable[..., float] | None = None
    reduce: Callable[[pd.DataFrame], Reduction] | None = None
    own_control: bool = False
    answered: Callable[[Mapping[str, float]], float] | None = None
    ranking: str | None = None
    uninformed: str = "guess"
    same_difference_as: str | None = None
    isolated: Callable[..., np.ndarray] | None = None
    claims: bool = False
    population: bool = True

    def __post_init__(self) -> None:
        """Refuse facts that contradict each other."""
        check_rules(self)

    @cached_property
    def _parameters(self) -> tuple[str, ...]:
        return tuple(inspect.signature(self.function).parameters)

    @cached_property
    def options(self) -> tuple[str, ...]:
        """The keyword arguments that the metric takes, ``seed`` and what it needs included."""
        own = [p for p in self._parameters if p != "tables"]
        bins = ("bins", "binning") if "quasi_identifiers" in self.needs else ()
        control = ("control",) if "control" in self.needs or self.own_control or self.reduce is not None else ()
        return tuple(dict.fromkeys([*own, *bins, *control, "identifier", "seed"]))

    def default(self, option: str) -> Any:
        """Return the default of an option of the metric's own."""
        return inspect.signature(self.function).parameters[option].default

    @property
    def choices(self) -> tuple[str, ...]:
        """The options that a study may set: neither roles of columns nor what the study itself provides."""
        return tuple(o for o in self.options if o not in (*ROLES, "seed"))

    @property
    def own_needs(self) -> tuple[str, ...]:
        """The options that must be given for this metric alone: they are no roles that a study gives all."""
        return tuple(o for o in self.needs if o not in ROLES)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of ``records`` that a study reads: scores, what the value is made of, what ranks records."""
        ranking = None if self.ranking is None else self.ranking.lstrip("-")
        return tuple(c for c in dict.fromkeys(["score", self.contribution, self.weight, ranking]) if c is not None)

    @property
    def is_utility(self) -> bool:
        """Whether it says how useful a release is, not how risky."""
        return self.label == "utility"

    @property
    def installed(self) -> bool:
        """Whether all that it needs is installed."""
        return self.package is None or find_spec(self.package) is not None

    @property
    def by_release(self) -> bool:
        """Whether a study takes one value a release, for no score of single real records makes it."""
        return self.scores == "synthetic" or not self.per_record

    @property
    def has_population(self) -> bool:
        """Whether there is a population yardstick; none where a study takes one value a release."""
        return self.population and not self.by_release

    def among(self, tables: Tables) -> Tables:
        """Return the tables in which records are scored: without real ones that are the release itself (group -1).

        These would find themselves there: no real record could be nearer to the release than to another real one, and
        each record released would be linked to its own other half. What guesses a sensitive value keeps them, for its
        class shares are those of all real records, and it compares none of these with each other.
        """
        return tables if "sensitive" in self.needs else tables.members_and_controls()

    def check_choices(self, options: Mapping[str, Any]) -> None:
        """Refuse option values that break their rules, before there are tables."""
        own = {k: v for k, v in options.items() if k not in ("bins", "binning")}
        check_bins(options.get("bins"), options.get("binning", "quantile"))
        if self.check_values is not None:
            self.check_values(**own)

    def check_options_on(self, real: pd.DataFrame, options: Mapping[str, Any]) -> None:
        """Refuse options that do not fit the real table, before anything is computed."""
        if self.check_table is not None:
            self.check_table(real, **options)

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
                ``control``, real records that the synthesizer never saw, adds yardsticks s to the details:
                ``control``, the same success on them, with ``control_<detail>``; ``population``, the success on the
                members where they take the place of the release (what real non-members say of the members; of a
                distance, how near members are to people never released), for metrics with ``has_population``, but not
                in the mode ``holdout``, which attacks the control records; beside ``guess``, where something is
                guessed. Of each:
                ``<yardstick>_gain`` = (x - s)/(1 - s) with ``<yardstick>_gain_lower`` and ``<yardstick>_gain_upper``,
                ``<yardstick>_difference`` = x - s with ``<yardstick>_lower`` and ``<yardstick>_upper``. x is the value;
                beside control it is the mean of ``records["score"]``, what member/control differences are taken on.
                Class shares, ranges and uniqueness are then taken among all real records, as in a study; against the
                population, distances know the members alone.
                ``identifier``, the column of ``real`` (and ``control``) that names the entity of each record, where one
                has several: no metric or attack sees it, and ``singling_out``, ``inference``, ``linkability``,
                ``membership``, ``coverage`` and ``accuracy`` count entities (a record without a name is its own). The
                intervals of a direct call take the records as independent nevertheless; those of a study sum by entity.
                ``bins`` and ``binning`` coarsen quasi-identifiers (and numeric sensitive attributes): see
                ``bins.binned``.

        Raises:
            InputError: An argument is missing, unknown or breaks its rule.
        """
        self.check(options)
        tables = Tables.identified(real, synthetic, options.pop("control", None), options.pop("identifier", None))
        score = self.score(tables, **options)
        if score.warning is not None:
            warnings.warn(f"{self.name}: {score.warning}", UserWarning, stacklevel=2)
        return score

    def score(self, tables: Tables, **options: Any) -> Score:
        """Score tables that are already encoded; ``seed`` is dropped where nothing is drawn."""
        seed = options.get("seed", 0)
        if not is_whole(seed, 0, 2**32 - 1):
            raise InputError(f"seed must be a whole number in [0, 2^32), got {seed!r}")
        if "seed" not in self._parameters:
            options.pop("seed", None)
        bins, binning = options.pop("bins", None), options.pop("binning", "quantile")
        if "control" in self.needs or self.own_control or tables.control is None:
            return self._scored(tables, bins, binning, options)
        return self._beside_control(tables, bins, binning, options)

    def value_against(self, tables: Tables, rows: np.ndarray, **options: Any) -> float:
        """Return the value against some of the real records, by position; NaN where the metric knows none."""
        if self.against is None:
            return float("nan")
        if "seed" not in self._parameters:
            options.pop("seed", None)
        return self.against(tables, rows, **options)

    def _scored(self, tables: Tables, bins: Bins, binning: str, options: dict[str, Any]) -> Score:
        if bins is None:
            return self.function(tables, **options)
        if "sensitive" in self.needs:
            known, hidden = tables.check_roles(options["quasi_identifiers"], options["sensitive"])
        else:
            known, hidden = tables.check_columns("quasi_identifiers", options["quasi_identifiers"]), []
        score = self.function(binned(tables, known, hidden, bins, binning), **options)
        return replace(score, settings={**score.settings, "bins": bins, "binning": binning})

    def _beside_control(self, tables: Tables, bins: Bins, binning: str, options: dict[str, Any]) -> Score:
        """Score real and control records together, so that one baseline holds for both, and reduce them apart."""
        if self.reduce is None:
            raise InputError(f"{self.name} has no score a real record to compare with control")
        score = self._scored(tables.with_control(), bins, binning, options)
        records = score.records
        assert records is not None  # noqa: S101 - a metric with a reduction has records
        members, controls = records.iloc[: len(tables.real)], records.iloc[len(tables.real) :]
        of_members, of_controls = self.reduce(members), self.reduce(controls)
        details = against_control(members["score"], controls["score"]) | {"control": of_controls.value}
        details |= {f"control_{name}": value for name, value in of_controls.details.items()}
        holdout = options.get("mode") == "holdout"
        if self.has_population and not holdout:
            details |= self._beside_population(tables, members, bins, binning, options)
        attacked, found = (controls, of_controls) if holdout else (members, of_members)
        if "guess" in score.details:
            details["guess"] = found.details.get("guess", score.details["guess"])  # of claims: of those about attacked
            details |= against_guess(self._contributions(attacked), details["guess"])
        found = found._replace(reason=reason_of(score, found))
        return Score.of(self.name, attacked, found, score.details | details, score.settings, score.warning)

    def _beside_population(
        self, tables: Tables, members: pd.DataFrame, bins: Bins, binning: str, options: dict[str, Any]
    ) -> dict[str, float]:
        """Score the members where the control records are the release: what real non-members say of them."""
        once = {k: v for k, v in options.items() if k != "permutations"}  # a null calibrates the release, not this
        score = self._scored(self.among(tables.with_control_released()), bins, binning, once)
        assert score.records is not None and self.reduce is not None  # noqa: S101, PT018
        own = score.records.iloc[: len(tables.real)]
        found = against_population(self._contributions(members), self._contributions(own))
        return {"population": self.reduce(own).value} | found

    def _contributions(self, records: pd.DataFrame) -> pd.Series:
        """Return what the value of these records is the plain mean of."""
        amount = records[self.contribution].to_numpy(dtype=float)
        if self.weight is not None:
            weights = records[self.weight].to_numpy(dtype=float)
            amount = contributions(amount, weights, np.ones(len(records), dtype=bool))
        return pd.Series(linearised(amount, self.transform))


def reason_of(score: Score, found: Reduction) -> str | None:
    """Return why some of a score's records have no value: what the metric says of all of them, else of these."""
    return (score.reason or found.reason or "not scored") if np.isnan(found.value) else None


def mean_score(records: pd.DataFrame) -> float:
    """Return the mean of the scored records, NaN where none is scored."""
    scores = records["score"].to_numpy(dtype=float)
    scored = scores[~np.isnan(scores)]
    return float(scored.mean()) if len(scored) else float("nan")
