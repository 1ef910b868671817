"""Write a page for one generator that says who is at risk, and why: for the table's stewards alone."""

from pathlib import Path

from synthrisk.tasks.pages.exposure import exposure_page
from synthrisk.tasks.workspace.failure import told_safely
from synthrisk.tasks.workspace.handed import Found
from synthrisk.tasks.workspace.store import replace_file
from synthrisk.tasks.workspace.verb import verb


@verb("expose", "expose {found.name}")
def expose(found: Found, study_id: str, confidence: float) -> str:
    """Write the page of exposure, its intervals at this confidence; return its path. It holds values of the table."""
    folder = Path(found.sample.workspace)
    path = folder / "reports" / study_id / f"exposure-{found.name}.html"
    return told_safely(
        folder, f"expose-{found.name}", lambda: str(replace_file(path, exposure_page(found, study_id, confidence)))
    )
