"""The grid of the atlas: which leaks are planted at which doses in which tables, as studies of the usual kind."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from synthrisk.conf.loader import load
from synthrisk.conf.study import Study
from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError, nearest

NONE = "fresh"
"""Kind of the generators that plant nothing."""
LEFT_OUT = ("detection_mlp", "membership_inference_risk")
"""Risk measures that cost as much as all others together: a neural network, and forests, for each release."""
_CONFIDENCE = 0.95
"""Of the intervals: a leak is looked for above nothing and below, one study of twenty alarms where there is none."""
_OPTIONS: dict[str, dict[str, Any]] = {"inference": {"attackers": ["nearest_record"]}}
WORDS = {
    "leaky": "exact copies",
    "leaky_near": "near copies",
    "leaky_permuted": "copies, the sensitive column permuted",
    "leaky_rarest": "the rarest records",
    "leaky_group": "one group",
    "leaky_columns": "keys with sensitive value",
    "leaky_duplicates": "few records, ten times each",
    "leaky_tree": "overfitted tree",
    "repelled": "rows near to members taken out",
    "real_identifiers": "identifiers of members beside fresh rows",
    "known_epsilon": "randomised response, by epsilon",
}
"""The leaks, and what each is called on pages."""
_REPELLED = (0.1, 0.2, 0.35, 0.7)
"""Doses of ``repelled``: of all, the most distant record alone would be left, and be released again and again."""


@dataclass(frozen=True)
class GridTable:
    """A table of the atlas."""

    name: str
    words: str
    known: tuple[str, ...]
    sensitive: str
    source: str = "factors"
    options: tuple[tuple[str, Any], ...] = ()  # of the source, beside rows and seed
    halves: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())  # the column sets of linkability
    identifier: str | None = None
    categorical: tuple[str, ...] = ()
    attacker: str = "logistic"  # model that RAPID trains

    def data(self, rows: int, seed: int) -> dict[str, Any]:
        """Return the data of a study: a sample of its own, or a table drawn anew, for each seed."""
        roles = {"quasi_identifiers": list(self.known), "sensitive": [self.sensitive], "identifier": self.identifier}
        roles |= {"categorical": list(self.categorical)}
        if self.source in ("adult", "fair"):
            return roles | {"source": self.source, "rows": rows}
        options = dict(self.options) | {"rows": rows, "seed": seed}
        return roles | {"source": {"name": self.source, "options": options}}


def _factors(name: str, words: str, numeric: int, categorical: int, **others: Any) -> GridTable:
    columns = [f"c{i + 1}" for i in range(categorical)] + [f"n{i + 1}" for i in range(numeric)]
    known = tuple(columns[: min(2, categorical)] + [f"n{i + 1}" for i in range(min(numeric, 4 - min(2, categorical)))])
    half = len(columns) // 2
    halves = (tuple(columns[:half][:8]), tuple(columns[half:][:8]))
    drawn: dict[str, Any] = {"numeric": numeric, "categorical": categorical}
    drawn |= {k: others.pop(k) for k in ("rare", "records_each") if k in others}
    return GridTable(name, words, known, "target", options=tuple(drawn.items()), halves=halves, **others)


_ADULT = ("age", "education", "occupation"), ("sex", "race", "hours_per_week", "workclass")
_HEALTH_KNOWN = ("age", "gender", "education")
_HEALTH = _HEALTH_KNOWN, ("income", "health")
_FAIR_KNOWN, _RATING = ("age", "educ", "occupation", "religious"), "rate_marriage"
_FAIR = ("age", "educ", "occupation"), ("religious", "children", "yrs_married", "occupation_husb")

TABLES = (
    GridTable("adult", "Adult", ("age", "education", "occupation", "sex", "race"), "income", "adult", halves=_ADULT),
    GridTable("health", "simulated_health", _HEALTH_KNOWN, "disease", "simulated_health", halves=_HEALTH),
    GridTable("fair", "fair", _FAIR_KNOWN, _RATING, "fair", halves=_FAIR, categorical=(_RATING,)),
    _factors("wide", "60 columns", 29, 30),
    _factors("categorical", "all categorical", 0, 8),
    _factors("numeric", "all numeric", 8, 0, attacker="linear"),
    _factors("rare", "a class of 1 %", 4, 4, rare=0.01),
    _factors("several", "three records a person", 4, 4, records_each=3, identifier="person"),
)


@dataclass(frozen=True)
class Grid:
    """What is run: each table so many times, with every leak at every dose in each."""

    name: str
    tables: Sequence[GridTable]
    studies: int  # of each table
    rows: int
    shares: Sequence[float]  # doses of the leaks whose dose is a share
    epsilons: Sequence[float]  # doses of the mechanism with a known epsilon
    leaks: Sequence[str] = tuple(WORDS)
    measures: Sequence[str] = ()  # empty: all risk measures of the register but ``LEFT_OUT``
    folds: int = 2
    repetitions: int = 2
    nothing: int = 4  # generators of a study that plant nothing: for false alarms

    def seeds(self) -> range:
        """Return the seed of each study of a table."""
        return range(1, self.studies + 1)

    def doses(self, leak: str) -> Sequence[float]:
        """Return the doses at which a leak is planted."""
        return self.epsilons if leak == "known_epsilon" else _REPELLED if leak == "repelled" else self.shares

    def study(self, table: GridTable, seed: int, workspace: str, workers: int) -> Study:
        """Return one study: what is planted are its reference generators, beside several ``fresh``."""
        column = {"column": table.sensitive}
        options: dict[str, Any] = {"leaky_permuted": column, "leaky_group": column}
        options |= {"leaky_columns": {"columns": [*table.known, table.sensitive]}}
        planted = [
            {"name": f"{leak}-{f'{dose:g}'.replace('.', '_')}", "kind": leak}
            | options.get(leak, {})
            | {"epsilon" if leak == "known_epsilon" else "share": dose}
            for leak in self.leaks
            if leak != "real_identifiers" or table.identifier
            for dose in self.doses(leak)
        ]
        return load(
            {
                "name": f"atlas-{table.name}-{seed}",
                "data": table.data(self.rows, seed),
                "split": {"folds": self.folds, "repetitions": self.repetitions},
                "synthesizers": [{"name": NONE, "kind": NONE}],
                "references": [*({"name": f"{NONE}-{i}", "kind": NONE} for i in range(2, self.nothing + 1)), *planted],
                "metrics": _measures(table, self.measures),
                "bootstrap": {"confidence": _CONFIDENCE},
                "population_yardstick": False,
                "exposure": False,
                "tracking": {"offline": True},
                "runner": {"workers": workers},
                "workspace": workspace,
                "seed": seed,
            }
        )


FULL = Grid("full", TABLES, 3, 1000, (0.02, 0.05, 0.2, 1.0), (1.0, 2.0, 5.0, 8.0))
REDUCED = replace(FULL, name="reduced", tables=TABLES[:1])
"""The part of the full grid that takes minutes: of its table it gives what the full one gives, to the bit."""


def grid_of(
    grid: Grid,
    tables: Sequence[str] = (),
    leaks: Sequence[str] = (),
    measures: Sequence[str] = (),
    studies: int | None = None,
    rows: int | None = None,
) -> Grid:
    """Return a part of a grid, or another size of it.

    Raises:
        InputError: There is no such table, leak or risk measure.
    """
    risks = [name for name, metric in METRICS.items() if not metric.is_utility] if measures else []
    every = (("table", tables, [t.name for t in TABLES]), ("leak", leaks, list(WORDS)), ("metric", measures, risks))
    for what, names, known in every:
        for name in names:
            if name not in known:
                hint = nearest(name, known)
                raise InputError(f"--{what} must be one of {', '.join(known)}, got {name!r}{hint}")
    return replace(
        grid,
        tables=tuple(t for t in TABLES if t.name in tables) if tables else grid.tables,
        leaks=tuple(leak for leak in WORDS if leak in leaks) if leaks else grid.leaks,
        measures=tuple(measures) or grid.measures,
        studies=studies or grid.studies,
        rows=rows or grid.rows,
    )


def _measures(table: GridTable, asked: Sequence[str]) -> list[dict[str, Any]]:
    """Return the risk measures of the register that the grid asks of a table."""
    found = []
    for name, metric in METRICS.items():
        if metric.is_utility or (name not in asked if asked else name in LEFT_OUT):
            continue
        options = {"attackers": [table.attacker]} if name == "rapid" else dict(_OPTIONS.get(name, {}))
        if "columns_a" in metric.needs:
            options |= {"columns_a": list(table.halves[0]), "columns_b": list(table.halves[1])}
        found.append({"name": name, **options})
    return found
