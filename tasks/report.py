"""Write the report of a study into the workspace, and its decision record beside it."""

from pathlib import Path

from synthrisk.conf.secrets import mask
from synthrisk.tasks.tracking.addresses import RECORD
from synthrisk.tasks.workspace.failures import told_safely
from synthrisk.tasks.workspace.folders import Place, share_file
from synthrisk.tasks.workspace.references import Judged
from synthrisk.tasks.workspace.store import replace_file
from synthrisk.tasks.workspace.verb import verb


@verb("report")
def report(judged: Judged, settings: str) -> str:
    """Write the page of a study, with ``settings``, what was asked, as YAML; return its path.

    ``record.html``, the decision record, is written beside it.
    """
    from synthrisk.tasks.pages.record import record
    from synthrisk.tasks.pages.report import page  # and with it matplotlib, where the task is called

    folder = Path(judged.estimated.sample.workspace)
    path = folder / "reports" / judged.result.study_id / "report.html"

    def written() -> Place:
        share_file(replace_file(path.with_name(RECORD), mask(record(judged.result, settings))))
        return Place(share_file(replace_file(path, mask(page(judged, settings)))))

    return told_safely(folder, "report", written)
