"""Merge, rename and move the modules of a checkout by mapping files; see README beside this file.

    python tool.py CHECKOUT metrics.toml [rest.toml ...] [--no-ruff]
"""

from __future__ import annotations

import ast
import builtins
import io
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

TOPS = ("metrics", "tasks", "flows", "conf")
TEXT_ENDS = {".md", ".toml", ".yaml", ".yml", ".py", ".cfg", ".txt", ".html", ".sh", ".json", ".css", ""}
SKIP = {".git", ".lib", ".venv", "node_modules", "__pycache__", ".mypy_cache", ".ruff_cache", ".import_linter_cache"}
SPECIAL = {"packages", "files", "layers", "words", "replace", "options"}
NOTES: list[str] = []
ERRORS: list[str] = []


def note(text: str) -> None:
    if text not in NOTES:
        NOTES.append(text)


def fail(text: str) -> None:
    if text not in ERRORS:
        ERRORS.append(text)


# ---------------------------------------------------------------- scopes
@dataclass(eq=False)
class Scope:
    kind: str  # module function class comp
    up: "Scope | None"
    binds: set = field(default_factory=set)
    globs: set = field(default_factory=set)
    nonlocs: set = field(default_factory=set)

    def find(self, name: str) -> "Scope | None":
        """The scope that a name used here is bound in; None: nowhere (a builtin)."""
        at, first = self, True
        while at is not None:
            if name in at.globs:
                while at.up is not None:
                    at = at.up
                return at if name in at.binds else None
            if (first or at.kind != "class") and name in at.binds and name not in at.nonlocs:
                return at
            first, at = False, at.up
        return None

    def chain(self, until: "Scope | None"):
        """The scopes which a name used here passes on its way to ``until`` (not counted)."""
        at, first = self, True
        while at is not None and at is not until:
            if first or at.kind != "class":
                yield at
            first, at = False, at.up


class Scopes(ast.NodeVisitor):
    """Which scope each name and import of a tree stands in."""

    def __init__(self, tree: ast.Module):
        self.top = Scope("module", None)
        self.at = self.top
        self.uses: list[tuple[ast.AST, str, Scope]] = []  # node, name, scope it stands in
        self.imports: list[tuple[ast.stmt, Scope]] = []
        self.calls: list[tuple[ast.Call, Scope]] = []
        self.attributes: list[tuple[ast.Attribute, Scope]] = []
        self.quoted: list[tuple[ast.Constant, Scope]] = []
        for each in tree.body:
            self.visit(each)

    def inside(self, kind):
        self.at = Scope(kind, self.at)
        return self.at

    def bind(self, name):
        at = self.at
        while at.kind == "comp":
            at = at.up
        at.binds.add(name)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store | ast.Del):
            self.at.binds.add(node.id)
        self.uses.append((node, node.id, self.at))

    def visit_NamedExpr(self, node):
        self.visit(node.value)
        self.bind(node.target.id)
        self.uses.append((node.target, node.target.id, self.at))

    def visit_Global(self, node):
        self.at.globs.update(node.names)
        self.uses += [(node, n, self.at) for n in node.names]

    def visit_Nonlocal(self, node):
        self.at.nonlocs.update(node.names)

    def visit_Import(self, node):
        self.imports.append((node, self.at))
        for a in node.names:
            self.at.binds.add(a.asname or a.name.split(".")[0])

    def visit_ImportFrom(self, node):
        self.imports.append((node, self.at))
        for a in node.names:
            self.at.binds.add(a.asname or a.name)

    def function(self, node, body):
        args = node.args
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
        for a in every:
            if a.annotation:
                self.annotation(a.annotation)
        for d in [*args.defaults, *filter(None, args.kw_defaults)]:
            self.visit(d)
        if getattr(node, "returns", None):
            self.annotation(node.returns)
        before = self.at
        self.inside("function").binds.update(a.arg for a in every)
        for each in body:
            self.visit(each)
        self.at = before

    def annotation(self, node):
        for each in ast.walk(node):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                self.quoted.append((each, self.at))
        self.visit(node)

    def visit_AnnAssign(self, node):
        self.annotation(node.annotation)
        if node.value:
            self.visit(node.value)
        self.visit(node.target)

    def visit_FunctionDef(self, node):
        self.at.binds.add(node.name)
        self.uses.append((node, node.name, self.at))
        for d in node.decorator_list:
            self.visit(d)
        self.function(node, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self.function(node, [node.body])

    def visit_ClassDef(self, node):
        self.at.binds.add(node.name)
        self.uses.append((node, node.name, self.at))
        for each in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(each)
        before = self.at
        self.inside("class")
        for each in node.body:
            self.visit(each)
        self.at = before

    def comp(self, node):
        first, *rest = node.generators
        self.visit(first.iter)
        before = self.at
        self.inside("comp")
        self.visit(first.target)
        for i in first.ifs:
            self.visit(i)
        for g in rest:
            self.visit(g.iter)
            self.visit(g.target)
            for i in g.ifs:
                self.visit(i)
        for each in ("key", "value", "elt"):
            if hasattr(node, each):
                self.visit(getattr(node, each))
        self.at = before

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comp

    def visit_ExceptHandler(self, node):
        if node.name:
            self.at.binds.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node):
        if node.name:
            self.at.binds.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node):
        if node.name:
            self.at.binds.add(node.name)

    def visit_MatchMapping(self, node):
        if node.rest:
            self.at.binds.add(node.rest)
        self.generic_visit(node)

    def visit_Call(self, node):
        self.calls.append((node, self.at))
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in ("cast", "TypeVar", "NewType"):
            for each in [*node.args[:1], *[k.value for k in node.keywords if k.arg == "bound"]]:
                if isinstance(each, ast.Constant) and isinstance(each.value, str) and name != "NewType":
                    self.quoted.append((each, self.at))
        self.generic_visit(node)

    def visit_Attribute(self, node):
        self.attributes.append((node, self.at))
        self.generic_visit(node)


# ---------------------------------------------------------------- files
class File:
    """A Python file: its text, tree, names."""

    def __init__(self, path: Path, module: str | None):
        self.path, self.module = path, module
        self.text = path.read_text("utf-8")
        self.tree = ast.parse(self.text)
        self.is_package = path.name == "__init__.py"
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.lines = self.text.splitlines(keepends=True)
        self.scopes = Scopes(self.tree)
        self.edits: list[tuple[int, int, str]] = []
        self.defined: dict[str, list[ast.stmt]] = defaultdict(list)  # by name: the top statements that bind it
        self.imported: dict[str, tuple[str, str | None]] = {}  # by bound name: module and name in it (None: a module)
        self.top_imports: list[tuple[ast.stmt, bool]] = []  # with: for type checking alone
        for stmt in self.tree.body:
            if isinstance(stmt, ast.Import | ast.ImportFrom):
                self.top_imports.append((stmt, False))
            elif is_type_checking(stmt):
                self.top_imports += [(s, True) for s in stmt.body]
            else:
                for name in bound_by(stmt):
                    self.defined[name].append(stmt)
        for stmt, _ in self.top_imports:
            self.note_import(stmt)

    def note_import(self, stmt):
        if isinstance(stmt, ast.ImportFrom):
            for a in stmt.names:
                self.imported[a.asname or a.name] = (stmt.module or "", a.name)
        elif isinstance(stmt, ast.Import):
            for a in stmt.names:
                self.imported[a.asname or a.name.split(".")[0]] = (a.name, None)

    def offset(self, line: int, col: int) -> int:
        """Of a position as ast counts it: columns in UTF-8 bytes."""
        text = self.lines[line - 1]
        return self.starts[line - 1] + len(text.encode()[:col].decode())

    def span(self, node) -> tuple[int, int]:
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def edit(self, start, end, new):
        if (start, end, new) not in self.edits:
            self.edits.append((start, end, new))

    def name_span(self, node, name):
        """Where the name stands in a node that uses or binds it."""
        start, end = self.span(node)
        if isinstance(node, ast.Name):
            return [(start, end)]
        if isinstance(node, ast.Global):
            return [(start + m.start(), start + m.end()) for m in re.finditer(rf"\b{name}\b", self.text[start:end])]
        found = re.compile(rf"(?:def|class)\s+({name})\b").search(self.text, start)  # decorators stand before start
        return [found.span(1)]

    def changed(self, start=0, end=None) -> str:
        """The text of a range after all edits."""
        end = len(self.text) if end is None else end
        out, at = [], start
        for a, b, new in sorted(self.edits):
            if a < start or b > end:
                if not (b <= start or a >= end):
                    raise AssertionError(f"{self.path}: an edit crosses a segment: {self.text[a:b]!r}")
                continue
            if a < at:
                raise AssertionError(f"{self.path}: two edits of one place: {self.text[a:b]!r} -> {new!r}")
            out += [self.text[at:a], new]
            at = b
        return "".join([*out, self.text[at:end]])


def is_type_checking(stmt) -> bool:
    return isinstance(stmt, ast.If) and "TYPE_CHECKING" in ast.unparse(stmt.test) and not stmt.orelse and all(
        isinstance(s, ast.Import | ast.ImportFrom) for s in stmt.body
    )


def bound_by(stmt) -> list[str]:
    """The names that a top statement binds (or changes in place: += and loops)."""
    if isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [stmt.name]
    names = []
    for node in walk_here(stmt):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names += [a.asname or a.name.split(".")[0] for a in node.names]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
    return list(dict.fromkeys(names))


def walk_here(node):
    """All nodes that run with a statement: not the bodies of functions, nor comprehensions' own names."""
    ahead = [node]
    while ahead:
        at = ahead.pop()
        yield at
        if isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            args = at.args
            ahead += [*args.defaults, *filter(None, args.kw_defaults), *getattr(at, "decorator_list", [])]
            ahead += [a.annotation for a in ast.walk(args) if isinstance(a, ast.arg) and a.annotation]
            if getattr(at, "returns", None):
                ahead.append(at.returns)
        else:
            ahead += list(ast.iter_child_nodes(at))


@dataclass
class Segment:
    """A top statement with the comments above it and the text that explains it below."""

    file: File
    stmt: ast.stmt
    start: int
    end: int
    names: list[str]
    parts: list[ast.stmt] = field(default_factory=list)


def segments(file: File) -> tuple[str | None, list[Segment]]:
    """The docstring (source), and the segments in order."""
    body, at, doc = list(file.tree.body), 0, None
    if body and is_text(body[0]):
        doc = body[0].value.value
        at = file.starts[body[0].end_lineno]
        body = body[1:]
    found: list[Segment] = []
    for stmt in body:
        end = file.starts[stmt.end_lineno]
        if is_text(stmt) and found:
            found[-1].end = end
            found[-1].parts.append(stmt)
        elif found and stmt.lineno == found[-1].stmt.end_lineno:
            found[-1].parts.append(stmt)
            found[-1].names += bound_by(stmt)
        else:
            names = [] if isinstance(stmt, ast.Import | ast.ImportFrom) or is_type_checking(stmt) else bound_by(stmt)
            found.append(Segment(file, stmt, at, end, names, [stmt]))
        at = end
    if found:
        found[-1].end = len(file.text)
    return doc, found


def is_text(stmt) -> bool:
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant) and isinstance(stmt.value.value, str)


# ---------------------------------------------------------------- the mapping
@dataclass
class Target:
    module: str
    sources: list[str]
    doc: str | None
    taken: dict[str, list[str]]  # by source: the names taken of it alone; a source in neither is taken whole
    package: bool = False
    front: list[str] = field(default_factory=list)


class House:
    """A checkout and what becomes of it."""

    def __init__(self, root: Path, mappings: list[Path]):
        self.root = root
        self.targets: dict[str, Target] = {}
        self.renames: dict[tuple[str, str], str] = {}  # (old module, name): new name
        self.packages: dict[str, str] = {}
        self.data: dict[str, str] = {}
        self.layers: dict[str, list] = {}
        self.words: dict[str, str] = {}
        self.replace: list[dict] = []
        self.options: dict = {}
        self.files: dict[str, File] = {}
        self.others: list[File] = []
        self.load()
        for path in mappings:
            self.read(path)
        self.home_of: dict[str, str] = {m: m for m in self.files}
        self.home_of_name: dict[tuple[str, str], str] = {}
        for t in self.targets.values():
            for s in t.sources:
                if s in t.taken:
                    for n in t.taken[s]:
                        if n not in self.files[s].defined:
                            fail(f"{t.module}: {s} defines no {n}")
                        self.home_of_name[s, n] = t.module
                else:
                    if self.home_of[s] != s:
                        fail(f"{s} goes both to {self.home_of[s]} and to {t.module}")
                    self.home_of[s] = t.module
        wholes = {s for t in self.targets.values() for s in t.sources if s not in t.taken}
        for m in list(self.targets):
            if m in self.files and m not in wholes and not self.files[m].is_package:
                fail(f"{m} exists and is no source of the target of its name")
        # modules of which names are taken, and targets: put together anew
        self.anew = set(self.targets) | {s for t in self.targets.values() for s in t.taken}
        for m in self.anew - set(self.targets):
            if self.home_of[m] == m:
                self.targets[m] = Target(m, [m], None, {}, self.files[m].is_package)
        self.anew = set(self.targets)

    def load(self):
        for top in TOPS:
            for path in sorted((self.root / top).rglob("*.py")):
                parts = path.relative_to(self.root).with_suffix("").parts
                parts = parts[:-1] if parts[-1] == "__init__" else parts
                name = "synthrisk." + ".".join(parts)
                self.files[name] = File(path, name)
        for top in ("tests", "benchmarks", "docs", "deployments"):
            for path in sorted((self.root / top).rglob("*.py")):
                if not SKIP & set(path.parts):
                    self.others.append(File(path, None))
        for path in self.root.glob("*.py"):
            self.others.append(File(path, None))

    def full(self, name: str, package: str = "") -> str:
        if name.startswith("synthrisk."):
            return name
        if name.split(".")[0] in TOPS and (not package or "." in name or f"synthrisk.{name}" in self.files):
            if f"{package}.{name}" in self.files:
                return f"{package}.{name}"
            return f"synthrisk.{name}"
        return f"{package}.{name}"

    def read(self, path: Path):
        given = tomllib.loads(path.read_text("utf-8"))
        self.packages |= {self.full(k): v for k, v in given.get("packages", {}).items()}
        self.data |= given.get("files", {})
        self.layers |= given.get("layers", {})
        self.words |= given.get("words", {})
        self.replace += given.get("replace", [])
        self.options |= given.get("options", {})
        for key, value in given.items():
            if key in SPECIAL:
                continue
            if not isinstance(value, dict) or "sources" not in value:
                fail(f"{path.name}: [{key!r}] has no sources (write the table's name in quotes)")
                continue
            unknown = set(value) - {"sources", "doc", "rename", "first"}
            if unknown:
                fail(f"{path.name}: {key}: unknown {sorted(unknown)}")
            module = self.full(key)
            package = module.rpartition(".")[0]
            sources, taken = [], {}
            for each in value["sources"]:
                name, _, names = each.partition(":")
                source = self.full(name, package)
                if source not in self.files:
                    fail(f"{path.name}: {key}: there is no module {source} (skipped)")
                    continue
                sources.append(source)
                if names:
                    taken.setdefault(source, []).extend(n.strip() for n in names.split(","))
            if module in self.targets:
                fail(f"{module} is a target twice")
            sources = list(dict.fromkeys(sources))
            self.targets[module] = Target(module, sources, value.get("doc"), taken)
            self.targets[module].front = value.get("first", [])
            for old, new in value.get("rename", {}).items():
                name, _, inside = old.rpartition(":")
                source = self.full(name, package) if name else sources[0]
                if source not in self.files or inside not in self.files[source].defined:
                    fail(f"{path.name}: {key}: rename: {source} defines no {inside}")
                    continue
                self.renames[source, inside] = new

    # ------------------------------------------------------------ resolving
    def home(self, module: str, name: str | None = None) -> str:
        """The new module of an old one, or of a name in it."""
        if name is not None and (module, name) in self.home_of_name:
            return self.home_of_name[module, name]
        return self.home_of.get(module, module)

    def attribute(self, module: str, name: str) -> tuple[str, str]:
        """What ``module.name`` becomes where the module itself is what is imported."""
        found = self.resolve(module, name)
        file = self.files[module]
        if found[0] != self.home(module) and name not in file.defined and name in file.imported:
            return self.home(module), name
        return found

    def resolve(self, module: str, name: str, depth: int = 0) -> tuple[str, str]:
        """The new module and new name of a name of an old module, followed through imports where they vanish."""
        file = self.files.get(module)
        if file is None or depth > 9:
            return self.home(module), name
        if name in file.defined:
            return self.home(module, name), self.renames.get((module, name), name)
        if name in file.imported:
            of, inside = file.imported[name]
            if inside is not None and f"{of}.{inside}" not in self.files and of in self.files:
                found = self.resolve(of, inside, depth + 1)
                if not file.is_package and (self.home(module) in self.anew or found[0] == self.home(module)):
                    return found
                return self.home(module), name
        return self.home(module), name

    def old_prefix(self, dotted: str) -> tuple[str, str]:
        """Split a dotted name into the longest module of ours and the rest."""
        parts = dotted.split(".")
        for i in range(len(parts), 0, -1):
            head = ".".join(parts[:i])
            if head in self.files:
                return head, ".".join(parts[i:])
        return "", dotted

    # ------------------------------------------------------------ run
    def run(self):
        if any("skipped" not in e for e in ERRORS):
            return
        self.collide()
        for file in [*self.files.values(), *self.others]:
            self.rewrite(file)
        made = {m: self.assemble(t) for m, t in self.targets.items()}
        if any("skipped" not in e for e in ERRORS):
            return
        self.write(made)

    def collide(self):
        """Find top names that two sources of a target define, and give the later one another name."""
        for target in self.targets.values():
            owner: dict[str, tuple[str, str]] = {}
            pairs = []
            for s in target.sources:
                names = target.taken.get(s) or [n for n in self.files[s].defined if (s, n) not in self.home_of_name]
                pairs += [(s, n) for n in names]
            fixed = [p for p in pairs if p in self.renames]
            for s, n in fixed + [p for p in pairs if p not in self.renames]:
                new = self.renames.get((s, n), n)
                if new in owner and owner[new] != (s, n):
                    s0, n0 = owner[new]
                    if self.same_constant(s0, n0, s, n) and new == n:
                        note(f"{target.module}: {n} of {s} is that of {s0}: kept once")
                        self.dropped.add((s, n))
                        continue
                    stem = s.rpartition(".")[2]
                    made = f"{n}_{stem.upper()}" if n.isupper() else f"{n}_{stem}"
                    if n[0].isupper() and not n.isupper() or n[0] == "_" and n[1:2].isupper() and not n.isupper():
                        made = n + "".join(p.capitalize() for p in stem.split("_"))
                    while made in owner:
                        made += "_"
                    note(f"{target.module}: {n} of {s} collides with that of {s0}: renamed {made}")
                    self.renames[s, n] = new = made
                owner[new] = (s, n)
            self.owner[target.module] = owner
            for new, (s, n) in owner.items():
                if hasattr(builtins, new) and new not in ("__all__",):
                    for s2 in target.sources:
                        if s2 != s and any(x == new and sc.find(x) is None for _, x, sc in self.files[s2].scopes.uses):
                            fail(f"{target.module}: {new} of {s} hides the builtin that {s2} uses: rename it")

    dropped: set = set()
    owner: dict = {}

    def same_constant(self, s0, n0, s, n) -> bool:
        a, b = self.files[s0].defined[n0], self.files[s].defined[n]
        if len(a) != 1 or len(b) != 1 or n0 != n or ast.dump(a[0]) != ast.dump(b[0]):
            return False
        x = a[0]
        if isinstance(x, ast.Assign | ast.AnnAssign) and x.value is not None:
            if any(isinstance(k, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp) for k in ast.walk(x.value)):
                return False
            calls = [k for k in ast.walk(x.value) if isinstance(k, ast.Call)]
            if any(getattr(c.func, "id", "") not in ("TypeVar", "frozenset", "getLogger") and getattr(c.func, "attr", "") not in ("getLogger", "compile") for c in calls):
                return False
            return self.same_free(s0, s, x)
        if isinstance(x, ast.FunctionDef) and not x.decorator_list:
            return self.same_free(s0, s, x)
        return False

    def same_free(self, s0, s, stmt) -> bool:
        """Whether the names that a statement uses mean the same in both modules."""
        f0, f1 = self.files[s0], self.files[s]
        for node in ast.walk(stmt):
            if isinstance(node, ast.Name):
                n = node.id
                if n in f0.defined or n in f1.defined:
                    if n in bound_by(stmt):
                        continue
                    if self.resolve(s0, n) != self.resolve(s, n) or n in f0.defined and n in f1.defined:
                        return False
                elif f0.imported.get(n) != f1.imported.get(n):
                    return False
        return True

    # ------------------------------------------------------------ references in one file
    def rewrite(self, file: File):
        home_of_file = self.home(file.module) if file.module else None
        whole_move = file.module is not None and home_of_file in self.anew
        scopes = file.scopes
        file.collected = []  # of a module that is put together anew: (stmt, type checking, [(module, name, asname)])
        top = {id(s): checked for s, checked in file.top_imports}
        renames: list[tuple[Scope, str, str]] = []  # scope that binds, old name, new name
        aliases: list[tuple[Scope, str, str]] = []  # scope that binds, name, old module
        rewritten = []
        for stmt, scope in scopes.imports:
            wanted, touched = [], False
            if isinstance(stmt, ast.ImportFrom):
                for a in stmt.names:
                    module, bound = stmt.module or "", a.asname or a.name
                    full = f"{module}.{a.name}"
                    if stmt.level or not module.startswith("synthrisk"):
                        wanted.append((module, a.name, a.asname))
                    elif full in self.files and a.name not in self.public(module):
                        aliases.append((scope, bound, full))
                        new = self.home(full)
                        if whole_move and scope is scopes.top and self.inside_target(file, new):
                            wanted.append((None, full, bound))
                            touched = True
                            continue
                        if new == full:
                            wanted.append((module, a.name, a.asname))
                            continue
                        touched = True
                        package, _, stem = new.rpartition(".")
                        if a.asname or stem == a.name:
                            wanted.append((package, stem, a.asname if a.asname != stem else None))
                        elif self.can_bind(file, scope, bound, stem, new):
                            renames.append((scope, bound, stem))
                            wanted.append((package, stem, None))
                        else:
                            wanted.append((package, stem, bound))
                    else:
                        new, name = self.resolve(module, a.name)
                        if file.module and self.inside_target(file, new, a, scope, bound):
                            # the name is at the top of the same new module
                            touched = True
                            wanted.append((None, None, None))
                            if name != bound:
                                renames.append((scope, bound, name))
                                self.check_free(file, scope, bound, name, strict=True)
                            elif scope is not scopes.top:
                                self.check_free(file, scope, bound, name, strict=True)
                            continue
                        if (new, name) == (module, a.name):
                            wanted.append((module, a.name, a.asname))
                            continue
                        touched = True
                        if a.asname:
                            wanted.append((new, name, None if a.asname == name else a.asname))
                        elif name == a.name:
                            wanted.append((new, name, None))
                        elif self.can_bind(file, scope, bound, name, None):
                            renames.append((scope, bound, name))
                            wanted.append((new, name, None))
                        else:
                            wanted.append((new, name, bound))
            else:
                for a in stmt.names:
                    if a.name in self.files and self.home(a.name) != a.name:
                        touched = True
                        if a.asname:
                            aliases.append((scope, a.asname, a.name))
                            wanted.append(("import", self.home(a.name), a.asname))
                        else:
                            wanted.append(("import", self.home(a.name), None))
                    else:
                        if a.name in self.files and a.asname:
                            aliases.append((scope, a.asname, a.name))
                        wanted.append(("import", a.name, a.asname))
            rewritten.append((stmt, scope, wanted, touched))
        self.rename_uses(file, renames)
        self.rename_own(file)
        self.modules_used(file, aliases, renames, whole_move)
        for stmt, scope, wanted, touched in rewritten:
            if id(stmt) in top and file.module and self.home(file.module) in self.anew or id(stmt) in top and file.module and file.module in {s for t in self.targets.values() for s in t.taken}:
                file.collected.append((stmt, top[id(stmt)], wanted))
            elif touched:
                self.put_import(file, stmt, [w for w in wanted if w[0] is not None])
        self.rewrite_texts(file)

    def public(self, package: str) -> set:
        """Names that a package gives out which are no modules, though modules are called so too."""
        file = self.files.get(package)
        for stmt in file.tree.body if file and file.is_package else ():
            if isinstance(stmt, ast.Assign) and getattr(stmt.targets[0], "id", "") == "__all__":
                return set(ast.literal_eval(stmt.value))
        return set()

    def inside_target(self, file, new, a=None, scope=None, bound=None) -> bool:
        """Whether what is imported is in the same new module as the statements that use it."""
        if self.home(file.module) != new or new not in self.anew:
            # a taken statement of this file may still be there; those are handled when it is put together
            return False
        return True

    def can_bind(self, file, scope, bound, new, module) -> bool:
        """Whether a binding can be called ``new`` in its scope, with all its uses."""
        if new in scope.binds:
            # bound there already: fine only if it is the same thing by another import
            if scope is file.scopes.top and new in file.imported and new not in file.defined:
                of, inside = file.imported[new]
                if module is not None and inside is not None and self.home(f"{of}.{inside}") == module:
                    return self.check_free(file, scope, bound, new, strict=False)
                if module is not None and inside is None and self.home(of) == module:
                    return self.check_free(file, scope, bound, new, strict=False)
                if module is None:
                    b = file.imported.get(bound)
                    if b and inside is not None and self.resolve(of, inside) == self.resolve(*b):
                        return self.check_free(file, scope, bound, new, strict=False)
            return False
        if file.module and scope is file.scopes.top:
            home = self.home(file.module)
            if new in self.owner.get(home, {}):
                return False
        return self.check_free(file, scope, bound, new, strict=False)

    def check_free(self, file, scope, bound, new, strict) -> bool:
        """Whether no scope between a use of ``bound`` and its binding has ``new`` for itself."""
        for node, name, at in file.scopes.uses:
            if name != bound or at.find(name) is not scope:
                continue
            until = None if strict else scope
            for between in at.chain(file.scopes.top if strict else until):
                own = between.binds - between.globs
                if new in own and not (between is scope and new == bound):
                    if strict:
                        where = f"{file.path.relative_to(self.root)}:{getattr(node, 'lineno', '?')}"
                        fail(f"{where}: {bound} becomes {new}, which is a local name there: rename one of them")
                    return False
            if not strict and at is not scope and any(n == new and a is at and a.find(n) is None and hasattr(builtins, new) for _, n, a in file.scopes.uses):
                return False
        return True

    def rename_uses(self, file, renames):
        for scope, old, new in renames:
            if old == new:
                continue
            for node, name, at in file.scopes.uses:
                if name == old and at.find(name) is scope:
                    for start, end in file.name_span(node, name):
                        file.edit(start, end, new)
            for node, at in file.scopes.quoted:
                if at.find(old) is scope and re.search(rf"\b{old}\b", node.value):
                    start, end = file.span(node)
                    file.edit(start, end, re.sub(rf"(?<![\w.]){old}\b", new, file.text[start:end]))

    def rename_own(self, file):
        """Rename what a module defines."""
        if not file.module:
            return
        mine = {n: new for (m, n), new in self.renames.items() if m == file.module}
        for old, new in mine.items():
            for node, name, at in file.scopes.uses:
                if name == old and at.find(name) is file.scopes.top:
                    for between in at.chain(file.scopes.top):
                        if new in between.binds - between.globs:
                            fail(f"{file.path.relative_to(self.root)}:{node.lineno}: {old} becomes {new}, which is local there")
            if new in file.scopes.top.binds and new not in mine:
                fail(f"{file.module}: {old} becomes {new}, which it has already")
        self.rename_uses(file, [(file.scopes.top, o, n) for o, n in mine.items()])

    def modules_used(self, file, aliases, renames, whole_move):
        """Rewrite ``module.name`` and ``setattr(module, "name", ...)``."""
        for scope, bound, module in aliases:
            gone = whole_move and scope is file.scopes.top and self.inside_target(file, self.home(module))
            seen = set()
            for node, at in file.scopes.attributes:
                if not (isinstance(node.value, ast.Name) and node.value.id == bound and at.find(bound) is scope):
                    continue
                seen.add(id(node.value))
                new_home, new = self.attribute(module, node.attr)
                if new_home != self.home(module):
                    fail(f"{file.path.relative_to(self.root)}:{node.lineno}: {bound}.{node.attr} goes to {new_home}, the module to {self.home(module)}")
                start, end = file.span(node)
                if gone:
                    for between in at.chain(file.scopes.top):
                        if new in between.binds - between.globs:
                            fail(f"{file.path.relative_to(self.root)}:{node.lineno}: {bound}.{node.attr} becomes {new}, local there")
                    file.edit(start, end, new)
                elif new != node.attr:
                    file.edit(end - len(node.attr), end, new)
            for call, at in file.scopes.calls:
                args = call.args
                if len(args) < 2 or not isinstance(args[0], ast.Name) or args[0].id != bound or at.find(bound) is not scope:
                    continue
                if isinstance(args[1], ast.Constant) and isinstance(args[1].value, str):
                    new_home, new = self.attribute(module, args[1].value)
                    if new_home != self.home(module):
                        note(f"{file.path.relative_to(self.root)}:{call.lineno}: {bound}, {args[1].value!r} is now of {new_home}: look")
                    if new != args[1].value:
                        start, end = file.span(args[1])
                        file.edit(start, end, repr(new).replace("'", '"'))
            if gone:
                for node, name, at in file.scopes.uses:
                    if name == bound and at.find(name) is scope and id(node) not in seen:
                        fail(f"{file.path.relative_to(self.root)}:{node.lineno}: the module {bound} is used as a value in its own new module")

    def put_import(self, file, stmt, wanted):
        start, end = file.span(stmt)
        line = file.lines[stmt.lineno - 1]
        indent = line[: len(line) - len(line.lstrip())]
        if not wanted:
            block = self.block_of(file, stmt)
            whole = line[: stmt.col_offset].strip() == ""
            if block is not None and all(isinstance(s, ast.Import | ast.ImportFrom) for s in block) and len(block) == 1:
                file.edit(start, end, "pass")
            elif whole:
                file.edit(file.starts[stmt.lineno - 1], file.starts[stmt.end_lineno], "")
            else:
                file.edit(start, end, "pass")
            return
        file.edit(start, end, f"\n{indent}".join(import_lines(wanted)))

    def block_of(self, file, stmt):
        for node in ast.walk(file.tree):
            for key in ("body", "orelse", "finalbody"):
                block = getattr(node, key, None)
                if isinstance(block, list) and stmt in block:
                    return block
        return None

    # ------------------------------------------------------------ texts
    def rewrite_texts(self, file):
        own = {n: new for (m, n), new in self.renames.items() if m == file.module} if file.module else {}
        for token in tokenize.generate_tokens(io.StringIO(file.text).readline):
            if token.type not in (tokenize.STRING, tokenize.COMMENT):
                continue
            start = file.starts[token.start[0] - 1] + token.start[1]
            end = file.starts[token.end[0] - 1] + token.end[1]
            old = file.text[start:end]
            new = self.text(old, python=True)
            for name, other in own.items():
                new = re.sub(rf"``{re.escape(name)}\b(?=[`(])", f"``{other}", new)
                if '>>>' in new and not name.startswith("_"):
                    new = re.sub(rf"^(\s*(?:>>>|\.\.\.) .*)$", lambda m, n=name, o=other: re.sub(rf"(?<![\w.\"'(=])(?<!import )\b{n}\b(?=\()", o, m[1]), new, flags=re.M)
            if new != old and not any(not (b <= start or a >= end) for a, b, _ in file.edits):
                file.edit(start, end, new)

    def text(self, text: str, python: bool = False) -> str:
        """Rewrite what a text says of modules: import statements, dotted names, paths, ``stem.name``."""
        def statement(m):
            module, listed = m["module"], m["names"]
            if module not in self.files:
                return m[0]
            body = listed.strip().strip("()").rstrip(",")
            wanted, changed = [], False
            for each in re.split(r"\s*,\s*", body.strip()):
                name, _, alias = each.partition(" as ")
                name, alias = name.strip(), alias.strip() or None
                full = f"{module}.{name}"
                if full in self.files and name not in self.public(module):
                    new = self.home(full)
                    package, _, stem = new.rpartition(".")
                    wanted.append((package, stem, alias or (name if stem != name else None)))
                    changed |= new != full
                else:
                    new, called = self.resolve(module, name)
                    wanted.append((new, called, alias or (name if called != name else None)))
                    changed |= (new, called) != (module, name)
            if not changed:
                return m[0]
            lines = [f"from {mod} import {', '.join(names)}" for mod, names in grouped(wanted).items()]
            before = text[: m.start()].rpartition("\n")[2]
            if before.strip() in (">>>", "...", ""):
                return ("\n" + before).join(lines)
            return "; ".join(lines)

        text = re.sub(
            r"from (?P<module>synthrisk(?:\.\w+)+) import (?P<names>\([^)]*\)|\w+(?: as \w+)?(?:, \w+(?: as \w+)?)*)",
            statement, text,
        )

        def dotted(m):
            module, rest = self.old_prefix(m["dotted"])
            if not module:
                return m[0]
            tail = (f".{rest}" if rest else "") + (m["colon"] or "")
            first = re.match(r"([.:])(\w+)(.*)", tail)
            if first:
                new, name = self.resolve(module, first[2])
                if f"{module}.{first[2]}" in self.files:
                    new, name = self.home(module), first[2]
                return f"{new}{first[1]}{name}{first[3]}"
            return self.home(module)

        text = re.sub(r"(?P<dotted>synthrisk(?:\.\w+)+)(?P<colon>:[A-Za-z_]\w*)?(?! import)", dotted, text)

        def path(m):
            module = "synthrisk." + m[0][:-3].replace("/", ".")
            module = module.removesuffix(".__init__")
            if module not in self.files or self.home(module) == module:
                return m[0]
            return self.home(module).removeprefix("synthrisk.").replace(".", "/") + ".py"

        text = re.sub(r"(?<![\w/])(?:metrics|tasks|flows|conf)(?:/\w+)+\.py\b", path, text)

        def quoted(m):
            found = {(self.resolve(mod, m[3])) for mod in self.by_stem.get(m[2], ()) if m[3] in self.files[mod].defined}
            if len(found) != 1:
                return m[0]
            new, name = found.pop()
            if name == m[3] and new.rpartition(".")[2] == m[2].rpartition(".")[2]:
                return m[0]
            keep = m[2].count(".")
            stem = ".".join(new.split(".")[-1 - keep:])
            return f"{m[1]}{stem}.{name}"

        if any(self.home(m) != m for m in self.files) or self.renames:
            text = re.sub(r"(``?)([a-z_]+(?:\.[a-z_]+)?)\.(\w+)(?=[`(])", quoted, text)
        return text

    @property
    def by_stem(self):
        if not hasattr(self, "_stems"):
            self._stems = defaultdict(list)
            for m in self.files:
                parts = m.split(".")
                self._stems[parts[-1]].append(m)
                self._stems[".".join(parts[-2:])].append(m)
        return self._stems

    # ------------------------------------------------------------ putting together
    def assemble(self, target: Target) -> str:
        """The text of a target."""
        imports: dict[bool, dict] = {False: {}, True: {}}  # type checking: bound name -> (module, name, asname)
        lines: dict[bool, list[str]] = {False: [], True: []}
        body: list[tuple[Segment, str]] = []
        docs: dict[str, str] = {}
        for s in target.sources:
            file = self.files[s]
            doc, parts = segments(file)
            docs[s] = doc or ""
            taken = target.taken.get(s)
            away = {n for (m, n) in self.home_of_name if m == s}
            kept = []
            for part in parts:
                if isinstance(part.stmt, ast.Import | ast.ImportFrom) or is_type_checking(part.stmt):
                    lead = file.text[part.start : file.starts[part.stmt.lineno - 1]].strip()
                    if lead and not taken:
                        note(f"{s}: the comment above an import goes to the top of {target.module}: {lead!r}")
                        lines[False].append(lead)
                    continue
                if taken is not None:
                    if set(part.names) & set(taken):
                        kept.append(part)
                elif set(part.names) and set(part.names) <= away:
                    continue
                elif part.names and all((s, n) in self.dropped for n in part.names):
                    continue
                else:
                    kept.append(part)
            body += [(p, file.changed(p.start, p.end)) for p in kept]
            partial = taken is not None or bool(away)
            used = None
            if partial:
                used = {n for p in kept for st in p.parts for n in names_in(st)}
                here = {n for p in kept for n in p.names}
                for n in sorted(used):
                    if n in file.defined and n not in here:
                        new, name = self.resolve(s, n)
                        if new != target.module:
                            self.add(imports[False], target, (new, name, None))
            for stmt, checking, wanted in file.collected:
                comment = trailing_comment(file, stmt)
                for module, name, asname in wanted:
                    if module is None:
                        continue
                    if module == "import":
                        bound = asname or name.split(".")[0]
                        if used is None or bound in used or bound not in file.scopes.top.binds:
                            self.add(imports[checking], target, (module, name, asname))
                        continue
                    if module == target.module:
                        continue
                    if partial:  # under which name the file used it
                        olds = {a.asname or a.name for a in stmt.names}
                        if not olds & used and (asname or name) not in used:
                            continue
                        if (asname or name) not in used and not self.was(stmt, module, name, used):
                            continue
                    self.add(imports[checking], target, (module, name, asname), comment)
            if partial and taken is None:
                pass
        # names whose import vanished as they went to the same module, but a taken statement needs them elsewhere
        self.partial_needs(target, body, imports)
        runtime = imports[False]
        for bound in list(imports[True]):
            if bound in runtime:
                del imports[True][bound]
        for checked in (False, True):
            for bound, (what, comment) in imports[checked].items():
                new_names = self.owner.get(target.module, {})
                if bound in new_names and new_names[bound] not in self.dropped:
                    fail(f"{target.module}: the import {what} and a definition are both called {bound}: rename it")
        ordered = self.order(target, body)
        head = doc_text(target, docs, self)
        out = [head]
        for checked in (False, True):
            block = [*lines[checked]]
            plain, noted = defaultdict(list), []
            for bound, (what, comment) in imports[checked].items():
                if comment:
                    noted.append(import_lines([what])[0] + "  " + comment)
                else:
                    plain[what[0]].append(what)
            for what in plain.values():
                block += import_lines(what)
            block += noted
            if not block:
                continue
            if checked:
                out.append("if TYPE_CHECKING:\n" + "\n".join(f"    {b}" for b in block))
            else:
                out.append("\n".join(block))
        text, last = "\n\n".join(filter(None, out)), None
        for part, own in ordered:
            if last is not None and last.file is part.file and last.end == part.start:
                text = text.rstrip("\n") + own[: len(own) - len(own.lstrip("\n"))] + "\n" + own.strip("\n")
            else:
                text += "\n\n" + own.strip("\n")
            last = part
        return text.strip("\n") + "\n"

    def was(self, stmt, module, name, used) -> bool:
        if not isinstance(stmt, ast.ImportFrom):
            return False
        return any((a.asname or a.name) in used and self.resolve(stmt.module, a.name) == (module, name) for a in stmt.names)

    def partial_needs(self, target, body, imports):
        """Imports that a statement needs whose file's import vanished, for file and statement part ways."""
        for part, _ in body:
            file = part.file
            if self.home(file.module) == target.module and not any(m == file.module for m, _ in self.home_of_name):
                continue
            for st in part.parts:
                for n in names_in(st):
                    if n in file.imported and n not in file.defined:
                        of, inside = file.imported[n]
                        if inside is None or of not in self.files or f"{of}.{inside}" in self.files:
                            continue
                        new, name = self.resolve(of, inside)
                        if new != target.module and not any(
                            w[0][:2] == (new, name) for c in imports.values() for w in c.values()
                        ):
                            self.add(imports[False], target, (new, name, None))

    def add(self, into, target, what, comment=""):
        bound = what[2] or (what[1].split(".")[0] if what[0] == "import" else what[1])
        if bound in into and into[bound][0] != what and what[0] != "import":
            fail(f"{target.module}: {bound} is imported from {into[bound][0][0]} and from {what[0]}: rename one")
        key = bound if what[0] != "import" or what[2] else f"import {what[1]}"
        if key in into and not comment:
            comment = into[key][1]
        into[key] = (what, comment)

    def order(self, target, body):
        """The statements, each after those whose names it needs when it is run; else as they stood."""
        new = {}
        for i, (part, _) in enumerate(body):
            for n in part.names:
                new.setdefault(self.renames.get((part.file.module, n), n), []).append(i)

        def called(part, n):
            """The new name of a name as a statement of this file uses it."""
            file = part.file
            if n in file.defined:
                return self.renames.get((file.module, n), n)
            if n in file.imported:
                of, inside = file.imported[n]
                if inside is not None and of in self.files and f"{of}.{inside}" not in self.files:
                    home, name = self.resolve(of, inside)
                    return name if home == target.module else None
            return None

        def needs(i, deep=True, seen=None):
            part, _ = body[i]
            seen = set() if seen is None else seen
            out = set()
            mine = {self.renames.get((part.file.module, n), n) for n in part.names}
            for st in part.parts:
                calls = set()
                for node in walk_here(st):
                    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                        calls.add(node.func.id)
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                        c = called(part, node.id)
                        out |= {j for j in new.get(c, ()) if j != i and (c not in mine or j < i)}
                    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                        of = part.file.imported.get(node.value.id)
                        if of and of[1] and f"{of[0]}.{of[1]}" in self.files:
                            home, name = self.resolve(f"{of[0]}.{of[1]}", node.attr)
                            if home == target.module:
                                out |= {j for j in new.get(name, ()) if j != i}
                decorators = {n.id for d in getattr(st, "decorator_list", []) for n in ast.walk(d) if isinstance(n, ast.Name)}
                for n in calls | decorators:
                    for j in new.get(called(part, n), ()):
                        if j not in seen and j != i:
                            seen.add(j)
                            fn = body[j][0]
                            for sub in fn.parts:
                                for m in names_in(sub):
                                    out |= {k for k in new.get(called(fn, m), ()) if k != i}
                            if isinstance(fn.stmt, ast.FunctionDef):
                                for sub in ast.walk(fn.stmt):
                                    if isinstance(sub, ast.Call) and isinstance(sub.func, ast.Name):
                                        for k in new.get(called(fn, sub.func.id), ()):
                                            if k not in seen:
                                                seen.add(k)
                                                for m in names_in(body[k][0].stmt):
                                                    out |= {x for x in new.get(called(body[k][0], m), ()) if x != i}
            return out

        done, out, under = set(), [], []
        front = [i for n in target.front for i in new.get(n, ())]

        def emit(i):
            if i in done:
                return
            if i in under:
                return  # a circle of definitions: as they stand
            under.append(i)
            for j in sorted(needs(i)):
                if j not in done:
                    emit(j)
            under.pop()
            if i not in done:
                done.add(i)
                out.append(body[i])

        for i in [*front, *range(len(body))]:
            emit(i)
        if out != body:
            moved = [p.names for (p, _), (q, _) in zip(out, body, strict=True) if p is not q]
            note(f"{target.module}: definitions were put in another order ({len(moved)} statements)")
        return out

    # ------------------------------------------------------------ writing
    def write(self, made: dict[str, str]):
        moved_away = {s for s in self.files if self.home(s) != s}
        data_moves = {self.root / a: self.root / b for a, b in self.data.items()}
        contents = {a: a.read_bytes() for a in data_moves if a.exists()}
        for a in data_moves:
            if a in contents:
                a.unlink()
            else:
                fail(f"there is no {a} (skipped)")
        kept_inits = {}
        for s in moved_away:
            file = self.files[s]
            if file.is_package:
                kept_inits[s] = segments(file)[0] or ""
            file.path.unlink()
        for name, doc in kept_inits.items():  # a package whose contents went: stays while it has modules
            folder = self.files[name].path.parent
            left = [p for p in folder.rglob("*.py")]
            new = [m for m in made if m.startswith(name + ".")]
            if left or new:
                doc = self.packages.get(name, doc)
                self.files[name].path.write_text(quote(doc) + "\n", "utf-8")
        for name in list(self.files):  # packages that have lost all their modules
            file = self.files[name]
            if file.is_package and file.path.exists() and name not in moved_away:
                folder = file.path.parent
                others = [p for p in folder.rglob("*") if p.is_file() and p != file.path and "__pycache__" not in p.parts]
                if not others and not any(m == name or m.startswith(name + ".") for m in made) and any(
                    s.startswith(name + ".") for s in moved_away
                ):
                    if len(segments(file)[1]):
                        fail(f"{name} has lost its modules, but its __init__ holds code")
                    file.path.unlink()
                    note(f"the package {name} is gone")
        for folder in sorted({f.path.parent for f in self.files.values()}, key=lambda p: -len(p.parts)):
            cache = folder / "__pycache__"
            if folder.exists() and not any(p for p in folder.iterdir() if p.name != "__pycache__"):
                if cache.exists():
                    for p in cache.iterdir():
                        p.unlink()
                    cache.rmdir()
                folder.rmdir()
        for name, doc in self.packages.items():
            place = self.place(name, True)
            if name in self.files and self.files[name].is_package and place.exists():
                file = self.files[name]
                text = file.changed() if name not in made else made[name]
                tree = ast.parse(text)
                if tree.body and is_text(tree.body[0]):
                    end = tree.body[0].end_lineno
                    text = quote(doc) + "\n" + "".join(text.splitlines(keepends=True)[end:])
                else:
                    text = quote(doc) + "\n\n" + text
                place.write_text(text, "utf-8")
                file.text_done = True
                if name in made:
                    made[name] = text
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(quote(doc) + "\n", "utf-8")
        for name, text in made.items():
            is_package = name in self.files and self.files[name].is_package and self.files[name].path.exists()
            if is_package and name not in self.targets[name].sources:  # a package becomes a module
                self.files[name].path.unlink()
                folder, is_package = self.files[name].path.parent, False
                left = [p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
                if left:
                    fail(f"{name} is to be a module, but its package holds {left[0].name} (skipped)")
                else:
                    shutil.rmtree(folder)
            place = self.place(name, is_package)
            place.parent.mkdir(parents=True, exist_ok=True)
            package = place.parent / "__init__.py"
            if not package.exists() and place != package:
                fail(f"{name}: its package has no docstring in [packages]")
                package.write_text('"""?"""\n', "utf-8")
            place.write_text(text, "utf-8")
        for b, a in {b: a for a, b in data_moves.items()}.items():
            if a in contents:
                b.parent.mkdir(parents=True, exist_ok=True)
                b.write_bytes(contents[a])
        for file in [*self.files.values(), *self.others]:
            if file.module in self.anew or file.module in moved_away or getattr(file, "text_done", False):
                continue
            text = file.changed()
            if text != file.text:
                file.path.write_text(text, "utf-8")
        self.other_texts()
        self.lazy_tables(made)
        for each in self.replace:
            self.put(each)

    def place(self, module: str, package: bool) -> Path:
        path = self.root.joinpath(*module.split(".")[1:])
        return path / "__init__.py" if package else path.with_suffix(".py")

    def other_texts(self):
        listed = subprocess.run(["git", "ls-files"], cwd=self.root, capture_output=True, text=True, check=True).stdout
        for name in listed.splitlines():
            path = self.root / name
            if not path.is_file() or path.suffix == ".py" or path.suffix not in TEXT_ENDS or name == "CHANGELOG.md":
                continue
            if name.startswith("tests/") and path.suffix in (".json", ".txt") or "node_modules" in name:
                continue
            try:
                text = path.read_text("utf-8")
            except UnicodeDecodeError:
                continue
            new = self.text(text)
            for a, b in self.data.items():
                new = new.replace(a, b)
            if name == "pyproject.toml":
                new = self.contracts(new)
            if new != text:
                path.write_text(new, "utf-8")

    def contracts(self, text: str) -> str:
        """Put the layers of the contracts of packages as the mapping states them, else rename what is renamed."""
        def block(m):
            container = re.search(r'containers = \["([\w.]+)"\]', m[0])
            if not container:
                return m[0]
            name = container[1]
            stated = self.layers.get(name) or self.layers.get(name.removeprefix("synthrisk."))
            old = re.search(r"^layers = \[\n(.*?)^\]", m[0], re.S | re.M)
            if not old:
                return m[0]
            if stated is None:
                rows, seen = [], set()
                for row in re.findall(r'"([^"]+)"', old[1]):
                    sep = "|" if "|" in row else ":"
                    cells = []
                    for cell in re.split(r"\s*[|:]\s*", row):
                        full = f"{name}.{cell.strip('()')}"
                        new = self.home(full) if full in self.files else full
                        if new.rpartition(".")[0] == name and new not in seen:
                            seen.add(new)
                            cells.append(new.rpartition(".")[2])
                    if cells:
                        rows.append(f" {sep} ".join(cells))
            else:
                rows = stated
            return m[0].replace(old[0], "layers = [\n" + "".join(f'  "{r}",\n' for r in rows) + "]")

        return re.sub(r"\[\[tool\.importlinter\.contracts\]\]\n.*?(?=\n\[|\Z)", block, text, flags=re.S)

    def lazy_tables(self, made):
        """Tables of a package's names and the modules they are loaded from."""
        for name, file in self.files.items():
            if not file.is_package or not file.path.exists():
                continue
            text = file.path.read_text("utf-8")
            if "import_module(f\"{__name__}." not in text:
                continue
            def cell(m, name=name):
                full = f"{name}.{m[2]}"
                if full not in self.files:
                    return m[0]
                new, called = self.resolve(full, m[1]) if m[1] in self.files[full].defined else (self.home(full), m[1])
                if called != m[1]:
                    fail(f"{name}: the public name {m[1]} was renamed {called}")
                return m[0].replace(f'"{m[2]}"', f'"{new.removeprefix(name + ".")}"')
            new = re.sub(r'"(\w+)": "([\w.]+)"', cell, text)
            if new != text:
                file.path.write_text(new, "utf-8")

    def put(self, each: dict):
        path = self.root / each["file"]
        text = path.read_text("utf-8") if path.exists() else ""
        old, new = each["old"], each["new"]
        if each.get("regex"):
            changed, count = re.subn(old, new, text, flags=re.M | re.S)
        else:
            count, changed = text.count(old), text.replace(old, new)
        if not count:
            fail(f"[[replace]] {each['file']}: not found: {old[:80]!r} (skipped)")
        else:
            path.write_text(changed, "utf-8")


def names_in(stmt) -> set[str]:
    out = {n.id for n in ast.walk(stmt) if isinstance(n, ast.Name)}
    for n in ast.walk(stmt):  # quoted annotations
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and re.fullmatch(r"[\w\[\], .|]+", n.value):
            out |= set(re.findall(r"[A-Za-z_]\w*", n.value)) if len(n.value) < 80 and not " " in n.value.strip() or "|" in n.value else set()
    return out


def trailing_comment(file: File, stmt) -> str:
    for line in range(stmt.lineno, stmt.end_lineno + 1):
        text = file.lines[line - 1]
        found = re.search(r"#.*$", text.rstrip("\n"))
        if found:
            return found[0]
    return ""


def grouped(wanted) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for module, name, asname in wanted:
        each = f"{name} as {asname}" if asname else name
        if each not in out.setdefault(module, []):
            out[module].append(each)
    return out


def import_lines(wanted) -> list[str]:
    lines = [f"import {name}" + (f" as {asname}" if asname else "") for m, name, asname in wanted if m == "import"]
    for module, names in grouped([w for w in wanted if w[0] != "import"]).items():
        line = f"from {module} import {', '.join(names)}"
        lines.append(line if len(line) < 100 else f"from {module} import ({', '.join(names)})")
    return list(dict.fromkeys(lines))


def quote(doc: str) -> str:
    doc = doc.strip()
    return f'"""{doc}\n"""' if "\n" in doc else f'"""{doc}"""'


def doc_text(target: Target, docs: dict[str, str], house: House) -> str:
    if target.doc is None:
        kept = [d for d in docs.values() if d.strip()]
        text = house.text("\n\n".join(d.strip() for d in kept), python=True)
    else:
        text = target.doc

        def part(m):
            source = house.full(m[1], target.module.rpartition(".")[0])
            if source not in docs:
                fail(f"{target.module}: its docstring names {source}, which is no source")
                return ""
            whole = docs[source].strip()
            first, _, rest = whole.partition("\n\n")
            found = {"all": whole, "first": first, "rest": rest}[m[2]]
            return house.text(found.strip(), python=True)

        text = re.sub(r"\{([\w.]+):(all|first|rest)\}", part, text)
        lost = [s for s in docs if docs[s].strip().count("\n\n") and f"{s.rpartition('.')[2]}:" not in target.doc]
        if lost:
            note(f"{target.module}: its docstring leaves out paragraphs of {', '.join(lost)}")
    text = re.sub(r"\n{3,}", "\n\n", text.strip())
    return quote(text) if text else ""


# ---------------------------------------------------------------- what came of it
def graph(root: Path):
    mods = {}
    for top in TOPS:
        for path in (root / top).rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            mods["synthrisk." + ".".join(parts)] = path
    edges = defaultdict(set)
    for m, path in mods.items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                for a in node.names:
                    full = f"{node.module}.{a.name}"
                    t = full if full in mods else node.module
                    if t in mods:
                        edges[m].add(t)
            elif isinstance(node, ast.Import):
                for a in node.names:
                    if a.name in mods:
                        edges[m].add(a.name)
    return mods, edges


_NAMES: dict = {}


def names_of(path: Path) -> set:
    if path not in _NAMES:
        tree = ast.parse(path.read_text("utf-8"))
        names = set()
        for stmt in tree.body:
            names |= set(bound_by(stmt)) if not is_type_checking(stmt) else {a.asname or a.name for s in stmt.body for a in s.names}
            if isinstance(stmt, ast.Import | ast.ImportFrom):
                names |= {a.asname or a.name for a in stmt.names}
            if isinstance(stmt, ast.FunctionDef) and stmt.name == "__getattr__":
                for s in tree.body:
                    if isinstance(s, ast.Assign) and getattr(s.targets[0], "id", "") == "__all__":
                        names |= set(ast.literal_eval(s.value))
            if isinstance(stmt, ast.Assign) and getattr(stmt.targets[0], "id", "") == "__all__":
                names |= set(ast.literal_eval(stmt.value))
        _NAMES[path] = names
    return _NAMES[path]


def circles(edges) -> list[list[str]]:
    index, low, stack, on, out = {}, {}, [], set(), []
    sys.setrecursionlimit(10000)

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in edges.get(v, ()):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            c = []
            while True:
                w = stack.pop()
                on.discard(w)
                c.append(w)
                if w == v:
                    break
            if len(c) > 1:
                out.append(sorted(c))

    for v in list(edges):
        if v not in index:
            visit(v)
    return out


def check_uses(root: Path, mods: dict[str, Path]):
    """Whether what all files import, and take of modules, is there."""
    paths = [p for top in (*TOPS, "tests", "benchmarks", "docs", "deployments") for p in sorted((root / top).rglob("*.py"))]
    for path in paths:
        if SKIP & set(path.parts):
            continue
        file = File(path, None)
        where = path.relative_to(root)
        alias = []
        for stmt, scope in file.scopes.imports:
            for a in stmt.names:
                if isinstance(stmt, ast.ImportFrom) and not stmt.level:
                    full = f"{stmt.module}.{a.name}"
                    if full in mods and not (stmt.module in mods and a.name in names_of(mods[stmt.module])):
                        alias.append((scope, a.asname or a.name, full))
                    elif stmt.module in mods:
                        if full not in mods and a.name not in names_of(mods[stmt.module]):
                            fail(f"{where}:{stmt.lineno}: {stmt.module} has no {a.name} (skipped)")
                    elif (stmt.module or "").startswith("synthrisk."):
                        fail(f"{where}:{stmt.lineno}: there is no {stmt.module} (skipped)")
                elif isinstance(stmt, ast.Import) and a.asname and a.name in mods:
                    alias.append((scope, a.asname, a.name))
                elif isinstance(stmt, ast.Import) and a.name.startswith("synthrisk.") and a.name not in mods:
                    fail(f"{where}:{stmt.lineno}: there is no {a.name} (skipped)")
        for scope, bound, module in alias:
            for node, at in file.scopes.attributes:
                if isinstance(node.value, ast.Name) and node.value.id == bound and at.find(bound) is scope:
                    name = node.attr
                    if name.startswith("__") or f"{module}.{name}" in mods or name in names_of(mods[module]):
                        continue
                    if bound in {n for n, s in file.defined.items()}:
                        continue
                    fail(f"{where}:{node.lineno}: {module} has no {name} (skipped)")
            for call, at in file.scopes.calls:
                if len(call.args) > 1 and isinstance(call.args[0], ast.Name) and call.args[0].id == bound and at.find(bound) is scope:
                    name = getattr(call.args[1], "value", None)
                    if isinstance(name, str) and not name.startswith("__") and getattr(call.func, "attr", "") in ("setattr", "object", "delattr"):
                        if name not in names_of(mods[module]):
                            fail(f"{where}:{call.lineno}: {module} has no {name!r} (skipped)")
        for m in re.finditer(r"synthrisk\.(?:metrics|tasks|flows|conf)(?:\.\w+)+", file.text):
            parts = m[0].split(".")
            for i in range(len(parts), 2, -1):
                if ".".join(parts[:i]) in mods:
                    rest = parts[i:]
                    if rest and rest[0] not in names_of(mods[".".join(parts[:i])]):
                        line = file.text.count("\n", 0, m.start()) + 1
                        note(f"{where}:{line}: {m[0]} names nothing")
                    break


def report(root: Path):
    mods, edges = graph(root)
    check_uses(root, mods)
    for c in circles(edges):
        print("CIRCLE", ", ".join(c))
        for a in c:
            print("   ", a, "->", ", ".join(sorted(set(edges[a]) & set(c))))
    rooms = defaultdict(list)
    for path in mods.values():
        rooms[path.parent.relative_to(root)].append(path)
    print(f"files: {len(mods)}; " + "; ".join(f"{t} {sum(m.split('.')[1] == t for m in mods)}" for t in TOPS))
    for room, paths in sorted(rooms.items()):
        print(f"  {room}: {len(paths)}")
    for path in sorted(mods.values()):
        n = len(path.read_text('utf-8').splitlines())
        if n > 600:
            print("LONG", path.relative_to(root), n)


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    root = Path(args[0]).resolve()
    house = House(root, [Path(a) for a in args[1:]])
    house.run()
    stop = any("skipped" not in e for e in ERRORS)
    if not stop and "--no-ruff" not in sys.argv:
        ruff = str(Path(sys.executable).with_name("ruff"))
        tops = [t for t in (*TOPS, "tests", "benchmarks", "docs") if (root / t).exists()]
        for more in (["check", "--select", "I,F401", "--fix", "-q", "--exit-zero"], ["format", "-q"], ["check", "--fix", "-q", "--exit-zero"], ["format", "-q"], ["check", "-q"]):
            subprocess.run([ruff, *more, *tops], cwd=root, check=False)
    if not stop:
        report(root)
    for n in NOTES:
        print("note:", n)
    for e in ERRORS:
        print("ERROR:", e)
    sys.exit(bool(ERRORS))


if __name__ == "__main__":
    main()
