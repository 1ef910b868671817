"""Synthesizers: how they are found, how their options are checked, and how one is run.

A synthesizer is a function of a ``Job`` behind the entry-point group ``synthrisk.synthesizers``. Adding one:
one file here (or in a package of your own), one line in that group, its test.
"""

import inspect
from collections.abc import Mapping
from importlib.util import find_spec
from itertools import product

import numpy as np
import pandas as pd

from synthrisk.conf.tables import FileForm
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.models.threads import one_thread
from synthrisk.metrics.plugins import SYNTHESIZER_GROUP, points
from synthrisk.metrics.tables.entities import checked_links
from synthrisk.tasks.synthesize.conform import is_like
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer

_FEW = 4


def find_synthesizer(name: str) -> Synthesizer:
    """Return the synthesizer of that name.

    Raises:
        InputError: None is called so, or the package that offers it cannot be imported.
    """
    found = points(SYNTHESIZER_GROUP)
    if name not in found.names:
        known = sorted(found.names)
        raise InputError(f"no synthesizer is called {name!r}{nearest(name, known)}; known: {', '.join(known)}")
    try:
        loaded = found[name].load()
    except (ImportError, AttributeError) as error:
        raise InputError(f"synthesizer {name!r} ({found[name].value}) cannot be loaded: {error}") from error
    if not isinstance(loaded, Synthesizer):
        raise InputError(f"synthesizer {name!r} must be a Synthesizer, got {type(loaded).__name__}")
    return loaded


def check_options(synthesizer: Synthesizer, options: Mapping[str, object]) -> None:
    """Check, without running it, that a synthesizer takes these options and that its extra is installed.

    Raises:
        InputError: An option is unknown or absent, or the extra is not installed.
    """
    name, takes = synthesizer.name, list(inspect.signature(synthesizer.function).parameters.values())[1:]
    if not any(p.kind is p.VAR_KEYWORD for p in takes):
        names = [p.name for p in takes]
        for option in options:
            if option not in names:
                hint = f"it takes {', '.join(names)}" if names else "it takes none"
                raise InputError(f"{name} takes no option {option!r}{nearest(option, names)}; {hint}")
    absent = [p.name for p in takes if p.default is p.empty and p.kind is p.KEYWORD_ONLY and p.name not in options]
    if absent:
        raise InputError(f"{name} needs the option {absent[0]!r}, got {sorted(options) or 'none'}")
    needed = synthesizer.modules or (synthesizer.extra,)
    if synthesizer.extra and not all(find_spec(module) for module in needed if module):
        raise InputError(missing_extra(name, synthesizer.extra))
    if synthesizer.check is not None:
        synthesizer.check(**options)


def missing_extra(name: str, extra: str) -> str:
    """Return the sentence that says how to install what a synthesizer needs."""
    return f"{name} needs the extra {extra!r}, which is not installed: pip install 'synthrisk[{extra}]'"


def run(job: Job, synthesizer: Synthesizer, options: Mapping[str, object]) -> Release:
    """Make a release, and check that it is one: columns and dtypes of ``job.train``, ``job.rows`` rows.

    Of the threads of one process one synthesizes at a time: foreign code draws from the generators of numpy and torch
    that the process has one of, and sets threads and variables of the environment for all of it.

    A synthesizer that reads its release from files (one with ``inputs``) may hold another number of rows, and
    categories may be added.

    Raises:
        InputError: The options are wrong, or what came back is no such release.
    """
    check_options(synthesizer, options)
    with one_thread():
        release = synthesizer.function(job, **options)
    _check_release(release, job, synthesizer)
    return release


def try_out(
    synthesizer: Synthesizer,
    options: Mapping[str, object],
    records: pd.DataFrame,
    places: tuple[int, int],
    form: FileForm,
) -> None:
    """Refuse options that cannot work on this table, before anything is computed.

    A synthesizer that only reads is run for each repetition and fold; our own are run on a few copies of the first
    record; foreign code is not run. What ``fits`` refuses is refused.

    Raises:
        InputError: An option is wrong, or a release is absent or does not fit.
    """
    if synthesizer.fits is not None:
        synthesizer.fits(records, **options)
    if synthesizer.trial == "all":
        for repetition, fold in product(*map(range, places)):
            job = Job(records, records.head(0), len(records), 0, repetition, fold, places[0] * places[1], form)
            run(job, synthesizer, options)
    elif synthesizer.trial == "few":
        few = records.take(np.zeros(_FEW, dtype=int)).reset_index(drop=True)
        run(Job(few, few, _FEW, 0), synthesizer, options)


def _check_release(release: object, job: Job, synthesizer: Synthesizer) -> None:
    name = synthesizer.name
    if not isinstance(release, Release) or not isinstance(release.synthetic, pd.DataFrame):
        raise InputError(f"{name} must return a Release with a DataFrame, got {type(release).__name__}")
    table, train = release.synthetic, job.train
    if list(table.columns) != list(train.columns):
        raise InputError(f"{name} must release the columns {list(train.columns)}, got {list(table.columns)}")
    if synthesizer.inputs is None and not synthesizer.any_size and len(table) != job.rows:
        raise InputError(f"{name} must release {job.rows} rows, got {len(table)}")
    for place, column in enumerate(train.columns):
        got, due = table.dtypes.iloc[place], train.dtypes.iloc[place]
        if not is_like(got, due):
            raise InputError(f"{name} must release column {column!r} as {due}, got {got}")
    if not table.index.equals(pd.RangeIndex(len(table))):
        raise InputError(f"{name} must release rows numbered from 0, got {type(table.index).__name__}")
    if release.links is not None:
        checked_links(f"links of {name}", release.links, len(table), len(train))


__all__ = ["Job", "Release", "Synthesizer", "check_options", "find_synthesizer", "run", "try_out"]
