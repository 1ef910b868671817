"""The measures need no module that Linux alone has: they are imported, and compute, where there is none."""

import subprocess
import sys

import pytest

CODE = """
import importlib, pkgutil, sys
ABSENT = {"resource", "fcntl", "pwd", "grp", "termios", "tty", "pty", "syslog", "readline"}
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ABSENT: raise ModuleNotFoundError(name, name=name)
for name in ABSENT: sys.modules.pop(name, None)
sys.meta_path.insert(0, Absent())
import synthrisk.metrics as metrics
for each in pkgutil.walk_packages(metrics.__path__, "synthrisk.metrics."): importlib.import_module(each.name)
import pandas as pd
real = pd.DataFrame({"x": [1, 1, 2, 3], "c": ["a", "a", "b", "b"]})
print(metrics.METRICS["common_rows_proportion"](real, real).value, sorted(ABSENT & set(sys.modules)))
"""


@pytest.mark.proof
def test_measures_are_imported_and_compute_without_what_linux_alone_has():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.stdout == "1.0 []\n", done
