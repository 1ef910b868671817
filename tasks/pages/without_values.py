"""A page for places that no value of the real table may reach."""

import re

_VALUES = re.compile(r"<!-- values of the real table -->.*?<!-- end of values -->", re.DOTALL)
_KEPT_APART = (
    "<p>This part names values of the real table, so it is kept out of tracking. It stands in the page that the study "
    "has left in its workspace.</p>"
)


def without_values(text: str) -> str:
    """Return a page without its private sections."""
    return _VALUES.sub(_KEPT_APART, text)
