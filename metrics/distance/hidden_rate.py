"""Hidden rate: real records whose nearest synthetic record is the one that was made from them; a sanity check."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from synthrisk.metrics.metric import Metric, Records, Yardsticks
from synthrisk.metrics.neighbours.distances import (
    TIED,
    ProjectionName,
    check_projection,
    nearest_and_tied,
    of_pairs,
    tie_counts,
)
from synthrisk.metrics.neighbours.nearest import nearest_distances
from synthrisk.metrics.neighbours.records import SpaceName
from synthrisk.metrics.score import Reduction, Score, mean_score
from synthrisk.metrics.tables.entities import checked_links, whole_links
from synthrisk.metrics.tables.tables import Tables

_UNLINKED = "no row link: nobody says which real row each synthetic row was made from (docs/metrics.md: hidden rate)"
_NONE_LINKED = "no row link: no synthetic row was made from these real rows"


def hidden_rate(
    tables: Tables,
    *,
    links: Sequence[int] | None = None,
    space: SpaceName = "euclid",
    projection: ProjectionName | None = None,
) -> Score:
    """HidR: share of real records whose nearest synthetic record was made from them; ties count 1/t.

    This needs a release whose rows were each made from a real row: row i of synthetic from row ``links[i]`` of real.
    Credit of a real record = share of the t synthetic records tied at its smallest distance that were made from it.
    ``value = mean(credit)``, in [0, 1], high = rows lead back to their origin; ``published = 1 - value`` (AVATAR:
    hidden). Records from which nothing was made are not scored.

    In a study a generator says which training record each row was made from, if it knows: the reference generators
    ``copy`` and ``near_copy`` do, a generator of your own (``callable``) may, and ``files`` takes a file of links, as
    ``evaluate --links`` does. Elsewhere there is no value but the reason "no row link".

    The source: PrivEval's report and program have the direction of the value, high = leads back; ``published`` is
    AVATAR's hidden rate, 1 - value. Both take distances on two axes (``projection="famd"``). The program takes row i
    for the one made from row i, whoever made the table, and the first of tied rows.

    Args:
        tables: Real (n records) and synthetic (m records).
        links: (m,) positions in the real table (0 is its first row), -1 for a row made from none; None: those of the
            tables, which a study knows.
        space: ``euclid`` (standard deviations) or ``gower`` (share of the columns' ranges).
        projection: ``famd`` takes distances on the two main axes alone (see ``distances.projected``).

    Returns:
        A ``Score``; ``records``: score (credit, NaN where nothing was made from the record), tied (t), distance
        (to the nearest synthetic record). Details: ``linked`` (share of records from which a row was made). Not
        defined without links.

    Raises:
        InputError: ``links`` is not m positions of the real table, or ``space`` or ``projection`` has another name.

    Example:
        >>> real = pd.DataFrame({"x": [0.0, 1.0, 5.0]})
        >>> round(HIDDEN_RATE(real, real + 0.75, links=[0, 1, 2]).value, 4)
        0.6667
    """
    check_links(links, space, projection)
    told = tables.links if links is None else links
    settings = {"space": space, "projection": projection, "linked": told is not None}
    source = None if told is None else checked_links("links", told, len(tables.synthetic), len(tables.real))
    made = np.flatnonzero(source >= 0) if source is not None else np.empty(0, dtype=np.int64)
    origin = source[made] if source is not None else made
    if projection is None:
        distance = nearest_distances(tables, "real_to_synthetic", space)[:, 0]
        tied = tie_counts(tables, "real_to_synthetic", space)
        nearest = of_pairs(tables, space, origin, made) <= distance[origin] * (1 + TIED)
    else:
        distance, tied, nearest = nearest_and_tied(tables, origin, made)
    linked = np.bincount(origin, minlength=len(distance)) > 0
    credit = np.where(linked, np.bincount(origin, nearest, len(distance)) / tied, np.nan)
    columns = {"score": credit, "tied": tied, "distance": distance}
    records = pd.DataFrame(columns, index=tables.real.index)
    reduction = reduce_hidden(records)
    if told is None:
        reduction = reduction._replace(reason=_UNLINKED)
    return Score.of("hidden_rate", records, reduction, {}, settings)


def reduce_hidden(records: pd.DataFrame) -> Reduction:
    """Return mean credit, its complement as AVATAR prints it, and the share of records that are linked."""
    value = mean_score(records)
    linked = {"linked": float(records["score"].notna().mean())}
    return Reduction(value, 1 - value, linked, _NONE_LINKED if np.isnan(value) else None)


def check_links(links: object = None, space: str = "euclid", projection: str | None = None) -> None:
    """Refuse links that are no whole numbers, and a space or projection that there is not."""
    check_projection(projection, space)
    if links is not None:
        whole_links("links", links)


HIDDEN_RATE = Metric(
    name="hidden_rate",
    function=hidden_rate,
    group="distance",
    reference="Guillaudeux et al. 2023 (AVATAR), doi:10.1038/s41746-023-00771-5; PrivEval: docs/priveval.md",
    label="sanity",
    check_values=check_links,
    records=Records(reduce=reduce_hidden),
    yardsticks=Yardsticks(population=False),  # it is told which record each row was made from
)
