"""How long something takes, in words, and how long attacks will take, by the sizes of the tables."""

_SECONDS: dict[str, tuple[float, float, float]] = {
    "zero_cap": (0.1, 1e-5, 0.0),
    "rapid": (0.5, 1e-4, 0.0),
    "singling_out": (0.2, 1e-4, 0.0),
    "common_rows_proportion": (0.0, 1e-5, 0.0),
    "membership": (0.5, 1e-4, 1e-10),
    "distance_to_closest_record": (0.1, 1e-5, 1e-10),
    "accuracy": (0.2, 5e-5, 0.0),
}
_OTHERS = (0.2, 5e-5, 1e-10)


def seconds_of(metric: str, rows: int, columns: int) -> float:
    """Return about how long one core takes for a measure of one release, in seconds.

    a + b r p/15 + c r^2 p, with r real records and p columns: fitted to benchmarks of 1,000 to 10,000 records of each
    kind and 15 to 200 columns (benchmarks/scale.py prints what was foretold beside what it took).

    Example:
        >>> seconds_of("membership", 2_000, 15) < seconds_of("membership", 20_000, 15)
        True
    """
    once, each, pairs = _SECONDS.get(metric, _OTHERS)
    return once + each * rows * columns / 15 + pairs * rows**2 * columns


def seconds_in_parts(metric: str, rows: int, columns: int) -> float:
    """Return about how long a measure in parts takes on two processors, with intervals (benchmarks/partitions.py)."""
    each = 1e-6 if metric == "distance_to_closest_record" else 2e-7
    return 0.5 + each * rows * columns


def ends_of(rows: int) -> float:
    """Return about how long intervals, report and log take after the last release, in seconds."""
    return 4.0 + 5e-5 * rows


def in_words(seconds: float) -> str:
    """Return a duration as one would say it.

    Example:
        >>> in_words(7), in_words(44), in_words(170), in_words(9000)
        ('about 10 seconds', 'about 40 seconds', 'about 3 minutes', 'about 2.5 hours')
    """
    if seconds < 90:
        return f"about {max(round(seconds / 10) * 10, 10)} seconds"
    return f"about {round(seconds / 60)} minutes" if seconds < 5400 else f"about {seconds / 3600:.1f} hours"
