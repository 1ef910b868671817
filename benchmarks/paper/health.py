"""Figure 4: RAPID against the strength of dependence, and against the threshold, on the simulated health records."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.paper.figures import lines_figure
from benchmarks.paper.match import in_parallel, rapid_of, release_of, table_of
from benchmarks.paper.page import Section
from benchmarks.paper.published import PUBLISHED, THRESHOLDS
from synthrisk.conf import load
from synthrisk.metrics import Score
from synthrisk.metrics.seeds import seed_of

SHOWN = (0, 1, 5, 10, 50, 100)
CURVES = (0, 5, 10, 20, 50)


class KappaPoint(NamedTuple):
    """One table, released and attacked."""

    rapid: float
    accuracy: float
    curve: tuple[float, ...]  # at THRESHOLDS


def attacked(kappa: float, repetition: int, rows: int) -> tuple[pd.DataFrame, Score]:
    """Draw a table, release it, attack it; return the table and the score."""
    root = load("paper_health")
    seed = seed_of(root.seed, repetition, f"kappa {kappa:g}")
    options = {"rows": rows, "kappa": kappa, "seed": seed}
    study = load("paper_health", [f"data.source.options.{k}={v}" for k, v in options.items()])
    study = study.model_copy(update={"seed": seed})
    table = table_of(study)
    return table, rapid_of(study, table, release_of(study, table, repetition), repetition)


def point(kappa: float, repetition: int, rows: int) -> KappaPoint:
    """Return the numbers of one table."""
    details = attacked(kappa, repetition, rows)[1]
    curve = tuple(details.details[f"curve_{t:.2f}"] for t in THRESHOLDS)
    return KappaPoint(details.value, details.details["accuracy"], curve)


def points(kappas: tuple[int, ...], repetitions: int, rows: int, jobs: int) -> dict[int, list[KappaPoint]]:
    """Return the numbers of all tables by kappa."""
    calls = [(kappa, repetition, rows) for kappa in kappas for repetition in range(repetitions)]
    found = in_parallel(point, calls, jobs)
    return {kappa: found[i * repetitions : (i + 1) * repetitions] for i, kappa in enumerate(kappas)}


def kappa(repetitions: int, rows: int, jobs: int, full: bool, kappas: tuple[int, ...] = SHOWN) -> Section:
    """Return Figure 4 a: RAPID and accuracy against kappa."""
    grid = tuple(range(101)) if full else kappas
    found = points(grid, repetitions, rows, jobs)
    ours = {name: np.array([[getattr(p, name) for p in found[k]] for k in grid]).T for name in ("rapid", "accuracy")}
    printed = {name: np.array(PUBLISHED["kappa"][name])[list(grid)] for name in ours}
    gaps = {name: ours[name].mean(axis=0) - printed[name] for name in ours}
    shown = [i for i, k in enumerate(grid) if k in kappas]
    table = pd.DataFrame(
        {
            "kappa": [grid[i] for i in shown],
            **{
                column: [float(v) for v in values[shown]]
                for name, word in (("rapid", "RAPID"), ("accuracy", "accuracy"))
                for column, values in (
                    (word, ours[name].mean(axis=0)),
                    (f"{word} sd", _sd(ours[name])),
                    (f"{word} paper", printed[name]),
                    (f"{word} difference", gaps[name]),
                )
            },
        }
    )
    parts: list[str | pd.DataFrame] = [
        f"Mean and standard deviation over {repetitions} tables of {rows:,} records a kappa; threshold 0.3, random "
        "forest.",
        table,
    ]
    if full:
        worst = int(np.abs(gaps["rapid"]).argmax())
        parts.append(
            f"All {len(grid)} values of kappa: RAPID differs from the paper by {gaps['rapid'].mean():+.3f} on average "
            f"and by {gaps['rapid'][worst]:+.3f} at most (kappa {grid[worst]}), accuracy by "
            f"{gaps['accuracy'].mean():+.3f} on average and {_largest(gaps['accuracy']):+.3f} at most."
        )
    figure = lines_figure(
        grid,
        {"RAPID (0.3)": ours["rapid"], "accuracy": ours["accuracy"]},
        grid[:: max(1, len(grid) // 34)],
        {n: v[:: max(1, len(grid) // 34)] for n, v in zip(("RAPID (0.3)", "accuracy"), printed.values(), strict=True)},
        ("kappa, strength of dependence", "share of records"),
    )
    deviation = max(float(np.abs(gap[shown]).max()) for gap in gaps.values())
    return Section("kappa", "Dependence (Figure 4 a)", parts, {"paper_kappa.png": figure}, deviation)


def thresholds(repetitions: int, rows: int, jobs: int, kappas: tuple[int, ...] = CURVES) -> Section:
    """Return Figure 4 b: RAPID against the threshold at five kappas."""
    found = points(kappas, repetitions, rows, jobs)
    ours = {f"kappa = {k}": np.array([p.curve for p in found[k]]) for k in kappas}
    printed = {f"kappa = {k}": np.array(PUBLISHED["thresholds"][str(k)]) for k in kappas}
    gaps = {name: ours[name].mean(axis=0) - printed[name] for name in ours}
    shown = [THRESHOLDS.index(t) for t in (0.05, 0.3, 0.5, 0.7, 0.9)]
    table = pd.DataFrame(
        [
            {"kappa": k, "": who, **{f"{THRESHOLDS[i]:.2f}": float(values[i]) for i in shown}}
            for k in kappas
            for who, values in (
                ("ours", ours[f"kappa = {k}"].mean(axis=0)),
                ("paper", printed[f"kappa = {k}"]),
                ("difference", gaps[f"kappa = {k}"]),
            )
        ]
    )
    parts = [f"RAPID at five of the 19 thresholds, mean over {repetitions} tables of {rows:,} records a kappa.", table]
    labels = ("threshold of the gain", "RAPID")
    figure = lines_figure(THRESHOLDS, ours, THRESHOLDS, printed, labels)
    deviation = max(float(np.abs(gap).max()) for gap in gaps.values())
    title = "Thresholds (Figure 4 b)"
    return Section("thresholds", title, parts, {"paper_thresholds.png": figure}, deviation)


def _sd(values: np.ndarray) -> np.ndarray:
    return values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1], np.nan)


def _largest(values: np.ndarray) -> float:
    return float(values[np.abs(values).argmax()])
