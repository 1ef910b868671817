"""The three yardsticks of a study's finding, each with gain and difference and the interval of a study.

What a study says of claims that name no target: risk of each release, memorization of the records isolated.

A study's findings with moderated intervals: each kind of quantity is pooled over its measures and generators.

Kinds are risk, the risk of control records, memorization, and gain and difference of each yardstick; each group of
vulnerable records has kinds of its own, and so has the yardstick that is attacked as a generator is.

What foretells how easily a record is attacked, without a look at who is a member: covariates of one release.

(a) Success of the same attack on the record where strangers are the release: halves of the control records. A control
record is attacked with the half that it is not in, each member with a half drawn at random, so that both groups see
equally many strangers, and nobody himself. (b) A cross-fitted prediction of the score from the record's own columns.
``intervals.adjusted`` takes both out of the difference of members and control records.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from synthrisk.metrics.intervals.adjusted_differences import ADJUSTED, adjusted_gain, is_adjustable
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, Interval, of_groups, paired
from synthrisk.metrics.intervals.isolated_records import BY_CHANCE, memorized_in_study, per_claim
from synthrisk.metrics.intervals.moderated_intervals import moderate
from synthrisk.metrics.intervals.proportions import share_gain
from synthrisk.metrics.intervals.value_scale import DIFFERENCE, GAIN
from synthrisk.metrics.intervals.yardsticks import Yardstick, gain, over_known, paired_shares, slopes
from synthrisk.metrics.models.features import ordinal_features
from synthrisk.metrics.models.threads import one_thread
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.findings import Attacked, Finding, find_released, gained
from synthrisk.metrics.study.ledger import Contributions, Isolations, Measure, Planned, Reasons, ReleasedValues
from synthrisk.metrics.tables.order import canonical
from synthrisk.metrics.tables.tables import Tables, in_order

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingRegressor

ALWAYS_RIGHT = "the yardstick is always right: no gain is possible"


def beside_guess(finding: Finding) -> Yardstick | None:
    """Return the best constant guess, of claims S, taken as known, beside a finding; None where nothing is guessed."""
    s = finding.guess
    if np.isnan(s):
        return None
    over, difference = over_known(finding.risk, s)
    return Yardstick(Estimate(s, s, s, "constant"), _noted(over, s), difference)


def beside_control(
    finding: Finding, own: Contributions, interval: Interval, entities: np.ndarray | None
) -> Yardstick | None:
    """Return the same attack on records never seen beside a finding; None where there are none.

    Of a study with several releases, or of scores that are not right or wrong: crossed. Of one release of right or
    wrong scores: Newcombe's hybrid interval, other records on either side. Where the difference is memorization, the
    same number, it has the interval of memorization; where that is adjusted, so is the gain.
    """
    s, memorized = finding.risk_control, finding.memorization
    adjusted = memorized.method == ADJUSTED
    if np.isnan(s.value) or not own.control.shape[1]:
        return None
    if finding.risk.method == "wilson":
        over = adjusted_gain(memorized, s.value) if adjusted else share_gain(finding.risk, s)
        return Yardstick(s, _noted(over, s.value), memorized)
    found = _crossed(finding.risk.value, own.risk, s, own.control, interval, entities)
    if not np.array_equal(paired(own.risk, own.control), own.memorization, equal_nan=True):
        return found
    over = _noted(adjusted_gain(memorized, s.value), s.value) if adjusted else found.gain
    return replace(found, gain=over, difference=memorized)


def beside_population(
    finding: Finding,
    own: Contributions,
    population: Finding,
    of_population: Contributions,
    interval: Interval,
    entities: np.ndarray | None,
) -> Yardstick | None:
    """Return the same attack with real non-members as the release beside a finding; None where it scores nobody.

    Both attack the same members in the same splits, so contributions are subtracted record by record. Of one
    release of right or wrong scores: Newcombe's interval for paired shares.
    """
    s = population.risk
    if np.isnan(s.value) or np.isnan(finding.risk.value):
        return None
    if finding.risk.method == s.method == "wilson":
        scores = np.round(own.risk[0]), np.round(of_population.risk[0])  # 0 and 1, but for the last bit
        paired = paired_shares(*scores, interval.confidence)
        if paired is not None:
            (over, difference), note = paired, finding.risk.note
            return Yardstick(s, _noted(replace(over, note=note), s.value), replace(difference, note=note))
    return _crossed(finding.risk.value, own.risk, s, of_population.risk, interval, entities)


def _crossed(
    x: float, of_x: np.ndarray, s: Estimate, of_s: np.ndarray, interval: Interval, entities: np.ndarray | None
) -> Yardstick:
    """Return a yardstick whose intervals are the study's; that of G by linearisation.

    The limits of the difference are clipped to [-1, 1], those of G to at most 1. The contributions to G are
    G + (e_x - x)/(1 - s) - (1 - x)/(1 - s)^2 (e_s - s).
    """
    difference = of_groups(of_x, of_s, interval, 0.0, entities, DIFFERENCE)
    if s.value == 1:
        return Yardstick(s, _noted(NOT_ESTIMABLE, 1.0), difference)
    a, b = slopes(x, s.value)
    shift = gain(x, s.value) - (a * x - b * s.value)
    return Yardstick(s, of_groups(a * of_x, b * of_s, interval, shift, entities, GAIN), difference)


def _noted(found: Estimate, s: float) -> Estimate:
    return replace(found, note=ALWAYS_RIGHT) if s == 1 else found


ISOLATED_GAIN = "isolated_gain"
"""The detail G of the isolated records, and its interval among a finding's further ones."""

TOGETHER = "counted among members and control records together: see memorization"


def find_isolated(
    synthesizer: str, role: str, measure: Measure, value: np.ndarray, attacked: Attacked, interval: Interval
) -> tuple[Finding, Isolations]:
    """Return the finding of a metric whose claims name no target, and what records contribute to its memorization.

    The risk is the mean value of the releases, over repetitions. Memorization is how many more members than by chance
    each claim isolates (``isolated_records.per_claim``); the gain of ``isolated_records.memorized_in_study``, how much
    oftener than by exchangeability the isolated records are members, stays as ``control_gain`` and as the detail
    ``isolated_gain``. ``value`` is that of each release on its members, (R, K). The scores of ``attacked`` are 1 where
    a claim isolates the record, 0 where none does.
    """
    flags, member, control = attacked.scores, attacked.member, attacked.control
    over, parts = memorized_in_study(flags, member, control, attacked.entities, interval.confidence)
    isolated = float((np.nan_to_num(flags) * (member | control)).sum())
    claims = attacked.details.get("claims", (0.0,))[0] * value.size  # the detail is the mean over releases
    sizes = float(member.sum()), float(control.sum())
    memorized = per_claim(over, isolated, claims, sizes, interval.confidence)
    if not control.any():
        over, memorized = (replace(each, note="no control records") for each in (over, memorized))
    released = ReleasedValues(value, *np.full((3, *value.shape), np.nan))
    reasons = Reasons(attacked.reasons.members, TOGETHER)
    details = attacked.details | {ISOLATED_GAIN: (over.value, np.nan)}
    found = find_released(synthesizer, role, measure, released, interval, reasons, details)
    kept = Isolations(value, parts * (isolated / claims if claims else np.nan))
    intervals = {**found.intervals, ISOLATED_GAIN: {over.method: over}}
    return replace(found, memorization=memorized, control_gain=over.value, intervals=intervals), kept


def beside_exchangeability(finding: Finding) -> Yardstick | None:
    """Return the share of members among the isolated records beside n/(n + c), what it is if nobody is remembered.

    Share and difference follow from the gain; None where nobody is isolated.
    """
    over = next(iter(finding.intervals.get(ISOLATED_GAIN, {}).values()), NOT_ESTIMABLE)
    s, _ = finding.details.get(BY_CHANCE, (float("nan"),) * 2)
    if np.isnan(over.value) or np.isnan(s):
        return None
    difference = replace(over, value=over.value * (1 - s), lower=over.lower * (1 - s), upper=over.upper * (1 - s))
    attack = replace(over, value=s + difference.value, lower=s + difference.lower, upper=s + difference.upper)
    return Yardstick(Estimate(s, s, s, "constant"), over, difference, attack)


_BESIDE = ("gain", "difference")


def moderated_findings(found: Sequence[Finding], confidence: float) -> list[Finding]:
    """Return a study's findings with moderated intervals (``moderated_intervals.moderate``), those of groups included.

    Reference generators count as other generators do. The gain over the guess follows from the risk. ``found`` are all
    findings of one role, ``yardstick`` or not, with crossed intervals.
    """
    done = _with_quantities(found, confidence)
    for name in dict.fromkeys(group for f in found for group in f.groups):
        places = [place for place, f in enumerate(found) if name in f.groups]
        apart = _with_quantities([found[place].groups[name] for place in places], confidence)
        for place, group in zip(places, apart, strict=True):
            done[place] = replace(done[place], groups={**done[place].groups, name: group})
    return done


def with_moderated_beside(found: Sequence[Finding], confidence: float) -> list[Finding]:
    """Return findings whose further intervals have the moderated one beside the crossed one, where that was made."""
    done = list(found)
    for quantity in ("risk", "memorization"):
        places = [place for place, f in enumerate(found) if "crossed" in f.intervals.get(quantity, {})]
        made = moderate([found[place].intervals[quantity]["crossed"] for place in places], confidence)
        for place, each in zip(places, made, strict=True):
            if each.method == "moderated":
                own = done[place].intervals
                done[place] = replace(done[place], intervals={**own, quantity: {**own[quantity], "moderated": each}})
    return done


def moderated_yardsticks(found: Sequence[Mapping[str, Yardstick]], confidence: float) -> list[dict[str, Yardstick]]:
    """Return the yardsticks of each finding with moderated intervals of gain and difference.

    What follows from another estimate (beside the guess; a difference that is memorization) is left as it is.
    """
    done = [dict(each) for each in found]
    for name in dict.fromkeys(name for each in found for name in each):
        own = [each for each in done if name in each]
        for part in _BESIDE:
            for each, made in zip(own, moderate([getattr(e[name], part) for e in own], confidence), strict=True):
                each[name] = replace(each[name], **{part: made})
    return done


def _with_quantities(found: Sequence[Finding], confidence: float) -> list[Finding]:
    risks = moderate([f.risk for f in found], confidence)
    controls = moderate([f.risk_control for f in found], confidence)
    memorization = moderate([f.memorization for f in found], confidence)
    return [
        replace(f, risk=r, risk_control=c, memorization=m, risk_gain=gained(r, f.guess))
        for f, r, c, m in zip(found, risks, controls, memorization, strict=True)
    ]


FOLDS = 5
STRANGERS = 1000
"""Strangers of a half that are released at most: more foretell hardly better, and cost as much as the attack itself."""
TRAINED_ON = 4000
"""Records that one prediction learns from at most."""
_MOST_LEVELS = 255  # that scikit-learn's trees take as levels; of a column with more, the ranks are numbers
_FEWEST_GROUPS = 100
_FITTED_BY = ("attacker", "folds")  # options of attacks that fit a model, or several


@dataclass(frozen=True, eq=False)
class Strangers:
    """Real records that are attacked with halves of the control records as the release, a measure at a time."""

    real: pd.DataFrame  # members and control records
    control: np.ndarray  # (n,) booleans
    seed: int  # of who is in which half

    def scores(self, planned: Planned) -> np.ndarray | None:
        """Return the score of each record, (n,); None where there is no such covariate.

        It is left out where the attack fits a model of its own (RAPID, guesses by a model), since the prediction (b)
        is such a model already, learnt from real people, and where it needs control records to tell members from.
        """
        metric = METRICS[planned.measure.metric]
        if not metric.has_population or any(option in metric.options for option in _FITTED_BY) or not self._halves:
            return None
        scores = np.full(len(self.real), np.nan)
        for rows, tables in self._halves:
            try:
                found = metric.score(tables, seed=self.seed, **planned.options).records
            except Exception:  # noqa: BLE001 - what cannot be attacked with so few people has no such covariate
                return None
            if found is None or len(found) != len(rows):
                return None
            scores[rows] = found["score"].to_numpy(dtype=float)
        return scores

    @cached_property
    def _halves(self) -> list[tuple[np.ndarray, Tables]]:
        """Return the records that each half is released for, by position, and the tables of both."""
        if self.control.sum() < 2:
            return []
        rng, order = np.random.default_rng(seed_of(self.seed, "strangers")), _by_value(self.real)
        half = np.empty(len(order), dtype=np.int64)
        for group in (self.control, ~self.control):  # each group in the order of its values, whatever that of the rows
            own = order[group[order]]
            half[own] = rng.permutation(len(own)) % 2
        size = min(STRANGERS, int(self.control.sum()) // 2)
        found = []
        for place in (0, 1):
            rows = np.flatnonzero(np.where(self.control, half != place, half == place))
            strangers = order[(self.control & (half == place))[order]]
            released = np.sort(rng.choice(strangers, size, replace=False))
            tables = Tables(self.real.iloc[rows], self.real.iloc[released].reset_index(drop=True))
            found.append((rows, tables))
        return found


@dataclass(frozen=True, eq=False)
class Covariates:
    """The covariates of all measures of one release, for records that are members or control records throughout."""

    records: pd.DataFrame  # the real records
    # (n,) scores by the key of the measure, where strangers are the release: see ``Strangers``
    strangers: Mapping[str, np.ndarray] = field(default_factory=dict)
    seed: int = 0
    # by the key of the measure: the columns that an attacker knows. Who shares them is answered alike: a copy of one of
    # them helps against all, so that they must not foretell each other
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def beside(self, attacked: Attacked, measure: Measure, interval: Interval) -> Attacked:
        """Return what was attacked with its covariates, where they can help.

        That is one release of records that stand alone, with members and control records, and an interval of the kinds
        that Newcombe's or Welch's stands for. Entities of several records have none: their plain difference holds.
        """
        wanted = attacked.scores.shape[:2] == (1, 1) and interval.method in ("crossed", "moderated")
        if not wanted or attacked.entities is not None or not attacked.control.any() or not attacked.member.any():
            return attacked
        scores = np.where(attacked.member | attacked.control, attacked.scores, np.nan)[0, 0]
        if not is_adjustable(scores, attacked.member[0, 0]):
            return attacked
        predicted = self.predicted(scores, self.known.get(measure.key, ()))
        known = [self.strangers.get(measure.key), predicted]
        return replace(attacked, covariates=np.column_stack([each for each in known if each is not None]))

    def predicted(self, scores: np.ndarray, together: Sequence[str] = ()) -> np.ndarray:
        """Return a prediction of each scored record's score from its own columns, by a model that has not seen it.

        Gradient boosting, in five folds over members and control records together; membership is no feature. Records
        that are equal in the columns ``together``, or in all where none is named, are in one fold.
        """
        key = scores.tobytes(), tuple(together)
        if key not in self._made:
            self._made[key] = self._predicted(scores, *self._order(key[1]))
        return self._made[key]

    @cached_property
    def _made(self) -> dict[tuple[bytes, tuple[str, ...]], np.ndarray]:
        return {}

    @cached_property
    def _features(self) -> tuple[np.ndarray, list[bool]]:
        """Return the records' columns as numbers, and which hold levels, few enough to be taken as such."""
        tables = _alone(self.records)
        levels = canonical(tables).levels
        few = [c in levels and max(map(np.max, levels[c])) < _MOST_LEVELS for c in in_order(tables.columns)]
        return ordinal_features(tables).real, few

    def _order(self, together: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Return the records in random order, equal ones beside each other, and the fold of each.

        Of columns that tell fewer than 100 groups apart one record moves the answer for its group by little.
        """
        ranks = self._ranks(list(together)) if together else np.empty(0)
        if not len(ranks) or ranks.max() < _FEWEST_GROUPS:
            ranks = self._ranks(list(self.records.columns))
        drawn = np.random.default_rng(seed_of(self.seed, "folds")).permutation(ranks.max() + 1)[ranks]
        return np.argsort(drawn, kind="stable"), drawn % FOLDS

    def _ranks(self, columns: list[Any]) -> np.ndarray:
        return np.unique(canonical(_alone(self.records[columns])).real, return_inverse=True)[1]

    def _predicted(self, scores: np.ndarray, order: np.ndarray, folds: np.ndarray) -> np.ndarray:
        x, levels = self._features
        order = order[~np.isnan(scores[order])]
        found = np.full(len(scores), np.nan)
        with one_thread():
            for fold in range(FOLDS):
                others, own = order[folds[order] != fold][:TRAINED_ON], order[folds[order] == fold]
                if len(others) and len(own):
                    found[own] = _model(levels).fit(x[others], scores[others]).predict(x[own])
        return found


def _model(levels: Sequence[bool]) -> "HistGradientBoostingRegressor":
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=20,
        max_leaf_nodes=15,
        learning_rate=0.2,
        min_samples_leaf=20,
        early_stopping=False,
        categorical_features=list(levels),
    )


def _alone(records: pd.DataFrame) -> Tables:
    return Tables(records, records.iloc[:1])


def _by_value(records: pd.DataFrame) -> np.ndarray:
    """Return the positions of the records in the order of their values."""
    return np.argsort(canonical(_alone(records)).real, kind="stable")
