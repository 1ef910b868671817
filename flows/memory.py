"""Memory that is freed and soon needed again: to ask the system for it each time takes a twentieth of a large study."""

import ctypes
import os

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # as malloc.h of the GNU C library numbers them
_KEPT = 2**31 - 1  # bytes: the most that can be said
_OLD_MOST = 2**25  # the most that older versions of the library take


def keep_freed_memory() -> None:
    """Let this process keep what it has freed: arrays of a million numbers come and go by the thousand.

    Arrow takes its memory from the same allocator then, unless the environment names another. Where the C library is
    not GNU's, nothing is changed.
    """
    try:
        allocator = ctypes.CDLL(None)
        allocator.gnu_get_libc_version  # noqa: B018 - mallopt of another library may mean something else
    except (AttributeError, OSError, TypeError):
        return
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    if any(allocator.mallopt(_MMAP_THRESHOLD, most) for most in (_KEPT, _OLD_MOST)):
        allocator.mallopt(_TRIM_THRESHOLD, _KEPT)
