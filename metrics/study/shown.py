"""How the result of a study shows itself in a console and a notebook."""

from synthrisk.metrics.shown import number, table
from synthrisk.metrics.study.headlines import overview
from synthrisk.metrics.study.league import is_reference
from synthrisk.metrics.study.results import StudyResult


def result_text(result: StudyResult) -> str:
    """Return the answer of a study in one line."""
    names = [name for name in result.synthesizers if not is_reference(result, name)]
    judged = [f"{name}: {result.verdict(name) or 'NOT JUDGED'}" for name in names]
    return f"<StudyResult {result.name} {result.study_id}: {result.invalid or ', '.join(judged) or 'no synthesizer'}>"


def result_html(result: StudyResult) -> str:
    """Return the answer of a study as a table: a row a synthesizer."""
    rows = []
    for each in overview(result).synthesizers:
        worst = each.worst
        decides = "" if worst is None else f"{number(worst.found.value)} ({worst.name})"
        rows.append((each.synthesizer, decides, each.word or "NOT JUDGED", each.sentence))
    return table(["synthesizer", "what decides", "verdict", "because"], rows)
