"""Releases made elsewhere, read from files."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.release.columns import Problem
from synthrisk.metrics.tables.links import checked_links
from synthrisk.tasks.synthesize.fit import fitted
from synthrisk.tasks.synthesize.handed_over import handed_over
from synthrisk.tasks.synthesize.release_file import parts_of, read_file
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer
from synthrisk.tasks.workspace.excel import split_sheet

_PLACES = ("repetition", "fold")


def files(job: Job, *, path: str, links: str | None = None, drop: Sequence[str] = ()) -> Release:
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
        links: A path or URL, as ``path``, of a file that says which training row each row was made from, for
            ``hidden_rate``: a table of one column, with its name in the first line, and a whole number for each
            released row: 0 for the first training row (as ``synthrisk split`` writes them), -1 for one made from none.
        drop: Columns that the file has and the real table has not, which are not looked at.

    Raises:
        InputError: There is no such file, it cannot be read or has no rows, or it does not fit.
    """
    concrete = concrete_path(path, job.repetition, job.fold)
    release = read_release(job, path, concrete)
    if len(drop):
        release = _without(release, drop)
    if links is not None:
        release = replace(release, links=_read_links(job, path, links, len(release.synthetic)))
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


def _without(release: Release, names: Sequence[str]) -> Release:
    """Return a release without some of the columns that it has beside those of the real table, and say so."""
    for name in names:
        if name not in release.beside.columns:
            raise InputError(f"drop must name columns that the release alone has, got {name!r}")
    words = f"{', '.join(map(repr, names))}: left out as asked for, and not looked at"
    told = (*release.told, Problem("dropped", "", "note", words))
    return replace(release, beside=release.beside.drop(columns=[*names]), told=told)


def _read_links(job: Job, path: str, links: str, rows: int) -> np.ndarray:
    concrete = concrete_path(links, job.repetition, job.fold)
    if job.releases > 1 and concrete_path(path, job.repetition, job.fold) == path:
        rule = "stand beside a path with {repetition} and {fold}: it names rows of the training part of each release"
        raise InputError(f"links must {rule}, got {path!r}")
    table = read_file(links, concrete, job)
    if table.shape[1] != 1:
        raise InputError(f"links {links!r} must lead to tables of one column, got {table.shape[1]} columns")
    return checked_links(f"links in {concrete!r}", table.iloc[:, 0].to_numpy(), rows, len(job.train))


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
    given = [str(options[name]) for name in ("path", "links") if options.get(name) is not None]
    paths = [split_sheet(concrete_path(each, repetition, fold))[0] for each in given]
    return [file for path in paths for file in parts_of(path) or [path]]


def _located(path: str, folder: Path) -> str:
    return path if "://" in path else str(folder / path)


FILES = Synthesizer("files", files, packages=("pandas", "pyarrow"), inputs=_inputs, located=_located, trial="all")
