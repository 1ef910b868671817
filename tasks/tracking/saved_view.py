"""A saved view of a study's runs: sorted by the headline, the answer as columns, charts that compare.

MLflow keeps a view of its runs page as a tag of the experiment and does not document it; what is written here was
read off MLflow 3.17 and is tested against its true page (``tests/tasks/tracking/test_saved_view_page.py``).
"""

import base64
import json
import time
import zlib
from collections.abc import Sequence
from typing import Any

from synthrisk.metrics.verdicts.results import Overview, StudyResult
from synthrisk.tasks.tracking.addresses import own_runs
from synthrisk.tasks.tracking.names import ENDS, metric_key
from synthrisk.tasks.tracking.numbers import limited_keys, measures_told, utility_key, worst_key
from synthrisk.tasks.tracking.runs import Written
from synthrisk.tasks.workspace.digests import key_of

TAG = "mlflow.sharedViewState."
"""What the tags of saved views start with; the rest is the key that links name."""

_LONGEST = 20_000  # characters that MLflow takes as the value of an experiment's tag
_KEPT = 100  # views that an experiment lists; older studies are found by their runs
_MOST = 6  # limited quantities, and utilities, that are columns
_ALWAYS = {"attributes.`Run Name`": 125, "runDateAndNestInfo": 40}  # columns that the page always has: their pixels
_ANSWER = {"verdict": 115, "as_if": 100, "worst": 165, "utility": 65}
"""What is read first: of 1,280 pixels MLflow's panels leave the table 698, 85 of them to boxes. The metrics of the same
would come behind all tags, for the page keeps them apart."""
_BESIDE = {"why": 290, "role": 90}


def save_view(to: Written) -> None:
    """Save the view of a study in its experiment, under the study's id."""
    name, state = f"{to.result.name} {to.result.study_id}", view_state(to.result, to.told)
    value = _packed(name, state)
    if len(value) > _LONGEST:  # hundreds of measures of long names: the page makes its own charts
        value = _packed(name, {k: v for k, v in state.items() if k not in ("compareRunCharts", "compareRunSections")})
    to.client.set_experiment_tag(to.experiment_id, TAG + to.result.study_id, value)
    views = sorted(tag for tag in to.client.get_experiment(to.experiment_id).tags if tag.startswith(TAG))
    for old in views[:-_KEPT]:  # study ids begin with the time
        to.client.delete_experiment_tag(to.experiment_id, old)


def view_state(result: StudyResult, told: Overview) -> dict[str, Any]:
    """Return the state of the runs page that shows a study."""
    worst = worst_key(told)
    useful = list(dict.fromkeys(utility_key(u) for u in result.utility))
    numbers = [worst, *limited_keys(result)[:_MOST], *useful[:_MOST]]
    unknown = {tag for tag in ("as_if", "worst", "utility") if not any(getattr(h, tag) for h in told.headlines)}
    widths = {f"tags.`{tag}`": width for tag, width in (_ANSWER | _BESIDE).items() if tag not in unknown}
    widths |= {f"metrics.`{key}`": 12 + 7 * min(len(key), 30) for key in numbers}
    return {
        "searchFilter": own_runs(result.study_id),
        "orderByKey": f"metrics.`{worst}`",
        "orderByAsc": False,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": list(widths),
        "columnOrder": [*_ALWAYS, *widths, "duration"],
        "columnWidths": _ALWAYS | widths,
        "runsHiddenMode": "SHOW_ALL",
        "viewMaximized": True,
        "runListHidden": False,
        "isAccordionReordered": True,
        "useGroupedValuesInCharts": True,
        "hideEmptyCharts": True,
        "groupBy": None,
        "groupsExpanded": {},
        "autoRefreshEnabled": False,
        "globalLineChartConfig": {"xAxisKey": "step", "lineSmoothness": 0, "selectedXAxisMetricKey": ""},
        "chartsSearchFilter": "",
        **_cards(result, told, worst, useful),
    }


def _cards(result: StudyResult, told: Overview, worst: str, useful: Sequence[str]) -> dict[str, Any]:
    """Return the sections of the page of charts: the answer first, then one a quantity, memorization first.

    The cards of the answer say how much each generator remembers, and at what utility.
    """
    sections = ["the answer", "memorization", "utility", "risk"]
    ids = {name: key_of(result.study_id, name) for name in sections}
    cards = []
    for number, against in enumerate(("", *useful[:2])):
        title = f"what decides against {against.partition('/')[2]}" if against else "what decides"
        card: dict[str, Any] = {"uuid": key_of(result.study_id, number, worst), "metricSectionId": ids["the answer"]}
        card |= {"deleted": False, "isGenerated": False, "displayName": title}
        if against:
            axes = {"xaxis": {"key": against, "type": "METRIC"}, "yaxis": {"key": worst, "type": "METRIC"}}
            cards.append(card | {"type": "SCATTER", "runsCountToCompare": 100} | axes)
        else:
            cards.append(card | {"type": "BAR", "runsCountToCompare": 100, "metricKey": worst})
    return {
        "compareRunCharts": cards + _generated(result, told, ids),
        "compareRunSections": [
            {"uuid": ids[name], "name": name, "display": True, "isReordered": True}
            | {"deleted": False, "isGenerated": name != "the answer"}
            for name in sections
        ],
    }


def _generated(result: StudyResult, told: Overview, ids: dict[str, str]) -> list[dict[str, Any]]:
    """Return a bar chart a measure, in the order of the study; the page itself adds what is not here.

    So the ends of intervals and the limits are here as charts that are taken away, each of which would fill a section.
    """
    measures = [measure.key for measure in measures_told(result, told)]
    keys = [("memorization", metric_key("memorization", m)) for m in measures]
    keys += [("utility", utility_key(u)) for u in result.utility]
    keys += [("risk", metric_key("risk", m)) for m in measures]
    away = {f"{key}/{end}" for key in limited_keys(result) for end in ENDS}
    return [
        {"uuid": key_of(result.study_id, key), "type": "BAR", "metricKey": key, "metricSectionId": ids[section]}
        | {"deleted": key in away, "isGenerated": True, "runsCountToCompare": 100}
        | {"displayName": key.partition("/")[2]}
        for section, key in dict.fromkeys([*keys, *(("risk", key) for key in sorted(away))])
    ]


def _packed(name: str, state: dict[str, Any]) -> str:
    text = json.dumps(state, separators=(",", ":")).encode()
    now = int(time.time() * 1000)
    packed = "deflate;" + base64.b64encode(zlib.compress(text, 9)).decode()
    return json.dumps({"name": name, "createdAt": now, "updatedAt": now, "state": packed})
