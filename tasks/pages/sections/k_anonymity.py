"""How rare keys are."""

from collections.abc import Mapping
from typing import Any

from synthrisk.metrics.release.k_anonymity import SIZES
from synthrisk.metrics.study.result_tables import k_anonymity_table
from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any] | None:
    keys = k_anonymity_table(shown.result).to_dict("records")
    values = [] if shown.result.keys is None else list(shown.result.keys.values)
    return {"keys": keys, "sizes": SIZES, "guessed": values} if keys else None


K_ANONYMITY = Section("k-anonymity", "How rare keys are (k-anonymity, l-diversity)", "k_anonymity.html", _context)
