"""A table of very many records is known before anything is imported."""

import pytest

from synthrisk.flows.cli import exit_codes
from synthrisk.flows.cli.exit_codes import is_long


@pytest.mark.parametrize(("rows", "long"), [(3, False), (4, True)])
def test_a_table_is_long_by_its_lines(tmp_path, monkeypatch, rows, long):
    monkeypatch.setattr(exit_codes, "TOGETHER", 4)
    monkeypatch.setattr(exit_codes, "_BLOCK", 3)
    (tmp_path / "real.csv").write_text("a,b\n" + "1,é\n" * rows)
    assert is_long(str(tmp_path / "real.csv")) == long


@pytest.mark.parametrize("path", [None, "", "adult", "absent.csv", "s3://bucket/real.csv", "x\0.csv", "."])
def test_what_is_no_csv_file_here_is_not_looked_at(path):
    assert not is_long(path)
