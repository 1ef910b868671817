"""A release is found again by all that went into it."""

import threading

import numpy as np
import pandas as pd

from synthrisk.conf.reading import FileForm
from synthrisk.tasks.synthesize.task import synthesize
from synthrisk.tasks.workspace.printed import printed_to
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
    assert len({*keys, made(form=FileForm(missing=("?",))).key}) == 5


def test_what_a_generator_prints_is_in_a_private_file(tmp_path, capsys):
    table = store(pd.DataFrame({"age": [30, 40] * 4}), tmp_path)
    save_array(np.array([[0, 1] * 4], dtype=np.int16), tmp_path / "cut.npy")
    (tmp_path / "loud.py").write_text(
        "def make(train, rows, seed):\n    print('Zebra', rows)\n    return train.head(rows)\n"
    )
    sample = Sample(table, Cut(str(tmp_path / "cut.npy"), "cut", 1, 2, 0.0), str(tmp_path))
    synthesize.fn(sample, "callable", name="loud", path=f"{tmp_path / 'loud.py'}:make")
    assert capsys.readouterr() == ("", "")
    printed = tmp_path / "printed" / "loud-r0-f0.txt"
    assert printed.read_text() == "Zebra 4\n"
    assert printed.stat().st_mode & 0o077 == 0
    synthesize.fn(sample, "cart")
    assert [p.name for p in printed.parent.iterdir()] == [printed.name]


def test_threads_that_print_at_the_same_time_leave_standard_output_as_it_was(tmp_path, capsys):
    inside, done = threading.Event(), threading.Event()

    def first():
        with printed_to(tmp_path / "a.txt"):
            print("first")
            inside.set()
            done.wait(5)

    thread = threading.Thread(target=first)
    thread.start()
    inside.wait(5)
    with printed_to(tmp_path / "b.txt"):
        done.set()
        thread.join()
    print("after")
    assert capsys.readouterr().out == "after\n"
    assert (tmp_path / "a.txt").read_text() == "first\n"
    assert not (tmp_path / "b.txt").exists()
