"""Figure 5: which quasi-identifiers go with risk, on 50 simulated tables."""

import warnings
from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from benchmarks.paper.figures import COLOURS, INK, band, panels, rings
from benchmarks.paper.health import attacked
from benchmarks.paper.match import in_parallel
from benchmarks.paper.page import Section
from benchmarks.paper.published import PUBLISHED
from synthrisk.metrics.exposure.attribution import attribution as explained
from synthrisk.tasks.data.example_tables import EDUCATION, GENDER

KAPPA, TRIMMED = 10, 11.0
KNOWN = ["gender", "education", "age"]
AGES: list[int] = PUBLISHED["attribution"]["ages"]
PRINTED = {tuple(name.split()): np.array(v) for name, v in PUBLISHED["attribution"]["log_odds"].items()}


def drawn(repetition: int, rows: int) -> tuple[pd.DataFrame, ...]:
    """Return log-odds by gender, education and age; mean risk by level; tests and grids of the pairs, of one table."""
    table, score = attacked(KAPPA, repetition, rows)
    flags = score.records["at_risk"].to_numpy()
    found = explained(flags, table, KNOWN)
    return log_odds(flags, table), found.predictions, found.interactions, found.grids


def log_odds(flags: np.ndarray, table: pd.DataFrame) -> pd.DataFrame:
    """Return logit P(at risk) at three ages for each gender and education, of the model with all interactions.

    That model is one line in age a group of gender and education. A group without both kinds of records, whose line
    does not exist, is infinite.
    """
    lines = {}
    for group in PRINTED:
        mine = ((table["gender"] == group[0]) & (table["education"] == group[1])).to_numpy()
        if flags[mine].all() or not flags[mine].any():
            lines[group] = np.full(len(AGES), np.inf if mine.any() and flags[mine].all() else -np.inf)
            continue
        model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-8, max_iter=200)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit((table.loc[mine, ["age"]].to_numpy() - 45) / 10, flags[mine])
        lines[group] = model.intercept_[0] + model.coef_[0, 0] * (np.array(AGES) - 45) / 10
    return pd.DataFrame(lines, index=AGES)


def attribution(repetitions: int, rows: int, jobs: int) -> Section:
    """Return Figure 5 beside ours."""
    found = in_parallel(drawn, [(r, rows) for r in range(repetitions)], jobs)
    odds = np.array([one[0].to_numpy().T for one in found])  # tables, groups, ages
    risks, pairs, grids = (pd.concat([one[i].assign(table=r) for r, one in enumerate(found)]) for i in (1, 2, 3))
    middle = np.median(odds, axis=0)
    close = np.abs(middle - np.array(list(PRINTED.values())))
    is_low = np.array([education == "low" for _, education in PRINTED])
    parts = [
        f"Flags at kappa {KAPPA}, threshold 0.3, explained by gender, education and age, {repetitions} tables of "
        f"{rows:,} records. Predicted log-odds of being at risk, all interactions in the model, median over tables:",
        _odds_table(middle),
        f"Medium and high education lie within {close[~is_low].max():.1f} of the paper, and so does what it concludes: "
        "education drives risk, and age acts through it. Low education does not agree: the paper has log-odds from -7 "
        "at age 30 to +5 at age 70. No reading of the appendix that we tried gives that: with income and health in the "
        "model or without, known to the attacker or not.",
        "What `synthrisk.metrics.exposure.attribution` says of the same flags: mean predicted risk with everybody at a "
        "level,",
        _levels_table(risks),
        "and the pairs of columns:",
        _pairs_table(pairs, repetitions),
    ]
    figure = _figure(odds, risks, grids)
    return Section("attribution", "Attribution (Figure 5)", parts, {"paper_attribution.png": figure})


def _odds_table(middle: np.ndarray) -> pd.DataFrame:
    rows = []
    for ours, ((gender, education), paper) in zip(middle, PRINTED.items(), strict=True):
        each = {
            f"age {a} {who}": f"{v[i]:+.1f}"
            for i, a in enumerate(AGES)
            for who, v in (("ours", ours), ("paper", paper))
        }
        rows.append({"gender": gender, "education": education, **each})
    return pd.DataFrame(rows)


def _levels_table(risks: pd.DataFrame) -> pd.DataFrame:
    levels = risks[risks["kind"] == "categorical"].groupby(["column", "level"])["risk"]
    quartiles = levels.quantile([0.25, 0.5, 0.75]).unstack().reset_index()
    return quartiles.set_axis(["column", "level", "lower quartile", "median over tables", "upper quartile"], axis=1)


def _pairs_table(pairs: pd.DataFrame, repetitions: int) -> pd.DataFrame:
    each = pairs.groupby(["first", "second"])
    shares = each["p_holm"].agg(lambda p: float((p < 0.05).sum() / repetitions))
    table = pd.DataFrame(
        {"share of tables with p < 0.05 (Holm)": shares, "median chi-square": each["statistic"].median()}
    )
    return table.sort_values("median chi-square", ascending=False).reset_index()


def _figure(odds: np.ndarray, risks: pd.DataFrame, grids: pd.DataFrame) -> Figure:
    figure, axes = panels(2, 3, 8.4, 5.6)
    for place, (column, names) in enumerate((("gender", GENDER), ("education", EDUCATION))):
        mine = risks[risks["column"] == column]
        _boxes(axes[0, place], [mine.loc[mine["level"] == n, "risk"].to_numpy() for n in names], range(len(names)), 0.5)
        axes[0, place].set_xticks(range(len(names)), names)
        axes[0, place].set_title(column.capitalize(), loc="left", fontsize=9.5)
    ages = np.arange(25.0, 71.0)
    crossed = grids[(grids["first"] == "age") & (grids["second"] == "education")]
    for colour, name in zip(COLOURS[2:], EDUCATION, strict=False):
        lines = crossed[crossed["second_level"] == name].groupby("table")
        curves = [np.interp(ages, line["first_value"], line["risk"]) for _, line in lines]
        band(axes[0, 2], ages.tolist(), np.array(curves), colour, name)
    axes[0, 2].set_title("Age, by education", loc="left", fontsize=9.5)
    axes[0, 2].legend(frameon=False, fontsize=8, loc="lower left")
    for one in axes[0]:
        one.set_ylim(0.4, 1.02)
    axes[0, 0].set_ylabel("predicted risk")
    axes[1, 0].set_ylabel("predicted log-odds")
    for i, age in enumerate(AGES):
        for g, gender in enumerate(GENDER):
            shift = 0.2 * (2 * g - 1)
            mine = [k for k, group in enumerate(PRINTED) if group[0] == gender]
            _boxes(axes[1, i], [odds[:, k, i] for k in mine], np.arange(3) + shift, 0.34, COLOURS[g])
            rings(
                axes[1, i], (np.arange(3) + shift).tolist(), [v[i] for k, v in PRINTED.items() if k[0] == gender], INK
            )
        axes[1, i].set_title(f"Education at age {age}", loc="left", fontsize=9.5)
        axes[1, i].set_xticks(range(3), EDUCATION)
        axes[1, i].set_ylim(-TRIMMED, TRIMMED)
    for g, gender in enumerate(GENDER):
        axes[1, 0].plot([], [], color=COLOURS[g], linewidth=5, alpha=0.45, label=gender)
    rings(axes[1, 0], [], [], INK, "the paper (median)")
    axes[1, 0].legend(frameon=False, fontsize=8, loc="lower right")
    return figure


def _boxes(
    axes: Axes, values: list[np.ndarray], places: Iterable[float], width: float, colour: str = COLOURS[0]
) -> None:
    """Draw Tukey's boxes without the far points; what lies beyond the axes is put at their ends."""
    drawn = axes.boxplot(
        [np.clip(v, -TRIMMED - 1, TRIMMED + 1) for v in values],
        positions=list(places),
        widths=width,
        showfliers=False,
        patch_artist=True,
        manage_ticks=False,
    )
    for box in drawn["boxes"]:
        box.set(facecolor=colour, alpha=0.45, edgecolor=INK, linewidth=0.8)
    for name in ("medians", "whiskers", "caps"):
        for line in drawn[name]:
            line.set(color=INK, linewidth=1.4 if name == "medians" else 0.8)
