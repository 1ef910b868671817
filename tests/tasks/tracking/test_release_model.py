import shutil
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import mlflow
import pandas as pd
import pytest
from mlflow import MlflowClient

from samples.judged import judged_study
from samples.studies import ledger_in
from synthrisk.conf.study import Bootstrap
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.study.comparison import Compared
from synthrisk.metrics.study.ledger import Cell
from synthrisk.tasks.log import log
from synthrisk.tasks.tracking.addresses import Pages
from synthrisk.tasks.tracking.release_model import log_release_model
from synthrisk.tasks.workspace.references import Cut, Estimated, Found, Judged, Sample, store
from synthrisk.tasks.workspace.store import write_typed

RELEASES = [
    pd.DataFrame({"age": [20, 21, 22], "job": pd.Categorical(["a", "b", "a"])}),
    pd.DataFrame({"age": [30, 31], "job": pd.Categorical(["c", "b"])}),
]


def found_in(folder: Path) -> Found:
    sample = Sample(store(pd.DataFrame({"age": [1]}), folder), Cut("unused", "cut", 1, 2, 0.0), str(folder))
    ledgers = []
    for fold, table in enumerate(RELEASES):
        place = folder / "releases" / f"cart-{fold}"
        place.mkdir(parents=True)
        write_typed(table, place / "release.parquet")
        ledger = ledger_in(folder / "ledgers" / place.name, sample, Cell("cart", 0, fold))
        ledgers.append(replace(ledger, release=replace(ledger.release, path=str(place))))
    return Found(tuple(ledgers), (), (), "", "")


@pytest.fixture(scope="module")
def registered(tmp_path_factory):
    """A study with the releases of one synthesizer, each synthesizer in the registry; give workspace and store."""
    folder = tmp_path_factory.mktemp("registered")
    found = found_in(folder)
    (folder / "report.html").touch()
    estimated = Estimated(found.sample, (found.generator,), (found,), Bootstrap(), Compared([]))
    judged = Judged(replace(judged_study(), findings=[]), estimated)
    pages = Pages(str(folder / "report.html"))
    return folder, log.fn(judged, settings="", pages=pages, registry=True, records="none")


@pytest.fixture
def model(registered):
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(registered[1].uri)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of MLflow's own types, where it is imported
        loaded = mlflow.pyfunc.load_model("models:/people.cart/1")
    yield loaded
    mlflow.set_tracking_uri(before)


def test_it_draws_rows_of_all_kept_releases_once_each(model):
    drawn = model.predict(5)
    assert sorted(drawn["age"]) == [20, 21, 22, 30, 31]
    assert isinstance(drawn["job"].dtype, pd.CategoricalDtype)
    whole = pd.concat(RELEASES).set_index("age")["job"].astype(str)
    assert drawn.set_index("age")["job"].astype(str).to_dict() == whole.to_dict()


def test_a_seed_draws_the_same_rows_again(model):
    rows = [tuple(model.predict(2, params={"seed": seed})["age"]) for seed in (1, 1, *range(20))]
    assert rows[0] == rows[1]
    assert len(set(rows)) > 2
    assert tuple(model.predict(2)["age"]) == rows[2]


@pytest.mark.parametrize("given", [2, pd.DataFrame({"n": [2]}), [2]])
def test_the_number_may_come_as_servers_hand_it_over(model, given):
    assert len(model.predict(given)) == 2


@pytest.mark.parametrize("given", [0, 6, 1.5, "many", [1, 2]])
def test_another_number_is_refused(model, given):
    with pytest.raises(InputError, match="n must be a whole number from 1 to 5, the rows of the kept releases, got "):
        model.predict(given)


def test_no_row_is_in_the_store_and_one_without_releases_has_no_such_flavour(registered):
    _, logged = registered
    models = MlflowClient(logged.uri).search_logged_models([logged.experiment_id])
    by_name = {model.name: model for model in models}
    kept = Path(by_name["cart"].artifact_location.removeprefix("file://"))
    written = {path.name for path in kept.iterdir()} - {"registered_model_meta"}  # MLflow's own, when it loads one
    assert written == {"MLmodel", "releases.json", "requirements.txt"}
    assert "age" not in "".join(path.read_text() for path in kept.iterdir())
    assert not list(Path(by_name["coarse"].artifact_location.removeprefix("file://")).glob("*"))


def test_where_the_releases_are_gone_it_says_so(tmp_path, registered, model):
    folder, _ = registered
    shutil.move(folder / "releases" / "cart-1", tmp_path / "moved")
    try:
        with pytest.raises(InputError, match=r"releases of cart must be kept in the workspace .*, not all are there"):
            model.predict(1)
    finally:
        shutil.move(tmp_path / "moved", folder / "releases" / "cart-1")


def test_without_all_releases_there_is_no_model_to_load(tmp_path):
    found = found_in(tmp_path)
    shutil.rmtree(tmp_path / "releases" / "cart-1")

    log_release_model(SimpleNamespace(log_model_artifacts=pytest.fail), "m-1", "run", found)
