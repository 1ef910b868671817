"""Synthesizers: how they are found, how their options are checked, and how one is run.

A synthesizer is a function of a ``Job`` behind the entry-point group ``synthrisk.synthesizers``. Adding one:
one file here (or in a package of your own), one line in that group, its test.
"""

import inspect
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from itertools import product

import numpy as np
import pandas as pd

from synthrisk.conf.tables import FileForm, check_option_names, loaded
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.models.threads import one_thread
from synthrisk.metrics.plugins import SYNTHESIZER_GROUP
from synthrisk.metrics.tables.entities import checked_links
from synthrisk.tasks.synthesize.conform import is_like
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer

_FEW = 4


def find_synthesizer(name: str) -> Synthesizer:
    """Return the synthesizer of that name.

    Raises:
        InputError: None is called so, or the package that offers it cannot be imported.
    """
    found, _ = loaded(SYNTHESIZER_GROUP, name, "synthesizer", "known")
    if not isinstance(found, Synthesizer):
        raise InputError(f"synthesizer {name!r} must be a Synthesizer, got {type(found).__name__}")
    return found


def check_options(synthesizer: Synthesizer, options: Mapping[str, object]) -> None:
    """Check, without running it, that a synthesizer takes these options and that its extra is installed.

    Raises:
        InputError: An option is unknown or absent, or the extra is not installed.
    """
    name, takes = synthesizer.name, list(inspect.signature(synthesizer.function).parameters.values())[1:]
    check_option_names(name, options, takes, [inspect.Parameter.KEYWORD_ONLY])
    needed = synthesizer.modules or (synthesizer.extra,)
    if synthesizer.extra and not all(find_spec(module) for module in needed if module):
        extra = synthesizer.extra
        raise InputError(f"{name} needs the extra {extra!r}, which is not installed: pip install 'synthrisk[{extra}]'")
    if synthesizer.check is not None:
        synthesizer.check(**options)


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
    members: Callable[[int, int], pd.DataFrame],
    form: FileForm,
) -> None:
    """Refuse options that cannot work on this table, before anything is computed.

    A synthesizer that only reads is run for each repetition and fold, beside its ``members``; our own are run on a few
    copies of the first record; foreign code is not run. What ``fits`` refuses is refused.

    Raises:
        InputError: An option is wrong, or a release is absent or does not fit.
    """
    if synthesizer.fits is not None:
        synthesizer.fits(records, **options)
    if synthesizer.trial == "all":
        for repetition, fold in product(*map(range, places)):
            train = members(repetition, fold)
            job = Job(train, train.head(0), len(train), 0, repetition, fold, places[0] * places[1], form)
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
