"""Keys see the code: an edit moves the digest of what it decides, and of nothing else."""

import shutil
import sys
from importlib.metadata import EntryPoint, EntryPoints
from unittest.mock import patch

import pytest

from synthrisk.metrics import METRICS
from synthrisk.metrics.plugins import METRIC_GROUP, SYNTHESIZER_GROUP
from synthrisk.tasks.workspace import keys
from synthrisk.tasks.workspace.keys import code_digest, entry_point_code, folders

SCORING = "synthrisk.metrics.study.scoring"


def ledger(measure: str) -> list[str]:
    return [SCORING, METRICS[measure].function.__module__]


def release(kind: str) -> list[str]:
    return [
        *entry_point_code(SYNTHESIZER_GROUP, [kind])[0],
        "synthrisk.tasks.synthesize",
        "synthrisk.tasks.workspace.files.parquet",
    ]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the four packages, to be edited; each edit is taken back."""
    place = tmp_path_factory.mktemp("tree")
    for name, folder in folders().items():
        shutil.copytree(folder, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    return place


@pytest.fixture(scope="module", autouse=True)
def parsed_once():
    """Parse files of the same text once, wherever they are: what is found in one depends on its text alone."""
    parse, known = keys._parsed, {}

    def parsed(path):
        text = path.read_bytes()
        if text not in known:
            known[text] = parse(path)
        return known[text]

    with patch.object(keys, "_parsed", parsed):
        yield


def digests(tree) -> dict[str, str]:
    where = {name: tree / name for name in folders()}
    modules = {m: ledger(m) for m in ("zero_cap", "rapid", "distance_to_closest_record")}
    modules |= {k: release(k) for k in ("cart", "files", "copy")}
    keys._KNOWN.clear()
    keys._source_of.cache_clear()
    return {name: code_digest(each, where=where) for name, each in modules.items()}


@pytest.fixture(scope="module")
def before(tree):
    return digests(tree)


@pytest.fixture
def moved(tree, before):
    """Give a function that returns whose digest an edit of a file moves."""

    def edited(path: str, old: str, new: str) -> set[str]:
        text = (tree / path).read_text()
        assert old in text
        (tree / path).write_text(text.replace(old, new, 1))
        try:
            after = digests(tree)
        finally:
            (tree / path).write_text(text)
        return {name for name in before if before[name] != after[name]}

    return edited


EVERY_LEDGER = {"zero_cap", "rapid", "distance_to_closest_record"}


@pytest.mark.parametrize(
    ("path", "seen_by"),
    [
        ("metrics/cap/cap.py", {"zero_cap"}),
        ("metrics/rapid/prediction_error.py", {"rapid"}),
        ("metrics/models/attackers.py", {"rapid"}),
        ("metrics/neighbours/box_search.py", EVERY_LEDGER),  # all: the look at a release takes nearest records
        ("metrics/study/scoring.py", EVERY_LEDGER),
        ("metrics/tables/kinds.py", EVERY_LEDGER | {"cart", "files", "copy"}),
        ("metrics/seeds.py", EVERY_LEDGER),
        ("metrics/verdicts/verdicts.py", set()),
        ("metrics/verdicts/results.py", set()),
        ("metrics/study/split.py", set()),
        ("metrics/exposure/attribution.py", set()),
        ("tasks/report.py", set()),
        ("tasks/pages/figures.py", set()),
        ("flows/benchmark.py", set()),
        ("conf/study.py", set()),
        ("tasks/workspace/files/csv.py", {"files"}),
        ("tasks/workspace/files/parquet.py", {"cart", "files", "copy"}),
        ("tasks/synthesize/cart.py", {"cart"}),
        ("tasks/synthesize/conform.py", {"cart", "files", "copy"}),
    ],
)
def test_an_edit_is_seen_by_what_it_decides(tree, moved, path, seen_by):
    first = next(line for line in (tree / path).read_text().splitlines() if line.startswith(("import ", "from ")))
    assert moved(path, first, f"{first}\nEDITED = 1") == seen_by


def test_words_that_are_not_run_move_nothing(moved):
    assert moved("metrics/cap/cap.py", '"""', '"""Other words.\n\n') == set()
    assert moved("metrics/cap/cap.py", "\nimport", "\n# a remark\n\nimport") == set()
    assert moved("metrics/cap/cap.py", '    """', '    """Other words. ') == set()


def test_a_number_moves_the_digest(moved):
    assert moved("metrics/cap/cap.py", "NEARLY_ALL = 0.9", "NEARLY_ALL = 0.8") == {"zero_cap"}


def test_a_new_file_that_nobody_imports_moves_nothing(tree, before):
    (tree / "metrics" / "cap" / "other.py").write_text("x = 1\n")
    assert digests(tree) == before


def test_the_same_code_has_one_digest():
    assert code_digest([SCORING]) == code_digest([SCORING, SCORING])
    assert len(code_digest([SCORING])) == 12


def test_edits_of_somebody_elses_code_are_seen(tmp_path, monkeypatch):
    (tmp_path / "their_metric.py").write_text("MINE = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    point = EntryPoint("mine", "their_metric:MINE", METRIC_GROUP)
    monkeypatch.setattr(keys, "points", lambda group: EntryPoints([point]))
    ours, (before,) = entry_point_code(METRIC_GROUP, ["mine"])
    (tmp_path / "their_metric.py").write_text("MINE = 2\n")
    keys._source.cache_clear()
    _, (after,) = entry_point_code(METRIC_GROUP, ["mine"])
    assert ours == []
    assert before != after
    keys._source.cache_clear()
    sys.modules.pop("their_metric", None)


def test_tasks_take_their_own_code_into_account():
    """What a task hands to the code that scores decides the result too."""
    assert code_digest([SCORING], alone=["synthrisk.tasks.attack"]) != code_digest([SCORING])
    assert code_digest([SCORING], alone=["synthrisk.tasks.synthesize.task"]) != code_digest([SCORING])
