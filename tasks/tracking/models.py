"""A model of MLflow for each synthesizer, so that a search finds the best generator for a table over all studies.

``MlflowClient(uri).search_logged_models([experiment_id], datasets=[{"dataset_name": "real", "dataset_digest": digest}],
order_by=[{"field_name": "metrics.memorization/deciding", "ascending": True, "dataset_name": "real",
"dataset_digest": digest}])`` gives the least exposed first; ``tags.verdict = 'NO EVIDENCE'`` as the filter leaves those
that keep their limits. The model holds no weights and no cell: tags, params and metrics of its run, and
where its releases are kept (``release_model``).
"""

import re
from collections.abc import Mapping

from mlflow import MlflowClient
from mlflow.entities import LoggedModelOutput

from synthrisk.tasks.workspace.store import key_of

TYPE = "synthesizer"


def open_model(
    client: MlflowClient, experiment_id: str, run_id: str, name: str, params: Mapping[str, str], tags: Mapping[str, str]
) -> str:
    """Start the model of a synthesizer, tied to its run; return its id."""
    model = client.create_logged_model(experiment_id, model_name(name), run_id, dict(tags), dict(params), TYPE)
    client.log_outputs(run_id, [LoggedModelOutput(model.model_id, step=0)])
    return str(model.model_id)


def model_name(name: str) -> str:
    """Return the name of a synthesizer as MLflow takes it for a model.

    Characters that it does not take become underscores, with some digits of a digest behind them.

    Example:
        >>> model_name("cart"), model_name("ctgan 1.2")
        ('cart', 'ctgan 1_2-7605')
    """
    plain = re.sub("[/:.%\"']", "_", name)
    return name if plain == name else f"{plain}-{key_of(name)[:4]}"


def close_model(client: MlflowClient, model_id: str, *, failed: bool) -> None:
    """Say that all of a model is written, or that its synthesizer failed."""
    client.finalize_logged_model(model_id, "FAILED" if failed else "READY")
