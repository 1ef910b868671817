"""Default runs, with a canary in every column: no connection leaves the machine, and no cell leaves the workspace.

The commands run as a user's would, with servers, temporary files and a Prefect home of their own, under strace.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from connections import TRACED, addresses, is_loopback
from leaks import holding, holds, read

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace: apt-get install strace"),
]

TEXTS = {"person": "Erpelkennung", "city": "Zebrafinkstadt", "illness": "Blaumeisenfieber", "note": "Kiebitznotiz"}
NUMBERS = {"salary": 918273000, "visit": 564738000}
CANARIES = [*TEXTS.values(), *(str(each // 1000) for each in NUMBERS.values())]
STRACE = ("strace", "-f", "--seccomp-bpf", "-qq", "-e", f"trace={TRACED}", "-e", "signal=none")
TRACKED = ("mlflow.db", "mlflow.db.lock", "artifacts")  # what is not private in a workspace
GENERATORS = """
def shouts(train, rows, seed):
    raise ValueError("cannot handle " + train.to_csv())

def names(train, rows, seed):
    return train.rename(columns={"city": str(train["city"].iloc[0])})

def values(train, rows, seed):
    made = train.copy()
    made["salary"] = made["city"].astype(str)
    return made

def prints(train, rows, seed):
    import logging, sys, warnings
    print(train.to_csv())
    print(train.to_csv(), file=sys.stderr)
    logging.getLogger("vendor").error(train.to_csv())
    warnings.warn(train.to_csv())
    return train.sample(rows, replace=True, random_state=seed % 2**32)
"""


FLOW = """
import logging, sys
from synthrisk.flows.cli.exit_codes import set_up
set_up()
from synthrisk.flows.evaluate import evaluate

ROLES = {"identifier": "person", "quasi_identifiers": ["city", "salary"], "sensitive": ["illness", "visit"]}
REAL = {"real": "real.csv", "synthetic": "release.csv", "control": "heldout.csv", "workspace": "flow"}
REAL |= {"metrics": ["zero_cap"]}
CALLS = {
    "whole": {**REAL, **ROLES, "thresholds": {"risk/zero_cap.illness": 0.01}},
    "proposed": {**REAL, "references": "none"},
    "no header": {**REAL, **ROLES, "synthetic": "headless.csv"},
    "no header in the real table": {**REAL, **ROLES, "real": "headless.csv"},
    "proposed for one without header": {"real": "headless.csv", "synthetic": "release.csv", "workspace": "flow"},
    "misspelt": {**REAL, **ROLES, "sensitive": ["ilness"]}, "control is real": {**REAL, **ROLES, "control": "real.csv"},
    "texts for numbers": {**REAL, **ROLES, "synthetic": "texts.csv"},
    "other columns": {**REAL, **ROLES, "synthetic": "swapped.csv"},
    "type": {**REAL, **ROLES, "columns": {"illness": {"type": "number"}}},
    "identifier": {**REAL, **ROLES, "identifier": "persn"},
}

if __name__ == "__main__":
    from prefect.task_runners import ThreadPoolTaskRunner
    sys.modules[evaluate.fn.__module__].task_runner = lambda _: ThreadPoolTaskRunner()  # the command has processes
    for name, given in CALLS.items():
        try:
            print("ended", name, evaluate(**given).result.exit_code, flush=True)
        except Exception as error:
            print("ended", name, type(error).__name__, flush=True)
            logging.getLogger("prefect.flow_runs").error("%s", error, exc_info=error)
"""


def _table(rows: int, first: int) -> pd.DataFrame:
    rng = np.random.default_rng(first)
    number = rng.integers(0, 6, rows)
    columns: dict[str, object] = {"person": [f"{TEXTS['person']}-{first + k}" for k in range(rows)]}
    for name in ("city", "illness", "note"):
        columns[name] = [f"{TEXTS[name]}-{k}" for k in rng.permutation(number) // (1 if name == "city" else 2)]
    for name, base in NUMBERS.items():
        columns[name] = base + rng.integers(0, 999, rows)
    return pd.DataFrame(columns)


def _surroundings(place: Path) -> dict[str, str]:
    ours = ("PREFECT_", "MLFLOW_", "DO_NOT", "SYNTHRISK_", "XDG_")
    own = {k: v for k, v in os.environ.items() if not k.startswith(ours) and "PROXY" not in k.upper()}
    own |= {name: str(place / "home") for name in ("HOME", "XDG_CACHE_HOME")}
    return own | {"TMPDIR": str(place / "tmp"), "PREFECT_HOME": str(place / "home" / "prefect")}


@dataclass(frozen=True)
class Ended:
    code: int
    said: bytes
    addresses: dict[str, set[str]]
    processes: int


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("canaries")
    for name in ("mine", "tmp", "home"):
        (folder / name).mkdir()
    for name, (rows, first) in {"real": (160, 0), "heldout": (160, 1000), "release": (160, 2000)}.items():
        _table(rows, first).to_csv(folder / "mine" / f"{name}.csv", index=False)
    _table(160, 3000).drop(columns="person").to_csv(folder / "mine" / "headless.csv", index=False, header=False)
    texts = _table(160, 4000)
    texts.assign(salary=texts["city"], visit=texts["note"]).to_csv(folder / "mine" / "texts.csv", index=False)
    swapped = _table(160, 5000).rename(columns={"city": f"{TEXTS['city']}-0"})
    swapped.to_csv(folder / "mine" / "swapped.csv", index=False)
    (folder / "mine" / "flow.py").write_text(FLOW)
    (folder / "mine" / "generators.py").write_text(GENERATORS)
    named = ("shouts", "names", "values", "prints")
    kinds = [{"name": name, "kind": "callable", "path": f"generators.py:{name}"} for name in named]
    study = {
        "name": "canaries",
        "data": {
            "source": "real.csv", "identifier": "person", "quasi_identifiers": ["city", "salary"],
            "sensitive": ["illness", "visit"],
        },
        "split": {"holdout": 0.5, "repetitions": 1}, "synthesizers": ["cart", *kinds], "references": ["copy"],
        "metrics": ["zero_cap", {"name": "rapid", "attackers": ["logistic"], "sensitive": ["illness"]}, "singling_out"],
        "thresholds": {"risk/zero_cap.illness": 0.01},
    }  # fmt: skip
    (folder / "mine" / "study.yaml").write_text(yaml.safe_dump(study))
    return folder


@pytest.fixture(scope="module")
def end(place) -> Callable[..., Ended]:
    own = _surroundings(place)

    def run(*arguments: str) -> Ended:
        trace = place / f"{len(list(place.glob('*.trace')))}.trace"
        command = [*STRACE, "-o", str(trace), sys.executable, "-m", "synthrisk.flows.cli.app", *arguments]
        done = subprocess.run(command, cwd=place / "mine", env=own, capture_output=True, timeout=1200, check=False)
        programs = trace.read_text("utf-8", "replace").count("execve(")
        return Ended(done.returncode, done.stdout + done.stderr, addresses(trace), programs)

    return run


@pytest.fixture(scope="module")
def benchmarked(end) -> Ended:
    return end("benchmark", "study.yaml", "--verbose")


@pytest.fixture(scope="module")
def on_prefect(end, benchmarked) -> Ended:
    return end("benchmark", "study.yaml", "--verbose", "--prefect", "--set", "workspace=orchestrated")


@pytest.fixture(scope="module")
def evaluated(end, benchmarked) -> list[Ended]:
    roles = ["--quasi-identifiers", "city,salary", "--sensitive", "illness,visit", "--identifier", "person"]
    return [
        end("evaluate", "real.csv", "release.csv", "--control", "heldout.csv", "--limit", "0.05"),
        end("evaluate", "real.csv", "headless.csv", "--control", "heldout.csv", *roles),
    ]


def test_the_commands_end_as_they_should(benchmarked, on_prefect, evaluated):
    for study in (benchmarked, on_prefect):
        assert study.code == 1, study.said.decode()[-3000:]
        for name, word in ((b"shouts", b"FAILED"), (b"values", b"FAILED"), (b"names", b"RISK")):
            assert re.search(name + rb" .*" + word, study.said), name
    assert [each.code for each in evaluated] == [1, 2], [each.said.decode()[-800:] for each in evaluated]


def test_no_connection_leaves_the_machine(benchmarked, on_prefect, evaluated):
    for each in (benchmarked, on_prefect, *evaluated):
        outside = {call: [a for a in found if not is_loopback(a)] for call, found in each.addresses.items()}
        assert not any(outside.values()), outside
    assert "connect" not in benchmarked.addresses  # without Prefect nothing is connected at all
    assert "127.0.0.1" in on_prefect.addresses["connect"]  # Prefect's server
    assert "127.0.0.1" in on_prefect.addresses["bind"]
    assert on_prefect.processes >= 4  # the command, that server, two workers


def test_a_connection_that_leaves_is_seen(tmp_path):
    code = (
        "import socket\n"
        "for kind, address in ((socket.AF_INET, '192.0.2.1'), (socket.AF_INET6, '2001:db8::1')):\n"
        "    with socket.socket(kind, socket.SOCK_DGRAM) as one:\n"
        "        try: one.sendto(b'x', (address, 9))\n"
        "        except OSError: pass\n"
        "with socket.create_server(('0.0.0.0', 0)): pass\n"
    )
    subprocess.run([*STRACE, "-o", str(tmp_path / "trace"), sys.executable, "-c", code], check=True)
    found = addresses(tmp_path / "trace")
    assert {"192.0.2.1", "2001:db8::1"} <= found["sendto"]
    assert "0.0.0.0" in found["bind"]
    assert not any(map(is_loopback, [*found["sendto"], *found["bind"]]))


def test_no_command_prints_a_cell_or_leaves_one_in_prefects_folder_or_a_temporary_file(
    benchmarked, on_prefect, evaluated, place
):
    for each in (benchmarked, on_prefect, *evaluated):
        assert not [canary for canary in CANARIES if holds(each.said, canary)]
    assert (place / "home" / "prefect" / "prefect.db").exists()
    assert b"synthesize shouts" in read(place / "home" / "prefect" / "prefect.db")
    for folder in ("home", "tmp"):
        assert holding(CANARIES, place / folder) == []


@pytest.mark.parametrize("name", [".synthrisk", "orchestrated"])
def test_no_cell_is_in_what_is_tracked_and_what_is_private_is_its_owners_alone(
    benchmarked, on_prefect, evaluated, place, name
):
    workspace = place / "mine" / name
    assert b"canaries" in read(workspace / "mlflow.db")
    assert len([p for p in (workspace / "artifacts").rglob("*") if p.is_file()]) > 20
    assert [line for line in holding(CANARIES, workspace) if _is_tracked(line, workspace)] == []
    assert (workspace.stat().st_mode & 0o077, open_folders(workspace)) == (0, [])


def test_every_canary_is_seen_where_it_may_be(benchmarked, evaluated, place):
    found = holding(CANARIES, place / "mine" / ".synthrisk")
    assert {line.rpartition(": ")[2] for line in found} == set(CANARIES)
    assert any("failures" in line for line in found)


def open_folders(workspace: Path) -> list[Path]:
    return [p for p in workspace.iterdir() if p.is_dir() and p.name not in TRACKED and p.stat().st_mode & 0o077]


@pytest.fixture(scope="module")
def flow(place, on_prefect) -> "subprocess.CompletedProcess[bytes]":
    given = {"cwd": place / "mine", "env": _surroundings(place), "timeout": 1200}  # where Prefect has its database
    return subprocess.run([sys.executable, "flow.py"], capture_output=True, check=False, **given)


def test_the_flow_ends_as_it_should_and_keeps_cells_in_private_folders_alone(flow, place):
    ended = dict(line[6:].rsplit(" ", 1) for line in flow.stdout.decode().splitlines() if line.startswith("ended "))
    assert len(ended) == 11, flow.stderr.decode()[-3000:]
    assert ended.pop("whole") == "1"
    assert ended.pop("proposed") == ended.pop("other columns") == "0"
    assert set(ended.values()) == {"InputError"}, ended
    assert b"evaluate release.csv" in read(place / "home" / "prefect" / "prefect.db")
    assert [canary for canary in CANARIES if holds(flow.stdout + flow.stderr, canary)] == []
    for folder in ("home", "tmp"):
        assert holding(CANARIES, place / folder) == []
    workspace = place / "mine" / "flow"
    assert b"zero_cap" in read(workspace / "mlflow.db")
    assert [line for line in holding(CANARIES, workspace) if _is_tracked(line, workspace)] == []
    assert holding(CANARIES, workspace)
    assert open_folders(workspace) == []


def _is_tracked(line: str, workspace: Path) -> bool:
    return Path(line.rpartition(": ")[0]).relative_to(workspace).parts[0] in TRACKED
