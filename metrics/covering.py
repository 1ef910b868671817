"""The fewest measures that together see each leak of the atlas as early as any of them does."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import inf, isnan, log2
from typing import TYPE_CHECKING

from synthrisk.metrics.digest import Digest

if TYPE_CHECKING:
    import pandas as pd

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
    for size in range(len(others) + 1):
        for chosen in combinations(others, size):
            if Seen().union(*(others[name] for name in chosen)) == wanted:
                return list(chosen)
    return list(others)  # never reached: all together see what is wanted


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
