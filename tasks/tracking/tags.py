"""The tags that all runs of a study share."""

from synthrisk.metrics.study.results import StudyResult


def shared_tags(result: StudyResult) -> dict[str, str]:
    """Return the tags of all runs of a study."""
    told = {"invalid": result.invalid, "warning": result.warning}
    beside = {tag: text for tag, text in told.items() if text}
    return {"study_id": result.study_id, "references": result.references, **beside, **result.facts}
