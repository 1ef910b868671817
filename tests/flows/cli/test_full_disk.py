"""A disk that fills while a release is judged: one sentence, exit code 4, nothing half written, and it can go on."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.proof

LIMITED = """
import resource, sys
size = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
from synthrisk.flows.cli.app import main
main()
"""


@pytest.fixture(scope="module")
def judge(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("full")
    people(600, seed=1).to_csv(folder / "real.csv", index=False)
    people(600, seed=2).to_csv(folder / "release.csv", index=False)
    asked = ("--quasi-identifiers", "age,city", "--sensitive", "income", "--metric", "zero_cap")
    asked += ("--metric", "distance_to_closest_record", "--offline", "--json", "result.json", "--workspace", "w")

    def judged(size: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", LIMITED, str(size), "evaluate", "real.csv", "release.csv", *asked]
        return subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False)

    judged(10**9)  # what libraries keep for later, once for all
    return folder, judged


def half_written(workspace: Path) -> list[Path]:
    return [path for path in workspace.rglob("*") if path.name.startswith((".draft", "tmp"))]


@pytest.mark.parametrize("size", [6_000, 16_000, 60_000], ids=["data", "ledger", "report"])
def test_it_is_one_sentence_and_nothing_is_half_written(judge, size):
    folder, judged = judge
    for left in sorted((folder / "w").rglob("*"), reverse=True):
        left.rmdir() if left.is_dir() else left.unlink()
    (folder / "result.json").unlink(missing_ok=True)
    said = judged(size)
    assert said.returncode == 4, said.stderr
    assert said.stderr.splitlines()[-1].startswith("Error: the run failed: a disk takes no more (EFBIG)")
    assert "Traceback" not in said.stderr
    assert half_written(folder / "w") == []
    assert not (folder / "result.json").exists()
    for path in (folder / "w").rglob("*.parquet"):
        assert len(pd.read_parquet(path))
    again = judged(10**9)
    assert again.returncode == 0, again.stderr
    assert json.loads((folder / "result.json").read_text())["valid"]
