"""How two workers share the cells of Adult: fits of ``cart``, and attacks on what they release.

python benchmarks/scaling.py

5 folds x 2 repetitions of all 32,561 records. The clock runs from when the workers are there until the last cell has
ended; a row is the quickest of two runs, each in a workspace of its own. An empty task is called 200 times, too.
"""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from prefect import task

from synthrisk.flows.execution.pool import PoolCalls, pool_calls
from synthrisk.tasks.attack import attack
from synthrisk.tasks.sample import sample
from synthrisk.tasks.synthesize.task import synthesize
from synthrisk.tasks.workspace.references import Sample

KNOWN = ["age", "education", "occupation", "sex", "race"]
FOLDS, REPETITIONS, EMPTY = 5, 2, 200


@task
def nothing() -> None:
    """Do nothing."""


def seconds(calls: PoolCalls, given: Sample) -> tuple[float, float]:
    """Return how long the fits take, and then the attacks."""
    places = [(repetition, fold) for repetition in range(REPETITIONS) for fold in range(FOLDS)]
    start = time.perf_counter()
    releases = [calls.submit(synthesize, given, "cart", *place) for place in places]
    made = [each.result() for each in releases]
    middle = time.perf_counter()
    for each in [calls.submit(attack, one, ["zero_cap", "membership"]) for one in made]:
        each.result()
    return middle - start, time.perf_counter() - middle


def main() -> None:
    found = {}
    for workers in (1, 2):
        runs = []
        for _ in range(2):
            with TemporaryDirectory() as place, pool_calls(workers) as calls:
                given = sample.fn("adult", KNOWN, ["income"], folds=FOLDS, repetitions=REPETITIONS, workspace=place)
                for each in [calls.submit(nothing) for _ in range(2 * workers)]:  # the workers are there
                    each.result()
                start = time.perf_counter()
                for each in [calls.submit(nothing) for _ in range(EMPTY)]:
                    each.result()
                empty = (time.perf_counter() - start) / EMPTY
                runs.append((*seconds(calls, given), empty))
        found[workers] = [min(own) for own in zip(*runs, strict=True)]
    print(f"{'':<24}{'1 worker':>10}{'2 workers':>11}{'ratio':>8}")
    for name, one, two in zip(("fits, s", "attacks, s", "an empty task, s"), found[1], found[2], strict=True):
        print(f"{name:<24}{one:>10.4f}{two:>11.4f}{one / two:>8.2f}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))  # workers find the empty task
    import scaling

    scaling.main()
