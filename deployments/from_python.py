"""The benchmark deployed from Python, for a process work pool: run it in the folder of data and results.

python from_python.py study.yaml
"""

import sys

from synthrisk.flows.benchmark import benchmark

if __name__ == "__main__":
    benchmark.from_source(source=".", entrypoint="from_python.py:benchmark").deploy(
        name="from-python",
        work_pool_name="local",
        cron="0 2 * * *",
        concurrency_limit=1,
        parameters={"study": sys.argv[1]},
        tags=["synthrisk"],
    )
