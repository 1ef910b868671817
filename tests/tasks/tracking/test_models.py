"""Which generator is the best for a table so far, asked of MLflow's own search; and what its registry approves."""

import pytest
from mlflow.entities import LoggedModelStatus

from synthrisk.tasks.tracking.whole_study import registered_name

WORST = "memorization/deciding"


def best(kept, digest, filter_string=None):
    own = {"dataset_name": "real", "dataset_digest": digest}
    return kept.client.search_logged_models(
        [kept.experiment],
        filter_string,
        datasets=[own],
        order_by=[{"field_name": f"metrics.{WORST}", "ascending": True, **own}],
    )


def test_search_finds_the_best_generator_for_this_table_over_all_studies(kept):
    found = best(kept, kept.digest, "tags.verdict = 'NO EVIDENCE'")
    told = [(m.name, m.tags["study_id"][:8], next(x.value for x in m.metrics if x.key == WORST)) for m in found]
    assert told == [("ctgan", "20261124", 0.01), ("coarse", "20261123", 0.02), ("cart", "20261124", 0.05)]


def test_models_of_another_table_are_no_answer(kept):
    assert not list(best(kept, "another", f"metrics.`{WORST}` < 1"))


def test_reference_generators_are_no_models_and_failed_ones_are_failed(kept):
    models = {m.name: m for m in kept.client.search_logged_models([kept.experiment])}
    assert set(models) == {"cart", "coarse", "ctgan", "broken"}
    assert models["broken"].status == LoggedModelStatus.FAILED
    assert models["cart"].status == LoggedModelStatus.READY
    assert models["cart"].source_run_id in {each.runs["cart"] for each in kept.logged}


@pytest.mark.parametrize(
    ("name", "versions", "aliases"),
    [
        ("coarse", 2, {}),  # approved by the first study, RISK in the second: the alias is gone
        ("cart", 2, {"approved": "2"}),  # RISK, then NO EVIDENCE
        ("ctgan", 1, {"approved": "1"}),
        ("broken", 2, {}),
    ],
)
def test_the_alias_is_that_of_the_latest_study(kept, name, versions, aliases):
    model = registered_name("people", name)
    assert len(kept.client.search_model_versions(f"name = '{model}'")) == versions
    assert {a: str(v) for a, v in kept.client.get_registered_model(model).aliases.items()} == aliases


def test_without_the_option_nothing_is_registered(tmp_path, logged_of):
    import pandas as pd
    from mlflow import MlflowClient

    from samples.judged import judged_study
    from synthrisk.tasks.workspace.references import store

    logged = logged_of(judged_study(), store(pd.DataFrame({"age": [1]}), tmp_path), tmp_path)
    assert not list(MlflowClient(logged.uri).search_registered_models())
