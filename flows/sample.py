"""The table of a study with its splits, outside of a flow: commands look at it before they start a server."""

from synthrisk.conf import Study
from synthrisk.tasks.data.task import data
from synthrisk.tasks.split import split
from synthrisk.tasks.workspace.kept import open_workspace
from synthrisk.tasks.workspace.references import Sample


def sample_of(study: Study) -> Sample:
    """Return the table of a study with its splits, which a flow of the same study finds in the workspace.

    Raises:
        InputError: The source cannot be read, or the table does not fit the settings.
    """
    workspace = str(open_workspace(study.workspace))
    table = data.fn(study.data, study.split, workspace, study.seed)
    cut = split.fn(table, study.split, study.data.identifier, workspace, study.seed)
    return Sample.of(study.data, table, cut, workspace, study.seed)
