"""Match mode without a flow: the synthesizer is fitted on all records, and all of them are attacked."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from joblib import Parallel, delayed

from synthrisk.conf import Study
from synthrisk.metrics import METRICS, Score
from synthrisk.metrics.seeds import seed_of
from synthrisk.tasks.data import read, typed
from synthrisk.tasks.synthesize import Job, find_synthesizer, run


def table_of(study: Study) -> pd.DataFrame:
    """Return the study's real table, typed as a study types it."""
    return typed(read(study.data.source, study.data.missing), study.data, study.split, study.seed)


def release_of(study: Study, table: pd.DataFrame, repetition: int, place: int = 0) -> pd.DataFrame:
    """Return a release of the whole table by the study's synthesizer at ``place``."""
    choice = study.synthesizers[place]
    seed = seed_of(study.seed, repetition, choice.name)
    job = Job(table, table.head(0), len(table), seed, repetition, form=study.data.form)
    return run(job, find_synthesizer(choice.kind), choice.options).synthetic


def rapid_of(
    study: Study,
    table: pd.DataFrame,
    release: pd.DataFrame,
    repetition: int,
    attackers: Sequence[str] = (),
    place: int = 0,
    without: Sequence[str] = (),
) -> Score:
    """Return RAPID of a release by the study's settings.

    Args:
        study: Whose metric, roles and seed are used.
        table: The real records.
        release: The synthetic ones.
        repetition: Number of the release, for the seed.
        attackers: Attacker models in one envelope; the first of the study unless given.
        place: Which of the study's sensitive attributes is guessed.
        without: Quasi-identifiers that the attacker does not know.
    """
    choice, hidden = study.metrics[0], study.data.sensitive[place]
    known = table.columns if study.data.quasi_identifiers == "*" else study.data.quasi_identifiers
    names = list(attackers) or choice.attackers[:1]
    return METRICS["rapid"](
        table,
        release,
        quasi_identifiers=[c for c in known if c != hidden and c not in without],
        sensitive=hidden,
        attacker=names[0] if len(names) == 1 else names,
        seed=seed_of(study.seed, repetition, "attack", hidden),
        **choice.options,
    )


def in_parallel(function: Any, calls: Sequence[tuple[Any, ...]], jobs: int) -> list[Any]:
    """Return ``function(*call)`` for each call, in order."""
    return list(Parallel(jobs)(delayed(function)(*call) for call in calls))
