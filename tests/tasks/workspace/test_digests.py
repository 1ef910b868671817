import json
import os
import shutil
import sys
import time
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthrisk.metrics import METRICS
from synthrisk.metrics.plugins import METRIC_GROUP, SYNTHESIZER_GROUP
from synthrisk.tasks.workspace import digests
from synthrisk.tasks.workspace.digests import code_digest, entry_point_code, file_digest, folders, key_of

SCORING = "synthrisk.metrics.study.scoring"


def ledger(measure: str) -> list[str]:
    return [SCORING, METRICS[measure].function.__module__]


def release(kind: str) -> list[str]:
    own = entry_point_code(SYNTHESIZER_GROUP, [kind])[0]
    return [*own, "synthrisk.tasks.synthesize", "synthrisk.tasks.workspace.store"]


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
    parse, known = digests._parsed, {}

    def parsed(path):
        text = path.read_bytes()
        if text not in known:
            known[text] = parse(path)
        return known[text]

    with patch.object(digests, "_parsed", parsed):
        yield


def codes_of(tree) -> dict[str, str]:
    where = {name: tree / name for name in folders()}
    modules = {m: ledger(m) for m in ("zero_cap", "rapid", "distance_to_closest_record")}
    modules |= {k: release(k) for k in ("cart", "files", "copy")}
    digests._KNOWN.clear()
    digests._source_of.cache_clear()
    return {name: code_digest(each, where=where) for name, each in modules.items()}


@pytest.fixture(scope="module")
def before(tree):
    return codes_of(tree)


@pytest.fixture
def moved(tree, before):
    """Give a function that returns whose digest an edit of a file moves."""

    def edited(path: str, old: str, new: str) -> set[str]:
        text = (tree / path).read_text()
        assert old in text
        (tree / path).write_text(text.replace(old, new, 1))
        try:
            after = codes_of(tree)
        finally:
            (tree / path).write_text(text)
        return {name for name in before if before[name] != after[name]}

    return edited


LEDGERS = {"zero_cap", "rapid", "distance_to_closest_record"}
RELEASES = {"cart", "files", "copy"}
SEEN_BY = {
    "metrics/cap/cap.py": {"zero_cap"},
    "metrics/rapid/prediction_error.py": {"rapid"},
    "metrics/models/attackers.py": {"rapid"},
    "metrics/neighbours/box_search.py": LEDGERS,  # all: the look at a release takes nearest records
    "metrics/study/scoring.py": LEDGERS,
    "metrics/tables/kinds.py": LEDGERS | RELEASES,
    "metrics/seeds.py": LEDGERS,
    **dict.fromkeys([f"metrics/verdicts/{name}.py" for name in ("verdicts", "results")], frozenset()),
    **dict.fromkeys(["metrics/study/split.py", "metrics/exposure/attribution.py", "tasks/report.py"], frozenset()),
    **dict.fromkeys(["tasks/pages/figures.py", "flows/benchmark.py", "conf/study.py"], frozenset()),
    "tasks/workspace/files/csv.py": {"files"},
    "tasks/workspace/store.py": RELEASES,
    "tasks/synthesize/cart.py": {"cart"},
    "tasks/synthesize/conform.py": RELEASES,
}


@pytest.mark.parametrize(("path", "seen_by"), SEEN_BY.items())
def test_an_edit_is_seen_by_what_it_decides(tree, moved, path, seen_by):
    first = next(line for line in (tree / path).read_text().splitlines() if line.startswith(("import ", "from ")))
    assert moved(path, first, f"{first}\nEDITED = 1") == seen_by


def test_words_that_are_not_run_move_nothing_and_a_number_does(moved):
    assert moved("metrics/cap/cap.py", "NEARLY_ALL = 0.9", "NEARLY_ALL = 0.8") == {"zero_cap"}
    assert moved("metrics/cap/cap.py", '"""', '"""Other words.\n\n') == set()
    assert moved("metrics/cap/cap.py", "\nimport", "\n# a remark\n\nimport") == set()
    assert moved("metrics/cap/cap.py", '    """', '    """Other words. ') == set()


def test_a_new_file_that_nobody_imports_moves_nothing(tree, before):
    (tree / "metrics" / "cap" / "other.py").write_text("x = 1\n")
    assert codes_of(tree) == before


def test_the_same_code_has_one_digest_and_tasks_take_their_own_code_into_account():
    assert (code_digest([SCORING]), len(code_digest([SCORING]))) == (code_digest([SCORING, SCORING]), 12)
    for own in ("attack", "synthesize.task"):  # what a task hands to the code that scores decides the result too
        assert code_digest([SCORING], alone=[f"synthrisk.tasks.{own}"]) != code_digest([SCORING])


def test_edits_of_somebody_elses_code_are_seen(tmp_path, monkeypatch):
    (tmp_path / "their_metric.py").write_text("MINE = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    point = EntryPoint("mine", "their_metric:MINE", METRIC_GROUP)
    monkeypatch.setattr(digests, "points", lambda group: EntryPoints([point]))
    ours, (before,) = entry_point_code(METRIC_GROUP, ["mine"])
    (tmp_path / "their_metric.py").write_text("MINE = 2\n")
    digests._source.cache_clear()
    _, (after,) = entry_point_code(METRIC_GROUP, ["mine"])
    assert ours == []
    assert before != after
    digests._source.cache_clear()
    sys.modules.pop("their_metric", None)


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A source file of ours, an hour old, and a cache folder with nothing in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(digests, "_ROOT", tmp_path)
    monkeypatch.setattr(digests, "_SETTLED", -1.0)
    path = tmp_path / "metrics.py"
    write(path, "from synthrisk.metrics import a\nx = 1  # one\n")
    return path


def write(path, text, age=3600.0):
    path.write_text(text)
    os.utime(path, (time.time() - age,) * 2)


def forget():
    for each in (digests._KEPT, digests._LOADED, digests._NEW):
        each.clear()
    digests._source_of.cache_clear()


@pytest.fixture
def found(monkeypatch):
    """Look at a file as a new process does; return what is found, and how often a file was parsed."""
    parse, parsed = digests._parsed, []
    monkeypatch.setattr(digests, "_parsed", lambda path: parsed.append(path) or parse(path))

    def look(path):
        forget()
        source = digests._source_of(path)
        digests.save()
        return source, len(parsed)

    yield look
    forget()


def test_a_file_is_parsed_once_an_edit_is_seen_and_a_comment_moves_nothing(file, found):
    first, _ = found(file)
    assert (first.imports, found(file)) == ((("synthrisk.metrics", "a"),), (first, 1))
    write(file, "from synthrisk.metrics import a\nx = 1  # two\n", age=1800)
    assert found(file) == (first, 2)
    write(file, "from synthrisk.metrics import a\nx = 2  # two\n", age=900)
    assert found(file)[0].runs != first.runs


@pytest.mark.parametrize("set_up", [
    lambda patch: patch.setattr(digests, "_SETTLED", 60.0),  # an edit in the same tick of the clock moves no time
    lambda patch: patch.setenv("XDG_CACHE_HOME", "/proc/nowhere"),
    lambda patch: patch.setattr(digests, "_ROOT", Path("/elsewhere")),
], ids=["just written", "nothing can be kept", "of others"])  # fmt: skip
def test_a_file_that_is_not_kept_is_looked_at_each_time(file, found, monkeypatch, set_up):
    set_up(monkeypatch)
    first, _ = found(file)
    assert found(file) == (first, 2)


def test_a_time_that_is_set_back_hides_no_edit(file, found):
    first, _ = found(file)
    stat = file.stat()
    file.write_text(file.read_text().replace("x = 1", "x = 2"))
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert found(file)[0] != first


@pytest.mark.parametrize("text", ["", "{", "[]", '{"FILE": null}', '{"FILE": [1, 2]}', '{"FILE": [STAMP, "x", 7]}'])
def test_a_broken_cache_is_none(file, found, text):
    first, _ = found(file)
    [place] = (file.parent / "cache" / "synthrisk").iterdir()
    kept = json.dumps(str(file))[1:-1]
    place.write_text(text.replace("FILE", kept).replace("STAMP", json.dumps(digests._stamp(file.stat()))))
    assert found(file) == (first, 2)
    assert found(file) == (first, 2), "and it is mended"


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(plain)
@settings(max_examples=40)
def test_key_does_not_depend_on_the_order_of_settings(value):
    assert key_of(value) == key_of(json.loads(json.dumps(value)))
    assert key_of({"a": value, "b": 1}) == key_of({"b": 1, "a": value})


@given(plain, plain)
@settings(max_examples=40)
def test_other_values_have_other_keys(one, other):
    if json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True):
        assert key_of(one) != key_of(other)


def test_key_parts_are_apart_and_the_same_in_every_process_and_version():
    every = {key_of("ab", "c"), key_of("a", "bc"), key_of(["a", "bc"]), key_of("a", "b", "c"), key_of(1), key_of("1")}
    assert (len(every), key_of("a", [1, 2.5, None], {"ü": True})) == (6, "4bc77e2710aa2a54c3b4")


def test_file_digest_is_of_the_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert file_digest(tmp_path / "a") == "ba7816bf8f01cfea4141"  # SHA-256, FIPS 180-2, appendix B.1
    assert file_digest((tmp_path / "a").as_uri()) == "ba7816bf8f01cfea4141"
