"""A disk that fills while a release is judged: one sentence, exit code 4, nothing half written, and it can go on."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.proof

SIZES = {"data": 6_000, "ledger": 16_000, "report": 60_000}  # bytes that a file may have
# all commands in one process, which has imported what they need, as has the one that workers are forked from
LIMITED = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from resource import RLIM_INFINITY, RLIMIT_FSIZE, prlimit
import psutil
from synthrisk.flows.cli.app import main

def limit(size):
    own = psutil.Process()
    for each in (own, *own.children(recursive=True)):
        prlimit(each.pid, RLIMIT_FSIZE, (size, RLIM_INFINITY))

def judged(size):
    limit(size)
    with redirect_stderr(io.StringIO()) as told, redirect_stdout(io.StringIO()):
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0), told.getvalue()
        finally:
            limit(RLIM_INFINITY)
    return 0, told.getvalue()

asked = sys.argv[1:]
for line in sys.stdin:
    size, workspace = line.split()
    sys.argv[1:] = [*asked, "--workspace", workspace, "--json", f"{workspace}.json"]
    print(json.dumps(judged(int(size))), flush=True)
"""


@pytest.fixture(scope="module")
def judge(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("full")
    people(600, seed=1).to_csv(folder / "real.csv", index=False)
    people(600, seed=2).to_csv(folder / "release.csv", index=False)
    asked = ["evaluate", "real.csv", "release.csv", "--quasi-identifiers", "age,city", "--sensitive", "income"]
    asked += ["--metric", "zero_cap", "--metric", "distance_to_closest_record", "--offline"]
    given = {"cwd": folder, "text": True, **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)}
    with subprocess.Popen([sys.executable, "-c", LIMITED, *asked], **given) as process:

        def judged(size: int, workspace: str) -> tuple[int, str]:
            process.stdin.write(f"{size} {workspace}\n")
            process.stdin.flush()
            return tuple(json.loads(process.stdout.readline()))

        judged(10**9, "first")  # what libraries keep for later, once for all
        yield folder, judged
        process.stdin.close()
        assert "Traceback" not in process.stderr.read()


def half_written(workspace: Path) -> list[Path]:
    return [path for path in workspace.rglob("*") if path.name.startswith((".draft", "tmp"))]


@pytest.mark.parametrize("what", SIZES)
def test_it_is_one_sentence_and_nothing_is_half_written(judge, what):
    folder, judged = judge
    code, said = judged(SIZES[what], what)
    assert code == 4, said
    assert said.splitlines()[-1].startswith("Error: the run failed: a disk takes no more (EFBIG)")
    assert "Traceback" not in said
    assert half_written(folder / what) == []
    assert not (folder / f"{what}.json").exists()
    for path in (folder / what).rglob("*.parquet"):
        assert len(pd.read_parquet(path))
    code, said = judged(10**9, what)
    assert code == 0, said
    assert json.loads((folder / f"{what}.json").read_text())["valid"]
