"""What foretells how easily a record is attacked, without a look at who is a member: covariates of one release.

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

from synthrisk.metrics.intervals.adjusted import is_adjustable
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.models.features import ordinal_features
from synthrisk.metrics.models.threads import one_thread
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.findings import Attacked
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.tables.row_order import canonical
from synthrisk.metrics.tables.tables import Tables, in_order

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingRegressor

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
        if not metric.has_population or any(option in metric.options for option in _FITTED_BY):
            return None
        scores = np.full(len(self.real), np.nan)
        if not self._halves:
            return None
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
