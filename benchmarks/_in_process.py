"""A study in this process, without a server or workers: the functions of the flow, called one after the other."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, patch

import numpy as np
import pandas as pd
from prefect.states import Completed, Failed, State

from synthrisk.conf import load
from synthrisk.conf.plan import plan
from synthrisk.flows import study as course
from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.quantities import GROUPS, QUANTITIES
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.split import split_table
from synthrisk.metrics.study.utility import Usefulness
from synthrisk.metrics.study.verdicts import check_limits
from synthrisk.tasks.data.table import store
from synthrisk.tasks.data.typed import typed
from synthrisk.tasks.workspace.references import Cut, Sample
from synthrisk.tasks.workspace.store import open_workspace, save_array, write_file


@dataclass
class _Done:
    """What a task ended in, as a future."""

    value: Any
    state: State[Any]

    def wait(self) -> None:
        """Do nothing: it is done."""

    def result(self, raise_on_failure: bool = True) -> Any:
        """Return the value, or raise it where it is an error."""
        if raise_on_failure and isinstance(self.value, Exception):
            raise self.value
        return self.value


class _Here:
    """A task runner that runs at once."""

    def submit(self, task: Any, parameters: Mapping[str, Any]) -> _Done:
        """Run a task."""
        given = {k: v.result(raise_on_failure=False) if isinstance(v, _Done) else v for k, v in parameters.items()}
        broken = next((v for v in given.values() if isinstance(v, Exception)), None)
        try:
            if broken:
                raise broken
            return _Done(task.fn(**given), Completed())
        except Exception as error:  # noqa: BLE001 - a failed cell fails its synthesizer, as in a study
            return _Done(error, Failed())


def studied(settings: Mapping[str, Any], frame: pd.DataFrame, workspace: Path) -> StudyResult:
    """Run a benchmark study of a table that is at hand, and return what it says; nothing is tracked.

    Args:
        settings: The study, as a mapping; ``data.source`` is not read.
        frame: The real table.
        workspace: Folder of releases and ledgers.
    """
    study = load(settings)
    folder = open_workspace(workspace)
    table = store(typed(frame, study.data, study.split, study.seed), folder)
    identifier = study.data.identifier
    records = table.read() if identifier is None else table.read().drop(columns=identifier)
    entities = None if identifier is None else table.read()[identifier]
    parts = split_table(records, study.split, entities, study.seed)
    path = write_file(folder / "split" / f"{study.seed}.npy", lambda draft: save_array(parts, draft))
    digest = f"{study.seed}-{study.split.model_dump_json()}"
    cut = Cut(str(path), digest, study.split.repetitions, study.split.releases, float("nan"))
    return _concluded(study, Sample(table, cut, identifier), folder)


def _concluded(study: Any, sample: Sample, folder: Path) -> StudyResult:
    columns = [c for c in sample.table.columns if c != sample.identifier]
    planned, runner, place = plan(study, columns), _Here(), str(folder)
    course.check_limits(list(study.thresholds), [p.measure for p in planned])
    silent: Callable[..., Any] = MagicMock()
    with patch.object(course, "progress", silent), patch.object(course, "get_run_logger", silent):
        ledgers, failures = course.attack_all(runner, study, sample, planned, place)  # type: ignore[arg-type]
        found, kept = course.bootstrap_all(runner, study, sample, planned, ledgers, failures, place)  # type: ignore[arg-type]
    risky = [f for f in found if isinstance(f, Finding)]
    risks = [p for p in planned if not METRICS[p.measure.metric].is_utility]
    compared = course.compare_all(runner, study, sample, risks, risky, kept, place)  # type: ignore[arg-type]
    useful = [f for f in found if isinstance(f, Usefulness)]
    looked = course.looked_at(ledgers)
    return course.conclude(study, sample, compared, useful, failures, datetime.now(UTC), "here", looked)


def evaluated(
    settings: Mapping[str, Any], members: pd.DataFrame, control: pd.DataFrame | None, workspace: Path
) -> StudyResult:
    """Run an evaluation of a release: the study of ``flows.evaluate.study_of`` as a mapping, its records at hand."""
    from synthrisk.flows.evaluate import with_fresh

    study = load(settings)
    folder = open_workspace(workspace)
    frame = members if control is None else pd.concat([members, control], ignore_index=True)
    table = store(typed(frame, study.data, study.split, study.seed), folder)
    parts = np.where(np.arange(len(frame)) < len(members), -1, 0).astype(np.int16)[None, :]
    path = write_file(folder / "split" / "given.npy", lambda draft: save_array(parts, draft))
    sample = Sample(table, Cut(str(path), "given", 1, 1, float("nan")), study.data.identifier)
    return _concluded(with_fresh(study, sample), sample, folder)


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
