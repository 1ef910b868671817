"""The training parts of a study as files, for generators outside Python."""

from pathlib import Path
from typing import Literal

from synthrisk.conf import Study
from synthrisk.flows.sample import sample_of
from synthrisk.tasks.workspace.store import check_writable, private_folder


def write_parts(study: Study, to: Path, form: Literal["csv", "parquet"]) -> list[Path]:
    """Write the members of every release as ``train-{repetition}-{fold}``; return the files.

    The identifier is left out, as no synthesizer sees it.
    """
    check_writable("--to", to, folder=True)
    sample, folder = sample_of(study), private_folder(to)
    written = []
    for repetition in range(sample.cut.repetitions):
        for fold in range(sample.cut.releases):
            path = folder / f"train-{repetition}-{fold}.{form}"
            train = sample.members(repetition, fold)
            if form == "csv":
                train.to_csv(path, index=False)
            else:
                train.to_parquet(path, index=False)
            path.chmod(0o600)
            written.append(path)
    return written
