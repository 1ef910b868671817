"""Trees that end where R's rpart ends them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from synthrisk.tasks.synthesize.cart import cart, ends
from synthrisk.tasks.synthesize.synthesizer import Job


def fitted(x, y, **limits):
    return DecisionTreeClassifier(random_state=0, **limits).fit(np.asarray(x, dtype=float), y)


def release(train, **options):
    return cart(Job(train, train.head(0), len(train), 1), **options).synthetic


def test_a_split_between_two_leaves_of_one_majority_is_dropped():
    x = [[0]] * 10 + [[1]] * 10
    tree = fitted(x, [0] * 10 + [0] * 6 + [1] * 4)  # shares differ, the likeliest class does not
    assert tree.tree_.node_count == 3
    assert ends(tree.tree_).tolist() == [0, 0, 0]


def test_a_split_that_sets_a_record_right_is_kept():
    x = [[0]] * 10 + [[1]] * 10
    tree = fitted(x, [0] * 10 + [0] * 4 + [1] * 6)
    assert ends(tree.tree_).tolist() == [0, 1, 2]


def test_a_split_without_gain_is_kept_for_the_gain_below_it():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (400, 2))
    y = x[:, 0] ^ x[:, 1]  # one split alone sets hardly any right, two set all
    tree = fitted(x, y)
    end = ends(tree.tree_)
    assert (tree.predict(x.astype(float)) == y).all()
    assert end.tolist() == list(range(tree.tree_.node_count))


def test_what_is_left_is_the_smallest_tree_with_the_same_training_errors():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(600, 4)), rng.integers(0, 3, 600)
    tree = fitted(x, y, min_samples_leaf=5)
    end, leaf = ends(tree.tree_), tree.apply(x)

    def errors(where):
        return sum((y[where == node] != np.bincount(y[where == node]).argmax()).sum() for node in np.unique(where))

    assert errors(end[leaf]) == errors(leaf)
    assert len(np.unique(end[leaf])) < len(np.unique(leaf))
    parent = {child: n for n in range(tree.tree_.node_count) for child in _children(tree.tree_, n)}
    for node in np.unique(end[leaf]):  # no two leaves can be put together without an error more
        top = parent.get(node)
        if top is not None:
            below = np.isin(end[leaf], [n for n in np.unique(end[leaf]) if _is_under(n, top, parent)])
            assert errors(np.where(below, top, end[leaf])) > errors(end[leaf])


def _children(tree, node):
    return [c for c in (tree.children_left[node], tree.children_right[node]) if c >= 0]


def _is_under(node, top, parent):
    while node is not None and node != top:
        node = parent.get(node)
    return node == top


def test_leaves_hold_the_smallest_number_and_nodes_below_three_times_it_are_whole():
    train = pd.DataFrame({"place": np.arange(14) // 7, "kind": ["a"] * 7 + ["b"] * 7})
    crossed = pd.crosstab(*(release(train, min_samples_leaf=5)[c] for c in train))
    assert crossed.to_numpy()[0, 1] == crossed.to_numpy()[1, 0] == 0  # 14 records split at 7
    whole = release(train, min_samples_leaf=5, stopping="rpart")
    assert (pd.crosstab(whole["place"], whole["kind"]).to_numpy() > 0).all()  # rpart needs 15


def test_a_rare_class_without_a_majority_anywhere_is_released_as_independent():
    rng = np.random.default_rng(3)
    train = pd.DataFrame({"x": rng.uniform(size=4000)})
    train["sick"] = rng.random(4000) < np.where(train["x"] < 0.5, 0.05, 0.35)

    def gap(table):
        return table.loc[table["x"] >= 0.5, "sick"].mean() - table.loc[table["x"] < 0.5, "sick"].mean()

    assert gap(release(train, min_samples_leaf=200)) == pytest.approx(0.3, abs=0.05)
    assert gap(release(train, min_samples_leaf=200, stopping="rpart")) == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize("rows", [1, 2, 5, 30])
def test_small_tables_work(rows):
    train = pd.DataFrame({"a": range(rows), "b": ["x", "y"] * (rows // 2) + ["x"] * (rows % 2)})
    assert len(release(train, stopping="rpart", min_samples_leaf=1)) == rows
