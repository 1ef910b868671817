"""What real records reach in place of a release: the ceiling beside which a utility is read."""

from collections.abc import Callable
from typing import Any

import numpy as np

from synthrisk.metrics.metric import Metric, Score
from synthrisk.metrics.score import Ceiling
from synthrisk.metrics.tables.row_order import canonical
from synthrisk.metrics.tables.tables import Tables

Measured = tuple[float, dict[str, float]]


def utility_metric(name: str, function: Callable[..., Score], reference: str, **facts: Any) -> Metric:
    """Return a metric of utility: it has one value a release, and control records give its ceiling."""
    own: dict[str, Any] = {"group": "utility", "label": "utility", "per_record": False, "mean": False}
    return Metric(name, function, reference=reference, own_control=True, **own, **facts)


def beside_ceiling(
    tables: Tables, seed: int, measured: Callable[[Tables], Measured]
) -> tuple[float, dict[str, float], Ceiling | None]:
    """Return value and details of a release and, with control records, the ceiling: also among the details.

    More rows show more values and less noise. So release and control are compared at one number of rows, the smaller of
    both (``ceiling_rows``): ``ceiling`` is the value of that many control records in place of the release, ``thinned``
    that of as many rows of the release; ``ceiling_<detail>`` are the control records' details. A release above its
    ceiling is nearer to the real records than other people of the population are: it repeats them. ``seed`` is that of
    the draw of rows.
    """
    value, details = measured(tables)
    if tables.control is None:
        return value, details, None
    size = min(len(tables.synthetic), len(tables.control))
    release, control = tables.shared(
        ("ceiling", seed), lambda: (thinned(tables, size, seed), thinned(_as_release(tables), size, seed))
    )
    reached, own = measured(control)
    ceiling = Ceiling(reached, value if release is tables else measured(release)[0], float(size), own)
    return value, details | ceiling.named, ceiling


def _as_release(tables: Tables) -> Tables:
    assert tables.control is not None  # noqa: S101 - callers ask first
    return Tables(tables.real, tables.control, entities=tables.entities)


def thinned(tables: Tables, size: int, seed: int) -> Tables:
    """Return tables with that many rows of the release, drawn so that their order has no part in it."""
    if size == len(tables.synthetic):
        return tables
    order = np.argsort(canonical(tables).synthetic, kind="stable")
    rows = order[np.random.default_rng(seed).choice(len(order), size, replace=False)]
    return Tables(tables.real, tables.synthetic.iloc[np.sort(rows)], entities=tables.entities)
