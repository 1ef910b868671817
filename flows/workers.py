"""What each worker process does before its first task."""

import os

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1"
) | {"OMP_WAIT_POLICY": "passive"}


def compute_with_one_thread() -> None:
    """Limit this process to one thread: libraries not yet loaded by variables, those that are by their own means."""
    os.environ.update(ONE_THREAD)
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
