"""The picture of the architecture, made from the imports: ``python docs/architecture.py`` writes ``architecture.svg``.

Each box is a file, or a room with the number of its files, each line an import. A line that follows from others is left
out: where a imports b and c, and b imports c, the line from a to c is not drawn. ``tests/test_layout.py`` says whether
the picture is that of today's imports.
"""

import ast
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "architecture.svg"
FLOORS = {
    "flows": "runs studies: commands, Prefect, workers",
    "tasks": "does one thing each: files in, files out",
    "conf": "what a study is: its settings",
    "metrics": "what a number means: pure functions",
}
WIDTH, ROW, GAP, SIDE = 1180, 54, 26, 130  # pixels
INK, LINE, ROOM, FILE, BAND = "#1f2933", "#8a97a6", "#cfe3f5", "#ffffff", "#f4f6f8"


@cache
def modules() -> dict[str, Path]:
    """Return the file of each module, by its name without ``synthrisk``; a package is named as its folder."""
    found = {}
    for floor in FLOORS:
        for path in sorted((ROOT / floor).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports() -> dict[str, set[str]]:
    """Return which modules of ours each module imports, at its top, in functions or for types."""
    known, found = modules(), {}
    for name, path in known.items():
        names = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("synthrisk."):
                module = (node.module or "").removeprefix("synthrisk.")
                names |= {inner if (inner := f"{module}.{each.name}") in known else module for each in node.names}
            elif isinstance(node, ast.Import):
                names |= {each.name.removeprefix("synthrisk.") for each in node.names}
        found[name] = {each for each in names if each in known and each != name}
    return found


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return what is left of a graph when all that leads nowhere, and all that nothing leads to, is taken away."""
    left = {name: set(below) for name, below in graph.items()}
    while True:
        used = {each for below in left.values() for each in below}
        gone = {name for name, below in left.items() if not below or name not in used}
        if not gone:
            return [[name, *sorted(below)] for name, below in sorted(left.items())]
        left = {name: below - gone for name, below in left.items() if name not in gone}


def rooms(floor: str) -> dict[str, set[str]]:
    """Return which rooms and files of a floor import which of the same floor; each by its first name."""
    graph: dict[str, set[str]] = {}
    for name, below in imports().items():
        if name.startswith(f"{floor}."):
            own = name.split(".")[1]
            inner = {each.split(".")[1] for each in below if each.startswith(f"{floor}.")}
            graph[own] = graph.get(own, set()) | (inner - {own})
    return graph


def reach(graph: Mapping[str, set[str]], name: str) -> set[str]:
    """Return all that a node leads to."""
    seen: set[str] = set()
    ahead = [*graph[name]]
    while ahead:
        each = ahead.pop()
        if each not in seen:
            seen.add(each)
            ahead += graph[each]
    return seen


def ranks(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the nodes in rows: each above all that it leads to."""
    rank: dict[str, int] = {}
    while len(rank) < len(graph):
        for name, below in graph.items():
            if name not in rank and all(each in rank for each in below):
                rank[name] = 1 + max((rank[each] for each in below), default=-1)
    return [sorted(name for name in graph if rank[name] == row) for row in range(max(rank.values()), -1, -1)]


def drawn() -> str:
    """Return the picture, as SVG."""
    parts, top = [], 10.0
    middles: dict[str, tuple[float, float]] = {}  # of each floor's band
    for floor, does in FLOORS.items():
        graph = rooms(floor)
        boxes, bottom = _placed(floor, graph, top + 42)
        height = bottom - top
        parts.append(f'<rect x="10" y="{top:g}" width="{WIDTH - SIDE}" height="{height:g}" rx="8" fill="{BAND}"/>')
        parts.append(_text(24, top + 24, f"{floor}/", 17, "bold") + _text(110, top + 24, does, 13))
        for name in sorted(graph):
            for each in sorted(graph[name]):
                if not any(each in reach(graph, other) for other in graph[name] - {each}):
                    parts.append(_arrow(boxes[name], boxes[each]))
        parts += [_box(name, box, _files(f"{floor}.{name}")) for name, box in sorted(boxes.items())]
        middles[floor] = (top, top + height)
        top += height + 26
    parts += _between(middles)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top - 16:g}" font-family="sans-serif">'
    marker = '<marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
    defs = f'<defs>{marker}<path d="M0 0 8 4 0 8z" fill="{LINE}"/></marker></defs>'
    white = '<rect width="100%" height="100%" fill="#ffffff"/>'
    title = "<title>Rooms and files, and which imports which</title>"
    return "\n".join([head, title, defs, white, *parts, "</svg>", ""])


def _files(name: str) -> int:
    """Return how many files a room has; 0 of a file."""
    if modules()[name].name != "__init__.py":
        return 0
    return sum(each == name or each.startswith(f"{name}.") for each in modules())


def _placed(
    floor: str, graph: Mapping[str, set[str]], top: float
) -> tuple[dict[str, tuple[float, float, float]], float]:
    """Return where each box is (left, top, width), and where the last row ends."""
    boxes, y = {}, top
    for row in ranks(graph):
        lines: list[list[tuple[str, float]]] = [[]]
        for name in row:
            width = 7.4 * len(_label(name, _files(f"{floor}.{name}"))) + 18
            if sum(each[1] + GAP for each in lines[-1]) + width > WIDTH - SIDE - 40:
                lines.append([])
            lines[-1].append((name, width))
        for line in lines:
            x = 10 + (WIDTH - SIDE - sum(width for _, width in line) - GAP * (len(line) - 1)) / 2
            for name, width in line:
                boxes[name] = (round(x, 1), y, round(width, 1))
                x += width + GAP
            y += ROW
    return boxes, y - ROW + 40


def _label(name: str, files: int) -> str:
    return f"{name} ({files})" if files else name


def _box(name: str, box: tuple[float, float, float], files: int) -> str:
    x, y, width = box
    fill, weight = (ROOM, "bold") if files else (FILE, "normal")
    shape = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="26" rx="4" fill="{fill}" stroke="{LINE}"/>'
    return shape + _text(x + 9, y + 17, _label(name, files), 12, weight)


def _arrow(start: tuple[float, float, float], end: tuple[float, float, float]) -> str:
    x, y, u, v = start[0] + start[2] / 2, start[1] + 26, end[0] + end[2] / 2, end[1]
    bend = (v - y) / 2
    path = f"M{x:g} {y:g}C{x:g} {y + bend:g} {u:g} {v - bend:g} {u:g} {v:g}"
    return f'<path d="{path}" fill="none" stroke="{LINE}" marker-end="url(#a)"/>'


def _text(x: float, y: float, text: str, size: int, weight: str = "normal") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" fill="{INK}">{escape(text)}</text>'


def _between(bands: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return the arrows between floors, each with the number of files that import across."""
    parts, floors, edge = [], list(FLOORS), 10 + WIDTH - SIDE
    pairs = [(a, b) for a in floors for b in floors if a != b and _across(a, b)]
    pairs.sort(key=lambda pair: floors.index(pair[1]) - floors.index(pair[0]))
    for number, (upper, lower) in enumerate(pairs):
        distance = floors.index(lower) - floors.index(upper)
        x, y, v = edge + 2, bands[upper][1] - 20 - 7 * distance, bands[lower][0] + 14 + 9 * (4 - distance)
        out = x + 6 + 34 * distance - (number % 2) * 10
        path = f"M{x:g} {y:g}C{out:g} {y:g} {out:g} {v:g} {x:g} {v:g}"
        parts.append(f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="1.4" marker-end="url(#a)"/>')
        parts.append(_text(out - 14, (y + v) / 2 + 14 * (distance - 1), str(_across(upper, lower)), 11))
    return parts


def _across(upper: str, lower: str) -> int:
    """Return how many files of one floor import of another."""
    return sum(
        name.split(".")[0] == upper and any(each.split(".")[0] == lower for each in below)
        for name, below in imports().items()
    )


if __name__ == "__main__":
    PICTURE.write_text(drawn(), "utf-8")
