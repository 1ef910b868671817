"""The run of one synthesizer or reference generator: tags, params and metrics."""

import time
from collections.abc import Sequence

import numpy as np
from mlflow import MlflowClient
from mlflow.entities import Metric, Param

from synthrisk.metrics.intervals.gain import CURVE
from synthrisk.metrics.intervals.pooled_rates import RATE
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.result_tables import limits_table, with_limits
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.utility import Usefulness
from synthrisk.tasks.tracking.dataset import log_dataset
from synthrisk.tasks.tracking.keys import metric_key, verdict_tag
from synthrisk.tasks.tracking.tags import shared_tags
from synthrisk.tasks.workspace.references import Table

_BATCH = 1000


def open_run(client: MlflowClient, experiment: str, result: StudyResult, name: str, table: Table) -> str:
    """Start the run of one generator, with its tags and params; return its id."""
    settings, keys = result.settings[name], {f.measure.key for f in result.findings}
    released = {each: summary.status for each, summary in result.releases.items()}
    own = {"answer": result.answers, "failure": result.failures, "release": released}
    tags = {
        "role": settings["role"],
        "synthesizer": name,
        "kind": settings["kind"],
        "verdict": result.verdict(name) or "none",
        **{tag: told[name] for tag, told in own.items() if name in told},
        **{verdict_tag(v, keys): v.word for v in result.verdicts if v.synthesizer == name},
        **shared_tags(result),
    }
    run_id = str(client.create_run(experiment, run_name=name, tags=tags).info.run_id)
    log_dataset(client, run_id, table)
    options = {k: v for k, v in settings.items() if k not in ("role", "kind")}
    # few: the compare page draws the first three that differ
    params = {"synthesizer": name, **(options if settings["role"] == "synthesizer" else {})}
    client.log_batch(run_id, params=[Param(k, v) for k, v in params.items()])
    return run_id


def log_numbers(
    client: MlflowClient, run_id: str, findings: Sequence[Finding], useful: Sequence[Usefulness] = ()
) -> None:
    """Write what was found of one generator as metrics."""
    metrics = [m for f in findings for m in _metrics(f)]
    for f in useful:
        metrics += _logged(f.measure.key, [("utility", 0, f.value.value), ("utility_ceiling", 0, f.ceiling.value)])
    for start in range(0, len(metrics), _BATCH):
        client.log_batch(run_id, metrics=metrics[start : start + _BATCH])


def _metrics(f: Finding) -> list[Metric]:
    single = {
        **with_limits("memorization", f.memorization),
        **with_limits("risk", f.risk),
        "risk_control": f.risk_control.value,
        "risk_gain": f.risk_gain.value,
        "risk_population": f.population.value,
        "tpr": f.tpr[RATE].value if RATE in f.tpr else float("nan"),
        "epsilon": float("nan") if f.epsilon is None else f.epsilon.epsilon,
    }
    steps = [("risk_curve", round(100 * t), e.value) for t, e in zip(CURVE, f.curve, strict=False)]
    steps += [("risk_release", step, v) for step, v in enumerate(f.release_risk)]
    return _logged(f.measure.key, [(q, 0, v) for q, v in single.items()] + steps)


def limited_metrics(result: StudyResult, name: str) -> list[Metric]:
    """Return what a generator reaches in the limited quantities that ``_metrics`` does not hold."""
    rows = limits_table(result)
    entries: list[Metric] = []
    for row in rows[rows["synthesizer"] == name].to_dict("records") if len(rows) else []:
        quantity = "_".join(filter(None, (row["quantity"], row["group"])))
        if quantity not in ("risk", "risk_control", "risk_gain", "memorization"):
            values = [] if quantity == "tpr" else [(quantity, 0, row["value"])]  # which is logged of all
            values += [(f"{quantity}_lower", 0, row["lower"]), (f"{quantity}_upper", 0, row["upper"])]
            entries += _logged(row["measure"], values)
    return entries


def _logged(measure: str, entries: Sequence[tuple[str, int, float]]) -> list[Metric]:
    now = int(time.time() * 1000)
    return [Metric(metric_key(q, measure), float(v), now, int(s)) for q, s, v in entries if np.isfinite(v)]
