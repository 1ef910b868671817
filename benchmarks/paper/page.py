"""docs/paper.md: one section a subcommand, between markers, so that each can be made again on its own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

DOCS = Path(__file__).parents[2] / "docs"
TOLERANCE = 0.03
HEAD = """\
# The RAPID paper, made again

For reviewers of `rapid`: does it give the numbers of its paper?

The paper is Templ, Thees and Mueller, "RAPID: Risk of Attribute Prediction-Induced Disclosure in Synthetic Microdata".
Its numbers are those of its Table 2, its text, and its figures (in the R package, `assets/` at de6ee65, read off to
0.001). As in the paper, the synthesizer is fitted on all records and all of them are attacked. A value so holds both
memorization and what can be told of anybody; a study (`synthrisk benchmark paper_health`) takes them apart. Each
section is written by the command above it, from `conf/paper_*.yaml`. Four choices matter:

* `stopping: rpart` of `cart`. With `cart` as it is by default, RAPID at threshold 0.3 is 0.00 to 0.03 higher, still
  within 0.03 of the paper, but at 0.9 and above up to 0.06 too high: its leaves are purer.
* The standard deviation of age: the appendix prints 12, our table has 15. The figure hardly tells them apart.
* The order in which trees see levels. R numbers them by name; here the commonest of the release leads, so that no
  renaming moves a number. That changes values by up to .007.
* scikit-learn's forest for ranger's. It matters with few or coarse quasi-identifiers alone: last section.
"""
ORDER = ("kappa", "thresholds", "attribution", "adult", "attackers", "marital", "example")


@dataclass(frozen=True)
class Section:
    """What a subcommand found.

    Attributes:
        name: The subcommand.
        title: Heading.
        parts: Paragraphs and tables, in order.
        figures: Pictures by file name, below them.
        deviation: Largest distance to the paper's numbers that the tolerance holds for; None where it prints none.
    """

    name: str
    title: str
    parts: Sequence[str | pd.DataFrame]
    figures: dict[str, Figure] = field(default_factory=dict)
    deviation: float | None = None

    @property
    def verdict(self) -> str:
        """One sentence on the distance to the paper."""
        if self.deviation is None:
            return ""
        word = "within" if self.deviation <= TOLERANCE else "NOT within"
        return f"Largest difference {self.deviation:.3f}: {word} {TOLERANCE} of the paper."

    def text(self) -> str:
        """Return the section as Markdown."""
        shown = [markdown(p) if isinstance(p, pd.DataFrame) else p for p in (*self.parts, self.verdict)]
        return "\n\n".join(s for s in shown if s)


def markdown(table: pd.DataFrame) -> str:
    """Return a table as Markdown: numbers to three decimals, empty cells for what there is none of.

    Example:
        >>> print(markdown(pd.DataFrame({"kappa": [0, 1], "ours": [0.25, float("nan")]})))
        | kappa | ours |
        |---|---|
        | 0 | 0.250 |
        | 1 |  |
    """
    rows = [f"| {' | '.join(str(c) for c in table.columns)} |", "|" + "---|" * table.shape[1]]
    rows += [f"| {' | '.join(_cell(v) for v in row)} |" for row in table.itertuples(index=False, name=None)]
    return "\n".join(rows)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else str(value)


def write(section: Section, command: str) -> list[Path]:
    """Put a section and its figures in their places; return the files written."""
    page = DOCS / "paper.md"
    old = page.read_text("utf-8") if page.exists() else "".join(f"{_block(name)}\n\n" for name in ORDER)
    text = f"{HEAD}\n{old[old.index('<!-- paper: ') :].rstrip()}\n"
    pictures = "".join(f"\n\n![{section.title}]({name})" for name in section.figures)
    body = f"## {section.title}\n\n```bash\n{command}\n```\n\n{section.text()}{pictures}\n"
    page.write_text(
        re.sub(_block(section.name, r".*?"), lambda _: _block(section.name, body), text, flags=re.S), "utf-8"
    )
    for name, figure in section.figures.items():
        figure.savefig(DOCS / name, dpi=144)
    return [page, *(DOCS / name for name in section.figures)]


def _block(name: str, body: str = "") -> str:
    return f"<!-- paper: {name} -->\n{body}<!-- end: {name} -->"
