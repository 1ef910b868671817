"""What a grid of studies says of the measures, written: every look, the digest that ships, tables and a heat map."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from synthrisk.conf.grid import LEFT_OUT, WORDS, Grid
from synthrisk.metrics.digest import Digest, read, text_of
from synthrisk.metrics.study.atlas import Look, answers
from synthrisk.tasks.pages.atlas import draw_heat_map, overview, tables
from synthrisk.tasks.workspace.store import versions

LOOKS, DIGEST, FIGURE = "looks.csv", "atlas.json", "atlas.png"
OVERVIEW, TABLES = "atlas.md", "atlas_tables.md"
Shapes = Mapping[str, Mapping[str, float]]
_PACKAGES = ("synthrisk", "numpy", "pandas", "scikit-learn", "scipy")


def write_atlas(looks: Sequence[Look], grid: Grid, shapes: Shapes, to: Path) -> list[Path]:
    """Write all that a grid says to a folder; return what was written.

    ``shapes``: what each of its tables looks like (``shape_of``).
    """
    to.mkdir(parents=True, exist_ok=True)
    with (to / LOOKS).open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([f.name for f in fields(Look)])
        table.writerows(astuple(look) for look in looks)
    text = text_of(digest_of(looks, grid, shapes))
    (to / DIGEST).write_text(text, "utf-8")
    digest = read(text)  # the tables show the numbers that ship
    (to / OVERVIEW).write_text(overview(digest), "utf-8")
    (to / TABLES).write_text(tables(digest), "utf-8")
    draw_heat_map(digest, to / FIGURE)
    return [to / name for name in (LOOKS, DIGEST, OVERVIEW, TABLES, FIGURE)]


def digest_of(looks: Sequence[Look], grid: Grid, shapes: Shapes) -> Digest:
    """Return the digest of a grid, with what was run."""
    leaks = {
        leak: {"words": WORDS[leak], "doses": sorted({x.dose for x in looks if x.leak == leak})} for leak in grid.leaks
    }
    ran = {
        "name": grid.name,
        "tables": {t.name: t.words for t in grid.tables},
        "shapes": dict(shapes),
        "studies": grid.studies,
        "rows": grid.rows,
        "folds": grid.folds,
        "repetitions": grid.repetitions,
        "nothing": grid.nothing,
        "leaks": leaks,
        "left_out": list(LEFT_OUT),
        "versions": versions(_PACKAGES),
    }
    return Digest(ran, answers(looks))
