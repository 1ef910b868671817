"""A folder of its own for each test of the command line."""

from pathlib import Path

import pytest
import yaml


@pytest.fixture
def place(tmp_path, people, settings, monkeypatch) -> Path:
    """A folder to work in, with a table and a study of it."""
    monkeypatch.chdir(tmp_path)
    people(60).to_csv("people.csv", index=False)
    Path("study.yaml").write_text(yaml.safe_dump(settings(tmp_path / "work", tmp_path / "people.csv")))
    return tmp_path
