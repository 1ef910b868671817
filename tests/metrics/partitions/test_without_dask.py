"""Measures in parts, and the command that offers them, are imported without Dask."""

import subprocess
import sys

_IMPORTS = """
import sys
sys.modules |= {"dask": None, "distributed": None}
import synthrisk.metrics.partitions.findings, synthrisk.flows.cli.evaluate
from synthrisk.tasks.partitions import cluster
try:
    cluster(None, 1).__enter__()
except Exception as error:
    print(type(error).__name__, error)
"""


def test_without_dask_all_is_imported_and_the_engine_says_what_to_install():
    done = subprocess.run([sys.executable, "-c", _IMPORTS], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "InputError engine dask needs Dask, which is not installed: pip install 'synthrisk[dask]'"
    )
