"""What to do next: from measured what-ifs and open verdicts; nothing is promised, nothing unescaped."""

import shlex
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from samples.estimates import around
from samples.kinds import beside_other_kind
from synthrisk.conf import load
from synthrisk.conf.study import Bootstrap
from synthrisk.flows.cli.app import app
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, Variances
from synthrisk.metrics.release.validity import check_release, summarise
from synthrisk.metrics.study.comparison import Compared
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Cell, Contributions, Measure, Planned
from synthrisk.metrics.verdicts.limits import Size
from synthrisk.metrics.verdicts.references import Check
from synthrisk.metrics.verdicts.results import Limit, StudyResult
from synthrisk.metrics.verdicts.verdicts import LOOK, Beside, Verdict
from synthrisk.tasks.pages.section import Shown
from synthrisk.tasks.pages.sections.coarser_keys import evaluate_command, evaluate_words, set_command, try_command
from synthrisk.tasks.pages.sections.next_steps import NEXT_STEPS
from synthrisk.tasks.pages.templates import render
from synthrisk.tasks.workspace.records import keep_contributions, keep_exposed, kept_exposed
from synthrisk.tasks.workspace.references import (
    FRAME,
    Cut,
    Estimated,
    Found,
    Generator,
    Judged,
    LedgerFolder,
    ReleaseFolder,
    Sample,
    store,
)

CAP = Measure("cap", "zero_cap", "vote")
FEWER = Measure("cap-without-age", "zero_cap", "vote", variant_of="cap")
MEMBERSHIP = Measure("membership", "membership")
KEYS = {"quasi_identifiers": ["age", "job"], "sensitive": "vote"}
PLANNED = (Planned(CAP, KEYS), Planned(FEWER, KEYS | {"quasi_identifiers": ["job"]}), Planned(MEMBERSHIP))
SETTINGS = yaml.safe_dump(
    {
        "split": {"folds": 2, "repetitions": 3},
        "metrics": [{"name": "zero_cap", "label": "cap", "options": {}}, "membership"],
    }
)
OF_ONE_RELEASE = yaml.safe_dump(
    {
        "real": "my r.csv",
        "synthetic": "s.csv",
        "control": "c.csv",
        "quasi_identifiers": ["age", "job"],
        "sensitive": ["vote"],
        "metrics": ["zero_cap", "rapid"],
        "limits": {"memorization/zero_cap.vote": 0.05},
        "what_if": [{"drop": ["age"]}, {"noise": {"vote": 0.1}}],
        "references": "limited",
        "seed": 7,
    }
)
SAFE = ("safe", "harmless", "may go out", "anonymous", "no risk")


def finding(name, measure=CAP, extra=0.2, half=0.01, role="synthesizer", **others):
    return Finding(
        name, role, measure, around(0.5, 0.02), around(0.5 - extra, 0.02), around(extra, half), reach=1.0, **others
    )


def shown(folder, findings, limits, settings=SETTINGS, kind="cart", planned=PLANNED, falls=0.05, checks=(), **others):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 60, 400),
            "job": rng.choice(["cook", "nurse"], 400),
            "vote": rng.choice(["y", "n"], 400),
        }
    )
    sample = Sample(
        store(table, folder), Cut("unused", "cut", 3, 2, 0.0), str(folder), quasi_identifiers=("age", "job")
    )
    memorized = np.where(table["job"] == "nurse", 1.0, rng.random(400) < 0.1)
    exposed = folder / "exposed.parquet"
    keep_exposed(exposed, {CAP.key: said_of_records(memorized, memorized)})
    empty = np.empty((3, 0))
    values = rng.normal(0.2, 0.3, (3, 400))
    kept = {CAP.key: Contributions(empty, empty, values), FEWER.key: Contributions(empty, empty, values - falls)}
    path = str(folder / "kept.npz")
    keep_contributions(Path(path), kept)
    found = []
    for name in dict.fromkeys(f.synthesizer for f in findings if f.role == "synthesizer"):
        release = ReleaseFolder(sample, Generator(name, kind), Cell(name, 0, 0), "unused", "unused")
        found.append(Found((LedgerFolder(release, planned, "unused"),), (), (), str(exposed), path))
    answers = {"copy": "copy", "near_copy": "near_copy"}
    beside = Beside(answers, size=Size(members=200, controls=200, repetitions=3))
    verdicts = beside_other_kind(findings, limits, checks, beside) if limits else []
    result = StudyResult(
        "s-1",
        "study",
        findings,
        checks,
        verdicts,
        limits={k: Limit(v, "me") for k, v in limits.items()},
        settings={f.synthesizer: {"role": f.role} for f in findings},
        answers=answers,
        facts={"repetitions": "3"},
    )
    return Shown(
        Judged(replace(result, **others), Estimated(sample, (), tuple(found), Bootstrap(), Compared([]))), settings
    )


def said_of_records(risk, memorization):
    return pd.DataFrame(
        {"as_member": risk, "as_control": np.nan, "memorization": memorization, "lower": np.nan, "upper": np.nan}
    )


def copies(measure=CAP, extra=0.9):
    return [finding(n, measure, extra, role="reference") for n in ("copy", "near_copy")]


def html_of(what):
    return render(NEXT_STEPS.template, shown=what, result=what.result, **NEXT_STEPS.context(what))


def codes(text):
    return [unescape(part.partition("</pre>")[0]) for part in text.split('<pre tabindex="0">')[1:]]


def patched(command):
    """Return the study that a command runs: what it adds stands beside what was there."""
    study = {
        "name": "mine",
        "data": {"source": "adult", "quasi_identifiers": ["age", "sex"], "sensitive": ["income"]},
        "synthesizers": ["gaussian_copula"],
        "metrics": [{"name": "zero_cap", "bins": {"age": 5}}],
        "limits": {"memorization/zero_cap.income": 0.05},
    }
    words = shlex.split(command.replace("<limit>", "0.05"))
    assert words[:3] == ["synthrisk", "benchmark", "study.yaml"]
    assert words[3::2] == ["--set"] * len(words[3::2])
    made = load(study, words[4::2])
    assert made.thresholds["memorization/zero_cap.income"].value == 0.05
    assert made.metrics[0].options == {"bins": {"age": 5}}
    return made


def test_a_what_if_tells_what_it_would_do_to_what_is_limited(tmp_path):
    after = finding("cart", FEWER, 0.15, change=around(0.1, 0.02))
    text = html_of(shown(tmp_path, [finding("cart"), after, *copies()], {"memorization/cap.vote": 0.05}))
    assert "without age: would lower the memorization by 0.050 [0.050, 0.050]" in text
    assert "memorization 0.150 [0.140, 0.160] instead of 0.200, limit 0.05" in text
    assert "would raise the risk by 0.100 [0.080, 0.120]" in text  # not hidden
    assert "Nothing that was tried helps: where the memorization falls, the risk rises." in text
    assert "coarsen or drop it" not in text
    assert not any(word in text for word in SAFE)


def test_what_helps_is_advised_with_both_numbers(tmp_path):
    after = finding("cart", FEWER, 0.15, change=around(-0.05, 0.02))
    text = html_of(shown(tmp_path, [finding("cart"), after, *copies()], {"memorization/cap.vote": 0.05}))
    assert "“without age” lowers the memorization most: change the table so before fitting" in text
    assert "memorization 0.150 [0.140, 0.160] instead of 0.200, limit 0.05" in text


def test_a_what_if_that_lowers_nothing_is_told_so(tmp_path):
    after = finding("cart", FEWER, 0.25, change=around(0.0, 0.02))
    made = shown(tmp_path, [finding("cart"), after, *copies()], {"memorization/cap.vote": 0.05}, falls=-0.05)
    assert "None is shown to lower the memorization: nothing that was tried helps." in html_of(made)


def test_a_what_if_helps_a_limit_on_risk_where_risk_falls_and_memorization_does_not_rise(tmp_path):
    after = finding("cart", FEWER, 0.25, change=around(-0.1, 0.02))
    text = html_of(shown(tmp_path, [finding("cart"), after, *copies()], {"risk/cap.vote": 0.05}, falls=0.0))
    assert "lowers the risk most" in text
    assert "an attacker who knows less" not in text


def test_risk_is_explained_by_the_quasi_identifiers_that_go_with_it(tmp_path):
    text = html_of(shown(tmp_path, [finding("cart"), *copies()], {"memorization/cap.vote": 0.05}))
    assert "<bdi>job: from" in text
    assert "<bdi>age: from" not in text
    for cell in ("cook", "nurse"):
        assert cell not in text


def test_where_nobody_was_kept_away_the_risk_is_explained(tmp_path):
    made = shown(tmp_path, [finding("cart"), *copies()], {"memorization/cap.vote": 0.05})
    risk = kept_exposed(str(tmp_path / "exposed.parquet"), CAP.key)["as_member"]
    keep_exposed(tmp_path / "exposed.parquet", {CAP.key: said_of_records(risk, np.nan)})
    assert "tell records of much risk from others" in html_of(made)


def test_releases_that_look_like_copies_are_to_be_looked_at_first(tmp_path):
    members = pd.DataFrame({"a": np.arange(300), "b": np.arange(300) % 7})
    others = pd.DataFrame({"a": np.arange(300, 600), "b": np.arange(300) % 5})
    looked = {"cart": summarise([check_release(members, others, members)])}
    text = html_of(shown(tmp_path, [finding("cart"), *copies()], {"memorization/cap.vote": 0.05}, releases=looked))
    assert text.index("Look at the releases themselves first, whatever the limits are.") < text.index("cap.<wbr>vote")
    assert "look like copies" not in text  # a few people in 100 are no copy of the table: what was seen is told
    assert looked["cart"].suspicious in unescape(text)


def test_without_a_what_if_the_lines_that_preview_one_are_given(tmp_path):
    text = html_of(shown(tmp_path, [finding("cart"), *copies()], {"memorization/cap.vote": 0.05}))
    assert "Nothing was tried, so nothing is advised" in text
    assert codes(text)[0] == "synthrisk try study.yaml --drop job --coarsen age=5"
    again = patched(codes(text)[-2])
    assert [s.name for s in again.synthesizers] == ["gaussian_copula", "cart-less"]  # what was there stays
    assert again.synthesizers[-1].options == {"min_samples_leaf": 20}


def test_beyond_the_limit_a_generator_with_a_promise_is_named(tmp_path):
    text = html_of(shown(tmp_path, [finding("cart"), *copies()], {"memorization/cap.vote": 0.05}))
    assert "take a generator that is differentially private" in text
    added = patched(codes(text)[-1]).synthesizers[-1]
    assert (added.name, added.options) == ("mst", {"epsilon": 1, "assume_public": True})


def test_of_one_release_the_command_is_given(tmp_path):
    made = shown(tmp_path, [finding("release"), *copies()], {"memorization/cap.vote": 0.05}, OF_ONE_RELEASE, "files")
    text = html_of(made)
    (told,) = codes(text)
    roles = "--quasi-identifiers age,job --sensitive vote --metric zero_cap --metric rapid"
    limit = "--limit-on memorization/zero_cap.vote=0.05"
    begin = f"synthrisk evaluate 'my r.csv' s.csv --control c.csv {roles} {limit} --seed 7"
    assert told == f"{begin} --without age --noise vote=0.1 --without job --coarsen age=5"
    assert "what was kept is not computed again. Commands in grey run as they stand.</p>" in text
    assert "whoever made the synthesizer knows" in text


def test_the_command_for_one_release_asks_for_the_same(monkeypatch):
    given = {}
    for name in ("execution.pool.begin_early", "cli.evaluate.suggest", "cli.evaluate.judged"):
        monkeypatch.setattr(f"synthrisk.flows.{name}", lambda *asked, **_: given.update(asked=asked) or 0)
    command = evaluate_command(OF_ONE_RELEASE, metrics=["membership"], limits={"tpr/membership": 0.06})
    told = CliRunner().invoke(app, shlex.split(command)[1:])
    assert told.exit_code == 0, told.output
    said, others, *_ = given["asked"]
    asked = yaml.safe_load(OF_ONE_RELEASE)
    assert {n: said[n] for n in ("real", "control", "quasi_identifiers", "sensitive")} == {
        n: asked[n] for n in ("real", "control", "quasi_identifiers", "sensitive")
    }
    assert said["metrics"] == ["zero_cap", "rapid", "membership"]
    assert said["thresholds"] == {"memorization/zero_cap.vote": 0.05, "tpr/membership": 0.06}
    assert (others["synthetic"], others["seed"]) == ("s.csv", 7)
    assert others["what_if"] == [{"drop": ["age"]}, {"noise": {"vote": 0.1}}]


@pytest.mark.parametrize(
    "more",
    [
        {"metrics": [{"name": "zero_cap", "bins": {"age": 5}}]},
        {"columns": {"age": {"type": "numeric"}}},
        {"sensitive": ["a, b"]},
        {"real": FRAME},
        {"tracking_block": "ours"},
    ],
)
def test_no_command_is_given_that_asks_for_less(more, tmp_path):
    settings = yaml.safe_dump(yaml.safe_load(OF_ONE_RELEASE) | more)
    assert evaluate_command(settings) == ""
    text = html_of(shown(tmp_path, [finding("release"), *copies()], {"risk/cap.vote": 0.05}, settings, "files"))
    assert codes(text) == []
    assert "Commands in grey" not in text
    assert "if others knew less: --without job --coarsen age=5, added to what was asked." in text


def test_what_has_to_be_put_into_a_command_is_said(tmp_path):
    text = unescape(html_of(shown(tmp_path, [finding("cart"), *copies()], {})))
    assert "Put the file of this study in place of study.yaml and a number in place of <limit>." in text
    assert "run as they stand" not in text
    text = html_of(shown(tmp_path, [finding("cart"), *copies()], {"risk/cap.vote": 0.05}, SETTINGS + "name: demo\n"))
    assert "Commands in grey run as they stand. Give again what was given with --set." in text


def test_measures_without_quasi_identifiers_say_so(tmp_path):
    findings = [finding("cart", MEMBERSHIP), *copies(MEMBERSHIP)]
    text = html_of(shown(tmp_path, findings, {"memorization/membership": 0.05}))
    assert "membership looks at all columns" in text
    assert "what_if" not in text


def test_an_open_interval_tells_how_many_more_data(tmp_path):
    near = finding("cart", extra=0.04, half=0.02)  # the limit is half of the half width away: over four times the data
    text = html_of(shown(tmp_path, [near, *copies()], {"memorization/cap.vote": 0.05}))
    assert "if the value stays where it is: 1,800 records (there are 400), or a limit of 0.07." in text
    parts = Variances(records=0.0, between=1e-4, noise=0.0, count=400, repetitions=3)
    generators = replace(near, memorization=replace(near.memorization, parts=parts))
    text = html_of(shown(tmp_path, [generators, *copies()], {"memorization/cap.vote": 0.05}))
    assert "14 repetitions (there are 3), or a limit of 0.07" in text
    assert patched(codes(text)[0]).split.repetitions == 14
    on_it = finding("cart", extra=0.0499, half=0.02)  # more data would hardly decide
    text = html_of(shown(tmp_path, [on_it, *copies()], {"memorization/cap.vote": 0.05}))
    assert "if the value stays where it is: a limit of 0.07." in text


def test_without_an_interval_or_references_what_is_lacking_is_told(tmp_path):
    alone = replace(finding("cart"), memorization=Estimate(0.1, float("nan"), float("nan"), note="one repetition"))
    text = html_of(shown(tmp_path, [alone, *copies()], {"memorization/cap.vote": 0.05}))
    assert "needs more repetitions or records: its memorization has no interval: one repetition." in text
    assert patched(codes(text)[0]).split.repetitions == 6
    low = finding("cart", extra=0.0)
    bare = html_of(shown(tmp_path, [low], {"memorization/cap.vote": 0.05}))
    assert [r.name for r in patched(codes(bare)[0]).references] == ["copy", "near_copy", "fresh", "marginals"]
    weak = html_of(shown(tmp_path, [low, *copies(extra=0.06)], {"memorization/cap.vote": 0.1}))
    assert "A full copy of the training rows reaches 0.060" in weak


@pytest.mark.parametrize(
    ("word", "ends", "advice", "words"),
    [
        ("RISK", (0.2, 0.15, 0.25), "", ("Fit on coarser cells", "larger leaves of cart, or mst")),
        ("RISK", (-0.2, -0.25, -0.15), "", ("Leave out what keeps released rows away from members",)),
        ("INCONCLUSIVE", (0.04, 0.01, 0.08), "12 repetitions (there are 3)", ("12 repetitions", "split.repetitions")),
        ("INCONCLUSIVE", (0.06, 0.01, 0.08), "9,000 records", ("What would decide", "Fit on coarser cells")),
    ],
)
def test_the_look_at_the_releases_has_a_next_step(tmp_path, word, ends, advice, words):
    looked = Verdict("cart", LOOK, 0.05, word, "lies on members", *ends, "nearness", advice)
    text = html_of(shown(tmp_path, [finding("cart"), *copies()], {"memorization/cap.vote": 0.05}, verdicts=[looked]))
    part = text.partition("nearness")[2]
    assert all(each in unescape(part) for each in words)


def test_an_invalid_study_is_mended_first(tmp_path):
    broken = [Check("copy", "cap.vote", "high memorization", False, "0.01")]
    text = html_of(shown(tmp_path, [finding("cart"), *copies()], {"memorization/cap.vote": 0.05}, checks=broken))
    assert "Mend the study itself first" in text
    assert "what_if" not in text
    assert "Fit again" not in text


def test_failures_and_missing_limits(tmp_path):
    failed = shown(
        tmp_path, [finding("cart"), *copies()], {"memorization/cap.vote": 0.05}, failures={"cart": "out of <memory>"}
    )
    assert "out of &lt;memory&gt;" in html_of(failed)
    unlimited = html_of(shown(tmp_path, [finding("cart"), *copies()], {}))
    assert "Choose limits" in unlimited
    assert patched(codes(unlimited)[0]).thresholds["memorization/cap.vote"].value == 0.05


def test_nothing_is_said_where_limits_are_kept(tmp_path):
    made = shown(tmp_path, [finding("cart", extra=0.0), *copies()], {"memorization/cap.vote": 0.05})
    assert made.result.verdict("cart") == "NO EVIDENCE"
    assert NEXT_STEPS.context(made) is None


def test_others_that_keep_the_limit_are_named_and_sixty_are_folded(tmp_path):
    findings = [*(finding(f"g{i}") for i in range(60)), finding("good", extra=0.0), *copies()]
    text = html_of(shown(tmp_path, findings, {"memorization/cap.vote": 0.05}))
    assert "Look at good (0.000" in text
    assert "56 more synthesizers" in text
    assert len(text) < 200_000


def test_names_are_escaped(tmp_path):
    evil = "<script>alert(1)</script>"
    measure = Measure("cap", "zero_cap", evil)
    findings = [finding("cart", measure), *copies(measure)]
    planned = (Planned(measure, KEYS),)
    text = html_of(shown(tmp_path, findings, {f"memorization/cap.{evil}": 0.05}, planned=planned))
    assert "<script" not in text


@pytest.mark.parametrize("column", ["age", "home town", "a: b", "it's", 'say "x"', "{x}", "- y", "עיר", "#1"])
def test_a_command_to_try_names_the_same_columns(column):
    words = shlex.split(try_command(SETTINGS, [{"bins": {column: 5}}, {"drop": [column]}]))
    assert words == ["synthrisk", "try", "study.yaml", "--coarsen", f"{column}=5", "--drop", column]
    words = shlex.split(set_command("name: demo", {"split.stratify": column}))
    assert words[:4] == ["synthrisk", "benchmark", "demo", "--set"]
    assert load("demo", words[4:]).split.stratify == column


def test_commands_are_quoted():
    assert evaluate_words([{"bins": {"home; rm x": 5}}]) == "--coarsen 'home; rm x=5'"


def test_not_estimable_what_ifs_are_told(tmp_path):
    after = finding("cart", FEWER, change=NOT_ESTIMABLE)
    text = html_of(shown(tmp_path, [finding("cart"), after, *copies()], {"risk/cap.vote": 0.05}))
    assert "without age: change of the risk not estimable" in text
