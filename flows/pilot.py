"""How long a study will take on this machine: each generator is made and attacked once, on small samples."""

import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import pandas as pd

from synthrisk.conf.plan import plan
from synthrisk.conf.study import Study
from synthrisk.flows.attacks import attacks_of
from synthrisk.flows.workers import begin
from synthrisk.tasks.attack import attack
from synthrisk.tasks.sample import sample
from synthrisk.tasks.synthesize.generators import generators
from synthrisk.tasks.synthesize.task import synthesize
from synthrisk.tasks.workspace.kept import open_workspace
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
