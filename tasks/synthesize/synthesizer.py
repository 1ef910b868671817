"""What a synthesizer is: a function from a training table to a release, with its facts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from synthrisk.conf.tables import FileForm
from synthrisk.metrics.plugins import Answer
from synthrisk.metrics.release.columns import Problem
from synthrisk.metrics.tables.tables import ValueSets


@dataclass(frozen=True, eq=False)
class Job:
    """What a synthesizer is given for one release.

    Attributes:
        train: The members: the records to learn from, with a RangeIndex.
        held_out: The records that it must not learn from; only reference generators look at them.
        rows: Rows to release.
        seed: Seed of everything that is drawn.
        repetition: Number of the repetition, from 0.
        fold: Number of the fold, from 0.
        releases: Releases of the study.
        form: How the table is written in files.
        held_out_entities: Number of each held-out record's entity; None where each is its own. Only
            reference generators look.
        unattacked: The members' identifier and the columns that the study leaves out, as texts, for those who ask for
            them (``Synthesizer.unattacked``).
    """

    train: pd.DataFrame
    held_out: pd.DataFrame
    rows: int
    seed: int
    repetition: int = 0
    fold: int = 0
    releases: int = 1
    form: FileForm = field(default_factory=FileForm)
    held_out_entities: np.ndarray | None = None
    unattacked: pd.DataFrame | None = None


@dataclass(frozen=True, eq=False)
class Release:
    """A synthetic table, and which held-out records went into it.

    Attributes:
        synthetic: The release.
        used: Positions in ``held_out`` of the records that the release was drawn from. They are neither
            members nor control records. Empty for every real synthesizer.
        beside: Released columns that nothing attacks, as texts (``conform.apart``): those that the study leaves out,
            and those that the real table does not have. It is looked at whose values they hold.
        told: What had to be done to read it as the real table is read, for the notes on the release.
        sets: The sets of values that cells of it stand for.
        links: The training record that each row was made from, (m,) positions in ``Job.train``, -1 for a row made from
            none; None where that is not known. No attack sees it; ``hidden_rate`` is taken of it.
    """

    synthetic: pd.DataFrame
    used: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    beside: pd.DataFrame = field(default_factory=pd.DataFrame)
    told: tuple[Problem, ...] = ()
    sets: ValueSets = field(default_factory=ValueSets)
    links: np.ndarray | None = None


def side_by_side(columns: Iterable[pd.Series], names: pd.Index, rows: int) -> pd.DataFrame:
    """Return a table of columns whose rows are numbered from 0, under names of which some may be equal."""
    table = pd.DataFrame(dict(enumerate(columns)), index=pd.RangeIndex(rows), copy=False)
    table.columns = names
    return table


@dataclass(frozen=True)
class Synthesizer:
    """A kind of synthesizer.

    Attributes:
        name: Name in the register.
        function: ``function(job, **options) -> Release``; the options are keyword-only and have defaults,
            or none where they must be given.
        extra: The extra of synthrisk that it needs, or None.
        modules: What is imported of that extra, where it is not called as the extra is.
        packages: Distributions whose versions change what it draws.
        inputs: ``inputs(options, repetition, fold)``: paths of files that it reads, so that their content
            becomes part of the release's key.
        located: ``located(path, folder)``: an option that is a path (``path``, ``links``) with what is relative in it
            begun in ``folder``, for workers that run elsewhere.
        check: ``check(**options)`` refuses values that are wrong on any table.
        fits: ``fits(records, **options)`` refuses values that are wrong on this table, without running anything.
        trial: How it is tried on the study's table before anything is computed: on a few equal records, for
            all releases (one that only reads), or not at all (foreign code).
        any_size: Whether it may release another number of rows than it is asked for.
        answer: Of a reference generator: what is known of its releases (``metrics.study.answer.Answer``).
        leaked: Of one that leaks: ``leaked(**options)``, the share of training rows in its releases.
        dose: Of one that leaks: ``dose(**options)``, how much it leaks in the unit that its docstring names; 0 leaks
            nothing.
        epsilon: Of one with a promise of differential privacy: ``epsilon(**options)``, its bound on the privacy loss.
        unattacked: Whether it releases columns that the study leaves out, and cannot run where there are none.
    """

    name: str
    function: Callable[..., Release]
    extra: str | None = None
    packages: tuple[str, ...] = ("numpy", "pandas", "scikit-learn")
    inputs: Callable[[dict[str, object], int, int], list[str]] | None = None
    located: Callable[[str, Path], str] | None = None
    check: Callable[..., object] | None = None
    trial: Literal["few", "all", "none"] = "none"
    any_size: bool = False
    answer: Answer | None = None
    leaked: Callable[..., float] | None = None
    dose: Callable[..., float] | None = None
    unattacked: bool = False
    modules: tuple[str, ...] = ()
    fits: Callable[..., object] | None = None
    epsilon: Callable[..., float] | None = None
