"""From the ledgers of one synthesizer to its findings: estimates with intervals, and who is most exposed."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from prefect import task

from synthrisk.conf.study import Bootstrap
from synthrisk.metrics import METRICS
from synthrisk.metrics.estimates import METHODS
from synthrisk.metrics.findings import Attacked, Finding, Interval, find, find_released, record_memorization
from synthrisk.metrics.ledger import Measure
from synthrisk.metrics.rapid import CURVE, threshold_curve
from synthrisk.tasks.failure import told_safely
from synthrisk.tasks.references import LedgerFolder, Sample
from synthrisk.tasks.store import key_of, write_file


@task(name="bootstrap", task_run_name="bootstrap {synthesizer}")
def bootstrap(
    synthesizer: str,
    role: str,
    ledgers: Sequence[LedgerFolder],
    measures: Sequence[Measure],
    sample: Sample,
    settings: Bootstrap,
    seed: int,
    workspace: str,
) -> tuple[list[Finding], str]:
    """Return the findings of one synthesizer, and the path of its table of exposed records."""
    interval = Interval(settings.confidence, settings.method, settings.resamples, seed)

    def found_and_exposed() -> tuple[list[Finding], str]:
        found, exposed = [], {}
        for measure, attacked in _attacked(ledgers, measures, sample):
            if isinstance(attacked, Attacked):
                found.append(find(synthesizer, role, measure, attacked, interval, METHODS))
                exposed[measure.key] = record_memorization(attacked)
            else:
                found.append(find_released(synthesizer, role, measure, attacked, interval))
        curves = _curves(ledgers, measures)
        found = [f.with_curve(curves.get(f.measure.key, ())) for f in found]
        path = Path(workspace) / "exposed" / f"{key_of(synthesizer, [each.path for each in ledgers])}.parquet"
        write_file(path, lambda draft: _exposed_table(exposed).to_parquet(draft, compression="zstd"))
        return found, str(path)

    return told_safely(Path(workspace), f"bootstrap-{synthesizer}", found_and_exposed)


def _attacked(
    ledgers: Sequence[LedgerFolder], measures: Sequence[Measure], sample: Sample
) -> Iterator[tuple[Measure, Attacked | np.ndarray]]:
    """Yield each measure with its scores on all releases, (R, K, n)."""
    places = [(each.cell.repetition, each.cell.fold) for each in ledgers]
    shape = (max(r for r, _ in places) + 1, max(f for _, f in places) + 1)
    values = {place: each.values() for place, each in zip(places, ledgers, strict=True)}
    entities = sample.entities()
    for measure in measures:
        metric = METRICS[measure.metric]
        details = {place: values[place][measure.key] for place in places}
        if metric.scores == "synthetic":
            released = np.full((3, *shape), np.nan)
            for place, found in details.items():
                released[:, *place] = found["value"], found["members"], found["controls"]
            yield measure, released
            continue
        cubes: dict[str, np.ndarray] = {}
        for place, each in zip(places, ledgers, strict=True):
            rows = each.of(measure, ("member", "score", *({metric.contribution} - {"score"})))
            for name in rows.columns:
                cubes.setdefault(name, np.full((*shape, len(rows)), np.nan))[place] = rows[name].to_numpy(
                    dtype=float, na_value=np.nan
                )
        guess = float(np.mean([found.get("guess", np.nan) for found in details.values()]))
        yield (
            measure,
            Attacked(
                cubes["score"],
                cubes["member"] == 1,
                cubes["member"] == 0,
                None if metric.contribution == "score" else cubes[metric.contribution],
                metric.transform,
                guess,
                entities,
            ),
        )


def _curves(ledgers: Sequence[LedgerFolder], measures: Sequence[Measure]) -> dict[str, tuple[float, ...]]:
    """Return, for measures with a gain, the mean over releases of the members' threshold curve."""
    curves = {}
    for measure in measures:
        if METRICS[measure.metric].scores == "synthetic":
            continue
        found = []
        for each in ledgers:
            rows = each.of(measure, ("member", "gain"))
            gains = rows.loc[rows["member"].fillna(False).astype(bool), "gain"].to_numpy(dtype=float)
            if not np.isnan(gains).all():
                found.append(threshold_curve(gains, CURVE))
        if found:
            curves[measure.key] = tuple(np.mean(found, axis=0))
    return curves


def _exposed_table(exposed: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]) -> pd.DataFrame:
    """Return one row a record and measure: mean score as member and as control, and memorization."""
    parts = [
        pd.DataFrame({"record": np.arange(len(m)), "measure": key, "as_member": a, "as_control": b, "memorization": m})
        for key, (a, b, m) in exposed.items()
    ]
    columns = ["record", "measure", "as_member", "as_control", "memorization"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
