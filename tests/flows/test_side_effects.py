"""Installing and importing the package, and running a study, change nothing of the process that does it."""

import multiprocessing
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor

import pytest
from prefect.settings import PREFECT_API_URL

from synthrisk.flows.execution.workers import compute_with_one_thread
from synthrisk.metrics.models.threads import ONE_THREAD


def run(code: str, folder, **environment) -> subprocess.CompletedProcess:
    script = folder / "script.py"
    script.write_text(textwrap.dedent(code))
    ours = ("PREFECT_", "MLFLOW_", "DO_NOT", "OMP_", "NUMBA_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    kept |= {"PREFECT_HOME": str(folder / "prefect"), "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    kept |= {"PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180"} | environment  # a busy machine
    return subprocess.run([sys.executable, script], env=kept, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.proof
def test_being_installed_and_imported_changes_nothing_of_somebody_elses_process(tmp_path):
    done = run(
        """
        import logging, os, signal, sys, warnings
        import numpy, scipy.linalg, sklearn, prefect, prefect.main, mlflow
        from prefect.plugins import load_prefect_collections
        from prefect.settings import get_current_settings
        from threadpoolctl import threadpool_info

        def state():
            threads = sorted((each["filepath"], each["num_threads"]) for each in threadpool_info())
            handlers = [type(h).__name__ for h in logging.getLogger().handlers]
            settings = get_current_settings().model_dump_json()
            held = list(warnings.filters), signal.getsignal(signal.SIGTERM)
            return dict(os.environ), threads, handlers, settings, *held

        before = state()
        found = load_prefect_collections()
        assert "synthrisk" in found and not isinstance(found["synthrisk"], Exception), found
        assert "mlflow.tracking" in sys.modules  # ours is not what is loaded next
        ours = {name for name in sys.modules if name.startswith("synthrisk.")}
        assert ours == {"synthrisk.tasks", "synthrisk.tasks.tracking_block"}, ours  # the block, and nothing it drags in
        import synthrisk.flows.benchmark, synthrisk.flows.evaluate
        after = state()
        for was, now in zip(before, after):
            known = {path for path, _ in before[1]} if was is before[1] else None
            assert was == (now if known is None else [each for each in now if each[0] in known]), (was, now)
        print("unchanged")
        """,
        tmp_path,
    )
    assert done.stdout.strip().endswith("unchanged"), done.stderr[-3000:]


@pytest.mark.proof
def test_a_script_without_a_guard_gets_one_sentence(tmp_path, prefect_database):
    code = 'from synthrisk.flows.benchmark import benchmark\nbenchmark("smoke")'
    done = run(code, tmp_path, DO_NOT_TRACK="true", PREFECT_API_URL=PREFECT_API_URL.value())
    assert done.returncode != 0
    assert "script.py must start the study under if __name__ == " in done.stderr
    assert "BrokenProcessPool" not in done.stderr
    assert not (tmp_path / ".synthrisk").exists()


def _threads() -> tuple[dict[str, str], set[int]]:
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    return {name: os.environ.get(name, "") for name in ONE_THREAD}, {each["num_threads"] for each in threadpool_info()}


@pytest.mark.proof
@pytest.mark.filterwarnings("ignore")
def test_workers_compute_with_one_thread_and_the_host_as_before():
    before = dict(os.environ)
    spawned = {"mp_context": multiprocessing.get_context("spawn"), "initializer": compute_with_one_thread}
    with ProcessPoolExecutor(1, **spawned) as pool:
        variables, threads = pool.submit(_threads).result()
    assert (variables, threads, dict(os.environ)) == (ONE_THREAD, {1}, before)


@pytest.mark.proof
def test_a_command_without_an_api_never_imports_prefect_and_says_each_thing_once(tmp_path):
    done = run(
        """
        import atexit, os, sys
        os.environ.pop("PREFECT_HOME", None)
        import pandas as pd
        from synthrisk.flows.cli.app import main

        if __name__ == "__main__":
            table = pd.DataFrame({"age": range(20, 60), "ill": ["yes", "no"] * 20})
            table.to_csv("real.csv", index=False)
            table[::-1].assign(age=lambda own: own["age"] + 1).to_csv("release.csv", index=False)
            atexit.register(lambda: print("imported:", "prefect" in sys.modules))
            sys.argv = ["synthrisk", "evaluate", "real.csv", "release.csv", "--quasi-identifiers", "age"]
            sys.argv += ["--sensitive", "ill", "--metric", "zero_cap"]
            main()
        """,
        tmp_path,
        HOME=str(tmp_path),
    )
    assert [each for each in ("imported: False", "Study evaluate") if each not in done.stdout] == [], done.stderr
    told = [line.removeprefix("Mind").strip() for line in done.stderr.splitlines() if line.strip()]
    assert [line for line in done.stderr.splitlines() if line.startswith("Mind")]
    assert len(told) == len(set(told))
