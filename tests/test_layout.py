"""The layout of the product: few files, no circles, and a picture and a list of places that are those of today."""

import importlib.util
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("architecture", ROOT / "docs" / "architecture.py")
architecture = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(architecture)

MOST_FILES, MOST_IN_A_ROOM, MOST_LINES = 260, 18, 600
BARE = {
    *("asked", "beside", "configured", "crashed", "drawn", "ended", "gone", "handed", "kept", "limited", "local"),
    *("logged", "narrowed", "past", "pending", "printed", "reach", "remote", "repeated", "said", "shared", "shown"),
    *("stopped", "tracked", "unfinished", "waiting", "written"),
}


def test_no_module_imports_itself_through_others():
    assert architecture.circles(architecture.imports()) == []


def test_files_are_few_enough_to_find_ones_way():
    files = list(architecture.modules().values())
    assert len(files) <= MOST_FILES
    rooms = Counter(path.parent.relative_to(ROOT).as_posix() for path in files)
    assert {room: many for room, many in rooms.items() if many > MOST_IN_A_ROOM} == {}
    lines = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8").count("\n") for path in files}
    assert {name: many for name, many in lines.items() if many > MOST_LINES} == {}


def test_no_module_is_called_by_a_bare_participle_or_adjective():
    assert {name for name in architecture.modules() if name.rpartition(".")[2] in BARE} == set()


def test_the_picture_of_the_architecture_is_that_of_the_imports():
    assert architecture.PICTURE.read_text("utf-8") == architecture.drawn(), "run: python docs/architecture.py"


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_places_that_a_page_names_are_there(page):
    text = (ROOT / page).read_text("utf-8")
    named = re.findall(r"`((?:metrics|tasks|flows|conf|docs|tests)/[\w/.]*)`", text)
    assert len(set(named)) > 20
    assert [each for each in named if not (ROOT / each).exists()] == []


def test_contributing_says_of_thirty_places_where_to_change_them():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    places = re.findall(r"^\| (.+?) \| `((?:metrics|tasks|flows|conf)/[\w/]+\.py)` \|$", text, re.MULTILINE)
    assert len({question for question, _ in places}) >= 30


@pytest.mark.proof
def test_what_docs_of_earlier_versions_import_is_there():
    code = "from synthrisk.tasks.tracking.past import studies; print(studies.__module__)"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["synthrisk.tasks.tracking.history"], done.stderr
