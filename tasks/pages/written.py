"""The pages of a study in its workspace."""

from pathlib import Path

from synthrisk.tasks.pages.exposure import exposure_page
from synthrisk.tasks.pages.report import page
from synthrisk.tasks.workspace.failure import told_safely
from synthrisk.tasks.workspace.handed import Found, Judged
from synthrisk.tasks.workspace.store import replace_file


def written_report(judged: Judged, settings: str) -> str:
    """Write the report; return its path."""
    folder = Path(judged.estimated.sample.workspace)
    path = folder / "reports" / judged.result.study_id / "report.html"
    return told_safely(folder, "report", lambda: str(replace_file(path, page(judged.result, settings))))


def written_exposure(found: Found, study_id: str, confidence: float) -> str:
    """Write the page of exposure of one generator; return its path."""
    folder = Path(found.sample.workspace)
    path = folder / "reports" / study_id / f"exposure-{found.name}.html"

    def written() -> str:
        return str(replace_file(path, exposure_page(found, study_id, confidence)))

    return told_safely(folder, f"expose-{found.name}", written)
