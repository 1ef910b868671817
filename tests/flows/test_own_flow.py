"""Our tasks in somebody else's flow: the numbers of ``benchmark``, on any task runner, and no cell for Prefect."""

import os
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from leaks import dump
from mlflow import MlflowClient
from prefect import flow
from prefect.settings import get_current_settings
from prefect.task_runners import ProcessPoolTaskRunner, ThreadPoolTaskRunner
from threadpoolctl import threadpool_info

from synthrisk.conf import load
from synthrisk.flows.benchmark import benchmark
from synthrisk.metrics import InputError
from synthrisk.tasks import attack, estimate, judge, log, release, sample, synthesize
from synthrisk.tasks.partitions import LOCAL_CLUSTER

pytestmark = pytest.mark.proof

METRICS = ["zero_cap", {"name": "rapid", "attacker": "logistic", "threshold": 0.5}, "distance_to_closest_record"]
ROLES = {"quasi_identifiers": ["age", "city"], "sensitive": ["income"]}
LIMITS = {"memorization/zero_cap": 0.05}
FOLDS = range(2)


@flow(persist_result=False)
def mine(table, workspace):
    people = sample(table, **ROLES, folds=2, seed=3, workspace=workspace)
    made = [synthesize.submit(people, "cart", fold=k, min_samples_leaf=10) for k in FOLDS]
    made += [synthesize.submit(people, "copy", fold=k, name="thief") for k in FOLDS]
    ledgers = [attack.submit(each, METRICS) for each in made]
    judged = judge(estimate(ledgers, confidence=0.9, resamples=100), LIMITS, name="mine")
    return judged, log(judged, experiment="mine")


@pytest.fixture(scope="module")
def study(folder, prefect_database, threads):
    return benchmark({
        "name": "same", "data": {"source": str(folder / "people.csv"), **ROLES},
        "split": {"folds": 2, "repetitions": 1},
        "synthesizers": [{"name": "cart", "min_samples_leaf": 10}, {"name": "thief", "kind": "copy"}], "references": [],
        "population_yardstick": False, "metrics": METRICS, "bootstrap": {"confidence": 0.9, "resamples": 100},
        "thresholds": LIMITS, "runner": threads, "workspace": str(folder / "same"), "seed": 3,
    })  # fmt: skip


def ledgers_in(workspace):
    found = [pd.read_parquet(path) for path in workspace.glob("ledgers/*/ledger.parquet")]
    return sorted(found, key=lambda ledger: (ledger["score"].sum(), ledger["distance"].sum()))


def assert_same(judged, workspace, study, folder):
    for own, theirs in zip(ledgers_in(workspace), ledgers_in(folder / "same"), strict=True):
        pd.testing.assert_frame_equal(own, theirs, check_exact=True)
    assert repr(judged.result.findings) == repr(study.result.findings)
    own, theirs = ([(v.synthesizer, v.word, v.reason) for v in each.result.verdicts] for each in (judged, study))
    assert own == theirs


RUNNERS = {
    "threads": ThreadPoolTaskRunner,
    "processes": lambda: ProcessPoolTaskRunner(max_workers=2),
    "dask": lambda: import_module("prefect_dask").DaskTaskRunner(cluster_kwargs={"n_workers": 1, **LOCAL_CLUSTER}),
}


@pytest.mark.parametrize("kind", RUNNERS)
def test_the_numbers_are_those_of_benchmark(kind, study, folder, tmp_path):
    judged, logged = mine.with_options(task_runner=RUNNERS[kind]())(str(folder / "people.csv"), str(tmp_path))
    assert_same(judged, tmp_path, study, folder)
    client = MlflowClient(logged.uri)
    runs = {r.info.run_name.partition(" · ")[0]: r for r in client.search_runs([logged.experiment_id])}
    assert set(runs) == {"cart", "thief", "study mine"}
    (finding,) = [f for f in judged.result.findings if (f.synthesizer, f.measure.label) == ("thief", "zero_cap")]
    assert runs["thief"].data.metrics["memorization/zero_cap.income"] == finding.memorization.value
    told = Path(client.download_artifacts(runs["study mine"].info.run_id, "study.yaml")).read_text()
    assert [each for each in ("min_samples_leaf", "memorization/zero_cap.income") if each not in told] == []
    assert (tmp_path / "reports" / judged.result.study_id / "exposure-cart.html").exists()


def test_without_a_server_and_with_frames(study, folder, people, tmp_path):
    frame = people()
    real = sample.fn(frame, **ROLES, folds=2, seed=3, workspace=str(tmp_path))
    made = [synthesize.fn(real, "cart", fold=k, min_samples_leaf=10) for k in FOLDS]
    brought = [frame[np.asarray(~real.held_out(0, k))] for k in FOLDS]
    brought[1].to_csv(tmp_path / "made.csv", index=False)
    made += [release.fn(real, brought[0].sample(frac=1, random_state=1), fold=0, name="thief")]
    made += [release.fn(real, str(tmp_path / "made.csv"), fold=1, name="thief")]
    ledgers = [attack.fn(made[at], METRICS) for at in (1, 0, 3, 2)]
    judged = judge.fn(estimate.fn(ledgers, confidence=0.9, resamples=100), LIMITS)
    assert set(log.fn(judged, experiment="mine").runs) == {"cart", "thief"}

    def risks(of, name):
        return {f.measure: f.risk for f in of.result.findings if f.synthesizer == name}

    assert repr(risks(judged, "cart")) == repr(risks(study, "cart"))
    same, due = ([risk.value for risk in risks(each, "thief").values()] for each in (judged, study))
    assert same == pytest.approx(due)


def test_a_cell_that_is_found_again_is_shown_as_cached(folder, tmp_path, prefect_database):
    @flow
    def twice():
        people = sample(str(folder / "people.csv"), **ROLES, folds=2, workspace=str(tmp_path))
        names = []
        for _ in range(2):
            made = synthesize.submit(people, "cart")
            ledger = attack.submit(made, ["zero_cap"])
            ledger.wait()
            names.append((made.state.name, ledger.state.name))
            assert synthesize(people, "cart") == made.result()
        return names

    assert twice() == [("Completed", "Completed"), ("Cached", "Cached")]


def test_no_cell_reaches_prefect(folder, people, tmp_path, secret, prefect_database):
    @flow
    def theirs():
        frame = people()
        made = sample(frame, **ROLES, folds=2, workspace=str(tmp_path))
        texts = release(made, frame[["city", "income"]].assign(age=1, hours=1.0), name="brought")
        return attack(texts, ["zero_cap"]).path

    theirs()
    with pytest.raises(InputError, match=r"data\.rows must be at most the 240 rows") as refused:
        sample.fn(people(), **ROLES, workspace=str(tmp_path / "other"), rows=10**6)
    assert secret not in str(refused.value)
    told = dump(prefect_database)
    assert (b"theirs" in told, secret.encode() in told) == (True, False)


ONE_BY_ONE = """
import runpy
from pathlib import Path

blocks = Path({page!r}).read_text("utf-8").split("```python\\n")[1:]
for number, block in enumerate(blocks):
    text = block.partition("```")[0].replace('"metrics": ["zero_cap"],', {small!r})
    Path(f"block{{number}}.py").write_text(text)
    runpy.run_path(f"block{{number}}.py", run_name="__main__")
"""


def test_the_page_about_tasks_says_what_runs(folder, start_python, tmp_path, threads):
    page = str(Path(__file__).parents[2] / "docs" / "tasks.md")
    small = f'"metrics": ["zero_cap"], "references": ["copy"], "runner": {threads},'
    process = start_python("-c", ONE_BY_ONE.format(page=page, small=small), folder / "people.csv", cwd=tmp_path)
    out, err = process.communicate()
    assert process.returncode == 0, err[-3000:]
    assert len(list(tmp_path.glob("block*.py"))) == 3
    client = MlflowClient(f"sqlite:///{tmp_path / '.synthrisk' / 'mlflow.db'}")
    assert {each.name for each in client.search_experiments()} >= {"mine", "theirs", "people"}
    assert len(list((tmp_path / ".synthrisk" / "reports").glob("*/report.html"))) == 4
    assert out.endswith("]\n")


def test_studies_do_not_disturb_each_other_nor_the_host(folder, settings, tmp_path, prefect_database, threads):
    def study(seed, runner):
        own = {"name": f"seed-{seed}", "runner": runner, "seed": seed, "metrics": ["zero_cap"]}
        return settings(tmp_path / "w", folder / "people.csv", **own)

    @flow(persist_result=False)
    def both():
        return [benchmark(load(study(seed, {"workers": 3 - seed}))).result for seed in (1, 2)]

    before, loaded = (dict(os.environ), get_current_settings().model_dump_json()), threads_of_libraries()
    alone = [benchmark(study(seed, threads)).result for seed in (2, 1)][::-1]
    together = both()
    assert (dict(os.environ), get_current_settings().model_dump_json()) == before
    assert threads_of_libraries().items() >= loaded.items()  # of libraries that were loaded before
    assert repr([r.findings for r in alone]) == repr([r.findings for r in together])
    assert repr(alone[0].findings) != repr(alone[1].findings)


def threads_of_libraries():
    return {each["filepath"]: each["num_threads"] for each in threadpool_info()}


def zero_cap_of(people, **options):
    return attack.fn(synthesize.fn(people, "cart", **options), ["zero_cap"])


@pytest.mark.parametrize(("wrong", "sentence"), [
    (lambda s: synthesize.fn(s, "carts"), "no synthesizer is called 'carts' .did you mean 'cart'"),
    (lambda s: synthesize.fn(s, "cart", fold=2), r"fold must be a whole number in \[0, 2\), got 2"),
    (lambda s: synthesize.fn(s, "cart", repetition=1), r"repetition must be a whole number in \[0, 1\), got 1"),
    (lambda s: synthesize.fn(s, "cart", leaf=2), "cart takes no option 'leaf'"),
    (lambda s: synthesize.fn(s, "cart", role="reference"), "references must be generators that declare an answer"),
    (lambda s: synthesize.fn(s, "copy", role="judge"), "role must be one of synthesizer, reference, got 'judge'"),
    (lambda s: synthesize.fn(s, "cart", name="a/b"), "name must be letters, digits, - and _, got 'a/b'"),
    (lambda s: s.members(fold=2), r"fold must be a whole number in \[0, 2\), got 2"),
    (lambda s: s.members(1), r"repetition must be a whole number in \[0, 1\), got 1"),
    (lambda s: s.held_out(0, "0"), r"fold must be a whole number in \[0, 2\), got '0'"),
    (lambda s: release.fn(s, pd.DataFrame()), "table must hold rows, got none"),
    (lambda s: release.fn(s, s.members().to_numpy()),
     "table must be a DataFrame of pandas, a path or a URL, got ndarray$"),
    (lambda s: release.fn(s, None), "table must be a DataFrame of pandas, a path or a URL, got NoneType"),
    (lambda s: release.fn(s, pd.DataFrame({"a": [1]})), "table must have the columns"),
    (lambda s: release.fn(s, "none.csv"), "path 'none.csv' must lead to a file, found none"),
    (lambda s: attack.fn(synthesize.fn(s, "cart"), ["zero_caps"]), "no metric is called 'zero_caps'"),
    (lambda s: attack.fn(synthesize.fn(s, "cart"), [{"name": "rapid", "tolerances": 1}]), "rapid takes no option"),
    (lambda s: synthesize.fn(None, "cart"), "sample must be what sample returns, got NoneType"),
    (lambda s: attack.fn("r.csv", ["zero_cap"]), "release must be what synthesize or release returns, got str"),
    (lambda s: attack.fn(synthesize.fn(s, "cart"), "zero_cap"), "metrics must be a list, got 'zero_cap'"),
    (lambda s: estimate.fn(zero_cap_of(s)), "ledgers must be a list, got LedgerFolder"),
    (lambda s: sample.fn("adult", "age", ["income"]), "quasi_identifiers must be a list, got 'age'"),
    (lambda s: judge.fn(None), "estimated must be what estimate returns, got NoneType"),
    (lambda s: log.fn(None), "judged must be what judge returns, got NoneType"),
    (lambda s: estimate.fn([]), "ledgers must be those of a study, got none"),
    (lambda s: estimate.fn([zero_cap_of(s)] * 2), "two of cart in repetition 0"),
    (lambda s: estimate.fn([zero_cap_of(s, fold=0), zero_cap_of(s, fold=1, min_samples_leaf=9)]),
     "ledgers of cart must be of one generator and the same metrics"),
    (lambda s: judge.fn(estimate.fn([zero_cap_of(s)]), {"risk/rapid": 0.1}),
     "limits must name a measure of the study, got 'risk/rapid'"),
    (lambda s: sample.fn("people", "*", ["income"]), "source must be a built-in table"),
    (lambda s: sample.fn("adult", "*", [], workspace=s.workspace), "sensitive"),
    (lambda s: sample.fn("sql://u:pw@h/d", "*", ["income"]), "must take its password from the environment"),
])  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(wrong, sentence, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    real = sample.fn(str(folder / "people.csv"), **ROLES, folds=2, workspace=str(tmp_path))
    with pytest.raises(InputError, match=sentence):
        wrong(real)
