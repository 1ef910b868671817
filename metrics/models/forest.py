"""A random forest for categories: scikit-learn's numbers, to the last bit, in about a quarter of its time."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.models.threads import threads

Rule = Literal["scikit-learn", "ranger"]
LARGEST = 2**24
"""Codes of a feature x classes up to which they are counted; beyond scikit-learn takes over, if by its rule (64 MB a
thread)."""
_COMPILING = 3e7
"""Records x trees that scikit-learn grows, or asks, in the seconds that it takes to compile our own once."""
_DONE = [0]  # records x trees that were asked for so far
_LIMIT = np.iinfo(np.int32).max  # scikit-learn draws the seed of a tree, and of its splits, below it


class RandomForest(BaseEstimator):  # type: ignore[misc]
    """Random forest classifier (Breiman 2001, doi:10.1023/A:1010933404324), sqrt(p) features a split, Gini impurity.

    The trees are those of ``sklearn.ensemble.RandomForestClassifier(n_estimators, max_features="sqrt",
    min_samples_split=..., random_state=...)``, and so is every probability, to the last bit and for any number of
    threads (on processors without fused multiply-add in scikit-learn's build, such as x86-64). It is faster since
    features have few distinct values: splits are found by counting codes, not by sorting records at every node, and the
    records to be guessed fall through a tree while it grows. No tree is kept: they grow when probabilities are asked
    for, so ask once.

    With ``rule="ranger"`` nodes end as in R's ranger (Wright and Ziegler 2017, doi:10.18637/jss.v077.i01): a node is a
    leaf if none of the sqrt(p) features drawn splits it, where scikit-learn draws on, and a record counts as often as
    it was drawn. With few or coarse features such trees are shallow, and their probabilities near the class shares.

    Args:
        n_estimators: Trees.
        min_samples_split: Distinct records of a tree's sample from which on a node is split.
        random_state: Seed.
        rule: Where nodes end: as in ``scikit-learn``, or as in ``ranger``, which needs numba.

    Attributes:
        classes_: The K classes.

    Example:
        >>> rows, target = np.repeat([[-1.0], [1.0]], 50, axis=0), np.repeat([3, 8], 50)
        >>> model = RandomForest(20, random_state=1).fit(rows, target)
        >>> model.classes_.tolist(), model.predict_proba(np.array([[1.0]])).tolist()
        ([3, 8], [[0.0, 1.0]])
    """

    def __init__(
        self, n_estimators: int = 500, min_samples_split: int = 11, random_state: int = 0, rule: Rule = "scikit-learn"
    ):
        self.n_estimators = n_estimators
        self.min_samples_split = min_samples_split
        self.random_state = random_state
        self.rule = rule

    def fit(self, rows: np.ndarray, target: np.ndarray) -> "RandomForest":
        """Take the records that are learned: ``rows`` (n, p), NaN where missing, ``target`` (n,)."""
        self.classes_, codes = np.unique(target, return_inverse=True)
        self._rows, self._codes = rows, codes
        return self

    def predict_proba(self, rows: np.ndarray) -> np.ndarray:
        """Return the probability of each class, (q, K)."""
        stops = self.rule == "ranger"
        if not stops and not _pays(self.n_estimators * (len(self._rows) + len(rows))):
            return np.asarray(self._sorted().predict_proba(rows))
        coded, grow = _Coded.of(self._rows, rows), _compiled()
        if grow is None and stops:
            raise InputError("attacker must not be ranger where numba cannot be imported; random_forest needs none")
        too_many = coded is not None and not stops and len(self.classes_) * (coded.values.shape[1] + 1) > LARGEST
        if grow is None or coded is None or too_many:
            return np.asarray(self._sorted().predict_proba(rows))
        shares = np.zeros((len(rows), len(self.classes_)))
        p = len(coded.sizes)
        rule = np.uintp(len(self.classes_)), np.uintp(self.min_samples_split), max(1, int(np.sqrt(p))), stops
        target = self._codes.astype(np.int32)
        for counts, states in self._samples():
            grown = np.empty((len(counts), *shares.shape))
            grow(len(counts), *coded, target, counts, states, *rule, grown)
            for each in grown:  # in the order of the trees: the same bits for any number of threads
                shares += each
        return np.asarray(shares / self.n_estimators)

    def _sorted(self) -> RandomForestClassifier:
        """Return the same forest of scikit-learn's, fitted."""
        options = {name: value for name, value in self.get_params().items() if name != "rule"}
        forest = RandomForestClassifier(max_features="sqrt", **options)
        return forest.fit(self._rows, self.classes_[self._codes])

    def _samples(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield how often each record is in the samples of as many trees as there are threads, and their states."""
        n = len(self._rows)
        seeds = np.random.RandomState(self.random_state).randint(_LIMIT, size=self.n_estimators)
        at_once, rng = threads(), np.random.RandomState()  # one, seeded anew: to make one takes most of the time
        for place in range(0, len(seeds), at_once):
            counts, states = [], []
            for seed in seeds[place : place + at_once]:
                rng.seed(seed)
                counts.append(np.bincount(rng.randint(0, n, n), minlength=n))
                rng.seed(seed)
                states.append([rng.randint(0, _LIMIT)])
            yield np.array(counts), np.array(states, dtype=np.int64)


@cache
def _compiled() -> Callable[..., None] | None:
    """Return what grows trees, or nothing where numba cannot be imported."""
    try:
        from synthrisk.metrics.compiled import in_blocks
        from synthrisk.metrics.models.forest_trees import grow
    except ImportError:
        return None
    return partial(in_blocks, grow)


def prepare() -> None:
    """Compile what grows trees, where numba can be imported; nothing is done that is on disk already."""
    _DONE[0] += int(_COMPILING)
    RandomForest(1).fit(np.zeros((2, 1)), np.arange(2)).predict_proba(np.zeros((1, 1)))


def _pays(records: int) -> bool:
    """Tell whether compiled code is there, or is worth compiling by now: scikit-learn gives the same numbers.

    What scikit-learn has done so far in this process is counted, so that both together take twice the least at most.
    """
    _DONE[0] += records
    if _DONE[0] >= _COMPILING:
        return True
    try:
        from synthrisk.metrics.compiled import is_kept
        from synthrisk.metrics.models.forest_trees import grow
    except ImportError:
        return False
    return is_kept(grow)


class _Coded(NamedTuple):
    """Features as codes: ranks of their 32-bit values among those learned and those guessed; missing: the last code."""

    learned: np.ndarray  # (p n,) feature by feature
    guessed: np.ndarray  # (p q,)
    values: np.ndarray  # (p, largest size) float32
    sizes: np.ndarray  # (p,)
    close: np.ndarray  # (p,) whether two neighbours are one value to scikit-learn
    gaps: np.ndarray  # (p,) whether cells that are learned are missing

    @classmethod
    def of(cls, learned: np.ndarray, guessed: np.ndarray) -> "_Coded | None":
        """Return the codes, or nothing where a value is infinite, which scikit-learn refuses."""
        both = np.concatenate([learned, guessed]).astype(np.float32)
        if np.isinf(both).any():
            return None
        found = [pd.factorize(column, sort=True) for column in both.T]
        sizes = np.array([len(levels) for _, levels in found])
        widest = int(sizes.max())
        # of two bytes though one would do: what takes another kind of codes would be compiled once more
        codes = np.empty(both.T.shape, dtype=np.result_type(np.uint16, np.min_scalar_type(widest)))
        values, close = np.zeros((len(sizes), widest), dtype=np.float32), np.zeros(len(sizes), dtype=bool)
        for f, (ranks, levels) in enumerate(found):
            codes[f] = np.where(ranks < 0, len(levels), ranks)
            values[f, : len(levels)] = levels
            close[f] = bool((levels[1:] <= levels[:-1] + np.float32(1e-7)).any())
        n = len(learned)
        sides = codes[:, :n].ravel(), codes[:, n:].ravel()
        return cls(*sides, values, sizes.astype(np.uintp), close, np.asarray(np.isnan(both[:n]).any(axis=0)))
