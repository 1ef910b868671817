"""MLflow's evaluator ``synthrisk``: a release is judged as ``synthrisk evaluate`` does, and logged to the active run.

mlflow.models.evaluate(
data=release,
model_type="synthetic table",
evaluators="synthrisk",
evaluator_config={"real": "real.csv", "control": "heldout.csv", "sensitive": "income", "limit": 0.05},
)
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from synthrisk.conf.secrets import mask
from synthrisk.flows.evaluate_settings import UNDERSTOOD, asked_text
from synthrisk.flows.execution.calls_and_retries import PlainCalls
from synthrisk.flows.study_course import judged_course
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.tasks.tracking.addresses import FIRST, RECORD

_LISTS = ("metrics", "quasi_identifiers", "sensitive", "categorical", "missing", "drop")
_OURS = {"limit": None, "limits": None, "references": "limited", "workspace": ".synthrisk", "seed": 1, "what_if": None}
_OURS |= {"limit_source": None}
_KNOWN = (*UNDERSTOOD, *_OURS)
NAME = "release"
"""What the release is called in tables, as in ``synthrisk evaluate``."""


class Evaluator:
    """What MLflow calls, by the entry point ``mlflow.model_evaluator``."""

    def can_evaluate(self, *, model_type: str | None = None, evaluator_config: Any = None, **_: Any) -> bool:
        """Tell whether it is asked: where it is told the real table."""
        return isinstance(evaluator_config, Mapping) and "real" in evaluator_config

    def evaluate(self, *, dataset: Any, run_id: str, evaluator_config: Mapping[str, Any], **_: Any) -> Any:
        """Judge ``dataset``, a release, and log it to a run; return MLflow's ``EvaluationResult``.

        ``evaluator_config`` has the arguments of the flow ``evaluate`` but for the release and where it is tracked:
        ``real`` and ``control`` are paths or data frames, ``limit`` is one number for all measures, and ``limits`` are
        single ones.

        Raises:
            InputError: An argument or a table breaks a rule.
        """
        from synthrisk.flows.cli.evaluate import asked_of
        from synthrisk.tasks.pages.templates import without_values
        from synthrisk.tasks.report import report
        from synthrisk.tasks.tracking.runs import log_into
        from synthrisk.tasks.workspace.folders import open_workspace
        from synthrisk.tasks.workspace.references import FRAME, FRAMES

        given = _checked(evaluator_config)
        folder = open_workspace(given["workspace"])
        with tempfile.TemporaryDirectory(prefix=FRAMES, dir=folder) as place:
            tables = {name: _path(given[name], name, Path(place)) for name in ("real", "control")}
            said = {name: given[name] for name in UNDERSTOOD} | tables
            others = {"synthetic": _path(dataset.features_data, "release", Path(place)), "experiment": "evaluate"}
            others |= {"tracking_uri": None} | {
                k: given[k] for k in ("what_if", "references", "workspace", "seed", "limit_source")
            }
            asked = asked_of(said, others, given["limit"], shows=False)
            judged = judged_course(asked.study, asked.sample, PlainCalls(), asked.warning, opens=False).judged
        arguments = {n: FRAME if FRAMES in str(each) else each for n, each in asked.arguments.items()}
        settings = asked_text(arguments)
        path = Path(report.fn(judged, settings))
        pages = {FIRST: path.with_name(RECORD).read_text("utf-8")}
        pages[path.name] = mask(without_values(path.read_text("utf-8")))
        return log_into(run_id, judged, NAME, pages, settings)


def _checked(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments of an evaluation, with defaults; names of columns and metrics as lists."""
    for name in config:
        if name not in _KNOWN:
            raise InputError(f"evaluator_config takes {', '.join(_KNOWN)}, got {name!r}{nearest(str(name), _KNOWN)}")
    given = dict.fromkeys(UNDERSTOOD) | _OURS | dict(config)
    for name in _LISTS:
        given[name] = [given[name]] if isinstance(given[name], str) else list(given[name] or [])
    given["thresholds"] = dict(given["thresholds"] or {}) | dict(given["limits"] or {})
    given["columns"] = dict(given["columns"] or {})
    return given


def _path(table: Any, name: str, folder: Path) -> str | None:
    """Return the path of a table; a frame is written to a private file for as long as it is judged."""
    if table is None or isinstance(table, str):
        return table
    if isinstance(table, Path):
        return str(table)
    if not isinstance(table, pd.DataFrame):
        raise InputError(f"{name} must be a path or a data frame, got {type(table).__name__}")
    from synthrisk.tasks.workspace.store import write_typed

    path = folder / f"{name}.parquet"
    write_typed(table, path)
    return str(path)
