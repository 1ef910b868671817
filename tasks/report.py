"""Write the report of a study into the workspace."""

from synthrisk.tasks.pages.written import written_report
from synthrisk.tasks.workspace.handed import Judged
from synthrisk.tasks.workspace.verb import verb


@verb("report")
def report(judged: Judged, settings: str) -> str:
    """Write the page of a study; return its path. ``settings`` say what was asked, as YAML."""
    return written_report(judged, settings)
