"""How a study scales with its workers, and what a task costs beside its work: processes, Dask, a workspace on a URL.

python benchmarks/scaling.py          # smoke, some minutes
python benchmarks/scaling.py demo 1 2 4

Each place is run twice, with 1 and with 3 repetitions, so that what is paid once, such as the start of server and
workers, cancels out: a task is a release that is made or attacked. Its overhead is what it takes more of the processors
than in a bare loop over the same functions.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from overhead import BARE, COMMAND, cost

SIZES = (1, 3)  # repetitions


class Slope(NamedTuple):
    """What each further task of a study takes, and its longer run as a whole."""

    clock: float  # seconds
    processors: float  # seconds
    whole: float  # seconds of the clock


def slope(command: Sequence[str]) -> Slope:
    """Run a study in both sizes; return what a task takes."""
    clocks, processors, tasks = [], [], []
    for size in SIZES:
        with TemporaryDirectory() as folder:
            os.environ["SYNTHRISK_HOME"] = f"{folder}/home"
            filled = [part.replace("{folder}", f"{folder}/work").replace("{size}", str(size)) for part in command]
            found = cost(filled)
            kept = [each for kind in ("releases", "ledgers") for each in Path(folder).glob(f"work/{kind}/[!.]*")]
        clocks.append(found.clock)
        processors.append(found.processors)
        tasks.append(len(kept))
    more = tasks[1] - tasks[0]
    return Slope((clocks[1] - clocks[0]) / more, (processors[1] - processors[0]) / more, clocks[1])


def main() -> None:
    study, *numbers = sys.argv[1:] or ["smoke"]
    heads = ("clock s", "ms a task", "CPU ms", "overhead ms", "speed-up")
    print(f"{study:<32}" + "".join(f"{head:>13}" for head in heads), flush=True)
    bare_code = BARE.replace(
        'f"workspace={sys.argv[2]}"', 'f"workspace={sys.argv[2]}", f"split.repetitions={sys.argv[4]}"'
    )
    bare = slope([sys.executable, "-c", bare_code, study, "{folder}", str(Path(__file__).parent), "{size}"])
    show("bare loop", bare, bare)
    own = [*COMMAND, "benchmark", study, "--set", "split.repetitions={size}", "--set"]
    for kind in ("processes", "dask"):
        for workers in numbers or ("1", "2"):
            runner = ["--set", f"runner.kind={kind}", "--set", f"runner.workers={workers}"]
            show(f"{kind}, {workers}", slope([*own, "workspace={folder}", *runner]), bare)
            show(f"{kind}, {workers}, file URL", slope([*own, "workspace=file://{folder}", *runner]), bare)


def show(name: str, found: Slope, bare: Slope) -> None:
    """Print a row."""
    more = found.processors - bare.processors
    numbers = f"{found.whole:>13.1f}" + "".join(
        f"{each * 1000:>13.0f}" for each in (found.clock, found.processors, more)
    )
    print(f"{name:<32}{numbers}{bare.clock / found.clock:>13.2f}", flush=True)


if __name__ == "__main__":
    main()
