"""A study in this process, without a server or workers: the functions of the flow, called one after the other."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.conf import Study, load
from synthrisk.conf.plan import plan
from synthrisk.flows.study_course import attacks_of
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.verdicts.limits import check_limits
from synthrisk.metrics.verdicts.quantities import GROUPS, QUANTITIES
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.tasks.attack import attack
from synthrisk.tasks.bootstrap import bootstrap
from synthrisk.tasks.compare import compare
from synthrisk.tasks.data.types import typed
from synthrisk.tasks.judge import judge
from synthrisk.tasks.sample import split
from synthrisk.tasks.synthesize.task import generators, synthesize
from synthrisk.tasks.workspace.failures import CellError
from synthrisk.tasks.workspace.folders import open_workspace
from synthrisk.tasks.workspace.references import Cut, Estimated, Sample, store
from synthrisk.tasks.workspace.store import save_array, write_file


def studied(settings: Mapping[str, Any], frame: pd.DataFrame, workspace: Path) -> StudyResult:
    """Run a benchmark study of a table that is at hand, and return what it says; nothing is tracked.

    Args:
        settings: The study, as a mapping; ``data.source`` is not read.
        frame: The real table.
        workspace: Folder of releases and ledgers.
    """
    study = load(settings)
    folder = str(open_workspace(workspace))
    table = store(typed(frame, study.data, study.split, study.seed), Path(folder))
    cut = split.fn(table, study.split, study.data.identifier, folder, study.seed)
    return _concluded(study, Sample.of(study.data, table, cut, folder, study.seed))


def estimated(study: Study, sample: Sample, seconds: dict[str, float] | None = None) -> Estimated:
    """Return what a study finds on its table, before it is judged; ``seconds`` gets what each generator took."""
    planned = plan(study.metrics, sample.columns, study.data.quasi_identifiers, study.data.sensitive)
    check_limits(list(study.thresholds), [p.measure for p in planned])
    attacks = attacks_of(study, sample, planned, generators(study))
    places = list(product(range(sample.cut.repetitions), range(sample.cut.releases)))
    found, failures = [], {}
    for each, measured in attacks:
        began = process_time()
        try:
            ledgers = [attack.fn(synthesize.fn(sample, each, *place), measured) for place in places]
            found.append(bootstrap.fn(ledgers, study.bootstrap))
        except (InputError, CellError) as error:  # a failed cell fails its generator, as in a study
            failures[each.name] = str(error)
        if seconds is not None:
            seconds[each.name] = process_time() - began
    ran, power = [each for each, _ in attacks], study.power is not None
    return compare.fn(found, sample, ran, study.bootstrap, power=power, failures=failures)


def _concluded(study: Study, sample: Sample) -> StudyResult:
    found = estimated(study, sample)
    return judge.fn(found, study.thresholds, name=study.name, weakest=study.weakest).result


def evaluated(
    settings: Mapping[str, Any], members: pd.DataFrame, control: pd.DataFrame | None, workspace: Path
) -> StudyResult:
    """Run an evaluation of a release: a study of ``flows.one_release`` as a mapping, its records at hand."""
    from synthrisk.flows.evaluate_settings import with_fresh

    study = load(settings)
    folder = str(open_workspace(workspace))
    frame = members if control is None else pd.concat([members, control], ignore_index=True)
    table = store(typed(frame, study.data, study.split, study.seed), Path(folder))
    parts = np.where(np.arange(len(frame)) < len(members), -1, 0).astype(np.int16)[None, :]
    path = write_file(Path(folder) / "split" / "given.npy", lambda draft: save_array(parts, draft))
    sample = Sample.of(study.data, table, Cut(str(path), "given", 1, 1, float("nan")), folder, study.seed)
    return _concluded(with_fresh(study, sample), sample)


def limits_of(result: StudyResult, quantities: Iterable[str] = QUANTITIES) -> list[str]:
    """Return every limit on some quantities that may be set on a measure of the study."""
    found = []
    for measure in dict.fromkeys(f.measure for f in result.findings):
        for quantity in quantities:
            for group in ("", *GROUPS):
                name = f"{quantity}/{measure.key}" + (f"@{group}" if group else "")
                with suppress(InputError):
                    check_limits([name], [measure])
                    found.append(name)
    return found
