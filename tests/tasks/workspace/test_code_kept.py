"""What is known of source files is kept between processes, and never outlives an edit."""

import json
import os
import time

import pytest

from synthrisk.tasks.workspace import keys


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A source file of ours, an hour old, and a cache folder with nothing in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(keys, "_ROOT", tmp_path)
    monkeypatch.setattr(keys, "_SETTLED", -1.0)
    path = tmp_path / "metrics.py"
    write(path, "from synthrisk.metrics import a\nx = 1  # one\n")
    return path


def write(path, text, age=3600.0):
    path.write_text(text)
    os.utime(path, (time.time() - age,) * 2)


@pytest.fixture
def found(monkeypatch):
    """Look at a file as a new process does; return what is found, and how often a file was parsed."""
    parse, parsed = keys._parsed, []
    monkeypatch.setattr(keys, "_parsed", lambda path: parsed.append(path) or parse(path))

    def look(path):
        for each in (keys._KEPT, keys._LOADED, keys._NEW):
            each.clear()
        keys._source_of.cache_clear()
        source = keys._source_of(path)
        keys.save()
        return source, len(parsed)

    yield look
    for each in (keys._KEPT, keys._LOADED, keys._NEW):
        each.clear()
    keys._source_of.cache_clear()


def test_a_file_is_parsed_once(file, found):
    first, _ = found(file)
    again, parsed = found(file)
    assert again == first
    assert first.imports == (("synthrisk.metrics", "a"),)
    assert parsed == 1


def test_an_edit_is_seen_and_a_comment_moves_nothing(file, found):
    first, _ = found(file)
    write(file, "from synthrisk.metrics import a\nx = 1  # two\n", age=1800)
    assert found(file) == (first, 2)
    write(file, "from synthrisk.metrics import a\nx = 2  # two\n", age=900)
    assert found(file)[0].runs != first.runs


def test_a_file_that_was_just_written_is_looked_at_each_time(file, found, monkeypatch):
    """A second edit within the same tick of the clock moves no time."""
    monkeypatch.setattr(keys, "_SETTLED", 60.0)
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
    place.write_text(text.replace("FILE", kept).replace("STAMP", json.dumps(keys._stamp(file.stat()))))
    assert found(file) == (first, 2)
    assert found(file) == (first, 2), "and it is mended"


def test_where_nothing_can_be_kept_files_are_parsed(file, found, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    first, _ = found(file)
    assert found(file) == (first, 2)


def test_files_of_others_are_not_kept(file, found, tmp_path, monkeypatch):
    monkeypatch.setattr(keys, "_ROOT", tmp_path / "elsewhere")
    first, _ = found(file)
    assert found(file) == (first, 2)
