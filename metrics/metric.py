"""What a metric is, and the one door through which it is called.

Its facts, the rules that they keep, and a direct call of it with its yardsticks: the same attack on control records, a
guess, and what real non-members would say.
"""

import inspect
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, check_whole, nearest
from synthrisk.metrics.intervals.value_scale import contributions, linearised
from synthrisk.metrics.intervals.yardsticks import against_control, against_guess, against_population
from synthrisk.metrics.release.matches import told_of_control
from synthrisk.metrics.score import Reduction, Score, mean_score, said_of
from synthrisk.metrics.tables.coarsen import Bins, binned, check_bins
from synthrisk.metrics.tables.tables import Tables

__all__ = ["InStudy", "Metric", "Records", "Reduction", "Score", "Yardsticks", "mean_score"]


@dataclass(frozen=True)
class Records:
    """How the records of a metric make its value.

    Attributes:
        reduce: What some of the ``records`` come to: for groups of records (members, control, a class).
        mean: Whether ``value`` is the mean of ``records["score"]``.
        contribution: The column whose mean makes the value.
        weight: Where the value is a weighted mean of the scores: the column of weights.
        transform: Where ``value`` is no plain mean: the monotone function of the mean of ``records[contribution]``.
    """

    reduce: Callable[[pd.DataFrame], Reduction] | None = None
    mean: bool = True
    contribution: str = "score"
    weight: str | None = None
    transform: Callable[[float], float] | None = None


@dataclass(frozen=True)
class Yardsticks:
    """What the value of a metric is compared with.

    Attributes:
        guess: The detail that says what the best constant guess reaches, or S of claims; None where nothing is guessed.
        best_answer: ``best_answer(tables, **options)``: the share of the real records that one and the same answer
            about everybody is right about, or puts at risk, before there is a release; None where nothing is guessed.
        ceiling: The detail that says what the attack reaches on an exact copy of the members, where that is known.
        copied: The score of every member on an exact copy of the members, where the definition settles it.
        uninformed: The detail that says what an attacker without information reaches, which independent columns
            (the reference generator ``marginals``) must not exceed: the guess, unless noise alone puts records at
            risk, as the noise of RAPID's confidence does.
        population: Whether real non-members in place of the release are a yardstick: what they alone say of each
            member. Not where it needs control records to tell members from: as the release these say of nobody that he
            was in. Not where it is told what the rows of the release were made from: no non-member was made from a
            member.
        own_control: Whether the function itself compares with ``tables.control`` where that is given, since it scores
            no real records.
        without_control: Whether it may be called without the control records that it needs: then the value is NaN with
            its reason, and ``published`` is what the source prints without them.
    """

    guess: str | None = None
    best_answer: Callable[..., float] | None = None
    ceiling: str | None = None
    copied: float | None = None
    uninformed: str = "guess"
    population: bool = True
    own_control: bool = False
    without_control: bool = False


@dataclass(frozen=True)
class InStudy:
    """How a study takes a metric.

    Attributes:
        difference_only: Whether only the member/control difference is a signal, never the value.
        against: For metrics that score synthetic records, and for medians: ``against(tables, rows, **options)``, the
            value against some of the real records, on which member/control differences are taken. It takes all
            options of the metric.
        isolated: For claims that name no target: ``isolated(tables, **options)``, which members and then control
            records they isolate, (n + c,). A study's memorization is taken on it: see
            ``isolated_records.memorized_in_study``.
        ranking: The column of ``records`` that ranks real records by how likely they are members, with a minus sign in
            front where low values are the likely ones: of it a study takes true-positive rates at low false-positive
            rates, and the bound of epsilon.
        unaveraged: The details that hold for one release alone, such as limits, p-values and curves: a study keeps
            them, but takes no means of them over its releases.
        answered: The share of members that the attack had an answer for, from what is said of them (``details``), where
            a record without an answer has a score; None where such a record has none.
        gains: Whether ``records`` may hold the column ``gain``, normalised gains, or of a number ``error``, with the
            detail ``tolerance``: of these a study draws a curve.
        together: ``together(scores, envelope)``: the score of several attacker models, whose own scores are given by
            name: the largest (``max``), the mean (``mean``), or that of the best for each record (``record``); None
            where each stands alone.
        same_difference_as: Another metric whose scores of single real records are the same under the same options, so
            that both member/control differences are one number and no two findings. A study looks whether they are.
    """

    difference_only: bool = False
    against: Callable[..., float] | None = None
    isolated: Callable[..., np.ndarray] | None = None
    ranking: str | None = None
    unaveraged: tuple[str, ...] = ()
    answered: Callable[[Mapping[str, float]], float] | None = None
    gains: bool = False
    together: Callable[[Mapping[str, Score], str], Score] | None = None
    same_difference_as: str | None = None


@dataclass(frozen=True, repr=False)
class Metric:
    """The facts of a metric, stated once; calling it scores a release.

    What it is stands here; the other facts stand in three groups, each of which may be left out where its defaults
    hold: ``records``, ``yardsticks`` and ``study``.

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
        claims: Whether it is an attack that speaks of some records and abstains of others, judged against S: how often
            such claims are right by luck.
        looks_up: Whether records are looked up by key: only equal quasi-identifiers are found, and numbers guessed must
            be equal too.
        jointly: Whether ``sensitive`` may be several columns, which are then guessed at once.
        check_values: Refuses option values that break their rules, before there are tables.
        check_table: Refuses options that do not fit the real table: ``check_table(real, **options)``.
        package: A package of an extra, without which the metric cannot be computed.
        records: How its records make the value: it must have ``reduce`` where real records are scored.
        yardsticks: What the value is compared with.
        study: How a study takes it.
    """

    name: str
    function: Callable[..., Score]
    group: str
    per_record: bool = True
    needs: tuple[str, ...] = ()
    range: tuple[float, float] = (0.0, 1.0)
    reference: str = ""
    scores: Literal["real", "synthetic"] = "real"
    label: Literal["signal", "sanity", "utility"] = "signal"
    claims: bool = False
    looks_up: bool = False
    jointly: bool = False
    check_values: Callable[..., object] | None = None
    check_table: Callable[..., None] | None = None
    package: str | None = None
    records: Records = Records()
    yardsticks: Yardsticks = Yardsticks()
    study: InStudy = InStudy()

    def __post_init__(self) -> None:
        """Refuse facts that contradict each other."""
        check_rules(self)
        object.__setattr__(self, "__doc__", documentation_of(self))  # what help() shows
        object.__setattr__(self, "__signature__", signature_of(self))

    def __repr__(self) -> str:
        """Show its name, family and what it says."""
        return f"<Metric {self.name} ({self.group}): {self.said}>"

    @cached_property
    def _parameters(self) -> tuple[str, ...]:
        return tuple(inspect.signature(self.function).parameters)

    @cached_property
    def options(self) -> tuple[str, ...]:
        """The keyword arguments that the metric takes, ``seed`` and what it needs included."""
        own = [p for p in self._parameters if p != "tables"]
        bins = ("bins", "binning") if "quasi_identifiers" in self.needs else ()
        compared = "control" in self.needs or self.yardsticks.own_control or self.records.reduce is not None
        control = ("control",) if compared else ()
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
        ranking = None if self.study.ranking is None else self.study.ranking.lstrip("-")
        named = ["score", self.records.contribution, self.records.weight, ranking]
        return tuple(dict.fromkeys(name for name in named if name is not None))

    @property
    def said(self) -> str:
        """What it says, in one line: the first of its function's docstring."""
        return said_of(self.function)

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
        return self.yardsticks.population and not self.by_release

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
        self.coarsened(Tables(real, real), options)
        if self.check_table is not None:
            self.check_table(real, **options)

    def check(self, options: dict[str, Any]) -> None:
        """Refuse options that the metric does not take and the absence of those that it needs."""
        for name in options:
            if name not in self.options:
                hint = nearest(name, self.options)
                raise InputError(f"{self.name} takes no argument {name!r}{hint}; it takes {', '.join(self.options)}")
        for name in self.needs:
            if options.get(name) is None and not (name == "control" and self.yardsticks.without_control):
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
                Control records that are few, or equal members, are told in a warning; where nothing can be compared
                with them, what needs them is NaN: see ``matches.told_of_control``.
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
        control, identifier = options.pop("control", None), options.pop("identifier", None)
        tables = Tables.identified(real, synthetic, control, identifier)
        score = self.score(tables, **options)
        if control is not None:
            score = self._without_strangers(score, *told_of_control(real, control, identifier))
        score = replace(score, meaning=f"{self.said}.")
        if score.warning is not None:
            warnings.warn(f"{self.name}: {score.warning}", UserWarning, stacklevel=2)
        return score

    def _without_strangers(self, score: Score, refused: str, told: str) -> Score:
        """Return the score with what is told of its control records, without what they cannot tell."""
        if refused:
            needed = "control" in self.needs
            lost = [name for name in score.details if needed or name.startswith("control")]
            score = replace(score, details=score.details | dict.fromkeys(lost, float("nan")))
            if needed:
                score = replace(score, value=float("nan"), reason=f"nothing can be compared: {refused}")
        words = "; ".join(filter(None, [score.warning, refused, told]))
        return replace(score, warning=words or None)

    def score(self, tables: Tables, **options: Any) -> Score:
        """Score tables that are already encoded; ``seed`` is dropped where nothing is drawn."""
        seed = options.get("seed", 0)
        check_whole("seed", seed, 0, 2**32 - 1, "a whole number in [0, 2^32)")
        if "seed" not in self._parameters:
            options.pop("seed", None)
        scored = partial(self._scored, options.pop("bins", None), options.pop("binning", "quantile"))
        if "control" in self.needs or self.yardsticks.own_control or tables.control is None:
            return scored(tables, options)
        return score_with_yardsticks(self, tables, scored, options)

    def value_against(self, tables: Tables, rows: np.ndarray, **options: Any) -> float:
        """Return the value against some of the real records, by position; NaN where the metric knows none."""
        if self.study.against is None:
            return float("nan")
        if "seed" not in self._parameters:
            options.pop("seed", None)
        return self.study.against(tables, rows, **options)

    def _scored(self, bins: Bins, binning: str, tables: Tables, options: dict[str, Any]) -> Score:
        if bins is None:
            return self.function(tables, **options)
        score = self.function(self._binned(tables, options, bins, binning), **options)
        return replace(score, settings={**score.settings, "bins": bins, "binning": binning})

    def coarsened(self, tables: Tables, options: Mapping[str, Any]) -> Tables:
        """Return the tables as the metric sees them: with the ``bins`` of its options, if it has any."""
        bins, binning = options.get("bins"), options.get("binning", "quantile")
        return tables if bins is None else self._binned(tables, options, bins, binning)

    def _binned(self, tables: Tables, options: Mapping[str, Any], bins: Bins, binning: str) -> Tables:
        if "sensitive" in self.needs:
            known, hidden = tables.check_roles(options["quasi_identifiers"], options["sensitive"])
        else:
            known, hidden = tables.check_columns("quasi_identifiers", options["quasi_identifiers"]), []
        return binned(tables, known, hidden, bins, binning)


ROLES = ("quasi_identifiers", "sensitive", "control", "identifier")
"""Arguments that mean the same for all metrics that take them, and that a study gives."""
_SCORES = ("real", "synthetic")
_LABELS = ("signal", "sanity", "utility")
_GROUPS: Mapping[str, type] = {"records": Records, "yardsticks": Yardsticks, "study": InStudy}


def check_rules(metric: "Metric") -> None:
    """Refuse facts that contradict each other, or that a study could not use.

    Raises:
        InputError: One sentence with the metric's name, the field, the rule and the value got.
    """
    if not isinstance(metric.name, str) or not metric.name.isidentifier():
        raise InputError(f"name of a metric must be letters, digits and underscores, got {metric.name!r}")
    for group, kind in _GROUPS.items():
        got = getattr(metric, group)
        if not isinstance(got, kind):
            raise InputError(f"metric {metric.name}: {group} must be {kind.__name__}(...), got {got!r}")
    for field, rule, kept, got in _rules(metric):
        if not kept:
            raise InputError(f"metric {metric.name}: {field} must {rule}, got {got!r}")


_Rule = tuple[str, str, bool, Any]  # field, rule, whether it is kept, and the value


def _rules(m: "Metric") -> list[_Rule]:
    """Return the rules of all facts: first those of the metric's own, then those of each group."""
    takes = _parameters(m.function)
    low, high = _pair(m.range)
    unknown = [n for n in m.needs if n not in takes and n not in ROLES]
    own: list[_Rule] = [
        ("function", "be a function whose first parameter is called tables", takes[:1] == ["tables"], takes[:1]),
        ("needs", "name roles or parameters of the function", not unknown, unknown),
        ("range", "be two numbers, the lower first", low < high, m.range),
        ("scores", f"be {' or '.join(_SCORES)}", m.scores in _SCORES, m.scores),
        ("label", f"be one of {', '.join(_LABELS)}", m.label in _LABELS, m.label),
    ]
    return [
        *own,
        *_rules_of_records(m.records, m.by_release),
        *_rules_of_study(m.study, m.by_release, m.label, m.yardsticks.guess),
        *_rules_of_yardsticks(m.yardsticks, "control" in m.needs, (low, high)),
    ]


def _rules_of_records(r: Records, by_release: bool) -> list[_Rule]:
    plain = r.weight is None and r.contribution == "score" and r.transform is None
    made = "be False where weight, transform or contribution makes the value"
    return [
        ("records.mean", made, plain or not r.mean, r.mean),
        ("records.transform", "be None where weight makes the value", not (r.weight and r.transform), r.transform),
        ("records.reduce", "be given where real records are scored", r.reduce is not None or by_release, r.reduce),
    ]


def _rules_of_study(s: InStudy, by_release: bool, label: str, guess: str | None) -> list[_Rule]:
    named = isinstance(s.unaveraged, tuple) and all(isinstance(n, str) and n != guess for n in s.unaveraged)
    settled = s.against is not None or s.isolated is not None or label == "utility"
    return [
        ("study.gains", "be False where no real records are scored", not (s.gains and by_release), s.gains),
        ("study.unaveraged", "be a tuple of names of details, the guess not among them", named, s.unaveraged),
        ("study.ranking", "be None where no real records are scored", not (s.ranking and by_release), s.ranking),
        ("study.against", "be given where no real records are scored", settled or not by_release, s.against),
    ]


def _rules_of_yardsticks(y: Yardsticks, controlled: bool, ends: tuple[float, float]) -> list[_Rule]:
    inside = y.copied is None or ends[0] <= y.copied <= ends[1]
    excused = "be False where no control is needed"
    return [
        ("yardsticks.population", "be False where control is needed", not (y.population and controlled), y.population),
        ("yardsticks.without_control", excused, controlled or not y.without_control, y.without_control),
        ("yardsticks.copied", "be None or lie in range", inside, y.copied),
    ]


def _parameters(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def _pair(given: Any) -> tuple[float, float]:
    """Return the ends of a range; NaN where it is none, so that no comparison holds."""
    try:
        low, high = map(float, given)
    except (TypeError, ValueError):
        return math.nan, math.nan
    return low, high


Scored = Callable[[Tables, dict[str, Any]], Score]


def score_with_yardsticks(metric: "Metric", tables: Tables, scored: Scored, options: dict[str, Any]) -> Score:
    """Score real and control records together, so that one baseline holds for both, and reduce them apart.

    ``scored`` calls the function of the metric with tables and options.
    """
    if metric.records.reduce is None:
        raise InputError(f"{metric.name} has no score a real record to compare with control")
    score = scored(tables.with_control(), options)
    records = score.records
    assert records is not None  # noqa: S101 - a metric with a reduction has records
    members, controls = records.iloc[: len(tables.real)], records.iloc[len(tables.real) :]
    of_members, of_controls = metric.records.reduce(members), metric.records.reduce(controls)
    details = against_control(members["score"], controls["score"]) | {"control": of_controls.value}
    details |= {f"control_{name}": value for name, value in of_controls.details.items()}
    holdout = options.get("mode") == "holdout"
    if metric.has_population and not holdout:
        details |= _beside_population(metric, tables, members, scored, options)
    attacked, found = (controls, of_controls) if holdout else (members, of_members)
    guess = metric.yardsticks.guess
    if guess in score.details:  # of claims: the guess of those about the records attacked
        details[guess] = {**score.details, **found.details}[guess]
        details |= against_guess(_contributions(metric, attacked), details[guess])
    found = found._replace(reason=score.reason_for(found))
    return Score.of(metric.name, attacked, found, score.details | details, score.settings, score.warning)


def _beside_population(
    metric: "Metric", tables: Tables, members: pd.DataFrame, scored: Scored, options: dict[str, Any]
) -> dict[str, float]:
    """Score the members where the control records are the release: what real non-members say of them."""
    once = {k: v for k, v in options.items() if k != "permutations"}  # a null calibrates the release, not this
    score = scored(metric.among(tables.with_control_released()), once)
    assert score.records is not None and metric.records.reduce is not None  # noqa: S101, PT018
    own = score.records.iloc[: len(tables.real)]
    found = against_population(_contributions(metric, members), _contributions(metric, own))
    return {"population": metric.records.reduce(own).value} | found


def _contributions(metric: "Metric", records: pd.DataFrame) -> pd.Series:
    """Return what the value of these records is the plain mean of."""
    amount = records[metric.records.contribution].to_numpy(dtype=float)
    if metric.records.weight is not None:
        weights = records[metric.records.weight].to_numpy(dtype=float)
        amount = contributions(amount, weights, np.ones(len(records), dtype=bool))
    return pd.Series(linearised(amount, metric.records.transform))


_DEFAULTS = {"binning": "quantile", "seed": 0}  # of options that the function itself does not take; else None


def signature_of(metric: "Metric") -> inspect.Signature:
    """Return how a metric is called: with two tables, and with its options by name."""
    own = inspect.signature(metric.function).parameters
    both = inspect.Parameter.POSITIONAL_OR_KEYWORD
    frames = [inspect.Parameter(name, both, annotation="pd.DataFrame") for name in ("real", "synthetic")]
    named = []
    for option in metric.options:
        known = own.get(option)
        if known is not None:
            named.append(known.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        else:
            must = option in metric.needs and not (option == "control" and metric.yardsticks.without_control)
            default = inspect.Parameter.empty if must else _DEFAULTS.get(option)
            named.append(inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default))
    return inspect.Signature([*frames, *named], return_annotation="Score")


def documentation_of(metric: "Metric") -> str:
    """Return what a metric says of itself: how it is called, its function's docstring, range and source."""
    low, high = metric.range
    about = inspect.getdoc(metric.function) or ""
    source = f"\n\nSource: {metric.reference}" if metric.reference else ""
    called = f"METRICS[{metric.name!r}]{signature_of(metric)}"
    return f"{called}\n\n{about}\n\nRange of the value: {low:g} to {high:g}.{source}"
