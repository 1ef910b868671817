"""What ``answers.py`` has found: the share of each word as tables in Markdown, and the marks, met or missed."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from _answers_releases import RELEASES, Truth

Line = Mapping[str, Any]
SAFE = ("fresh", "independent", "copula", "ctgan")
ORDINARY = (*SAFE, "trees 100")
LIMITS = ("0.05", "0.1")
STUDY = "benchmark"
_DECIDING = ("NO EVIDENCE", "RISK")
_EITHER = 2000  # rows from which a whole study should decide


@dataclass(frozen=True)
class Answer:
    """One word by one limit."""

    line: Line
    by: str  # the limit, or the generator of a whole study
    word: str

    @property
    def stands(self) -> str:
        """Where the truth stands beside the limit."""
        own = self.line["truth"]
        return Truth(own["people"], own["exposed"]).stands(float(self.by))


@dataclass(frozen=True)
class Mark:
    """What is asked of the words of some releases."""

    words: str
    of: Callable[[Answer], bool]
    said: tuple[str, ...]
    least: float = 0.0  # share of the words that must be among ``said``
    most: float = 1.0

    def told(self, answers: Iterable[Answer]) -> str:
        """Return the row of the mark: what was asked, what was found of how many, met or missed."""
        own = [answer for answer in answers if self.of(answer)]
        asked = f">= {self.least:.0%}" if self.least else f"<= {self.most:.0%}" if self.most else "0"
        if not own:
            return f"| {self.words} | {asked} | - | not measured |"
        hits = sum(answer.word in self.said for answer in own)
        met = self.least <= hits / len(own) <= self.most
        return (
            f"| {self.words} | {asked} | {hits} of {len(own)} ({hits / len(own):.1%}) | {'met' if met else 'missed'} |"
        )


def _safe(size: int) -> Callable[[Answer], bool]:
    return lambda a: _is_adult(a, size) and a.line["release"] in SAFE and a.by == "0.05"


def _is_adult(answer: Answer, size: int | None = None) -> bool:
    return bool(answer.line["table"] == "adult" and answer.line["size"] and size in (None, answer.line["size"]))


def _twice(answer: Answer) -> bool:
    return answer.line["truth"]["kind"] in ("leak", "absence") and answer.stands == "twice"


MARKS = (
    Mark("safe, 5,000 members, limit .05: NO EVIDENCE", _safe(5000), ("NO EVIDENCE",), least=0.95),
    Mark("safe, 3,000 members, limit .05: NO EVIDENCE", _safe(3000), ("NO EVIDENCE",), least=0.8),
    Mark("safe, Adult, any size: RISK", lambda a: _is_adult(a) and a.line["release"] in SAFE, ("RISK",), most=0.02),
    Mark("leaks of twice the limit and more, all tables: NO EVIDENCE", _twice, ("NO EVIDENCE",), most=0),
    Mark(
        "leaks of twice the limit and more, Adult, 5,000 members: RISK",
        lambda a: _is_adult(a, 5000) and _twice(a),
        ("RISK",),
        least=0.95,
    ),
    Mark(
        "leaks at the limit, Adult: NO EVIDENCE",
        lambda a: _is_adult(a) and a.stands == "at",
        ("NO EVIDENCE",),
        most=0.07,
    ),
    Mark(
        "ordinary generators, all tables: INVALID RELEASE",
        lambda a: a.line["release"] in ORDINARY,
        ("INVALID RELEASE",),
        most=0,
    ),
)
STUDIED = (
    Mark(
        "studies of 2,000 rows and more: NO EVIDENCE or RISK",
        lambda a: a.line["rows"] >= _EITHER,
        _DECIDING,
        least=0.85,
    ),
    Mark("studies: INVALID RELEASE", lambda a: True, ("INVALID RELEASE",), most=0),
)


def print_tables(lines: Sequence[Line]) -> None:
    """Print what was found: by release and size, by table, of whole studies, the marks, and where the seconds went."""
    done = [line for line in lines if line["words"]]
    each = [Answer(line, by, word) for line in done for by, word in line["words"].items()]
    judged = [a for a in each if a.line["release"] != STUDY and "truth" in a.line]
    studies = [a for a in each if a.line["release"] == STUDY and "rows" in a.line]
    for limit in LIMITS:
        _of_adult([a for a in each if a.by == limit and _is_adult(a)], limit)
    _of_tables([a for a in judged if a.line["table"] != "adult"])
    _of_studies(studies)
    print("\n| mark | asked | found | |\n|---|---|---|---|")
    for mark in MARKS:
        print(mark.told(judged))
    for mark in STUDIED:
        print(mark.told(studies))
    _seconds(done)


def _of_adult(answers: Sequence[Answer], limit: str) -> None:
    sizes = sorted({a.line["size"] for a in answers})
    if not sizes:
        return
    splits = len({a.line["seed"] for a in answers})
    print(f"\nAdult, limit {limit}, {splits} splits at most; members and as many control records:\n")
    print("| release | truth | " + " | ".join(f"{size:,}" for size in sizes) + " |")
    print("|---|---|" + "---|" * len(sizes))
    for name, known in RELEASES.items():
        own = [a for a in answers if a.line["release"] == name]
        if own:
            cells = [_shares(a.word for a in own if a.line["size"] == size) for size in sizes]
            print(f"| {name} | {_truth(own, known.words)} | " + " | ".join(cells) + " |")


def _truth(answers: Sequence[Answer], words: str) -> str:
    """Return the truth of a release in words, with where it stands beside the limit."""
    told = [a.line["truth"] for a in answers if "truth" in a.line]
    if not told:
        return words
    size = {k: sum(t[k] for t in told) / len(told) for k in ("people", "exposed")}
    of_exposed = f", {size['exposed']:.0%} of the most exposed" if size["exposed"] != size["people"] else ""
    return f"{words} ({size['people']:.0%} of people{of_exposed})" if size["exposed"] else words


def _shares(words: Iterable[str]) -> str:
    counts = Counter(words)
    total = sum(counts.values())
    return ", ".join(f"{word} {count / total:.0%}" for word, count in counts.most_common()) or "-"


def _of_tables(answers: Sequence[Answer]) -> None:
    if not answers:
        return
    print("\nOther tables, limit 0.05; ordinary generators, recoded fresh people, leaks of twice the limit and more:\n")
    print("| table | members | ordinary | recoded | leaks |\n|---|---|---|---|---|")
    by_table = defaultdict(list)
    for answer in answers:
        if answer.by == "0.05":
            by_table[answer.line["table"]].append(answer)
    for table, own in by_table.items():
        safe = [a.word for a in own if a.line["release"] in ORDINARY]
        recoded = [a.word for a in own if a.line["truth"]["kind"] == "safe" and a.line["release"] not in ORDINARY]
        leaks = [a.word for a in own if _twice(a)]
        print(f"| {table} | {own[0].line['members']:,} | " + " | ".join(map(_shares, (safe, recoded, leaks))) + " |")


def _of_studies(answers: Sequence[Answer]) -> None:
    if not answers:
        return
    print("\nWhole studies, `init --yes --quick --limit 0.05` and `benchmark`, 6 releases of each generator:\n")
    print("| table | rows | CART, leaves of 100 | GaussianCopula |\n|---|---|---|---|")
    for table in dict.fromkeys(a.line["table"] for a in answers):
        words = {a.by: a.word for a in answers if a.line["table"] == table}
        rows = next(a.line["rows"] for a in answers if a.line["table"] == table)
        print(f"| {table} | {rows:,} | {words['cart']} | {words['gaussian_copula']} |")


def _seconds(lines: Sequence[Line]) -> None:
    """Print the processor seconds of a release in the mean, by members."""
    kinds = ("release", "roles and tables", "attack", "references", "judge")
    print("\nProcessor seconds of a release, in the mean:\n")
    print("| table | members | releases | " + " | ".join(kinds) + " |\n|---|---|---|" + "---|" * len(kinds))
    groups = defaultdict(list)
    for line in lines:
        if line["release"] != STUDY:
            groups[line["table"], line["size"]].append(line["seconds"])
    for (table, size), own in sorted(groups.items()):
        means = [f"{sum(s.get(kind, 0.0) for s in own) / len(own):.1f}" for kind in kinds]
        print(f"| {table} | {f'{size:,}' if size else 'its own'} | {len(own)} | " + " | ".join(means) + " |")
