"""Quasi-identifiers by which nobody is found: nearly every record is the only one with its key."""

import numpy as np

from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.tables.entities import how_many_with
from synthrisk.metrics.tables.tables import Tables

NEARLY_ALL = 0.95
"""Share of records alone with their key, from which a look-up by key finds hardly anybody but copies."""
_LOOKS_UP = "key_class"  # the attack that does what metrics with ``looks_up`` do


def looks_up(planned: Planned) -> bool:
    """Tell whether a measure finds records by equal quasi-identifiers alone."""
    return METRICS[planned.measure.metric].looks_up or planned.measure.attacker == _LOOKS_UP


def unique_keys(tables: Tables, planned: Planned) -> str:
    """Return a warning, without the name of the measure, where it looks up keys that nearly all occur once."""
    if not looks_up(planned):
        return ""
    known = tables.check_columns("quasi_identifiers", planned.options["quasi_identifiers"])
    codes = tables.codes(known)
    own = codes.tables[0]
    share = float(np.mean(how_many_with(own, codes.size, tables.entities)[own] == 1))
    if share <= NEARLY_ALL:
        return ""
    distinct = {column: len(np.unique(tables.codes([column]).tables[0])) for column in known}
    most = max(known, key=lambda column: distinct[column])
    named = ", ".join(map(repr, known)) if len(known) <= 5 else f"{len(known)} quasi-identifiers"
    return (
        f"records are looked up by {named}, by which {share:.0%} of them are singled out, so that only copied records "
        f"can be found; coarsen columns with the option bins, for instance bins: {{{most}: 5}}, or leave out {most!r}, "
        f"which has the most distinct values ({distinct[most]})"
    )
