"""A new store that several processes open at once is opened by all, and stays whole."""

import subprocess
import sys

from mlflow import MlflowClient

OPEN = """
import sys
from synthrisk.tasks.tracking.store import opened
opened(sys.argv[1]).create_experiment(sys.argv[2])
"""


def test_a_new_file_that_four_processes_open_at_once(tmp_path):
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    processes = [
        subprocess.Popen([sys.executable, "-c", OPEN, uri, f"study {n}"], stderr=subprocess.PIPE, text=True)
        for n in range(4)
    ]
    said = [(each.communicate()[1], each.returncode) for each in processes]
    assert [code for _, code in said] == [0] * 4, said
    names = {each.name for each in MlflowClient(uri).search_experiments()}
    assert names == {"Default", *(f"study {n}" for n in range(4))}


DIES = """
import os
from alembic.runtime.migration import HeadMaintainer
HeadMaintainer.update_to_step = lambda *given: os._exit(9)  # a step is done, and not yet said to be done
"""


def test_a_new_file_whose_maker_was_killed_halfway_is_made_anew(tmp_path):
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    killed = subprocess.run([sys.executable, "-c", DIES + OPEN, uri, "first"], capture_output=True, check=False)
    assert killed.returncode == 9
    done = subprocess.run([sys.executable, "-c", OPEN, uri, "second"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {each.name for each in MlflowClient(uri).search_experiments()} == {"Default", "second"}
