"""The digest of the atlas that ships: what each measure saw of leaks of known dose, read when it is asked for.

The file beside this one is made by ``synthrisk atlas``; nothing in it is typed in.

The fewest measures that together see each leak of the atlas as early as any of them does.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from itertools import combinations
from math import inf, isnan, log2, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

FILE = Path(__file__).parent / "atlas.json"
MOST_ALARMS = 0.05
BY_EPSILON = "known_epsilon"
"""The leak whose dose is an epsilon; that of all others is a share."""


@dataclass(frozen=True)
class Answer:
    """What all studies of one table say of one leak in one quantity of one measure."""

    table: str
    leak: str
    measure: str
    quantity: str
    studies: int  # of the dose that was planted in the fewest
    smallest: float  # smallest dose seen in four studies of five; NaN where none was, or alarms are too frequent
    seen_full: float  # share of the studies that see the full dose
    value_full: float  # mean value at the full dose
    value_none: float  # mean value where nothing was planted
    rank: float  # Spearman's correlation of dose and value over all studies; NaN where one of them does not vary
    alarms: float  # share of the looks at nothing planted that see a leak
    alarms_lower: float  # Clopper-Pearson limits, as if the looks were independent
    alarms_upper: float
    quiet: int  # looks at nothing planted in which the quantity had an interval; a study has several

    @property
    def too_loud(self) -> bool:
        """Whether more false alarms than allowed are shown: the interval of their rate lies above 5 %."""
        return self.alarms_lower > MOST_ALARMS


@dataclass(frozen=True)
class Digest:
    """What a grid of studies says of the measures, and what was run."""

    grid: Mapping[str, Any]  # name, tables, studies, rows, folds, repetitions, leaks with words and doses, left_out
    answers: Sequence[Answer]

    def of(self, measure: str) -> list[Answer]:
        """Return what is known of one measure."""
        return [each for each in self.answers if each.measure == measure]

    def smallest(self, measures: Collection[str]) -> dict[str, float]:
        """Return the smallest dose of each leak that any of some measures saw on any table, in any quantity.

        NaN where all of them were blind. Empty where the digest knows none of the measures.
        """
        own = [each for each in self.answers if each.measure in measures]
        doses = {leak: [e.smallest for e in own if e.leak == leak and not isnan(e.smallest)] for leak in self.leaks}
        return {leak: min(seen, default=nan) for leak, seen in doses.items()} if own else {}

    @property
    def leaks(self) -> Mapping[str, Mapping[str, Any]]:
        """What each leak is called (``words``) and at which ``doses`` it was planted, by its generator."""
        return self.grid["leaks"]

    @property
    def words(self) -> str:
        """What was run, in a phrase."""
        tables = list(self.grid["tables"].values())
        each = f"{self.grid['studies']} studies of {self.grid['rows']:,} records"
        of = f"each of {len(tables)} tables ({', '.join(tables)})" if len(tables) > 1 else f"({tables[0]})"
        return f"{each} {of}, {self.grid['folds']} folds x {self.grid['repetitions']} repetitions"


def typical(answers: Sequence[Answer]) -> float:
    """Return the smallest dose that is seen in at least half of the tables in which a measure ran; NaN if none is.

    Args:
        answers: What is known of one leak in one quantity of one measure, an answer a table.
    """
    doses = sorted(each.smallest for each in answers if not isnan(each.smallest))
    half = (len(answers) + 1) // 2
    return doses[half - 1] if answers and len(doses) >= half else nan


def mostly_loud(answers: Sequence[Answer]) -> bool:
    """Tell whether in more than half of several tables there are too many false alarms to say what is seen."""
    return 2 * sum(each.too_loud for each in answers) > len(answers)


def dose_in_words(leak: str, dose: float) -> str:
    """Return a dose in its unit.

    Example:
        >>> dose_in_words("leaky", 0.05), dose_in_words("known_epsilon", 8.0)
        ('5 %', 'epsilon 8')
    """
    return f"epsilon {dose:g}" if leak == BY_EPSILON else f"{100 * dose:g} %"


@cache
def shipped() -> Digest | None:
    """Return the digest that comes with the package; None where there is none."""
    return read(FILE.read_text("utf-8")) if FILE.exists() else None


def read(text: str) -> Digest:
    """Return the digest that a text holds."""
    found = json.loads(text)
    order = [found["columns"].index(f.name) for f in fields(Answer)]
    return Digest(found["grid"], [Answer(*(_read(row[place]) for place in order)) for row in found["rows"]])


def text_of(digest: Digest) -> str:
    """Return a digest as text, an answer a line; numbers are rounded to four digits."""
    rows = ",\n".join(json.dumps([_plain(v) for v in astuple(each)]) for each in digest.answers)
    names = json.dumps([f.name for f in fields(Answer)])
    grid = json.dumps(digest.grid, indent=1, ensure_ascii=False)
    return f'{{"grid": {grid},\n"columns": {names},\n"rows": [\n{rows}\n]}}\n'


def _plain(value: object) -> object:
    if isinstance(value, float):
        return None if isnan(value) else round(value, 4)
    return value


def _read(value: Any) -> Any:
    return nan if value is None else value


Seen = frozenset[str]


def covering(digest: Digest, quantities: Mapping[str, str], table: str, always: Sequence[str] = ()) -> list[str]:
    """Return the fewest measures beside ``always`` with which each leak is seen at the smallest dose that any saw.

    A measure counts for a leak where four studies of five of one table saw it, in the quantity that a limit is set on,
    at the smallest dose at which any of the candidates saw it. A leak that all are blind to asks for nothing. Of sets
    that are equally small the first is taken, in the order of the candidates.

    Args:
        digest: What studies with planted leaks say.
        quantities: The candidates, with the quantity that each would be limited by.
        table: The table of the digest to go by (``most_alike``).
        always: Measures that are taken anyhow.

    Source:
        The atlas (docs/atlas.md); an exact search of the minimum set cover (Karp 1972).
    """
    doses: dict[str, dict[str, float]] = {name: {} for name in quantities}
    for each in digest.answers:
        if each.table == table and quantities.get(each.measure) == each.quantity and not isnan(each.smallest):
            doses[each.measure][each.leak] = each.smallest
    first = {leak: min((own.get(leak, inf) for own in doses.values()), default=inf) for leak in digest.leaks}
    sees = {name: Seen(leak for leak, dose in own.items() if dose == first[leak]) for name, own in doses.items()}
    wanted = Seen().union(*sees.values()).difference(*(sees.get(name, Seen()) for name in always))
    others = _useful({name: own & wanted for name, own in sees.items() if name not in always})
    sets = (chosen for size in range(len(others) + 1) for chosen in combinations(others, size))
    return next(list(chosen) for chosen in sets if Seen().union(*(others[name] for name in chosen)) == wanted)


def shape_of(table: "pd.DataFrame", identifier: str | None = None) -> dict[str, float]:
    """Return what tables are compared by: how many columns, the share of numeric ones, and records a person.

    Args:
        table: The records.
        identifier: The column that names the person, where one has several records; it is not counted.
    """
    from synthrisk.metrics.tables.kinds import kind  # with pandas, which the list of measures does without

    columns = [name for name in table.columns if name != identifier]
    numeric = sum(kind(table[name]) == "numeric" for name in columns)
    people = table[identifier].nunique() if identifier else len(table)
    return {
        "columns": len(columns),
        "numeric": round(numeric / max(len(columns), 1), 4),
        "records_each": round(len(table) / max(people, 1), 4),
    }


def most_alike(digest: Digest, shape: Mapping[str, float]) -> str:
    """Return the table of a digest whose shape is most like that of another.

    The distance adds the difference in the share of numeric columns, and a quarter of those in the logarithms to base 2
    of the number of columns and of records a person.

    Args:
        digest: What studies with planted leaks say, with the shape of each of their tables.
        shape: That of the other (``shape_of``).
    """

    def distance(name: str) -> float:
        known = digest.grid.get("shapes", {}).get(name)
        if known is None:
            return inf
        ratios = [log2(max(known[of], 1) / max(shape[of], 1)) for of in ("columns", "records_each")]
        return float(abs(known["numeric"] - shape["numeric"]) + sum(map(abs, ratios)) / 4)

    return min(digest.grid["tables"], key=distance)


def _useful(sees: Mapping[str, Seen]) -> dict[str, Seen]:
    """Leave out what another measure makes needless: it sees the same and stands before it, or it sees more."""
    names = list(sees)
    return {
        name: own
        for place, (name, own) in enumerate(sees.items())
        if own and not any(own < sees[other] or (own == sees[other] and names.index(other) < place) for other in names)
    }
