import pickle
import shutil
import stat
import subprocess
import time
from pathlib import Path

import fsspec
import numpy as np
import pytest

from synthrisk.metrics import InputError
from synthrisk.tasks.workspace import folders
from synthrisk.tasks.workspace.folders import UnreachableError, keep, keep_file, kept_names, open_workspace, there
from synthrisk.tasks.workspace.records import record_hashes
from synthrisk.tasks.workspace.references import Cut
from synthrisk.tasks.workspace.store import machine, replace_file, save_array

DATA = bytes(range(256)) * 5000
pytestmark = pytest.mark.usefixtures("patient")


@pytest.fixture(params=["file", "memory", "s3"])
def url(request, tmp_path, monkeypatch):
    if request.param == "s3":
        for name, value in request.getfixturevalue("s3").items():
            monkeypatch.setenv(name, value)
    root = {"file": str(tmp_path / "remote"), "memory": "", "s3": "studies"}[request.param]
    return f"{request.param}://{root}/{tmp_path.name}"


@pytest.fixture
def on(tmp_path, monkeypatch):
    """Give a function that makes this process one of another machine, with copies of its own."""

    def machine(name: str) -> None:
        monkeypatch.setenv("SYNTHRISK_HOME", str(tmp_path / name))

    machine("one")
    return machine


def fill(content: bytes):
    return lambda draft: [(draft / name).write_bytes(content) for name in ("a.bin", "b.bin")]


def never(draft):
    pytest.fail("it was made again")


@pytest.fixture
def on_two(on, url):
    """Give a function that says where something is on the machines one and two; this one is the first of them."""

    def places(kind, name):
        on("two")
        other = open_workspace(url) / kind / name
        on("one")
        return open_workspace(url) / kind / name, other

    return places


def test_a_folder_that_one_machine_keeps_is_found_by_another(on, on_two, url):
    here, other = on_two("ledgers", "key")
    keep(here, fill(DATA))
    on("two")
    assert not other.exists()
    assert folders.is_kept(other)
    assert (kept_names(other.parent), keep(other, never)) == ({"key"}, other)
    assert {path.name: path.read_bytes() for path in other.iterdir()} == {"a.bin": DATA, "b.bin": DATA}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (other, other.parent)} == {0o700}
    assert not folders.is_kept(other.with_name("none"))
    assert not there(other.with_name("none")).exists()
    on("three")  # where a file brings its folder
    third = open_workspace(url) / "ledgers" / "key"
    assert there(third / "b.bin").read_bytes() == DATA
    assert (third / "a.bin").exists()


def test_a_file_that_one_machine_keeps_is_found_by_another_and_by_one_that_was_never_there(on, on_two):
    here, other = on_two("data", "key.parquet")
    keep_file(here, lambda draft: draft.write_bytes(DATA))
    sent = pickle.dumps(folders.Place(here))
    on("two")
    assert (keep_file(other, never).read_bytes(), stat.S_IMODE(other.stat().st_mode)) == (DATA, 0o600)
    on("new")  # which needs nothing but the reference
    assert there(pickle.loads(sent)).read_bytes() == DATA


def test_who_is_second_takes_what_the_first_has_made(on, on_two):
    for kind, made, write, read in (
        ("releases", keep, fill, lambda place: (place / "a.bin").read_bytes()),
        ("split", keep_file, lambda content: lambda draft: draft.write_bytes(content), Path.read_bytes),
    ):
        here, other = on_two(kind, "key")

        def overtaken(draft, write=write, made=made, other=other):
            on("two")
            made(other, write(b"first"))
            on("one")
            write(b"second")(draft)

        assert (read(made(here, overtaken)), read(other)) == (b"first", b"first")
        assert [path.name for path in here.parent.iterdir()] == ["key"]


def test_what_fails_in_the_middle_is_nowhere(on, on_two):
    here, other = on_two("releases", "key")

    def half(draft):
        (draft / "a.bin").write_bytes(DATA)
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        keep(here, half)
    on("two")
    assert kept_names(other.parent) == set()


def test_a_report_that_is_written_again_replaces_the_first(on, on_two):
    here, other = on_two("reports", "study/report.html")
    for text in ("first", "second"):
        folders.share_file(replace_file(here, text))
    on("two")
    assert there(other).read_text() == "second"


def test_a_reference_leads_to_the_copy_of_the_machine_that_it_comes_to(on, on_two):
    here, other = on_two("split", "key.npy")
    keep_file(here, lambda draft: save_array(np.arange(4), draft))
    sent = pickle.dumps(Cut(folders.Place(here), "digest", 1, 1, 0.0))
    assert str(here.parent.parent).encode() not in sent
    on("two")
    arrived = pickle.loads(sent)
    assert (arrived.path, arrived.read().tolist()) == (str(other), [0, 1, 2, 3])


def test_a_path_of_this_machine_travels_as_it_is(tmp_path):
    folder = open_workspace(tmp_path / "own")
    assert pickle.loads(pickle.dumps(folders.Place(folder / "data" / "a"))) == str(folder / "data" / "a")
    assert folders.shared_of(folder / "data" / "a") is None


def test_a_workspace_inside_a_copy_is_one_of_its_own(on, url):
    inside = open_workspace(open_workspace(url) / "tmp")
    keep(inside / "releases" / "key", fill(DATA))
    assert kept_names(open_workspace(url) / "releases") == set()


def test_records_have_the_same_names_on_all_machines_whose_copies_are_for_their_owner_alone(on, url, tmp_path):
    names = []
    for name in ("one", "two"):
        on(name)
        folder = open_workspace(url)
        names.append(record_hashes(folder, "digest", 3).tolist())
        assert [stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / name, folder)] == [0o700, 0o700]
    assert names[0] == names[1]


def test_a_copy_that_was_deleted_is_made_again_and_one_of_a_workspace_that_was_emptied_is_not_taken(on, url):
    before = open_workspace(url)
    keep(before / "releases" / "key", fill(DATA))
    shutil.rmtree(before)  # as below a worker that runs for weeks
    assert there(open_workspace(url) / "releases" / "key" / "a.bin").read_bytes() == DATA
    fsspec.filesystem(url.partition(":")[0], use_listings_cache=False).rm(url, recursive=True)
    after = open_workspace(url)
    assert after != before
    assert not folders.is_kept(after / "releases" / "key")


def test_a_process_that_does_not_see_the_workspace_says_so(on, url, tmp_path):
    token = folders.opened(url).token
    assert folders.look(url, token) == ""
    (tmp_path / "file").touch()
    on("file")
    with pytest.raises(InputError, match=r"SYNTHRISK_HOME must be a folder, got .*, which is a file"):
        folders.look(url, token)
    on("one")
    assert folders.look(url, "other") == f"finds another workspace at {url}"
    assert folders.look(f"{url}/none", "other") == f"finds no workspace at {url}/none"


def test_nobody_answers(on, monkeypatch):
    monkeypatch.setattr(fsspec.get_filesystem_class("s3"), "retries", 1)
    nobody = {"AWS_MAX_ATTEMPTS": "1", "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    for name, value in {**nobody, "AWS_ACCESS_KEY_ID": "Zebrafink", "AWS_SECRET_ACCESS_KEY": "Zebrafink"}.items():
        monkeypatch.setenv(name, value)
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    url = "s3://studies/a"
    for ask in (
        lambda: folders.look(url, "any"),
        lambda: keep(folders.copy_of(url, "any").folder / "releases" / "key", never),
    ):
        with pytest.raises(UnreachableError) as told:
            ask()
        assert str(told.value) == f"the workspace {url} cannot be reached (EndpointConnectionError)"
    fsspec.get_filesystem_class("s3").clear_instance_cache()


def test_a_server_that_never_answers_is_not_waited_for(on, url, monkeypatch):
    monkeypatch.setattr(folders, "_PATIENCE", 0.2)
    monkeypatch.setattr(folders.Remote, "read", lambda self, name: time.sleep(0.6))
    with pytest.raises(UnreachableError, match=r"no answer in 0\.2 seconds"):
        folders.look(url, "any")


SUCH_AS = r"workspace must be a place such as s3://bucket/folder, .*; got s3://\.\.\.$"


@pytest.mark.parametrize(("url", "sentence"), [
    ("s4://a/b", r"workspace must be a folder or begin with s3://, .*, got 's4://a/b'$"),
    *((url, SUCH_AS) for url in ("s3://me:Zebra@host/b", "s3://bucket/b?key=Zebra")),
    ("s3://", "workspace must be a place such as"),
])  # fmt: skip
def test_urls_that_are_none_of_a_workspace(url, sentence):
    with pytest.raises(InputError, match=sentence):
        open_workspace(url)


def test_a_draft_of_a_dead_process_is_swept_on_every_machine(on, url):
    here = open_workspace(url) / "releases"
    dead = subprocess.Popen(["true"])
    dead.wait()
    draft = here / f".draft-{machine()}-{dead.pid}-x"
    draft.mkdir(parents=True)
    shared = folders.shared_of(here)
    folders._open.cache_clear()  # as in a new process: in one they are looked for once
    folders.copy_of(shared.url, shared.token)
    assert not draft.exists()


def test_a_bucket_that_is_none(on, s3, monkeypatch):
    for name, value in s3.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match="workspace must be a place that can be written, got 's3://nobodys/b'"):
        open_workspace("s3://nobodys/b")
