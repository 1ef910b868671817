"""Aliases in MLflow's registry: which generator of a study is approved, and which may become so.

The registered model of a generator is ``<experiment>.<generator>``, with a version a study. ``approved`` is on the
version of the latest study if its word is NO EVIDENCE under limits; ``candidate`` if it is INCONCLUSIVE or nothing was
judged. Any other word takes both away: an alias never outlives the study that gave it.
"""

import re

from mlflow.exceptions import MlflowException

from synthrisk.tasks.tracking.synthesizer_run import GeneratorRun
from synthrisk.tasks.tracking.written import Written

APPROVED, CANDIDATE = "approved", "candidate"


def alias_of(word: str) -> str:
    """Return the alias that a verdict earns; empty for none.

    Example:
        >>> alias_of("NO EVIDENCE"), alias_of("INCONCLUSIVE"), alias_of(""), alias_of("RISK")
        ('approved', 'candidate', 'candidate', '')
    """
    return {"NO EVIDENCE": APPROVED, "INCONCLUSIVE": CANDIDATE, "": CANDIDATE}.get(word, "")


def registered_name(experiment: str, synthesizer: str) -> str:
    """Return the name of a generator's registered model: without what MLflow does not take.

    Example:
        >>> registered_name("people: 2026/a", "cart")
        'people_ 2026_a.cart'
    """
    return re.sub(r"[/:]", "_", f"{experiment}.{synthesizer}")


def register(to: Written, name: str, run: GeneratorRun) -> None:
    """Add a version to the registered model of a synthesizer, and set the alias that its verdict earns.

    A study that is delivered after a later one leaves the aliases of that one as they are.
    """
    client, headline = to.client, to.headline(name)
    model = registered_name(client.get_experiment(to.experiment_id).name, name)
    try:
        client.create_registered_model(model)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    tags = {"verdict": headline.word or "none", "why": headline.brief, "study_id": to.result.study_id}
    # not models:/<id>, which a client of a database looks up in the store of the process (mlflow 3.17)
    source = client.get_logged_model(run.model_id).artifact_location
    version = client.create_model_version(model, source, run.run_id, tags, await_creation_for=0, model_id=run.model_id)
    if not to.is_latest:
        return
    earned = alias_of(headline.word)
    for alias in (APPROVED, CANDIDATE):
        if alias != earned and alias in client.get_registered_model(model).aliases:
            client.delete_registered_model_alias(model, alias)
    if earned:
        client.set_registered_model_alias(model, earned, version.version)
