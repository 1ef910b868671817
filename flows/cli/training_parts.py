"""The training parts of a study as files, for generators outside Python."""

from pathlib import Path
from typing import Literal

from synthrisk.conf import Study
from synthrisk.tasks.data.task import data
from synthrisk.tasks.split import split
from synthrisk.tasks.workspace.references import Sample
from synthrisk.tasks.workspace.store import check_writable, open_workspace, private_folder


def write_parts(study: Study, to: Path, form: Literal["csv", "parquet"]) -> list[Path]:
    """Write the members of every release as ``train-{repetition}-{fold}``; return the files.

    The identifier is left out, as no synthesizer sees it.
    """
    check_writable("--to", to, folder=True)
    workspace = str(open_workspace(Path(study.workspace)))
    table = data.fn(study.data, study.split, workspace, study.seed)
    cut = split.fn(table, study.split, study.data.identifier, workspace, study.seed)
    sample, folder = Sample.of(study.data, table, cut, workspace, study.seed), private_folder(to)
    written = []
    for repetition in range(cut.repetitions):
        for fold in range(cut.releases):
            path = folder / f"train-{repetition}-{fold}.{form}"
            train = sample.members(repetition, fold)
            if form == "csv":
                train.to_csv(path, index=False)
            else:
                train.to_parquet(path, index=False)
            path.chmod(0o600)
            written.append(path)
    return written
