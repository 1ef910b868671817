"""How long a study will take, tried on this machine with small samples, and how much of it there is time for."""

import math
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import pandas as pd

from synthrisk.conf.plan import plan
from synthrisk.conf.study import Study
from synthrisk.flows.execution.workers import begin
from synthrisk.flows.orchestration.progress import in_words
from synthrisk.flows.study_course import attacks_of
from synthrisk.tasks.attack import attack
from synthrisk.tasks.sample import sample
from synthrisk.tasks.synthesize.task import generators, synthesize
from synthrisk.tasks.workspace.folders import open_workspace
from synthrisk.tasks.workspace.store import draft_name

SIZES = (100, 400, 1600)  # the first one is not timed: it loads what is loaded once
_BEND = 0.1  # by which times grow faster than the number of records; measured on Adult up to 10,000
_START, _REST, _PER_RECORD = 12.0, 12.0, 0.0006  # seconds of the server, of report and log, and of intervals


@dataclass(frozen=True)
class Pilot:
    """How long all generators of a study take once, synthesized and attacked, on samples of its table."""

    sizes: Sequence[int]  # records
    seconds: Sequence[float]  # of one core, at each size

    def expected(self, study: Study, records: int) -> float:
        """Return the seconds that a study of so many records will take: a line through the samples, bent a little."""
        first, last = self.sizes[0], self.sizes[-1]
        slope = (self.seconds[-1] - self.seconds[0]) / (last - first) if last > first else self.seconds[0] / first
        once = self.seconds[0] + max(slope, 0.0) * (records - first) * max(records / last, 1.0) ** _BEND
        cells = study.split.repetitions * (study.split.folds or 1)
        generators = len(study.synthesizers) + len(study.references)
        return _START + _REST + _PER_RECORD * records * generators + once * cells / study.runner.workers


def pilot(study: Study, table: pd.DataFrame) -> Pilot:
    """Run the generators of a study on samples of its table, in a process such as its workers are.

    Of the reference generators one is run: they are attacked alike.

    Args:
        study: The study.
        table: Its table, read.
    """
    warm, *sizes = [n for n in SIZES if n < len(table)]
    parts = [table.sample(n, random_state=study.seed).reset_index(drop=True) for n in (warm, *sizes)]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=begin) as pool:
        seconds = [pool.submit(_timed, study, part).result() for part in parts]
    return Pilot(sizes, seconds[1:])


def _timed(study: Study, table: pd.DataFrame) -> float:
    """Return the seconds that one release of each generator takes."""
    data, seconds = study.data, 0.0
    with tempfile.TemporaryDirectory(prefix=draft_name(), dir=open_workspace(study.workspace)) as folder:
        cut = sample.fn(
            table,
            data.quasi_identifiers,
            data.sensitive,
            holdout=1 / (study.split.folds or 2),
            identifier=data.identifier,
            categorical=[name for name in data.categorical if name in table],
            workspace=folder,
            seed=study.seed,
        )
        planned = plan(study.metrics, cut.columns, data.quasi_identifiers, data.sensitive)
        attacks = attacks_of(study, cut, planned, generators(study))
        first = next((made_by for made_by, _ in attacks if made_by.role == "reference"), None)
        for made_by, measured in attacks:
            if made_by.role != "reference" or made_by == first:
                began = time.process_time()
                attack.fn(synthesize.fn(cut, made_by), measured)
                seconds += (time.process_time() - began) * (len(study.references) if made_by == first else 1)
    return seconds


_FEWEST = 1000  # records below which no sample is taken


@dataclass(frozen=True)
class Effort:
    """The work of a study."""

    folds: int
    repetitions: int
    seconds: float  # in which it shall be done


EFFORTS = {"quick": Effort(2, 3, 75), "usual": Effort(3, 3, 210), "thorough": Effort(5, 5, math.inf)}


def sized(study: Study, table: pd.DataFrame, effort: Effort) -> tuple[Study, str]:
    """Return the study with as many records as can be done in the time of an effort, and how long it will take.

    How long is tried out on samples; a table of few records is not, as it takes hardly longer than the start.
    """
    records = len(table)
    if records <= SIZES[1]:
        return study, "about a minute"
    tried = pilot(study, table)
    rows = records
    while rows > _FEWEST and tried.expected(study, rows) > effort.seconds:
        rows = max(_round(rows * 0.9), _FEWEST)
    time = in_words(tried.expected(study, rows))
    if rows == records:
        return study, time
    data = study.data.model_copy(update={"rows": rows})
    return study.model_copy(
        update={"data": data}
    ), f"{time} (all {records}: {in_words(tried.expected(study, records))})"


def _round(rows: float) -> int:
    """Return a number with two digits and zeros."""
    step = 10 ** (len(str(int(rows))) - 2)
    return int(rows // step * step)
