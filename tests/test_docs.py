"""What docs show of the package that is tested is what is tested."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "extend.md").read_text("utf-8")


PLUGIN = ROOT / "tests" / "plugin"
FILES = [*PLUGIN.glob("acme_*.py"), *(p for end in ("py", "html") for p in PLUGIN.glob(f"acme_*/*.{end}"))]


@pytest.mark.parametrize("name", sorted(str(p.relative_to(PLUGIN)) for p in FILES))
def test_the_page_shows_the_package_as_it_stands(name):
    assert (PLUGIN / name).read_text("utf-8").strip() in PAGE


def test_the_page_shows_entry_points_and_study_as_they_stand():
    entry_points = (ROOT / "tests" / "plugin" / "pyproject.toml").read_text("utf-8").partition("[project.entry")[2]
    assert entry_points.strip() in PAGE
    assert (ROOT / "tests" / "plugin" / "study.yaml").read_text("utf-8").strip() in PAGE
