"""Write a page for one generator that says who is at risk, and why: for the table's stewards alone."""

from synthrisk.tasks.pages.written import written_exposure
from synthrisk.tasks.workspace.handed import Found
from synthrisk.tasks.workspace.verb import verb


@verb("expose", "expose {found.name}")
def expose(found: Found, study_id: str, confidence: float) -> str:
    """Write the page of exposure; return its path. It holds values of the real table."""
    return written_exposure(found, study_id, confidence)
