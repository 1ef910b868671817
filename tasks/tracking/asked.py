"""What was asked, where nobody says so: what the references of a study remember."""

import json

import yaml

from synthrisk.tasks.workspace.handed import Judged


def described(judged: Judged) -> str:
    """Return as YAML what the references of a study remember of what was asked."""
    sample, result, estimated = judged.estimated.sample, judged.result, judged.estimated
    roles = {name: getattr(sample, name) for name in ("quasi_identifiers", "sensitive", "identifier")}
    asked = {
        "name": result.name,
        "data": {"digest": sample.table.digest} | roles,
        "split": {"digest": sample.cut.digest, "repetitions": sample.cut.repetitions, "releases": sample.cut.releases},
        "generators": result.settings,
        "measures": {p.measure.key: p.options for found in estimated.found for p in found.planned},
        "bootstrap": estimated.settings.model_dump(mode="json"),
        "thresholds": {name: vars(limit) for name, limit in result.limits.items()},
        "seed": sample.seed,
    }
    return str(yaml.safe_dump(json.loads(json.dumps(asked, default=str)), sort_keys=False, allow_unicode=True))
