"""Items in threads: order kept, one thread a product of matrices, failures passed on."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from synthrisk.metrics.models.threads import side_by_side


def blas_threads(_=None):
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_results_come_in_the_order_of_the_items_of_which_there_may_be_none():
    assert side_by_side(lambda x: -x, range(50)) == [-x for x in range(50)]
    assert side_by_side(lambda x: x, []) == []


def test_products_take_one_thread_meanwhile():
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2, user_api="blas"):
        assert (blas_threads(), side_by_side(blas_threads, range(3)), blas_threads()) == ({2}, [{1}] * 3, {2})


def test_a_failure_is_passed_on():
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda x: 1 / x, [1, 0, 2])
    assert side_by_side(lambda x: x, [1]) == [1]
