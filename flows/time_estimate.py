"""How long a study will take: foretold by measures and sizes, then told by the pace of its releases."""

import time
from collections.abc import Callable

LOOK = "a look at the release"
"""What a cell begins with, before its measures."""
_SECONDS: dict[str, tuple[float, float, float, float]] = {
    "zero_cap": (0.01, 2e-6, 0.0, 0.0),
    "rapid": (0.1, 4e-5, 0.0, 0.0),
    "singling_out": (0.2, 2e-5, 2e-6, 0.0),
    "common_rows_proportion": (0.0, 5e-6, 0.0, 0.0),
    "membership": (0.1, 6e-5, 0.0, 9e-11),
    "distance_to_closest_record": (0.02, 1e-5, 0.0, 5e-11),
    "accuracy": (0.05, 0.0, 4e-7, 0.0),
    "quality": (0.6, 1e-5, 0.0, 0.0),
    "train_synthetic_test_real": (2.8, 0.0, 0.0, 0.0),
    "membership_inference_risk": (2.5, 1e-5, 0.0, 0.0),
    "detection_mlp": (1.3, 1e-4, 0.0, 0.0),
    LOOK: (0.05, 2e-5, 0.0, 1.7e-10),
}
_OTHERS = (0.05, 1e-5, 0.0, 3e-11)
_AT_ONCE = 2  # releases that end together: the pace of so few says little yet
_FEW_COLUMNS, _LOOKED_AT = 25, 5_000  # up to so many columns a tree looks at so many rows at most


def seconds_of(step: str, rows: int, columns: int) -> float:
    """Return about how many seconds one core takes for a measure of one release, or for the look at it.

    a + b r + c r p + d r s p, with r real records and p columns; s = r records that each is compared with, where there
    are few columns at most 5,000. The numbers are rough: benchmarks/scale.py prints what was foretold beside what it
    took.

    Example:
        >>> seconds_of("membership", 2_000, 15) < seconds_of("membership", 20_000, 15)
        True
    """
    once, each, cells, pairs = _SECONDS.get(step, _OTHERS)
    others = min(rows, _LOOKED_AT) if columns <= _FEW_COLUMNS else rows
    return once + rows * (each + cells * columns + pairs * others * columns)


def seconds_in_parts(metric: str, rows: int, columns: int) -> float:
    """Return about how long a measure in parts takes on two processors, with intervals (benchmarks/partitions.py)."""
    each = 1e-6 if metric == "distance_to_closest_record" else 2e-7
    return 0.5 + each * rows * columns


def ends_of(rows: int) -> float:
    """Return about how long intervals, report and log take after the last release, in seconds."""
    return 4.0 + 8e-5 * rows


def in_words(seconds: float) -> str:
    """Return a duration as one would say it.

    Example:
        >>> in_words(7), in_words(44), in_words(170), in_words(9000)
        ('about 10 seconds', 'about 40 seconds', 'about 3 minutes', 'about 2.5 hours')
    """
    if seconds < 90:
        return f"about {max(round(seconds / 10) * 10, 10)} seconds"
    return f"about {round(seconds / 60)} minutes" if seconds < 5400 else f"about {seconds / 3600:.1f} hours"


class Pace:
    """How long a number of releases will still take: as foretold, corrected by the pace of those that are done.

    Args:
        total: How many releases.
        attacks: Seconds foretold for all of them; 0 where nothing was, and the pace alone tells.
        ends: Seconds foretold for what comes after them.
        clock: Tells the time, in seconds.

    Example:
        >>> now = [0.0]
        >>> pace = Pace(6, 160, 20, lambda: now[0])
        >>> now[0] = 35.0  # two at once: the other one is nearly done, too
        >>> pace.left(1)
        'about 3 minutes left'
        >>> now[0] = 75.0
        >>> pace.left(5), pace.left_now()
        ('about 40 seconds left', 'about 40 seconds left')
    """

    def __init__(
        self, total: int, attacks: float = 0.0, ends: float = 0.0, clock: Callable[[], float] = time.monotonic
    ):
        self._total, self._attacks, self._ends, self._clock = total, attacks, ends, clock
        self._first: float | None = None  # when the first release was done: what goes before it is start-up
        self._began = self._counted = clock()
        self._seconds = attacks + ends  # left when counted

    def left(self, done: int) -> str:
        """Return the time left in words, when so many have just been done; empty where nothing can be said."""
        self._counted = now = self._clock()
        self._first = now if self._first is None else self._first
        if self._attacks:
            share, before = done / self._total, min(_AT_ONCE / self._total, 1.0)  # as if some had been done as foretold
            slower = (now - self._began + before * self._attacks) / ((share + before) * self._attacks)
            self._seconds = slower * (1 - share) * self._attacks + self._ends  # generators that learn slow no end down
        else:
            self._seconds = (now - self._first) / max(done - 1, 1) * (self._total - done) if done > 1 else 0.0
        return self.left_now() if done < self._total else ""

    def left_now(self) -> str:
        """Return the time left in words while a release is under way; empty where nothing can be said."""
        seconds = self._seconds - (self._clock() - self._counted)
        return f"{in_words(seconds)} left" if seconds > 0 else ""
