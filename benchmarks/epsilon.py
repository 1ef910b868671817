"""Does the lower bound of epsilon stay below the epsilon of mechanisms that have one? And how near does it come?

Each run draws 2 n people, makes a random half of them members, releases, attacks, and takes the bound of 3 repetitions,
as a study does. All mechanisms are epsilon-differentially private (delta = 0) for tables that differ in one record
exchanged for another, which is what the bound speaks of; an exchange changes two counts of a table by one each, so that
Laplace noise of scale 2/epsilon is needed.

- ``noisy marginals``: counts of the cells of a 10 x 10 table, and of a third column, with Laplace noise, each on half
  of epsilon; records are drawn from the counts made positive. The attack: how often a cell is released, over how often
  it is held by people.
- ``randomised response``: each member's record (its cell, one of 100) goes out as it is with probability
  e^epsilon/(e^epsilon + 99), otherwise as another cell drawn evenly. The same attack.
- ``named``: of each member the name goes out with probability a = .2, and of everybody else with probability b, where
  a (1 - b)/((1 - a) b) = e^epsilon: the release that tells most of membership at that epsilon.

- ``randomised cells``: of each member's record of Adult (four columns) every cell goes out as it is with probability
  e^a/(e^a + levels - 1), a = epsilon/4, otherwise as another level. The attack knows this: how likely the released rows
  come from a person, over how likely they come from anybody.

    python benchmarks/epsilon.py --runs 200
    python benchmarks/epsilon.py --runs 30 --sizes 2000 --epsilons 9 12 20 --only "randomised cells"
"""

import argparse
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd

from synthrisk.metrics.intervals.epsilon import released_epsilon
from synthrisk.tasks.data import read

EPSILONS = (1.0, 3.0, 8.0)
_SIDE = 10
_NAMED = 0.2
_COLUMNS = ["education", "occupation", "relationship", "age"]

Mechanism = Callable[[np.ndarray, np.ndarray, float, np.random.Generator], np.ndarray]


def noisy_marginals(cells: np.ndarray, member: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """Return the scores of all people: released rows in their cell, over people in it."""
    size, third = _SIDE**2, cells % 7  # a function of the cell, whose counts cost half of the budget
    counts = np.bincount(cells[member], minlength=size) + rng.laplace(0, 4 / epsilon, size)
    others = np.bincount(third[member], minlength=7) + rng.laplace(0, 4 / epsilon, 7)
    density = np.maximum(counts, 0) + 1e-9
    weight = np.maximum(others, 0) + 1e-9
    by_third = np.bincount(np.arange(size) % 7, density, 7)
    density *= (weight / by_third)[np.arange(size) % 7]
    released = rng.choice(size, int(member.sum()), p=density / density.sum())
    return _over_held(released, cells)


def randomised_response(cells: np.ndarray, member: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """Return the scores of all people: released rows in their cell, over people in it."""
    size, own = _SIDE**2, cells[member]
    kept = rng.random(len(own)) < np.exp(epsilon) / (np.exp(epsilon) + size - 1)
    other = (own + rng.integers(1, size, len(own))) % size
    return _over_held(np.where(kept, own, other), cells)


def named(cells: np.ndarray, member: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """Return 1 for the people whose names are released, 0 for the others."""
    odds = _NAMED / (1 - _NAMED) / np.exp(epsilon)
    return (rng.random(len(cells)) < np.where(member, _NAMED, odds / (1 + odds))).astype(float)


def randomised_cells(cells: np.ndarray, member: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """Return how likely the released rows come from each person, over how likely they come from all people."""
    people = _adult(len(cells))
    a = epsilon / people.shape[1]
    agree = np.zeros((len(cells), int(member.sum())), dtype=np.int8)  # cells that a person shares with a released row
    for own in people.T:
        levels = int(own.max()) + 1
        kept = rng.random(agree.shape[1]) < np.exp(a) / (np.exp(a) + levels - 1)
        other = (own[member] + rng.integers(1, levels, agree.shape[1])) % levels
        agree += own[:, None] == np.where(kept, own[member], other)
    among = sum((own[:, None] == own).astype(np.int8) for own in people.T)
    return np.exp(a * agree).sum(axis=1) / np.exp(a * among).sum(axis=1)


@cache
def _adult(size: int) -> np.ndarray:
    """Return people as numbers of levels."""
    table = read("adult")[_COLUMNS].sample(size, random_state=0)
    return np.column_stack([pd.factorize(table[c].astype(object).map(str))[0] for c in _COLUMNS])


MECHANISMS: dict[str, Mechanism] = {
    "noisy marginals": noisy_marginals,
    "randomised response": randomised_response,
    "named": named,
    "randomised cells": randomised_cells,
}


def bounds(mechanism: Mechanism, epsilon: float, size: int, runs: int, repetitions: int = 3) -> np.ndarray:
    """Return the bound of each run."""
    found = np.empty(runs)
    for run in range(runs):
        rng = np.random.default_rng([run, size, int(epsilon)])
        cells = rng.permutation(2 * size) % _SIDE**2  # with few people a cell: most is told of those
        cells = np.where(cells < 30, rng.integers(_SIDE**2, size=2 * size), cells)
        member = np.zeros((repetitions, 1, 2 * size), dtype=bool)
        for one in member[:, 0]:
            one[rng.permutation(2 * size)[:size]] = True
        scores = np.stack([[mechanism(cells, one, epsilon, rng)] for one in member[:, 0]])
        bound = released_epsilon(scores, member, ~member)
        found[run] = np.nan if bound is None else bound.epsilon
    return found


def _over_held(released: np.ndarray, cells: np.ndarray) -> np.ndarray:
    count = np.bincount(released, minlength=_SIDE**2)
    return np.asarray((count / np.maximum(np.bincount(cells, minlength=_SIDE**2), 1))[cells])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--sizes", type=int, nargs="+", default=[60, 1000], help="members of a release")
    parser.add_argument("--epsilons", type=float, nargs="+", default=list(EPSILONS))
    parser.add_argument("--only", action="append", help="a mechanism; repeatable")
    arguments, _ = parser.parse_known_args()
    print("| mechanism | members | epsilon | bound above it | mean bound | largest |")
    print("|---|---|---|---|---|---|")
    for name in arguments.only or MECHANISMS:
        for size in arguments.sizes:
            for epsilon in arguments.epsilons:
                found = bounds(MECHANISMS[name], epsilon, size, arguments.runs)
                above = f"{np.mean(found > epsilon):.1%}"
                print(
                    f"| {name} | {size} | {epsilon:g} | {above} | {found.mean():.2f} | {found.max():.2f} |", flush=True
                )


if __name__ == "__main__":
    main()
