import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from samples.studies import sampled
from synthrisk.conf.tables import FileForm
from synthrisk.metrics import METRICS
from synthrisk.metrics.plugins import METRIC_GROUP, points
from synthrisk.tasks.attack import attack
from synthrisk.tasks.synthesize.task import release, synthesize
from synthrisk.tasks.workspace.failures import printed_to


def test_the_key_holds_what_the_synthesizer_sees(tmp_path):
    sample = sampled(pd.DataFrame({"id": range(8), "age": [30, 40] * 4}), [[0, 1] * 4], tmp_path)

    def made(seed=1, options=None, **others):
        return synthesize.fn(replace(sample, seed=seed, **others), "cart", **options or {})

    plain = made()  # with one row an entity, table and cut are the same with and without an identifier
    assert made().path == plain.path
    named = made(identifier="id")
    assert list(named.synthetic().columns) == ["age"]
    keys = [plain.key, named.key, made(seed=2).key, made(options={"min_samples_leaf": 2}).key]
    assert len({*keys, made(form=FileForm(missing=("?",))).key}) == 5


def test_what_a_release_took_is_kept_beside_it_and_found_again_with_it(tmp_path):
    sample = sampled(pd.DataFrame({"age": [30, 40] * 4}), [[0, 1] * 4], tmp_path)
    first = synthesize.fn(sample, "cart")
    assert first.taken().seconds > 0
    assert synthesize.fn(sample, "cart").taken() == first.taken()
    given = release.fn(sample, first.synthetic())
    assert given.taken() is None  # nobody saw it made
    assert [attack.fn(each, ["coverage"]).taken() for each in (first, given)] == [first.taken(), None]


def test_what_a_generator_prints_is_in_a_private_file(tmp_path, capsys):
    sample = sampled(pd.DataFrame({"age": [30, 40] * 4}), [[0, 1] * 4], tmp_path)
    source = "def make(train, rows, seed):\n    print('Zebra', rows)\n    return train.head(rows)\n"
    (tmp_path / "loud.py").write_text(source)
    synthesize.fn(sample, "callable", name="loud", path=f"{tmp_path / 'loud.py'}:make")
    assert capsys.readouterr() == ("", "")
    printed = tmp_path / "printed" / "loud-r0-f0.txt"
    assert (printed.read_text(), printed.stat().st_mode & 0o077) == ("Zebra 4\n", 0)
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
    assert (capsys.readouterr().out, (tmp_path / "a.txt").read_text()) == ("after\n", "first\n")
    assert not (tmp_path / "b.txt").exists()


GLOBAL = """
import time
import numpy as np
import pandas as pd
np.random.seed(0)  # when the file is looked at, too: as each cell does before it begins
time.sleep(0.02)
def make(train, rows, seed):
    np.random.seed(seed % 2**32)
    made = []
    for _ in range(20):
        made.append(np.random.random(rows))
        time.sleep(0.001)  # lets another thread in, as a fit that calls compiled code does
    return pd.DataFrame({"age": np.sum(made, axis=0)})
"""


DISTURBS = """
import time
import numpy as np
import pandas as pd
from synthrisk.metrics import Metric, Records, Score
from synthrisk.metrics.score import Reduction
def disturbing(tables):
    for _ in range(50):
        np.random.seed(0)
        time.sleep(0.001)
    records = pd.DataFrame({"score": np.zeros(len(tables.real))}, index=tables.real.index)
    return Score.of("acme_disturbs", records, reduce(records), {}, {})
def reduce(records):
    return Reduction(float(records["score"].mean()), float(records["score"].mean()), {})
METRIC = Metric("acme_disturbs", disturbing, "distance", reference="ACME", records=Records(reduce))
"""


METADATA = {
    "METADATA": "Metadata-Version: 2.1\nName: acme-disturbs\nVersion: 1.0\n",
    "entry_points.txt": "[synthrisk.metrics]\nacme_disturbs = acme_disturbs:METRIC\n",
}


@pytest.fixture
def disturbing(tmp_path, monkeypatch):
    """The name of a metric of others, which is installed for one test."""
    (tmp_path / "acme_disturbs.py").write_text(DISTURBS)
    (facts := tmp_path / "acme_disturbs-1.0.dist-info").mkdir()
    for name, text in METADATA.items():
        (facts / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(METRICS._entries, "acme_disturbs", points(METRIC_GROUP)["acme_disturbs"])
    yield "acme_disturbs"
    sys.modules.pop("acme_disturbs", None)


def released(folder, workspace, threads, measures):
    (folder / "shared.py").write_text(GLOBAL)
    whole = sampled(pd.DataFrame({"age": np.arange(40.0) + 0.5}), [[0, 1] * 20] * 2, folder)
    sample = replace(whole, workspace=str(folder / workspace))

    def cell(place):
        made = synthesize.fn(sample, "callable", *place, name="shared", path=f"{folder / 'shared.py'}:make")
        if measures:
            attack.fn(made, measures)
        return made.synthetic()["age"].tolist()

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(cell, np.ndindex(2, 2)))


@pytest.mark.parametrize("beside", [False, True], ids=["generators", "generators and a metric of others"])
def test_threads_of_one_process_do_not_draw_from_each_others_stream(tmp_path, disturbing, beside):
    out, measures = sys.stdout, [disturbing] * beside
    assert released(tmp_path, "alone", 1, measures) == released(tmp_path, "together", 4, measures)
    assert sys.stdout is out  # not that of a thread that has ended
