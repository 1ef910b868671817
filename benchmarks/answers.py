"""How often does each word fall on releases of known truth? Adult at five sizes, and eleven more tables.

python benchmarks/answers.py --to answers.jsonl --workers 2                 # all of it: an hour or two on 2 cores
python benchmarks/answers.py --to answers.jsonl --only "adult 3000 fresh"   # a part: table, members (or own), release
python benchmarks/answers.py --to answers.jsonl --table                     # what is there so far, as Markdown

Each release is judged as ``synthrisk evaluate real.csv release.csv --control heldout.csv --limit 0.05`` judges it, and
by ``--limit 0.1``; each table once as ``synthrisk init --yes --quick --limit 0.05`` and ``synthrisk benchmark`` do.
A line of the file is one release: the same command goes on where it was stopped, and several may write to one file.
"""

import argparse
import json
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from io import StringIO
from itertools import groupby
from math import isfinite
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from _answers_releases import RELEASES
from _answers_tables import TABLES, People, people, with_addresses

SIZES, SEEDS, OWN_SEEDS = (1000, 3000, 5000, 10_000, 15_000), 10, 2
LIMITS = (0.05, 0.1)
STUDY = "benchmark"
"""What stands for a release where a whole study is made of a table."""
GENERATORS: Mapping[str, Any] = {
    "cart": {"name": "cart", "options": {"min_samples_leaf": 100}},
    "gaussian_copula": "gaussian_copula",
}


@dataclass(frozen=True, order=True)
class Cell:
    """One release of one split of one table."""

    table: str
    size: int  # members; 0: the table's own size
    seed: int
    release: str

    @property
    def name(self) -> str:
        """What ``--only`` looks at."""
        return f"{self.table} {self.size or 'own'} {self.release}"

    @property
    def group(self) -> tuple[str, int, int]:
        """What is the same for releases that stand beside the same references."""
        return self.table, self.size, self.seed


def cells(sizes: Sequence[int] = SIZES, seeds: int | None = None) -> list[Cell]:
    """Return all there is to do."""
    places = [("adult", size, seed) for size in sizes for seed in range(SEEDS if seeds is None else seeds)]
    places += [(t, 0, seed) for t in TABLES if t != "adult" for seed in range(OWN_SEEDS if seeds is None else seeds)]
    return [Cell(*place, release) for place in places for release in RELEASES] + [
        Cell(table, 0, 0, STUDY) for table in TABLES
    ]


def evaluated(cell: Cell, real: People, folder: Path, found: dict[str, Any], seconds: dict[str, float]) -> None:
    """Judge one release by each limit; ``found`` gets its truth, its words, and the quantities that were limited."""
    from _in_process import estimated

    from synthrisk.tasks.judge import judge

    known = RELEASES[cell.release]
    place = folder / ("named" if known.named else "plain")
    own = _named(real) if known.named else real
    with _timed("release", seconds):
        release = known.make(own, np.random.default_rng([cell.seed, list(RELEASES).index(cell.release)]))
    if release is None:
        found.update(words={}, why="cannot be made of this table")
        return
    truth = known.truth(own, release)
    found["truth"] = {"kind": known.kind, "people": truth.people, "exposed": truth.exposed}
    found.update(members=len(own.members), control=len(own.control))
    with _timed("files", seconds):
        _write(own, place)
        release.to_csv(place / "release.csv", index=False)
    said, attacked, before = {}, None, None
    for limit in LIMITS:
        with _timed("roles and tables", seconds):
            asked = _asked(cell.table, place, folder / "workspace", limit)
        study = asked.study
        if attacked is None or _attacked(study) != _attacked(
            before
        ):  # one set of attacks for both limits where it serves
            took: dict[str, float] = {}
            attacked, before = estimated(study, asked.sample, took), study
            seconds["attack"] = seconds.get("attack", 0.0) + took.pop("release", 0.0)
            seconds["references"] = seconds.get("references", 0.0) + sum(took.values())
        with _timed("judge", seconds):
            result = judge.fn(attacked, study.thresholds, name=study.name, weakest=study.weakest, warning=asked.warning)
        said[f"{limit:g}"] = _said(result.result, "release")
    found.update(words={limit: each["word"] for limit, each in said.items()}, said=said)


def studied(cell: Cell, folder: Path, found: dict[str, Any], seconds: dict[str, float]) -> None:
    """Write the study that ``init`` proposes for a table, and run it for a tree and a copula; ``found`` gets words."""
    import yaml
    from _in_process import estimated

    from synthrisk.conf import load
    from synthrisk.flows.cli.init import Limit, new_study
    from synthrisk.tasks.data.task import data
    from synthrisk.tasks.judge import judge
    from synthrisk.tasks.propose.proposal import Given
    from synthrisk.tasks.sample import split
    from synthrisk.tasks.workspace.folders import open_workspace
    from synthrisk.tasks.workspace.references import Sample

    source, file = TABLES[cell.table], folder / "study.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    source.read().to_csv(folder / "table.csv", index=False)
    with _timed("roles and tables", seconds), _quiet():
        given = Given(identifier=source.person)
        new_study(str(folder / "table.csv"), file, given, Limit(0.05, ""), "quick", force=True, asks=False)
    study = load({**yaml.safe_load(file.read_text()), "synthesizers": list(GENERATORS.values())})
    workspace = str(open_workspace(folder / "workspace"))
    table = data.fn(study.data, study.split, workspace, study.seed)
    cut = split.fn(table, study.split, study.data.identifier, workspace, study.seed)
    found["rows"] = table.rows
    attacked = estimated(study, Sample.of(study.data, table, cut, workspace, study.seed), seconds)
    result = judge.fn(attacked, study.thresholds, name=study.name, weakest=study.weakest).result
    said = {name: _said(result, name) for name in GENERATORS}
    found.update(words={name: each["word"] for name, each in said.items()}, said=said)


def _asked(table: str, place: Path, workspace: Path, limit: float) -> Any:
    """Return what ``synthrisk evaluate`` makes of its arguments."""
    from synthrisk.flows.cli.evaluate import asked_of
    from synthrisk.flows.evaluate_settings import UNDERSTOOD

    said: dict[str, Any] = dict.fromkeys(UNDERSTOOD) | {"thresholds": {}, "identifier": TABLES[table].person}
    said |= {"real": str(place / "real.csv"), "control": str(place / "control.csv")}
    others = {"synthetic": str(place / "release.csv"), "what_if": [], "references": "limited", "seed": 1}
    others |= {"experiment": "evaluate", "tracking_uri": None, "workspace": str(workspace)}
    with _quiet():
        return asked_of(said, others, limit)


def _attacked(study: Any) -> Any:
    """Return what decides which attacks a study makes."""
    return study.model_copy(update={"thresholds": {}}), sorted(study.thresholds)


def _said(result: Any, name: str) -> dict[str, Any]:
    """Return the word on a generator, and on each limit with its interval."""
    looked = result.releases.get(name)
    limits = [
        {
            "quantity": v.quantity,
            "limit": v.limit,
            "word": v.word,
            **{
                k: round(float(getattr(v, k)), 5) if isfinite(getattr(v, k)) else None
                for k in ("value", "lower", "upper")
            },
            "brief": v.brief,
        }
        for v in result.verdicts
        if v.synthesizer == name
    ]
    told = {k: str(getattr(looked, k, ""))[:300] for k in ("invalid", "suspicious", "blind") if getattr(looked, k, "")}
    invalid = {} if result.valid else {"study": result.invalid[:300]}
    failed = {"failed": result.failures[name][:300]} if name in result.failures else {}
    word = "INVALID" if not result.valid else result.verdict(name) or "NO LIMIT"
    return {"word": word, "limits": limits, "look": told | invalid | failed}


def _named(real: People) -> People:
    parts = {p: with_addresses(getattr(real, p), i) for i, p in enumerate(("members", "control", "strangers"))}
    return replace(real, **parts)


def _write(real: People, place: Path) -> None:
    if not (place / "control.csv").exists():
        place.mkdir(parents=True, exist_ok=True)
        real.members.to_csv(place / "real.csv", index=False)
        real.control.to_csv(place / "control.csv", index=False)


@contextmanager
def _timed(what: str, seconds: dict[str, float]) -> Iterator[None]:
    began = process_time()
    yield
    seconds[what] = seconds.get(what, 0.0) + process_time() - began


@contextmanager
def _quiet() -> Iterator[None]:
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        yield


def run(group: Sequence[Cell], to: Path) -> None:
    """Judge the releases of one split, beside one set of references, and add a line for each to the file."""
    from synthrisk.metrics.errors import InputError
    from synthrisk.tasks.workspace.failures import RunError

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        real = people(group[0].table, group[0].size or None, group[0].seed)
        for cell in group:
            found, seconds = dict[str, Any](), dict[str, float]()
            try:
                if cell.release == STUDY:
                    studied(cell, Path(folder) / "study", found, seconds)
                else:
                    evaluated(cell, real, Path(folder), found, seconds)
            except (InputError, RunError) as error:
                names = GENERATORS if cell.release == STUDY else [f"{limit:g}" for limit in LIMITS]
                found.update(words=dict.fromkeys(names, "REFUSED"), why=str(error)[:300])
            took = {name: round(each, 2) for name, each in seconds.items()}
            line = json.dumps({**vars(cell), **found, "seconds": took})
            with to.open("a") as file:
                file.write(line + "\n")
            words = ", ".join(f"{k}: {word}" for k, word in found["words"].items())
            print(
                f"{cell.name}, seed {cell.seed}: {words or found['why']} ({sum(took.values()):.0f} CPU s)", flush=True
            )


def lines_of(path: Path) -> dict[Cell, dict[str, Any]]:
    """Return what is in the file, the last line of each cell."""
    found = {}
    for text in path.read_text().splitlines() if path.exists() else []:
        line = json.loads(text)
        found[Cell(line["table"], line["size"], line["seed"], line["release"])] = line
    return found


def main() -> None:
    """Run what is asked for, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=Path("answers.jsonl"), help="file of results, a line a release")
    parser.add_argument("--only", action="append", help="'<table> <members> <release>', * for any part; repeatable")
    parser.add_argument("--skip", action="append", default=[], help="the same, of what is left out")
    parser.add_argument("--seeds", type=int, help=f"splits of each table ({SEEDS} of Adult, {OWN_SEEDS} of the others)")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="members of Adult")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="print what is in the file as Markdown, and run nothing")
    asked, _ = parser.parse_known_args()
    if asked.table:
        from _answers_shares import print_tables

        print_tables(list(lines_of(asked.to).values()))
        return
    there = lines_of(asked.to)
    wanted = [
        cell
        for cell in cells(asked.sizes, asked.seeds)
        if any(fnmatch(cell.name, each) for each in asked.only or ["*"])
        and not any(fnmatch(cell.name, each) for each in asked.skip)
        and cell not in there
    ]
    groups = [list(own) for _, own in groupby(sorted(wanted, key=lambda c: c.group), key=lambda c: c.group)]
    print(f"{len(wanted)} releases of {len(groups)} splits to judge; {len(there)} are there", flush=True)
    if asked.workers == 1:
        for group in groups:
            run(group, asked.to)
        return
    threads = max(1, (os.cpu_count() or 1) // asked.workers)
    os.environ.update({f"{name}_NUM_THREADS": str(threads) for name in ("OMP", "OPENBLAS", "NUMBA")})
    with ProcessPoolExecutor(asked.workers, mp_context=get_context("spawn")) as pool:
        for answer in [pool.submit(run, group, asked.to) for group in groups]:
            answer.result()


if __name__ == "__main__":
    main()
