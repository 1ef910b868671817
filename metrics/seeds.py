"""Children of the one root seed, by name: adding a synthesizer or changing the order of work moves no number."""

import hashlib

import numpy as np


def seed_of(root: int, *keys: str | int) -> int:
    """Return the 32-bit seed of a place in the study, e.g. ``seed_of(1, 0, 2, "cart", "attack")``.

    Example:
        >>> seed_of(1, 0, 2, "cart") == seed_of(1, 0, 2, "cart"), seed_of(1, 0) == seed_of(1, 1)
        (True, False)
    """
    words = [k if isinstance(k, int) else int.from_bytes(hashlib.sha256(k.encode()).digest()[:4]) for k in keys]
    return int(np.random.SeedSequence(root, spawn_key=tuple(words)).generate_state(1)[0])
