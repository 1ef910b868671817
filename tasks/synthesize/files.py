"""Releases made elsewhere, read from files."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.tasks.synthesize.fit import fitted
from synthrisk.tasks.synthesize.handed_over import handed_over
from synthrisk.tasks.synthesize.release_file import parts_of, read_file
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer
from synthrisk.tasks.workspace.excel import split_sheet

_PLACES = ("repetition", "fold")


def files(job: Job, *, path: str) -> Release:
    """Read the release of this repetition and fold.

    Its columns are those of the training table in any order; its values are read to fit (``fitted``). Others that the
    file has, columns that the study leaves out among them, are released beside them. It has as many rows as the file.
    A path without ``{repetition}`` and ``{fold}`` in a study of several releases is a file made from all records: there
    are members then, but no control records, and no memorization.

    Args:
        job: Whose repetition and fold are read.
        path: A path or fsspec URL of a file (``read_file`` says of which kinds), with
            ``{repetition}`` and ``{fold}`` where they stand, e.g. ``vendor/{repetition}-{fold}.parquet``;
            without them one file serves all releases.

    Raises:
        InputError: There is no such file, it cannot be read or has no rows, or it does not fit.
    """
    concrete = concrete_path(path, job.repetition, job.fold)
    release = read_release(job, path, concrete)
    if job.releases > 1 and concrete == path:  # one file for all: it was made from the held-out records too
        return replace(release, used=np.arange(len(job.held_out)))
    return release


def read_release(job: Job, path: str, concrete: str) -> Release:
    """Return the release in a file, read to fit the training table (``fitted``), and what is beside it.

    Raises:
        InputError: It cannot be read, has no rows or does not fit; ``path`` is how the user wrote where it is.
    """

    def read() -> Release:
        table = read_file(path, concrete, job)
        if len(table) < 2:
            got = "one" if len(table) else "none"
            raise InputError(f"path {path!r} must lead to files of at least two rows, got {got} in {concrete!r}")
        return fitted(table, job.train, job.form, concrete)

    return handed_over(concrete, job, read)


def concrete_path(path: str, repetition: int, fold: int) -> str:
    """Return the path of one release.

    Example:
        >>> concrete_path("vendor/{repetition}-{fold}.csv", 2, 0)
        'vendor/2-0.csv'
    """
    if not isinstance(path, str) or not path:
        raise InputError(f"path must be a path or URL, got {path!r}")
    for place in re.findall(r"\{(\w*)\}", path):
        if place not in _PLACES:
            raise InputError(f"path takes {{repetition}} and {{fold}}, got {place!r}{nearest(place, _PLACES)}")
    return path.replace("{repetition}", str(repetition)).replace("{fold}", str(fold))


def _inputs(options: dict[str, object], repetition: int, fold: int) -> list[str]:
    path = split_sheet(concrete_path(options["path"], repetition, fold))[0]  # type: ignore[arg-type]
    return parts_of(path) or [path]


def _located(path: str, folder: Path) -> str:
    return path if "://" in path else str(folder / path)


FILES = Synthesizer("files", files, packages=("pandas", "pyarrow"), inputs=_inputs, located=_located, trial="all")
