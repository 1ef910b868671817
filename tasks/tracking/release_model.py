"""A model of MLflow for each synthesizer: for searches over all studies, and to draw rows from its releases.

``MlflowClient(uri).search_logged_models([experiment_id], datasets=[{"dataset_name": "real", "dataset_digest": digest}],
order_by=[{"field_name": "metrics.memorization/deciding", "ascending": True, "dataset_name": "real",
"dataset_digest": digest}])`` gives the least exposed first; ``tags.verdict = 'NO EVIDENCE'`` as the filter leaves those
that keep their limits. The model holds no weights and no cell: tags, params and metrics of its run, and
where its releases are kept (``release_model``).

No row is in MLflow. The model names the workspace in which the releases are kept, and reads them where it is loaded: on
a machine that has that workspace, or reaches it at its URL.
"""

import json
import platform
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from mlflow import MlflowClient
from mlflow.entities import LoggedModelOutput
from mlflow.models import Model, ModelSignature
from mlflow.types import ParamSchema, ParamSpec

from synthrisk.conf.secrets import mask
from synthrisk.metrics.errors import InputError, is_whole
from synthrisk.tasks.workspace.digests import key_of, versions
from synthrisk.tasks.workspace.folders import folder_of, shared_of, there
from synthrisk.tasks.workspace.references import RELEASE, Found
from synthrisk.tasks.workspace.store import read_typed

FLAVOUR = "python_function"
_DATA, _NEEDS = "releases.json", "requirements.txt"
_FOLDER = "releases"  # of a workspace
_SEED = ParamSpec("seed", "long", 0)


def log_release_model(client: MlflowClient, model_id: str, run_id: str, found: Found) -> None:
    """Make the model of a synthesizer one that can be loaded, if the workspace keeps all of its releases."""
    paths = [Path(each.release.path) for each in found.ledgers]
    if not paths or not all((there(path) / RELEASE).exists() for path in paths):
        return
    shared = shared_of(paths[0])
    workspace = shared.url if shared else str(paths[0].parents[1].absolute())
    told = {"synthesizer": found.name, "workspace": mask(workspace), "releases": [path.name for path in paths]}
    model = Model(
        run_id=run_id, model_uuid=model_id, model_id=model_id, signature=ModelSignature(params=ParamSchema([_SEED]))
    )
    env = {"virtualenv": None, "conda": None}
    model.add_flavor(FLAVOUR, loader_module=__name__, data=_DATA, python_version=platform.python_version(), env=env)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, _DATA).write_text(json.dumps(told), "utf-8")
        Path(folder, _NEEDS).write_text(f"synthrisk=={versions(['synthrisk'])['synthrisk']}\n", "utf-8")
        model.save(str(Path(folder, "MLmodel")))
        client.log_model_artifacts(model_id, folder)


class ReleaseModel:
    """A synthesizer, as far as its kept releases go."""

    def __init__(self, synthesizer: str, workspace: str, releases: Sequence[str]) -> None:
        self.synthesizer, self.workspace, self.releases = synthesizer, workspace, tuple(releases)

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """Return rows drawn from all kept releases together, without replacement.

        Args:
            model_input: How many: a whole number, or a table, list or array of one, as MLflow's servers hand it over.
            params: ``seed`` of the draw, 0 unless given: the same seed draws the same rows.

        Raises:
            InputError: It is no whole number from 1 to the number of released rows, or the releases are not kept here.
        """
        tables = self._read()
        rows, count = sum(map(len, tables)), _one_number(model_input)
        if not is_whole(count, 1, rows):
            raise InputError(f"n must be a whole number from 1 to {rows}, the rows of the kept releases, got {count!r}")
        seed = int((params or {}).get("seed", 0))
        drawn = np.random.default_rng(seed).choice(rows, int(count), replace=False)
        return _stacked(tables).iloc[drawn].reset_index(drop=True)

    def _read(self) -> list[pd.DataFrame]:
        folder = folder_of(self.workspace) / _FOLDER
        files = [there(folder / name) / RELEASE for name in self.releases]
        if not all(file.exists() for file in files):
            raise InputError(
                f"the releases of {self.synthesizer} must be kept in the workspace {self.workspace}, not all are "
                "there: load the model where that workspace is, or run the study again"
            )
        return [read_typed(file) for file in files]


def _load_pyfunc(path: str) -> ReleaseModel:
    """Return the model of a folder that ``log_release_model`` has written; MLflow calls it by this name."""
    return ReleaseModel(**json.loads(Path(path).read_text("utf-8")))


def _one_number(given: Any) -> Any:
    """Return the number that is given, or that the only cell of a table, list or array holds."""
    cells = np.asarray(given).ravel()
    return cells[0].item() if len(cells) == 1 and isinstance(cells[0], np.generic) else given


def _stacked(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all releases: a column of categories has those of all."""
    whole = pd.concat(tables, ignore_index=True)
    kinds = {c: "category" for c in whole if isinstance(tables[0][c].dtype, pd.CategoricalDtype)}
    return whole.astype(kinds)


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
