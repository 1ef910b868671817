"""A release is found again by all that went into it."""

import numpy as np
import pandas as pd

from synthrisk.tasks.synthesize.task import synthesize
from synthrisk.tasks.workspace.references import Cut, Sample
from synthrisk.tasks.workspace.store import save_array
from synthrisk.tasks.workspace.table import store


def test_the_key_holds_what_the_synthesizer_sees(tmp_path):
    """With one row an entity, table and cut are the same with and without an identifier; the release is not."""
    table = store(pd.DataFrame({"id": range(8), "age": [30, 40] * 4}), tmp_path)
    save_array(np.array([[0, 1] * 4], dtype=np.int16), tmp_path / "cut.npy")
    cut = Cut(str(tmp_path / "cut.npy"), "cut", 1, 2, 0.0)

    def made(seed=1, options=None, **sample):
        return synthesize.fn(Sample(table, cut, str(tmp_path), seed, **sample), "cart", **options or {})

    plain = made()
    assert made().path == plain.path
    named = made(identifier="id")
    assert list(named.synthetic().columns) == ["age"]
    keys = [plain.key, named.key, made(seed=2).key, made(options={"min_samples_leaf": 2}).key]
    assert len({*keys, made(missing=("?",)).key}) == 5
