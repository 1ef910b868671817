"""Adult: Table 2 and Figure 3 (income), the attacker models of the paper, and marital status as a second attribute."""

import numpy as np
import pandas as pd

from benchmarks.paper.figures import lines_figure
from benchmarks.paper.match import in_parallel, rapid_of, release_of, table_of
from benchmarks.paper.page import Section
from benchmarks.paper.published import PUBLISHED
from synthrisk.conf import Study, load
from synthrisk.metrics import Score
from synthrisk.metrics.intervals.proportions import share
from synthrisk.metrics.intervals.yardsticks import CURVE

INCOME, MARITAL = 0, 1
COMPARED = (0.0, 0.3, 0.5, 0.7, 0.9)


def study(rows: int | None) -> Study:
    """Return the study of all records, or of some."""
    return load("paper_adult", [f"data.rows={rows}"] if rows else [])


def attacked(
    rows: int | None, repetition: int, place: int, attackers: tuple[str, ...] = (), without: tuple[str, ...] = ()
) -> Score:
    """Return RAPID of one release of all records."""
    settings = study(rows)
    table = table_of(settings)
    return rapid_of(settings, table, release_of(settings, table, repetition), repetition, attackers, place, without)


def income(repetitions: int, rows: int | None, jobs: int) -> Section:
    """Return Table 2 and Figure 3 beside ours."""
    scores = in_parallel(attacked, [(rows, r, INCOME) for r in range(repetitions)], jobs)
    replicates, curves = _replicates(scores), _curves(scores)
    printed = pd.DataFrame(
        PUBLISHED["adult_replicates"], columns=["paper", "paper lower", "paper upper", "paper at risk"]
    )
    replicates = pd.concat([replicates, printed.head(repetitions)], axis=1).assign(
        **{"paper at risk": lambda t: t["paper at risk"].fillna(0).astype(int)}
    )
    paper = np.array(PUBLISHED["adult_curve"])[: len(CURVE)]
    gap = curves.mean(axis=0) - paper
    at = [int(np.flatnonzero(t == CURVE)[0]) for t in COMPARED]
    curve = pd.DataFrame(
        [
            {"": who, **{f"{CURVE[i]:.2f}": float(values[i]) for i in at}}
            for who, values in (("ours", curves.mean(axis=0)), ("paper", paper), ("difference", gap))
        ]
    )
    mean = replicates.RAPID.mean() - printed.paper.mean()
    parts = [
        f"{repetitions} releases of all {len(scores[0].records):,} records, random forest, threshold 0.3; intervals: "
        "bootstrap over records, 95 %. The releases are not the paper's, so rows do not pair off.",
        replicates,
        f"Mean {replicates.RAPID.mean():.3f}, in the paper {printed.paper.mean():.3f}, difference {mean:+.3f}; "
        f"accuracy {_mean(scores, 'accuracy'):.3f}, that of the commonest class {_mean(scores, 'accuracy_guess'):.3f}. "
        f"By true class: {_by_class(scores)}.",
        curve,
    ]
    lines = {"RAPID, income": curves}
    rings = {"RAPID, income": PUBLISHED["adult_curve"]}
    thresholds = np.round(np.arange(0, 1.001, 0.05), 2)
    figure = lines_figure(CURVE, lines, thresholds, rings, ("threshold of the gain", "RAPID"))
    deviation = max(abs(mean), float(np.abs(gap).max()))
    title = "Adult, income (Table 2, Figure 3)"
    return Section("adult", title, parts, {"paper_adult.png": figure}, deviation)


def attackers(repetitions: int, rows: int | None, jobs: int) -> Section:
    """Return the three attacker models that the paper names, and their envelope."""
    names = tuple(study(rows).metrics[0].attackers)
    scores = in_parallel(attacked, [(rows, r, INCOME, names) for r in range(repetitions)], jobs)
    each = {name: [s.details[f"value_{name}"] for s in scores] for name in names}
    together = {
        "mean over models": "rapid_mean",
        "largest value (the paper's RAPID_max)": "rapid_max",
        "envelope a record": "rapid_envelope",
    }
    lines = [*each.items(), *((title, [s.details[name] for s in scores]) for title, name in together.items())]
    table = pd.DataFrame([{"attacker model": n, "RAPID": float(np.mean(v)), "sd": _sd(v)} for n, v in lines])
    parts = [
        f"Income, {repetitions} releases of {len(scores[0].records):,} records, threshold 0.3. The paper names the "
        "three and prints no number of the last two. The envelope lets whoever gains most attack each record: a "
        "maximum that flatters the attacker.",
        table,
    ]
    return Section("attackers", "Adult, several attacker models", parts)


def marital(repetitions: int, rows: int | None, jobs: int) -> Section:
    """Return the second sensitive attribute, with and without the column that all but tells it."""
    rows_of = []
    for title, without in (("all other columns", ()), ("all but relationship", ("relationship",))):
        scores = in_parallel(attacked, [(rows, r, MARITAL, (), without) for r in range(repetitions)], jobs)
        line: dict[str, object] = {
            "attacker knows": title,
            "RAPID": _mean(scores, ""),
            "sd": _sd([s.value for s in scores]),
        }
        line |= {"accuracy": _mean(scores, "accuracy"), "of the commonest class": _mean(scores, "accuracy_guess")}
        rows_of.append(line | {f"at {t:.1f}": _mean(scores, f"curve_{t:.2f}") for t in COMPARED})
    parts = [
        f"Marital status (7 classes), {repetitions} releases of {len(scores[0].records):,} records, random forest, "
        "threshold 0.3. The paper has no such number: its marital status (accuracy 0.82) is that of EU-SILC.",
        pd.DataFrame(rows_of),
    ]
    return Section("marital", "Adult, marital status", parts)


def _replicates(scores: list[Score]) -> pd.DataFrame:
    lines = []
    for place, score in enumerate(scores):
        hits = score.records["score"].to_numpy()
        found = share(hits, 0.95, "bootstrap")
        lines.append((place + 1, found.value, found.lower, found.upper, int(hits.sum())))
    return pd.DataFrame(lines, columns=["replicate", "RAPID", "lower", "upper", "at risk"])


def _curves(scores: list[Score]) -> np.ndarray:
    return np.array([[s.details[f"curve_{t:.2f}"] for t in CURVE] for s in scores])


def _mean(scores: list[Score], name: str) -> float:
    return float(np.mean([s.details[name] if name else s.value for s in scores]))


def _sd(values: list[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def _by_class(scores: list[Score]) -> str:
    shares = pd.concat([s.records for s in scores]).groupby("truth")["score"].mean()
    return ", ".join(f"{name} {value:.3f}" for name, value in shares.items())
