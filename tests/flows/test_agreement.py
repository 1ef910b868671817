"""One study, five places: no number, limit or verdict differs between terminal, JSON, report, MLflow and Prefect."""

import html
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from mlflow import MlflowClient
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterType

from synthrisk.conf import Study, load
from synthrisk.conf.loader import settings_text
from synthrisk.conf.study import Tracking
from synthrisk.flows.cli.evaluate import as_json
from synthrisk.flows.evaluate_settings import asked_text
from synthrisk.flows.terminal.answer import close
from synthrisk.metrics.verdicts.quantities import limited
from synthrisk.metrics.verdicts.results import league, overview
from synthrisk.tasks.tracking.history import studies

pytestmark = pytest.mark.proof

STUDY = {
    "synthesizers": ["cart", {"name": "thief", "kind": "copy"}, "marginals"],
    "references": ["copy", "near_copy", "fresh"],
    "metrics": ["zero_cap", "generalized_cap", {"name": "membership", "attackers": ["density_ratio"]}, "accuracy"],
    "thresholds": {
        "memorization/zero_cap.income": {"value": 0.2, "source": "the board"},
        "memorization/membership": {"value": 0.35, "source": "the board"},
        "control_gain/membership": {"value": 0.5, "source": "the board"},
    },
    "split": {"folds": 2, "repetitions": 1},
}
NUMBER = re.compile(r"[+-]?\d*\.\d+|(?<=[\s|])-(?=[\s|])")


def _numbers(text):
    assert not re.search(r"-\d*\.\d|[+−-]0?\.000\b", text), text
    return [math.nan if n == "-" else float(n) for n in NUMBER.findall(text.replace("−", "-"))]


@pytest.fixture(scope="module")
def outcome(run):
    found = run("agreement", **STUDY)
    assert {"RISK", "NO EVIDENCE"} <= {v.word for v in found.result.verdicts}
    assert len({h.word for h in overview(found.result).synthesizers}) > 1
    return found


def _found(outcome, digits):
    def three(row, name):
        found = row.cells[name]
        return [round(x, digits) for x in (found.value, found.lower, found.upper)]

    rows = [row for rows in league(outcome.result).values() for row in rows]
    return {(r.synthesizer, r.measure): (*three(r, "risk"), *three(r, "memorization"), r.verdict) for r in rows}


@pytest.fixture(scope="module")
def truth(outcome):
    return _found(outcome, 3)


def _close(told, truth):
    assert set(told) == set(truth)
    for key, expected in truth.items():
        assert told[key][:6] == pytest.approx(expected[:6], abs=1e-9, nan_ok=True)
        assert told[key][6] == expected[6], key


def test_json(outcome, truth):
    told = json.loads(json.dumps(as_json(outcome.result), allow_nan=False))
    assert {(f["synthesizer"], f["measure"]) for f in told["findings"]} == set(truth)
    for row in told["findings"]:
        numbers = [row[f"{q}{end}"] for q in ("risk", "memorization") for end in ("", "_lower", "_upper")]
        assert [math.nan if x is None else round(x, 3) for x in numbers] == pytest.approx(
            truth[row["synthesizer"], row["measure"]][:6], nan_ok=True
        )
    said = [(v["synthesizer"], v["quantity"], v["limit"], v["word"]) for v in told["verdicts"]]
    assert said == [(v.synthesizer, v.quantity, v.limit, v.word) for v in outcome.result.verdicts]


def test_terminal(outcome, truth, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    close(outcome, verbose=True)
    text = capsys.readouterr().out
    told, measure = {}, ""
    for line in text.splitlines():
        words = line.split()
        if words and (words[0], "") in {(m, "") for _, m in truth}:
            measure = words[0]
        elif words and (words[0], measure) in truth and (words[0], measure) not in told:
            figures, _, word = line.rpartition("]")
            numbers = _numbers(figures)
            if len(numbers) == 7:
                word = word.strip().replace("-", "no limit")
                told[words[0], measure] = (*numbers[:3], *numbers[4:], word)
    _close(told, truth)
    limits = [(limited(name), each.value) for name, each in outcome.result.limits.items()]
    for key in {limit.key for limit, _ in limits}:
        head = next(line for line in text.splitlines() if line.startswith(f"{key}  (limit "))
        assert f"(limit {', '.join(f'{value:g} on {own.words}' for own, value in limits if own.key == key)}" in head
    gains = [v for v in outcome.result.verdicts if v.quantity == "control_gain/membership"]
    assert len(gains) == 3
    beside = re.findall(r"\n  (.*) on control_gain (.*), limit 0.5\n", text)  # the row shows other numbers
    assert [word for word, _ in beside] == [v.word for v in gains]
    assert [_numbers(found) for _, found in beside] == [
        pytest.approx([round(x, 3) for x in (v.value, v.lower, v.upper)]) for v in gains
    ]
    for headline in overview(outcome.result).synthesizers:
        for verdict, words in zip(headline.verdicts, headline.sentences, strict=True):
            said = f"{headline.synthesizer}: {words} {verdict.quantity}: {verdict.reason}"
            assert said in " ".join(text.split())
    for name, limit in outcome.result.limits.items():
        assert [each for each in (f"{limit.value:g}", name) if each not in text] == []
    last, told = text.rstrip().splitlines()[-20:], overview(outcome.result).synthesizers
    for headline in told:
        (at,) = (i for i, line in enumerate(last) if line.startswith(f"{headline.synthesizer} "))
        worst = headline.worst.found
        assert _numbers(last[at])[:3] == pytest.approx([round(x, 3) for x in (worst.value, worst.lower, worst.upper)])
        assert f" {headline.word} {headline.brief}" in " ".join(" ".join(last[at : at + 3]).split())
    said = " ".join(" ".join(last).split())
    assert any(f"{h.sentences[0]} {h.verdicts[0].quantity}" in said for h in told)


def test_no_name_is_cut_at_80_columns(outcome, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = {h.synthesizer: f"{'hospital_' * 4}{h.synthesizer}" for h in overview(outcome.result).synthesizers}
    close(replace(outcome, result=_renamed(outcome.result, names)))
    lines = capsys.readouterr().out.partition("\ngenerator ")[2].splitlines()
    assert {line.split()[0] for line in lines if line.startswith("hospital")} == set(names.values())


def _renamed(result, names):
    new = {name: names.get(name, name) for name in result.settings}
    rows = {part: getattr(result, part) for part in ("findings", "verdicts", "utility")}
    own = {part: [replace(each, synthesizer=new[each.synthesizer]) for each in told] for part, told in rows.items()}
    return replace(result, **own, settings={new[name]: each for name, each in result.settings.items()})


def _rows_of(page):
    for row in re.findall(r"<tr\b.*?</tr>", page, re.DOTALL):
        cells = re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row, re.DOTALL)
        yield [html.unescape(re.sub(r"<[^>]*>", "", cell)) for cell in cells]


def test_report(outcome, truth):
    page = Path(outcome.report).read_text()
    told, measure = {}, ""
    keys = {m for _, m in truth}
    for cells in _rows_of(page):
        first = cells[0].replace("\u200b", "").strip() if cells else ""
        if first in keys:
            measure = first
        elif (first, measure) in truth and (first, measure) not in told and len(cells) == 8:
            risk, memorization = (_numbers(cells[i])[:3] for i in (1, 6))
            told[first, measure] = (*_three(risk), *_three(memorization), cells[7].strip())
    _close(told, truth)
    for headline in overview(outcome.result).synthesizers:
        assert headline.sentence in page
    for verdict in outcome.result.verdicts:
        assert verdict.reason in page


GONE = (
    "no threshold", "threshold in force", "crosses its threshold", "thresholds in force", "threshold of the risk",
    "this threshold", "thresholds must", "for the threshold", "thresholds:",
)  # fmt: skip
"""Words that a limit had before: one thing has one word."""


def test_no_place_says_threshold_of_a_limit(outcome, capsys):
    close(outcome, verbose=True)
    client = MlflowClient(outcome.logged.uri)
    notes = [client.get_run(run).data.tags.get("mlflow.note.content", "") for run in [*outcome.logged.runs.values()]]
    pages = [path.read_text("utf-8") for path in Path(outcome.report).parent.glob("*.html")]
    assert len(pages) > 2  # report, record, pages of exposure
    for text in (capsys.readouterr().out, *notes, *pages):
        told = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
        assert not [word for word in GONE if word in told]


def _three(numbers):
    return numbers + [math.nan] * (3 - len(numbers))


def test_mlflow(outcome, truth):
    client = MlflowClient(outcome.logged.uri)
    (study,) = studies(Tracking(uri=outcome.logged.uri), Path(), outcome.result.name)
    columns = [f"{q}{end}" for q in ("risk", "memorization") for end in ("", "_lower", "_upper")] + ["verdict"]
    rows = study.league.to_dict("records")
    told = {(row["synthesizer"], row["measure"]): tuple(row[name] for name in columns) for row in rows}
    _close(told, _found(outcome, 12))  # MLflow keeps ten digits: rounded to three, a tie may fall to the other side
    for headline in overview(outcome.result).headlines:
        run = client.get_run(outcome.logged.runs[headline.synthesizer]).data
        assert run.tags["verdict"] == (headline.word or "none")
        assert headline.sentence in html.unescape(run.tags["mlflow.note.content"])
        assert run.metrics["memorization/deciding"] == headline.worst.excess
        for (name, measure), expected in truth.items():
            if name == headline.synthesizer:
                assert round(run.metrics[f"memorization/{measure}"], 3) == expected[3]
                assert round(run.metrics[f"risk/{measure}"], 3) == expected[0]
        for verdict in headline.verdicts:
            quantity, _, key = verdict.quantity.partition("/")
            assert run.tags[f"verdict.{quantity}/{key}"] == verdict.word


def test_prefect(outcome, truth):
    with get_client(sync_client=True) as client:
        kind = ArtifactFilter(type=ArtifactFilterType(any_=["markdown"]))
        pages = [a.data for a in client.read_artifacts(artifact_filter=kind)]
    (page,) = (p for p in pages if outcome.result.study_id in p and p.startswith("# "))  # links are Markdown too
    told, measure = {}, ""
    for line in page.splitlines():
        if line.startswith("### "):
            measure = line[4:].replace("\\", "")
        cells = [c.strip() for c in line.replace("\\", "").strip("|").split("|")]
        if (cells[0], measure) in truth:
            risk, memorization = (_numbers(cells[i]) for i in (2, 4))
            told[cells[0], measure] = (*_three(risk), *_three(memorization), cells[1])
    judged = {m.key for m in overview(outcome.result).judged}
    _close(told, {key: row for key, row in truth.items() if key[1] in judged})
    for headline in overview(outcome.result).synthesizers:
        assert f"**{headline.word}**" in page


def test_what_was_asked_is_written_with_limits_and_read_as_the_same_study():
    study = load("demo")
    text = settings_text(study.model_dump(mode="json"))
    assert "\nlimits:\n" in text
    assert "thresholds" not in text
    assert Study.model_validate(yaml.safe_load(text)) == study
    assert asked_text({"thresholds": {"risk/rapid": 0.1}}) == "limits:\n  risk/rapid: 0.1\n"
