import stat
from pathlib import Path

import pandas as pd

from synthrisk.conf.study import Data, Split
from synthrisk.tasks.data import store, typed
from synthrisk.tasks.sample import split


def stored(folder):
    frame = pd.DataFrame({"who": list("aabbccdde"), "x": [1, 1, 2, 3, 2, 4, 5, 6, 7], "y": [0, 1] * 4 + [1]})
    data = Data(source="adult", quasi_identifiers=["x"], sensitive=["y"], identifier="who")
    return store(typed(frame, data, Split(folds=2)), folder)


def test_task_stores_the_cut_with_its_share_of_twins_and_finds_it_again(tmp_path):
    table, settings = stored(tmp_path), Split(folds=3, repetitions=2)
    cut = split.fn(table, settings, "who", str(tmp_path), 1)
    path = Path(cut.path)
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)
    assert (list(path.parent.iterdir()), cut.repetitions, cut.releases) == ([path], 2, 3)
    assert all(pd.Series(part).groupby(list(table.read().who)).nunique().max() == 1 for part in cut.read())
    written = path.stat().st_mtime_ns
    assert (split.fn(table, settings, "who", str(tmp_path), 1), path.stat().st_mtime_ns) == (cut, written)
    assert split.fn(table, settings, "who", str(tmp_path), 2).path != cut.path
    assert split.fn(table, settings, None, str(tmp_path), 1).path != cut.path
    alone = split.fn(table, Split(folds=9, repetitions=1), None, str(tmp_path), 1)
    assert alone.twins_share == 0  # with the identifier as a column, no two records are equal
