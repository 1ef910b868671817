"""``synthrisk doctor``: one screen, nothing private, and an exit code, in environments as ugly as real ones."""

import getpass
import os
import re
import socket
import sqlite3
import subprocess
import sys
import venv
from contextlib import closing, contextmanager
from importlib import metadata
from pathlib import Path

import pytest
from connections import Answering, serving
from prefect.settings import PREFECT_API_URL, temporary_settings

from synthrisk.flows.cli.doctor import FOR_DEVELOPERS, Package, _asked_prefect, _imported, store_line

SITES = [Path(path) for path in sys.path if path.endswith("site-packages")]
PASSWORD = "Zaunkoenig-7"


def environment(place: Path, without=(), instead=()) -> Path:
    venv.create(place, symlinks=True)
    (there,) = place.glob("lib/python*/site-packages")
    left_out = {part for name in without for part in parts_of(name)} | {name for name, _ in instead}
    for entry in (each for site in SITES for each in site.iterdir()):
        foreign = entry.suffix == ".pth" and not entry.name.startswith("__editable__")
        if not foreign and entry.name not in left_out and not (there / entry.name).exists():
            (there / entry.name).symlink_to(entry)
    for name, text in instead:
        (there / f"{name}.py").write_text(text, "utf-8")
    return place / "bin" / "python"


def parts_of(name: str) -> set[str]:
    return {file.parts[0] for file in metadata.files(name) or () if file.parts[0] != ".."}


def doctor(python, place: Path, *arguments: str, module="app", **variables: str) -> subprocess.CompletedProcess[str]:
    (place / "empty").mkdir(exist_ok=True)
    own = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_", "MLFLOW_", "PYTHON"))}
    own |= {"PREFECT_HOME": str(place / "prefect"), **variables}
    command = [str(python), "-P", "-m", f"synthrisk.flows.cli.{module}", *(["doctor", *arguments] * (module == "app"))]
    return subprocess.run(command, cwd=place / "empty", env=own, capture_output=True, text=True)


def line_of(said, head: str) -> str:
    found = re.search(rf"^{head} +(.*(?:\n {{12}}.*)*)", said.stdout, re.MULTILINE)
    assert found, said
    return " ".join(found.group(1).split())


def is_one_screen_without_anything_private(said, place: Path, code: int) -> bool:
    assert said.returncode == code, said
    lines = said.stdout.splitlines()
    assert 8 <= len(lines) <= 24, said.stdout
    assert max(map(len, lines)) <= 80
    assert said.stderr == ""
    users = (PASSWORD, "somebody", getpass.getuser(), socket.gethostname())
    for private in (*users, str(place), "127.0.0.1", "/", "\\"):  # no path, and no address
        assert private not in said.stdout
    return True


@contextmanager
def server(answers: bool, code: int = 200):
    if not answers:
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            yield silent.getsockname()[1]
        return

    class Answer(Answering):
        def do_GET(self):
            self.answer(code, {"/version": b"3.17.2", "/api/admin/version": b'"3.8.8"'}.get(self.path, b"OK"))

    with serving(Answer) as port:
        yield port


LIGHT = tuple((name, "") for name in ("prefect", "fastapi", "mlflow", "sqlalchemy", "sklearn", "matplotlib"))
"""Base packages whose import takes seconds: where others are looked at, an empty file is in their place."""


@pytest.mark.proof
def test_all_is_well_without_any_extra_and_store_and_api_behind_passwords_are_asked_and_never_shown(tmp_path):
    wanted = {e for e in metadata.metadata("synthrisk").get_all("Provides-Extra") if e not in FOR_DEVELOPERS}
    asked = [each for each in metadata.requires("synthrisk") if any(f'extra == "{extra}"' in each for extra in wanted)]
    names = {re.match(r"[\w.-]+", each).group() for each in asked}
    own = [each for each in LIGHT if each[0] not in ("prefect", "fastapi", "sqlalchemy")]  # Prefect itself asks the API
    python = environment(tmp_path / "env", [n for n in names if (metadata.files(n) if n else ())], own)
    with server(answers=True) as port:
        address = f"http://somebody:{PASSWORD}@127.0.0.1:{port}"
        said = doctor(python, tmp_path, "--tracking-uri", address, PREFECT_API_URL=f"{address}/api")
    assert is_one_screen_without_anything_private(said, tmp_path, 0)
    assert said.stdout.startswith(f"synthrisk {metadata.version('synthrisk')}, ")
    for name in ("pandas", "prefect", "mlflow", "scikit-learn"):
        assert f"{name} {metadata.version(name)}" in line_of(said, "Packages")
    told = line_of(said, "Extras")
    assert told.startswith("not installed: ")
    assert set(told.removeprefix("not installed: ").split(", ")) == wanted
    assert line_of(said, "Store") == "MLflow server on this machine: answers, version 3.17.2"
    assert line_of(said, "Prefect") == "API on this machine: answers, version 3.8.8"
    assert not any((tmp_path / "empty").iterdir())


def test_where_nothing_is_configured_nothing_is_asked_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with temporary_settings({PREFECT_API_URL: None}):
        assert _asked_prefect() == "no API is configured, and none is needed"
    assert store_line(None, ".synthrisk") == "SQLite in the workspace: none yet, the first study makes it"
    assert not any(tmp_path.iterdir())


def test_what_is_wrong_with_an_import_is_told_by_its_kind(tmp_path, monkeypatch):
    texts = {
        "part": ("import absent_part", "cannot be imported (ModuleNotFoundError absent_part)"),
        "signal": ("import os; os.kill(os.getpid(), 4)", "ends Python when it is imported"),
        "sound": ("", ""),
        "exit": ("print('synthrisk'); raise SystemExit(0)", "cannot be imported (SystemExit)"),
    }
    for name, (text, _) in texts.items():
        (tmp_path / f"broken_{name}.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = _imported([Package(f"broken-{name}", "", "1.0") for name in texts])
    assert [each.fault for each in found] == [told for _, told in texts.values()]


def test_base_packages_that_are_absent_or_cannot_be_imported_are_named(tmp_path):
    broken = ("scipy", "raise ImportError('libfoo.so in /home/somebody')")
    said = doctor(environment(tmp_path / "env", ["pyarrow"], [broken, *LIGHT]), tmp_path)
    assert is_one_screen_without_anything_private(said, tmp_path, 2)
    assert "scipy cannot be imported (ImportError)" in line_of(said, "Broken")
    assert "pyarrow is not installed" in line_of(said, "Broken")
    assert f"pandas {metadata.version('pandas')}" in line_of(said, "Packages")


def test_where_everything_is_broken_and_no_command_starts_the_module_tells_why_on_one_screen(tmp_path):
    broken = ("numpy", "pandas", "scipy", "sklearn", "numba", "pyarrow", "pydantic", "prefect", "mlflow", "matplotlib")
    python = environment(tmp_path / "env", instead=[(name, "import absent") for name in broken])
    said = doctor(python, tmp_path, module="doctor")  # the command line needs pydantic
    assert is_one_screen_without_anything_private(said, tmp_path, 2)
    assert "prefect cannot be imported (ModuleNotFoundError absent)" in line_of(said, "Broken")
    assert "more" in line_of(said, "Broken")


@pytest.mark.parametrize(
    ("answers", "told"), [(True, "answers, with code 401"), (False, "does not answer (TimeoutError)")]
)
def test_a_server_that_does_not_answer_as_it_should_is_a_line(answers, told, monkeypatch):
    monkeypatch.setattr("synthrisk.flows.cli.doctor._PATIENCE_ANSWERING", 0.5)
    with server(answers, 401) as port:
        address = f"http://somebody:{PASSWORD}@127.0.0.1:{port}"
        with temporary_settings({PREFECT_API_URL: f"{address}/api"}):  # which another thread would not see
            assert _asked_prefect() == f"API on this machine: {told}"
        assert store_line(address, ".synthrisk") == f"MLflow server on this machine: {told}"


@pytest.mark.parametrize("uri", [
    f"http://somebody:{PASSWORD}@127.0.0.1:1/x", f"http://somebody:{PASSWORD}@127.0.0.1:no-port",
    f"postgresql://somebody:{PASSWORD}@127.0.0.1:1/db", f"postgresql+psycopg://somebody:{PASSWORD}@[127.0.0.1/db",
    f"gopher://somebody:{PASSWORD}@127.0.0.1", f"http://somebody:${{ABSENT}}{PASSWORD}@127.0.0.1",
    f"sqlite:////absent/somebody/{PASSWORD}.db", f"/absent/somebody/{PASSWORD}",
])  # fmt: skip
def test_an_address_that_leads_nowhere_is_a_line_and_never_shown(tmp_path, monkeypatch, uri):
    monkeypatch.chdir(tmp_path)
    told = store_line(uri, ".synthrisk")
    assert told.partition(": ")[2].startswith(("does not answer", "is not there")) or told.startswith(
        ("its address", "cannot be asked (ValueError)")
    )
    assert not any(private in told for private in (PASSWORD, "somebody", "/", "127"))


def test_a_store_in_the_workspace_is_read_and_not_changed(tmp_path):
    file = tmp_path / "mlflow.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("create table experiments (name text)")
        database.execute("insert into experiments values ('a')")
        database.commit()
    before = file.read_bytes()
    assert store_line(None, str(tmp_path)) == "SQLite in the workspace: answers, with 1 experiment"
    assert file.read_bytes() == before
    file.write_text("no database")
    assert "is no store of MLflow, or cannot be read (DatabaseError)" in store_line(None, str(tmp_path))


def test_the_version_is_told_without_a_command(say):
    said = say("--version")
    assert (said.code, said.out, said.err) == (0, f"synthrisk {metadata.version('synthrisk')}\n", "")
