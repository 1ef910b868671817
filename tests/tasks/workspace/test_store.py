import errno
import hmac
import multiprocessing
import os
import stat
import subprocess
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from synthrisk.tasks.tracking.tables import Names
from synthrisk.tasks.workspace.folders import keep, keep_file, open_workspace
from synthrisk.tasks.workspace.records import record_hashes
from synthrisk.tasks.workspace.store import machine, private_folder, replace_file, save_array, save_arrays, write_file


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def fill(text: str):
    return lambda draft: (draft / "a.txt").write_text(text)


@pytest.fixture(params=[False, True], ids=["links", "no links"])
def disk(request, monkeypatch):
    """A disk with links, and one without, as on a stick."""
    if request.param:
        monkeypatch.setattr(os, "link", Mock(side_effect=OSError(errno.EPERM, "no links")))


@pytest.mark.usefixtures("disk")
def test_keep_file_writes_once_and_the_first_holds(tmp_path):
    path = tmp_path / "made" / "key"

    def overtaken(draft: Path) -> None:
        keep_file(path, lambda other: other.write_text("first"))
        draft.write_text("second")

    assert keep_file(path, overtaken).read_text() == "first"
    assert keep_file(path, lambda draft: draft.write_text("third")).read_text() == "first"
    assert [each.name for each in path.parent.iterdir()] == ["key"]
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)


@pytest.mark.parametrize("error", [RuntimeError("stopped"), OSError("no space")])
def test_a_folder_is_written_once_and_whole_and_of_a_failed_write_nothing_is_left_but_its_error(tmp_path, error):
    folder, seen = tmp_path / "made" / "key", []

    def half(draft: Path) -> None:
        (draft / "a.txt").write_text("half")
        seen.append(folder.exists())
        if len(seen) == 1:
            raise error

    with pytest.raises(type(error), match=str(error)):
        keep(folder, half)
    assert list((tmp_path / "made").iterdir()) == []
    keep(folder, half)
    assert seen == [False, False]
    assert (keep(folder, fill("again")), [path.read_text() for path in folder.iterdir()]) == (folder, ["half"])


def _race(folder: Path, text: str, gate) -> None:
    def write(draft: Path) -> None:
        (draft / "a.txt").write_text(text)
        gate.wait()  # both have written before anyone renames
        (draft / "b.txt").write_text(text)

    keep(folder, write)


def raced(target, *given) -> None:
    """Run a function in two processes at once, which a gate holds until both are there."""
    context = multiprocessing.get_context("fork")
    gate = context.Barrier(2, timeout=60)
    racers = [context.Process(target=target, args=(*own, gate)) for own in given]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(60)
    assert [racer.exitcode for racer in racers] == [0, 0]


def test_keep_in_two_processes_at_once_keeps_one_whole_result(tmp_path):
    folder = tmp_path / "made" / "key"
    raced(_race, (folder, "x"), (folder, "y"))
    kept = {p.name: p.read_text() for p in folder.iterdir()}
    assert kept in ({"a.txt": "x", "b.txt": "x"}, {"a.txt": "y", "b.txt": "y"})
    assert [p.name for p in (tmp_path / "made").iterdir()] == ["key"]


def test_a_file_is_replaced_and_a_failed_write_leaves_the_old_one(tmp_path):
    for text in ("größe\n", "old"):
        path = replace_file(tmp_path / "a.txt", text)
        assert path.read_text("utf-8") == text

    def half(draft: Path) -> None:
        draft.write_text("half")
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        write_file(path, half)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_private_folders_are_private_all_the_way_and_one_that_is_there_stays_as_it_is(tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o755)
    assert mode(private_folder(tmp_path / "shared")) == 0o755
    folder = private_folder(tmp_path / "reports" / "study" / "pages")
    assert [mode(each) for each in (folder, folder.parent, folder.parent.parent)] == [0o700] * 3


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_modes_do_not_depend_on_the_umask(tmp_path, mask):
    before = os.umask(mask)
    try:
        path = replace_file(tmp_path / "new" / "a.txt", "x")
        folder = keep(tmp_path / "made" / "key", fill("x"))
    finally:
        os.umask(before)
    assert (mode(path), mode(path.parent), mode(folder), mode(folder.parent)) == (0o600, 0o700, 0o700, 0o700)


def test_workspace_is_private_absolute_and_ignored_by_git(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = open_workspace(Path("work"))
    assert (folder, mode(folder), (folder / ".gitignore").read_text()) == (tmp_path / "work", 0o700, "*\n")
    (folder / ".gitignore").write_text("mine")
    open_workspace(Path("work"))
    assert (folder / ".gitignore").read_text() == "mine"


def test_record_hashes_are_stable_distinct_and_of_this_table(tmp_path):
    names = record_hashes(tmp_path, "table", 50)
    assert (len(set(names)), record_hashes(tmp_path, "table", 50).tolist()) == (50, names.tolist())
    assert record_hashes(tmp_path, "table", 60)[:50].tolist() == names.tolist()
    salt = bytes.fromhex((tmp_path / "salt").read_text())
    digests = [hmac.new(salt, f"table/{i}".encode(), "sha256").hexdigest() for i in range(50)]
    assert Names(names).texts.to_pylist() == [digest[:16] for digest in digests]
    assert not set(record_hashes(tmp_path, "other", 50)) & set(names)
    assert not set(record_hashes(tmp_path / "a", "table", 50)) & set(names)  # of another salt
    assert mode(tmp_path / "a" / "salt") == 0o600


def _salted(folder: Path, number: int, gate) -> None:
    gate.wait()
    np.save(folder / f"{number}.npy", record_hashes(folder, "table", 3))


def test_two_processes_share_one_salt(tmp_path):
    for trial in range(4):
        folder = tmp_path / str(trial)
        folder.mkdir()
        raced(_salted, (folder, 1), (folder, 2))
        assert np.load(folder / "1.npy").tolist() == np.load(folder / "2.npy").tolist()


def test_drafts_of_processes_that_are_gone_are_removed_and_those_of_others_stay(tmp_path):
    gone = subprocess.Popen(["true"])
    gone.wait()
    left = tmp_path / "ledgers" / f".draft-{machine()}-{gone.pid}-abc"
    under_way = [f".draft-{machine()}-{os.getpid()}-abc", f".draft-{'0' * 8}-{gone.pid}-abc", ".draft-abc"]
    for each in (left, *(tmp_path / "ledgers" / name for name in under_way)):
        each.mkdir(parents=True)
    open_workspace(tmp_path)
    assert sorted(each.name for each in (tmp_path / "ledgers").iterdir()) == sorted(under_way)


def test_arrays_are_kept_by_their_names_alone_and_objects_are_refused(tmp_path, monkeypatch):
    plain = np.savez

    def savez(file, *arrays, **named):  # as numpy 2.0 takes it: whatever is named is an array
        plain(file, *arrays, **{name: np.asarray(each) for name, each in named.items()})

    monkeypatch.setattr(np, "savez", savez)
    save_arrays({"outliers": np.array([True, False])}, tmp_path / "kept.npz")
    with np.load(tmp_path / "kept.npz", allow_pickle=False) as kept:
        assert {name: array.tolist() for name, array in kept.items()} == {"outliers": [True, False]}
    with pytest.raises(ValueError, match=r"must hold no objects, got some in 'names'"):
        save_arrays({"names": np.array(["a", None], dtype=object)}, tmp_path / "other.npz")
    save_array(np.arange(3), tmp_path / "a")
    assert np.load(tmp_path / "a").tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="Object arrays"):
        save_array(np.array([object()]), tmp_path / "b")
