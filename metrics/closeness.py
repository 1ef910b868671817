"""When a claim about a number is right: the guess lies within a tolerance of the truth."""

import numpy as np


def is_close(guess: np.ndarray, truth: np.ndarray, tolerance: float, scale: float, *, relative: bool) -> np.ndarray:
    """Tell whether |guess - truth| <= tolerance x max(|truth|, scale), or tolerance x scale where not ``relative``.

    ``scale`` keeps truths near 0 from asking for more than the data know; dates have no 0 that a share of them could
    be taken of, so there it stands alone.

    Args:
        guess: (n,) floats.
        truth: (n,) floats.
        tolerance: Share, in [0, 1).
        scale: In units of the truth, >= 0.
        relative: Whether a share of the truth counts too.

    Example:
        >>> is_close(np.array([-95.0, 0.4]), np.array([-100.0, 0.0]), 0.05, 10.0, relative=True).tolist()
        [True, True]
    """
    allowed = tolerance * np.maximum(np.abs(truth), scale) if relative else np.full(np.shape(truth), tolerance * scale)
    return np.asarray(np.abs(guess - truth) <= allowed)


def share_close(
    guesses: np.ndarray, truths: np.ndarray, tolerance: float, scale: float, *, relative: bool
) -> np.ndarray:
    """Return for each guess the share of all truths that it is close to, (n,).

    With a tolerance below 1 the truths that a guess is close to have no gap between them, so that both ends are
    found by bisection of the rule itself.

    Args:
        guesses: (n,) floats without NaN.
        truths: (m,) floats without NaN, m >= 1.
        tolerance: As above.
        scale: As above.
        relative: As above.

    Example:
        >>> share_close(np.array([1.0, 50.0]), np.array([1.0, 1.04, 9.0, 100.0]), 0.05, 0.0, relative=True).tolist()
        [0.5, 0.0]
    """
    ordered = np.sort(truths)
    values, back = np.unique(guesses, return_inverse=True)
    middle = np.searchsorted(ordered, values)

    def end(inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
        """Return the last place from ``inside`` towards ``outside`` (exclusive) that is close, as a border."""
        while True:
            open_ = np.abs(outside - inside) > 1
            if not open_.any():
                return inside
            tried = np.where(open_, (inside + outside) // 2, inside)
            close = is_close(values, ordered[np.clip(tried, 0, len(ordered) - 1)], tolerance, scale, relative=relative)
            inside = np.where(open_ & close, tried, inside)
            outside = np.where(open_ & ~close, tried, outside)

    n = len(ordered)
    first, last = end(middle, np.full(len(values), -1)), end(middle - 1, np.full(len(values), n))
    return ((last - first + 1) / n)[back]
