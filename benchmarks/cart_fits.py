"""What `cart` costs beyond its trees: 26,048 Adult records of 15 columns, against the bare fits of scikit-learn.

The trees that `cart` fits are noted once (their columns as coded, targets and settings). The bare runs fit them again,
alone, and with the two `apply` that find the leaves of records and rows. All take turns in one process; CPU seconds on
one thread, least of several turns. Mark: 1.5 times the bare fits.

    python benchmarks/cart_fits.py
"""

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

from synthrisk.tasks.data import read
from synthrisk.tasks.synthesize import cart as module
from synthrisk.tasks.synthesize.synthesizer import Job

WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "smoothing: density": {"smoothing": "density"},
    "stopping: rpart": {"stopping": "rpart"},
    "min_samples_leaf: 50": {"min_samples_leaf": 50},
}


def fits_of(work: Callable[[], Any]) -> list[tuple[Any, np.ndarray, np.ndarray]]:
    """Return the trees that some work fits, unfitted, with their records and targets."""
    noted = []
    kinds = module.DecisionTreeClassifier, module.DecisionTreeRegressor

    def noting(kind: Any) -> Any:
        class Noted(kind):  # type: ignore[misc]
            def __init__(self, **options: Any) -> None:
                super().__init__(**options)
                self._made = lambda: kind(**options)

            def fit(self, x: np.ndarray, y: np.ndarray) -> Any:
                noted.append((self._made, x.copy(), y.copy()))
                return super().fit(x, y)

        return Noted

    names = {kind.__name__: noting(kind) for kind in kinds}
    with patch.multiple(module, **names):
        work()
    return noted


def seconds(work: Callable[[], Any]) -> float:
    start = process_time()
    work()
    return process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    turns = parser.parse_args().turns
    real = read("adult")
    members = np.sort(np.random.default_rng(0).permutation(len(real))[: len(real) * 4 // 5])
    train = real.iloc[members].reset_index(drop=True)
    job = Job(train, train.head(0), rows=len(train), seed=1)
    print(f"{'cart':<24}{'trees':>6}{'CPU s':>8}{'bare fits':>11}{'times':>7}{'with apply':>12}{'times':>7}")
    for name, options in WAYS.items():
        with threadpool_limits(1):
            noted = fits_of(lambda o=options: module.cart(job, **o))

            def bare(noted: list[Any] = noted) -> None:
                for make, x, y in noted:
                    make().fit(x, y)

            def applied(noted: list[Any] = noted) -> None:
                for make, x, y in noted:
                    tree = make().fit(x, y)
                    tree.apply(x)
                    tree.apply(x)  # as many rows are drawn as there are records

            works = (lambda o=options: module.cart(job, **o)), bare, applied
            whole, fits, both = np.min([[seconds(work) for work in works] for _ in range(turns)], axis=0)
        row = (
            f"{name:<24}{len(noted):>6}{whole:>8.2f}{fits:>11.2f}{whole / fits:>7.2f}{both:>12.2f}{whole / both:>7.2f}"
        )
        print(row, flush=True)


if __name__ == "__main__":
    main()
