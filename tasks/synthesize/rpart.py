"""Where R's rpart ends a tree, and scikit-learn does not: the trees of synthpop's CART.

Therneau and Atkinson, "An Introduction to Recursive Partitioning Using the RPART Routines"; rpart 4.1, partition.c.
"""

from typing import Any

import numpy as np

SMALLEST_SPLIT = 3
"""A node is split from so many times the smallest leaf on (``minsplit = 3 minbucket``, rpart.control)."""
DEPTH = 30
"""Splits above a leaf at most (``maxdepth``)."""


def ends(tree: Any) -> np.ndarray:
    """Return for each node of a fitted classification tree the node in which its records end.

    rpart keeps a split only if its complexity (R(t) - R(T_t))/(splits of T_t) > cp R(root), with R the training records
    misclassified, t the node and T_t the tree below it. With synthpop's cp = 1e-8, a subtree that misclassifies as many
    training records as its top node becomes a leaf, though its leaves differ in class shares. ``tree`` is the ``tree_``
    of a scikit-learn classifier; of each node its own number is returned, or that of the node above that became a leaf.
    """
    left, right = tree.children_left, tree.children_right
    shares = tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True)
    wrong = np.rint(tree.n_node_samples * (1 - shares.max(axis=1)))
    below = wrong.copy()
    for node in range(tree.node_count - 1, -1, -1):  # children have higher numbers
        if left[node] >= 0:
            below[node] = below[left[node]] + below[right[node]]
    is_leaf = (left < 0) | (below == wrong)
    end = np.arange(tree.node_count)
    for node in range(tree.node_count):
        if left[node] >= 0 and is_leaf[end[node]]:
            end[left[node]] = end[right[node]] = end[node]
    return np.asarray(end)
