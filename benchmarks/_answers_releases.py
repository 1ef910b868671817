"""Releases of known truth for ``answers.py``: what each gives away is laid down here, by nothing that is being tested.

A release is made with numpy, pandas and scikit-learn (the copula and CTGAN with SDV). Its truth is a share of people:
of how many members something is released because they are members. It is told of all members, and of the most exposed
ones: the 5 % that lie farthest from all other members.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from _answers_tables import NAMED, People, with_addresses
from pandas.api import types
from sklearn.neighbors import NearestNeighbors
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

EXPOSED = 0.05  # share of members that are the most exposed
_FAR = 0.35  # quantile of strangers' distances to members below which rows are dropped: who is sold as a filter
_NEIGHBOURS, _GROUP, _SWAPPED = 5, 3, 0.05  # of SMOTE, of microaggregation, share of ranks within which values swap

Kind = Literal["safe", "generator", "leak", "absence"]


@dataclass(frozen=True)
class Truth:
    """What a release gives away of its members."""

    people: float  # share of all members
    exposed: float  # share of the most exposed members

    @property
    def size(self) -> float:
        """The larger of both."""
        return max(self.people, self.exposed)

    def stands(self, limit: float) -> str:
        """Tell where it stands beside a limit: safe, below, at, above, or twice (that much and more)."""
        if self.size == 0:
            return "safe"
        if abs(self.size - limit) <= 0.1 * limit:
            return "at"
        return "twice" if self.size >= 2 * limit else "above" if self.size > limit else "below"


Make = Callable[[People, np.random.Generator], pd.DataFrame | None]
Told = float | Callable[[People, pd.DataFrame], Truth]


@dataclass(frozen=True)
class Known:
    """A kind of release, and what is known of it."""

    kind: Kind
    make: Make  # None where it cannot be made of the table
    told: Told  # the truth: a share of all members, or told by how the release came out
    words: str  # the truth in words
    named: bool = False  # whether the table has a column of addresses

    def truth(self, people: People, release: pd.DataFrame) -> Truth:
        """Return what the release gives away."""
        return Truth(self.told, self.told) if isinstance(self.told, int | float) else self.told(people, release)


def fresh(people: People, rng: np.random.Generator) -> pd.DataFrame:
    """Release strangers."""
    return _renamed(people.strangers, people, rng)


def independent(people: People, rng: np.random.Generator) -> pd.DataFrame:
    """Draw each column of the members on its own."""
    members = _apart(people)
    drawn = {c: rng.choice(members[c].to_numpy(), len(members)) for c in members}
    return _back(pd.DataFrame(drawn).astype(members.dtypes), people)


def trees(people: People, rng: np.random.Generator, leaf: int) -> pd.DataFrame:
    """Draw column by column from the leaves of trees that hold ``leaf`` members at least (Reiter 2005)."""
    train = _apart(people).sample(frac=1, axis=1, random_state=int(rng.integers(2**31)))
    codes, made = _codes(train), np.zeros((len(train), 0))
    release = {}
    for j, name in enumerate(train):
        donors = rng.integers(len(train), size=len(train))
        if j:
            numeric = types.is_numeric_dtype(train[name]) or types.is_datetime64_any_dtype(train[name])
            kind = DecisionTreeRegressor if numeric else DecisionTreeClassifier
            tree = kind(min_samples_leaf=leaf, random_state=int(rng.integers(2**31))).fit(codes[:, :j], codes[:, j])
            own, asked = tree.apply(codes[:, :j]), tree.apply(made)
            order = np.argsort(own, kind="stable")
            first, last = (np.searchsorted(own[order], asked, side) for side in ("left", "right"))
            donors = order[first + (rng.random(len(train)) * (last - first)).astype(int)]
        made = np.column_stack([made, codes[donors, j]])
        release[name] = train[name].to_numpy()[donors]
    return _back(pd.DataFrame(release).astype(train.dtypes), people)


def sdv(people: People, rng: np.random.Generator, kind: str, **options: Any) -> pd.DataFrame:
    """Fit a synthesizer of SDV to the members and draw as many rows."""
    from synthrisk.tasks.synthesize import sdv as wrapped
    from synthrisk.tasks.synthesize.synthesizer import Job

    train = _apart(people)
    job = Job(train, train.head(0), len(train), int(rng.integers(2**31)))
    return _back(getattr(wrapped, kind)(job, **options).synthetic.reset_index(drop=True), people)


def copied(people: People, rng: np.random.Generator, share: float, *, far: bool = False) -> pd.DataFrame:
    """Release strangers, and a share of the members as they are: drawn at random, or the most distant ones."""
    unit, others = people.units(people.members), people.units(people.strangers)
    count = round(share * (unit.max() + 1))
    order = rng.permutation(unit.max() + 1)
    if far:
        order = np.argsort(-pd.Series(_lonely(people)).groupby(unit).max().to_numpy(), kind="stable")
    rest = others >= count  # as many people as before
    rows = [people.members[np.isin(unit, order[:count])], people.strangers[rest]]
    return _renamed(pd.concat(rows), people, rng)


def near_copy(people: People, rng: np.random.Generator) -> pd.DataFrame:
    """Release the members, numbers shifted by 2 % of their range and one other cell in ten drawn anew."""
    made = people.members.copy()
    for name in _columns(people):
        column = made[name]
        if _is_number(column):
            reach = 0.02 * np.ptp(_numbers(column.dropna()))
            made[name] = _like(_numbers(column) + rng.normal(0, reach, len(made)), column)
        else:
            anew = rng.random(len(made)) < 0.1
            made.loc[anew, name] = rng.choice(column.to_numpy(), int(anew.sum()))
    return _renamed(made, people, rng)


def cells_changed(people: People, rng: np.random.Generator, count: int) -> pd.DataFrame:
    """Release the members, ``count`` cells of each taken from other members."""
    names = _columns(people)
    chosen = np.argsort(rng.random((len(people.members), len(names))), axis=1)[:, :count]
    made = people.members.copy()
    for j, name in enumerate(names):
        rows = (chosen == j).any(axis=1)
        made.loc[rows, name] = rng.choice(people.members[name].to_numpy(), int(rows.sum()))
    return _renamed(made, people, rng)


def between_neighbours(people: People, rng: np.random.Generator) -> pd.DataFrame:
    """Release a row between each member and one of its five nearest members, as SMOTE does."""
    space = _space(people, people.members)
    near = (
        NearestNeighbors(n_neighbors=_NEIGHBOURS + 1, algorithm="brute")
        .fit(space)
        .kneighbors(space, return_distance=False)
    )
    other = people.members.iloc[near[np.arange(len(near)), rng.integers(1, _NEIGHBOURS + 1, len(near))]]
    made, weight = people.members.copy(), rng.random(len(near))
    for name in _columns(people):
        ours, theirs = made[name], other[name].reset_index(drop=True)
        if _is_number(ours):
            made[name] = _like((1 - weight) * _numbers(ours) + weight * _numbers(theirs), ours)
        else:
            made[name] = ours.where(rng.random(len(near)) < 0.5, theirs)
    return _renamed(made, people, rng)


def microaggregated(people: People, rng: np.random.Generator) -> pd.DataFrame:
    """Release the members, each number the mean of three that lie together."""
    space = _space(people, people.members)
    first = np.linalg.svd(space - space.mean(axis=0), full_matrices=False)[2][0]
    group = np.empty(len(space), int)
    group[np.argsort(space @ first, kind="stable")] = np.arange(len(space)) // _GROUP
    made = people.members.copy()
    for name in filter(lambda c: _is_number(made[c]), _columns(people)):
        means = pd.Series(_numbers(made[name])).groupby(group).transform("mean")
        made[name] = _like(means.where(made[name].notna()).to_numpy(float), made[name])
    return _renamed(made, people, rng)


def rank_swapped(people: People, rng: np.random.Generator) -> pd.DataFrame:
    """Release the members, each number swapped with one at most a twentieth of the ranks away."""
    made = people.members.copy()
    for name in filter(lambda c: _is_number(made[c]), _columns(people)):
        there = np.flatnonzero(made[name].notna())
        order = there[np.argsort(_numbers(made[name])[there], kind="stable")]
        moved = np.argsort(np.arange(len(order)) + rng.uniform(0, _SWAPPED * len(order), len(order)), kind="stable")
        values = made[name].to_numpy().copy()
        values[order] = made[name].to_numpy()[order[moved]]
        made[name] = values
    return _renamed(made, people, rng)


def repelled(people: People, rng: np.random.Generator) -> pd.DataFrame:
    """Release strangers but those nearer to a member than 35 % of them are."""
    return _renamed(people.strangers[_distance(people, people.strangers) > _radius(people)], people, rng)


def without_twins(people: People, rng: np.random.Generator) -> pd.DataFrame:
    """Release strangers but those that equal a member in all columns that are not unique to people."""
    return _renamed(people.strangers[~_rows(people, people.strangers).isin(_rows(people, people.members))], people, rng)


def addressed(people: People, rng: np.random.Generator) -> pd.DataFrame:
    """Release strangers under the addresses of the members."""
    own = people.members[NAMED].sample(len(people.strangers), replace=True, random_state=int(rng.integers(2**31)))
    if len(own) == len(people.members):
        own = people.members[NAMED].sample(frac=1, random_state=int(rng.integers(2**31)))
    return _renamed(people.strangers.assign(**{NAMED: own.to_numpy()}), people, rng)


def newly_addressed(people: People, rng: np.random.Generator) -> pd.DataFrame:
    """Release strangers under addresses that nobody has."""
    bare = people.strangers.drop(columns=NAMED)
    return _renamed(with_addresses(bare, int(rng.integers(2**31))), people, rng)


def as_months(release: pd.DataFrame, people: People, rng: np.random.Generator) -> pd.DataFrame | None:
    """Return a release whose first number of many values is told in months instead of years."""
    names = [c for c in _columns(people) if _is_number(release[c]) and not types.is_datetime64_any_dtype(release[c])]
    long = [c for c in names if release[c].nunique() > 10]
    return release.assign(**{long[0]: release[long[0]] * 12}) if long else None


def upper_case(release: pd.DataFrame, people: People, rng: np.random.Generator) -> pd.DataFrame | None:
    """Return a release whose texts are written in upper case."""
    texts = [c for c in _columns(people) if not _is_number(release[c])]
    return release.assign(**{c: release[c].astype("string").str.upper() for c in texts}) if texts else None


def with_decimals(release: pd.DataFrame, people: People, rng: np.random.Generator) -> pd.DataFrame | None:
    """Return a release whose whole numbers have got decimals at random, below one half."""
    plain = [c for c in _columns(people) if types.is_numeric_dtype(release[c])]
    whole = [c for c in plain if release[c].dropna().mod(1).eq(0).all() and release[c].nunique() > 10]
    drawn = {c: (release[c] + rng.uniform(-0.49, 0.49, len(release))).round(2) for c in whole}
    return release.assign(**drawn) if whole else None


def _then(make: Make, change: Callable[..., pd.DataFrame | None]) -> Make:
    def made(people: People, rng: np.random.Generator) -> pd.DataFrame | None:
        release = make(people, rng)
        return None if release is None else change(release, people, rng)

    return made


def _of_the_distant(people: People, release: pd.DataFrame, share: float) -> Truth:
    return Truth(share, min(1.0, share / EXPOSED))


def _by_gaps(people: People, release: pd.DataFrame) -> Truth:
    """Return by how much more often a control record than a member has a released row within the radius."""
    space, radius = _space(people, release), _radius(people)
    search = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(space)
    met = [search.kneighbors(_space(people, f))[0][:, 0] <= radius for f in (people.members, people.control)]
    return Truth(*(2 * [max(0.0, float(met[1].mean() - met[0].mean()))]))


def _by_twins(people: People, release: pd.DataFrame) -> Truth:
    """Return by how much more often a control record than a member equals a released row."""
    released = _rows(people, release)
    met = [_rows(people, frame).isin(released).mean() for frame in (people.members, people.control)]
    return Truth(*(2 * [max(0.0, float(met[1] - met[0]))]))


def _columns(people: People) -> list[str]:
    return [c for c in people.members.columns if c not in (people.person, NAMED)]


def _apart(people: People) -> pd.DataFrame:
    return people.members[_columns(people)]


def _back(release: pd.DataFrame, people: People) -> pd.DataFrame:
    """Return a release with its columns in order, its rows under the numbers of as many people as the members are."""
    if people.person is None:
        return release[_columns(people)]
    numbers = 1 + people.members[people.person].max() + people.units(people.members)
    return release.assign(**{people.person: numbers})[list(people.members.columns)]


def _renamed(rows: pd.DataFrame, people: People, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows in random order; their people under new numbers."""
    release = rows.sample(frac=1, random_state=int(rng.integers(2**31))).reset_index(drop=True)
    if people.person is None:
        return release
    return release.assign(**{people.person: 10**7 + pd.factorize(release[people.person])[0]})


def _is_number(column: pd.Series) -> bool:
    return types.is_numeric_dtype(column) or types.is_datetime64_any_dtype(column)


def _numbers(column: pd.Series) -> np.ndarray:
    """Return a column of numbers or dates as numbers, missing ones as NaN."""
    if not types.is_datetime64_any_dtype(column):
        return column.to_numpy(float)
    return np.where(column.isna(), np.nan, column.to_numpy("datetime64[ns]").astype("int64").astype(float))


def _like(values: np.ndarray, column: pd.Series) -> pd.Series:
    """Return numbers as a column holds them: whole ones, within its range, or dates."""
    if types.is_datetime64_any_dtype(column):
        missing = column.isna().to_numpy()
        days = pd.Series(pd.to_datetime(np.where(missing, 0, values).astype("int64")), index=column.index)
        return days.dt.normalize().astype(column.dtype).mask(missing)
    values = np.clip(values, column.min(), column.max())
    if column.dropna().mod(1).eq(0).all():
        values = np.round(values)
    return pd.Series(values, index=column.index).astype(column.dtype)


def _codes(frame: pd.DataFrame) -> np.ndarray:
    """Return all columns as numbers, (rows, columns): a missing one lies below all others."""
    columns = []
    for name in frame:
        column = frame[name]
        own = _numbers(column) if _is_number(column) else pd.factorize(column, sort=True)[0].astype(float)
        missing = column.isna().to_numpy()
        own = np.where(missing, np.nan, own)
        columns.append(np.where(missing, np.nanmin(own) - 1 if (~missing).any() else 0, own))
    return np.column_stack(columns)


def _space(people: People, frame: pd.DataFrame) -> np.ndarray:
    """Return rows as points, (rows, dimensions): numbers by the members' ranks, each other level a corner."""
    points = []
    for name in _columns(people):
        real, column = people.members[name], frame[name]
        if _is_number(real):
            known = np.sort(_numbers(real.dropna()))
            ranks = np.searchsorted(known, _numbers(column)) / max(len(known), 1)
            points.append(np.where(column.isna(), 0.5, ranks)[:, None])
        else:
            levels = pd.Index(real.dropna().unique())
            own = np.asarray(column)[:, None] == np.asarray(levels)[None, :]
            points.append(own / np.sqrt(2))
    return np.hstack(points).astype(np.float32)


def _distance(people: People, frame: pd.DataFrame) -> np.ndarray:
    space = _space(people, people.members)
    return NearestNeighbors(n_neighbors=1, algorithm="brute").fit(space).kneighbors(_space(people, frame))[0][:, 0]


def _radius(people: People) -> float:
    return float(np.quantile(_distance(people, people.strangers), _FAR))


def _lonely(people: People) -> np.ndarray:
    """Return how far each member is from the nearest other member, (members,)."""
    space = _space(people, people.members)
    return NearestNeighbors(n_neighbors=2, algorithm="brute").fit(space).kneighbors(space)[0][:, 1]


def _rows(people: People, frame: pd.DataFrame) -> pd.Series:
    """Return a number for each row, equal where rows are, but for columns of which most values are one person's."""
    shared = [c for c in _columns(people) if people.members[c].nunique() <= 0.5 * len(people.members)]
    texts = frame[shared or _columns(people)].astype("string").fillna("")
    return pd.Series(pd.util.hash_pandas_object(texts, index=False).to_numpy())


_ALL = "the record of every member is in it"
_NOBODY = "nobody's record is in it"
RELEASES: Mapping[str, Known] = {
    "fresh": Known("safe", fresh, 0, _NOBODY),
    "independent": Known("safe", independent, 0, "single cells of members, drawn on their own"),
    "copula": Known("safe", partial(sdv, kind="gaussian_copula"), 0, "a smooth model of the members"),
    "ctgan": Known("safe", partial(sdv, kind="ctgan", epochs=5), 0, "a network of few epochs"),
    "trees 100": Known("generator", partial(trees, leaf=100), 0, "single cells of members, drawn from large leaves"),
    "fresh, new addresses": Known("safe", newly_addressed, 0, _NOBODY, named=True),
    "fresh, months": Known("safe", _then(fresh, as_months), 0, _NOBODY + "; one number is recoded"),
    "fresh, upper case": Known("safe", _then(fresh, upper_case), 0, _NOBODY + "; texts are recoded"),
    "fresh, decimals": Known("safe", _then(fresh, with_decimals), 0, _NOBODY + "; numbers have got decimals"),
    "copy": Known("leak", partial(copied, share=1.0), 1, _ALL),
    "near copy": Known("leak", near_copy, 1, _ALL + ", jittered"),
    "share 5 %": Known("leak", partial(copied, share=0.05), 0.05, "5 of 100 members are in it"),
    "share 10 %": Known("leak", partial(copied, share=0.1), 0.1, "10 of 100 members are in it"),
    "share 20 %": Known("leak", partial(copied, share=0.2), 0.2, "20 of 100 members are in it"),
    **{
        f"distant {share:.0%}".replace("%", " %"): Known(
            "leak",
            partial(copied, share=share, far=True),
            partial(_of_the_distant, share=share),
            f"the {100 * share:.0f} of 100 members who are farthest from all others are in it",
        )
        for share in (0.01, 0.02, 0.05)
    },
    "repelled": Known("absence", repelled, _by_gaps, "no row lies near a member: the share of people told by that"),
    "no twins": Known("absence", without_twins, _by_twins, "no row equals a member: the share of people told by that"),
    "real addresses": Known("leak", addressed, 1, "the address of every member is in it", named=True),
    "between neighbours": Known("leak", between_neighbours, 1, "a row between every member and a near one, as SMOTE"),
    "microaggregated": Known("leak", microaggregated, 1, _ALL + ", numbers averaged by threes"),
    "rank-swapped": Known("leak", rank_swapped, 1, _ALL + ", numbers swapped within 5 % of the ranks"),
    "one cell changed": Known("leak", partial(cells_changed, count=1), 1, _ALL + ", but for one cell"),
    "three cells changed": Known("leak", partial(cells_changed, count=3), 1, _ALL + ", but for three cells"),
    "trees 5": Known("leak", partial(trees, leaf=5), 1, "pieces of members, drawn from leaves of 5"),
    "trees 1": Known("leak", partial(trees, leaf=1), 1, "members, put together from leaves of 1"),
    "copy, months": Known("leak", _then(partial(copied, share=1.0), as_months), 1, _ALL + "; one number is recoded"),
    "copy, upper case": Known("leak", _then(partial(copied, share=1.0), upper_case), 1, _ALL + "; texts are recoded"),
    "copy, decimals": Known("leak", _then(partial(copied, share=1.0), with_decimals), 1, _ALL + ", with decimals"),
}
"""The releases by name."""
