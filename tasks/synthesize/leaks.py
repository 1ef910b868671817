"""Leaks with a dose: reference generators that hide something of training records among new ones of the population.

All release what ``fresh`` would, with some rows replaced by planted ones, and shuffled; ``leaky`` plants exact copies.
The dose is the option ``share``; each says what it is a share of. At dose 0 each releases the rows of ``fresh``.
``repelled`` plants nothing: it leaks by what it leaves out.

``known_epsilon`` leaks what its differential privacy allows, which is known by its construction.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, check_range, check_whole, nearest
from synthrisk.metrics.exposure.single_records import apartness
from synthrisk.metrics.neighbours.distances import TIED
from synthrisk.metrics.neighbours.nearest import real_to_synthetic, synthetic_to_real
from synthrisk.metrics.plugins import Answer
from synthrisk.metrics.tables.kinds import as_floats, kind
from synthrisk.metrics.tables.tables import Tables
from synthrisk.tasks.synthesize.reference_generators import (
    JITTER,
    LEAKY_SHARE,
    REDRAWN,
    among_fresh,
    check_change,
    check_share,
    drawn_members,
    fresh_draw,
    near_copy,
    share_of,
)
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer, side_by_side

TIMES = 10
REPELLED_SHARE = 0.35
_COMMON = 0.01  # a group has at least this share of the training records
_UPPER = 0.1  # the group of a numeric column: this share of the records, with the highest values


def leaky_near(job: Job, *, share: float = LEAKY_SHARE, jitter: float = JITTER, redrawn: float = REDRAWN) -> Release:
    """Leak near copies: training records with numbers moved a little and some categorical cells drawn anew.

    Args:
        job: As for every synthesizer.
        share: The dose, in [0, 1]: round(share rows) rows are near copies, of distinct training records as long as
            there are enough.
        jitter: As for ``near_copy``: share of a column's range by which a number moves at most.
        redrawn: As for ``near_copy``: share of the categorical cells that are drawn anew.

    Raises:
        InputError: An option is out of its range, there is no training record, or fewer than two records, or entities,
            are held out.
    """
    check_share(share)
    planted = _made_by(partial(near_copy, jitter=jitter, redrawn=redrawn), job)
    return among_fresh(job, "leaky_near", round(share * job.rows), planted)


def leaky_permuted(job: Job, *, column: str, share: float = LEAKY_SHARE) -> Release:
    """Leak training records of which one column is permuted: each row holds the cell of another training record.

    The column is shifted by one along a random order of all training records, so that with two of them or more no row
    takes the cell of its own record (which may still be equal).

    Args:
        job: As for every synthesizer.
        column: The column that is permuted.
        share: The dose, in [0, 1]: round(share rows) rows are such training records.

    Raises:
        InputError: The share is out of its range, there is no such column or no training record, or fewer than two
            records, or entities, are held out.
    """
    check_share(share)
    place = _places(job, "column", [column])[0]

    def planted(count: int, rng: np.random.Generator) -> pd.DataFrame:
        order = rng.permutation(len(job.train))
        donor = np.empty_like(order)
        donor[order] = np.roll(order, 1)
        rows = drawn_members(job, count, rng)
        return _with_cells(job.train.take(rows), job.train.take(donor[rows]), [place])

    return among_fresh(job, "leaky_permuted", round(share * job.rows), planted)


def leaky_rarest(job: Job, *, share: float = LEAKY_SHARE) -> Release:
    """Leak exact copies of the rarest training records alone: those farthest from their five nearest others.

    Args:
        job: As for every synthesizer.
        share: The dose, in [0, 1]: round(share rows) rows are copies of as many training records, the rarest first,
            equally rare ones in random order; in a release of more rows than training records they come again.

    Raises:
        InputError: The share is out of its range, there is no training record, or fewer than two records, or entities,
            are held out.
    """
    check_share(share)

    def planted(count: int, rng: np.random.Generator) -> pd.DataFrame:
        if not count:
            return job.train.head(0)
        far = apartness(Tables(job.train, job.train)) if len(job.train) > 1 else np.zeros(1)
        order = np.lexsort((rng.random(len(far)), -far))
        return job.train.take(np.resize(order, count))

    return among_fresh(job, "leaky_rarest", round(share * job.rows), planted)


def leaky_group(job: Job, *, column: str, share: float = LEAKY_SHARE) -> Release:
    """Leak exact copies of the training records of one group alone.

    The group: of a categorical column the records of the rarest value, a missing cell included, that at least one
    record in a hundred has; of a numeric column the tenth of the records with the highest values.

    Args:
        job: As for every synthesizer.
        column: The column that makes the group.
        share: The dose, in [0, 1]: the share of the group's training records that are released, each once.

    Raises:
        InputError: The share is out of its range, there is no such column or no training record, or fewer than two
            records, or entities, are held out.
    """
    check_share(share)
    group = group_of(job.train.iloc[:, _places(job, "column", [column])[0]]) if len(job.train) else np.empty(0, int)
    count = min(round(share * len(group)), job.rows)
    return among_fresh(
        job, "leaky_group", count, lambda count, rng: job.train.take(rng.choice(group, count, replace=False))
    )


def leaky_columns(job: Job, *, columns: Sequence[str], share: float = LEAKY_SHARE) -> Release:
    """Leak some columns alone: their cells are those of one training record, all other cells those of a new record.

    With the quasi-identifiers and the sensitive column this leaks the sensitive value for true keys, and nothing else.

    Args:
        job: As for every synthesizer.
        columns: The columns that leak.
        share: The dose, in [0, 1]: in round(share rows) rows these cells are those of a training record.

    Raises:
        InputError: The share is out of its range, a column is named twice or is not there, there is no training record,
            or fewer than two records, or entities, are held out.
    """
    check_share(share)
    places = _places(job, "columns", columns)

    def planted(count: int, rng: np.random.Generator) -> pd.DataFrame:
        new = job.held_out.take(fresh_draw(job)[1][:count])  # which the planted rows replace
        return _with_cells(new, job.train.take(drawn_members(job, count, rng)), places)

    return among_fresh(job, "leaky_columns", round(share * job.rows), planted)


def leaky_duplicates(job: Job, *, share: float = LEAKY_SHARE, times: int = TIMES) -> Release:
    """Leak a few training records, each many times over.

    Args:
        job: As for every synthesizer.
        share: The dose, in [0, 1]: round(share rows) rows are copies of ceil(share rows/times) training records, each
            ``times`` times, the last one perhaps less often.
        times: How often a leaked record is released, at least 1.

    Raises:
        InputError: An option is out of its range, there is no training record, or fewer than two records, or entities,
            are held out.
    """
    _check_times(share, times)

    def planted(count: int, rng: np.random.Generator) -> pd.DataFrame:
        return job.train.take(np.repeat(drawn_members(job, -(-count // times), rng), times)[:count])

    return among_fresh(job, "leaky_duplicates", round(share * job.rows), planted)


def leaky_tree(job: Job, *, share: float = LEAKY_SHARE, min_samples_leaf: int = 1) -> Release:
    """Leak through a model: rows of a synthesizer (``cart``) whose trees are grown until they know single records.

    Args:
        job: As for every synthesizer.
        share: The dose, in [0, 1]: round(share rows) rows are drawn by ``cart``, fitted on all training records.
        min_samples_leaf: Records that a leaf holds at least; 1 overfits as far as trees can.

    Raises:
        InputError: An option is out of its range, there is no training record, or fewer than two records, or entities,
            are held out.
    """
    _check_leaf(share, min_samples_leaf)

    from synthrisk.tasks.synthesize.cart import cart  # and with it scikit-learn

    planted = _made_by(partial(cart, min_samples_leaf=min_samples_leaf), job)
    return among_fresh(job, "leaky_tree", round(share * job.rows), planted)


def repelled(job: Job, *, share: float = REPELLED_SHARE) -> Release:
    """Release what ``fresh`` would, without the rows that lie near to training records: what a filter by distance does.

    Such a filter is sold as privacy. It writes the members into the gaps: nobody who is near to a member is left, so
    that members are told by what is missing (Ganev and De Cristofaro 2023, arXiv:2312.05114).

    Args:
        job: As for every synthesizer.
        share: The dose, in [0, 1]: held-out records that are no further from the nearest training record than this
            quantile of their distances (``gower``) are left out, but for the furthest; 0 leaves out nobody.

    Raises:
        InputError: The share is out of its range, there is no training record, or fewer than two records, or entities,
            are held out.
    """
    check_share(share)
    if not len(job.train):
        raise InputError("repelled needs a training record, got none")
    half, drawn = fresh_draw(job, "repelled")
    if share:
        distances = real_to_synthetic(Tables(job.held_out.take(half), job.train), "gower").distances[:, 0]
        most = distances.max() * (1 - TIED)
        left = half[distances > min(np.quantile(distances, share) * (1 + TIED), most - TIED)]
        drawn = left[np.random.default_rng(job.seed).integers(len(left), size=job.rows)]
    return Release(job.held_out.take(drawn).reset_index(drop=True), half)


def group_of(column: pd.Series) -> np.ndarray:
    """Return the positions of the records of a column's group, as ``leaky_group`` says; ties of the last are in it.

    Example:
        >>> group_of(pd.Series(["a"] * 5 + ["b"] * 3 + ["c"] * 4)).tolist()
        [5, 6, 7]
    """
    if kind(column) == "numeric":
        values = np.nan_to_num(as_floats(column), nan=-np.inf)
        least = np.sort(values)[::-1][max(1, round(_UPPER * len(values))) - 1]
        return np.flatnonzero(values >= least)
    codes, _ = pd.factorize(column, use_na_sentinel=False)
    counts = np.bincount(codes)
    common = np.where(counts >= _COMMON * len(codes), counts, len(codes) + 1)
    rarest = int(common.argmin()) if common.min() <= len(codes) else int(counts.argmax())
    return np.flatnonzero(codes == rarest)


def _made_by(function: Callable[[Job], Release], job: Job) -> Callable[[int, np.random.Generator], pd.DataFrame]:
    """Return what plants rows that another synthesizer makes of the same records."""

    def planted(count: int, rng: np.random.Generator) -> pd.DataFrame:
        own = replace(job, rows=count, seed=int(rng.integers(2**31)))
        return function(own).synthetic if count else job.train.head(0)

    return planted


def _with_cells(rows: pd.DataFrame, others: pd.DataFrame, places: Sequence[int]) -> pd.DataFrame:
    """Return rows with the cells of others in some columns."""
    cells = [(others if c in places else rows).iloc[:, c].reset_index(drop=True) for c in range(rows.shape[1])]
    return side_by_side(cells, rows.columns, len(rows))


def _places(job: Job, option: str, columns: object) -> list[int]:
    """Return the places of some columns of the table."""
    known = list(job.train.columns)
    names = columns if isinstance(columns, list | tuple) else None
    if not names or len(set(map(str, names))) < len(names):
        raise InputError(f"{option} must be a list of distinct columns, got {columns!r}")
    for name in names:
        if name not in known:
            hint = nearest(str(name), [str(k) for k in known])
            raise InputError(f"{option} must be of the table, got {name!r}{hint}")
    return [known.index(name) for name in names]


def _check_near(share: float = LEAKY_SHARE, jitter: float = JITTER, redrawn: float = REDRAWN) -> None:
    check_share(share)
    check_change(jitter, redrawn)


def _check_of_columns(share: float = LEAKY_SHARE, column: str = "", columns: Sequence[str] = ()) -> None:
    check_share(share)


def _check_times(share: float = LEAKY_SHARE, times: int = TIMES) -> None:
    check_share(share)
    check_whole("times", times, 1)


def _check_leaf(share: float = LEAKY_SHARE, min_samples_leaf: int = 1) -> None:
    check_share(share)
    check_whole("min_samples_leaf", min_samples_leaf, 1)


def _leak(function: Callable[..., Release], answer: Answer, check: Callable[..., None]) -> Synthesizer:
    name = function.__name__
    usual = REPELLED_SHARE if answer == "repelled" else LEAKY_SHARE

    def dose(share: float = usual, **_others: Any) -> float:
        return share_of(share)

    return Synthesizer(name, function, check=check, trial="few", answer=answer, dose=dose)


REPELLED = replace(_leak(repelled, "repelled", check_share), trial="none")  # its search compiles, and refuses no table
LEAKY_NEAR = _leak(leaky_near, "part", _check_near)
LEAKY_PERMUTED = _leak(leaky_permuted, "part", _check_of_columns)
LEAKY_RAREST = _leak(leaky_rarest, "leak", check_share)
LEAKY_GROUP = _leak(leaky_group, "leak", _check_of_columns)
LEAKY_COLUMNS = _leak(leaky_columns, "part", _check_of_columns)
LEAKY_DUPLICATES = _leak(leaky_duplicates, "leak", _check_times)
LEAKY_TREE = _leak(leaky_tree, "part", _check_leaf)

EPSILON = 1.0
_LARGEST = 700.0  # of which e is still a float


def known_epsilon(job: Job, *, epsilon: float = EPSILON) -> Release:
    """Release other people by randomised response: what a row says of the member behind it is bounded by epsilon.

    Public are the m records of the half A of the held-out records that ``fresh`` would draw from. Each training record
    has one row of the release: with probability e^epsilon/(e^epsilon + m - 1) the public record nearest to it (gower,
    ranges of A alone, the first of equally near ones), otherwise another public one, drawn evenly. So each row, and as
    each record has one, the release is epsilon-differentially private (delta = 0) for tables that differ in one record
    exchanged for another. No training record is ever released as it is. Where there are fewer rows than training
    records, a random sample of these has them; further rows are drawn from A as in ``fresh``. Epsilon 0 is ``fresh`` in
    distribution.

    Args:
        job: As for every synthesizer.
        epsilon: The dose, from 0 to 700.

    Raises:
        InputError: Epsilon is out of its range, there is no training record, or fewer than two records, or entities,
            are held out.
    """
    _check(epsilon)

    def planted(count: int, rng: np.random.Generator) -> pd.DataFrame:
        public = job.held_out.take(fresh_draw(job, "known_epsilon")[0]).reset_index(drop=True)
        own = nearest_public(public, job.train.take(rng.permutation(len(job.train))[:count]).reset_index(drop=True))
        kept = rng.random(count) < 1 / (1 + (len(public) - 1) * np.exp(-epsilon))
        other = (own + rng.integers(1, max(len(public), 2), count)) % len(public)
        return public.take(np.where(kept, own, other))

    return among_fresh(job, "known_epsilon", min(job.rows, len(job.train)), planted)


def nearest_public(public: pd.DataFrame, members: pd.DataFrame) -> np.ndarray:
    """Return the position of the public record nearest to each member, which no other member decides."""
    if not len(members):
        return np.empty(0, dtype=np.int64)
    return synthetic_to_real(Tables(public, members), "gower", ranges="reference").rows[:, 0]


def _check(epsilon: float = EPSILON) -> None:
    check_range("epsilon", epsilon, 0, _LARGEST, f"a number from 0 to {_LARGEST:g}")


def _dose(epsilon: float = EPSILON) -> float:
    return epsilon


KNOWN_EPSILON = Synthesizer(
    "known_epsilon", known_epsilon, check=_check, trial="few", answer="part", dose=_dose, epsilon=_dose
)
