import shlex
from dataclasses import replace
from html import unescape

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
from synthrisk.tasks.pages.templates import breakable, render
from synthrisk.tasks.workspace import references as made
from synthrisk.tasks.workspace.records import keep_contributions, keep_exposed, kept_exposed

CAP = Measure("cap", "zero_cap", "vote")
FEWER = Measure("cap-without-age", "zero_cap", "vote", variant_of="cap")
MEMBERSHIP = Measure("membership", "membership")
EVIL = Measure("cap", "zero_cap", "<script>alert(1)</script>")
KEYS = {"quasi_identifiers": ["age", "job"], "sensitive": "vote"}
PLANNED = (Planned(CAP, KEYS), Planned(FEWER, KEYS | {"quasi_identifiers": ["job"]}), Planned(MEMBERSHIP))
METRICS = [{"name": "zero_cap", "label": "cap", "options": {}}, "membership"]
SETTINGS = yaml.safe_dump({"split": {"folds": 2, "repetitions": 3}, "metrics": METRICS})
ASKED = {
    **{"real": "my r.csv", "synthetic": "s.csv", "control": "c.csv"},
    **{"quasi_identifiers": ["age", "job"], "sensitive": ["vote"], "metrics": ["zero_cap", "rapid"], "seed": 7},
    **{"limits": {"memorization/zero_cap.vote": 0.05}, "what_if": [{"drop": ["age"]}, {"noise": {"vote": 0.1}}]},
    "references": "limited",
}
OF_ONE_RELEASE = yaml.safe_dump(ASKED)
SAFE = ("safe", "harmless", "may go out", "anonymous", "no risk")
LIMIT = {"memorization/cap.vote": 0.05}


def finding(name, measure=CAP, extra=0.2, half=0.01, role="synthesizer", **others):
    risks = around(0.5, 0.02), around(0.5 - extra, 0.02), around(extra, half)
    return Finding(name, role, measure, *risks, reach=1.0, **others)


def copies(measure=CAP, extra=0.9):
    return [finding(n, measure, extra, role="reference") for n in ("copy", "near_copy")]


def fewer(extra, change):
    return finding("cart", FEWER, extra, change=change)


def said_of_records(risk, memorization):
    own = {"as_member": risk, "as_control": np.nan, "memorization": memorization}
    return pd.DataFrame(own | {"lower": np.nan, "upper": np.nan})


CART, COPIES = finding("cart"), copies()
NEAR = finding("cart", extra=0.04, half=0.02)  # the limit is half of the half width away: over four times the data
NO_INTERVAL = replace(CART, memorization=Estimate(0.1, float("nan"), float("nan"), note="one repetition"))
OF_GENERATORS = Variances(records=0.0, between=1e-4, noise=0.0, count=400, repetitions=3)


def shown(folder, findings=(CART, *COPIES), limits=LIMIT, settings=SETTINGS, kind="cart", planned=PLANNED, falls=0.05,
          checks=(), **others):  # fmt: skip
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(20, 60, 400), "job": rng.choice(["cook", "nurse"], 400)})
    table["vote"] = rng.choice(["y", "n"], 400)
    cut = made.Cut("unused", "cut", 3, 2, 0.0)
    sample = made.Sample(made.store(table, folder), cut, str(folder), quasi_identifiers=("age", "job"))
    memorized = np.where(table["job"] == "nurse", 1.0, rng.random(400) < 0.1)
    exposed, kept = folder / "exposed.parquet", folder / "kept.npz"
    keep_exposed(exposed, {CAP.key: said_of_records(memorized, memorized)})
    empty, values = np.empty((3, 0)), rng.normal(0.2, 0.3, (3, 400))
    own = {CAP: values, FEWER: values - falls}
    keep_contributions(kept, {m.key: Contributions(empty, empty, each) for m, each in own.items()})
    found = []
    for name in dict.fromkeys(f.synthesizer for f in findings if f.role == "synthesizer"):
        release = made.ReleaseFolder(sample, made.Generator(name, kind), Cell(name, 0, 0), "unused", "unused")
        found.append(made.Found((made.LedgerFolder(release, planned, "unused"),), (), (), str(exposed), str(kept)))
    answers = {"copy": "copy", "near_copy": "near_copy"}
    beside = Beside(answers, size=Size(members=200, controls=200, repetitions=3))
    verdicts = beside_other_kind(findings, limits, checks, beside) if limits else []
    more = {"settings": {f.synthesizer: {"role": f.role} for f in findings}, "facts": {"repetitions": "3"}}
    more |= {"limits": {k: Limit(v, "me") for k, v in limits.items()}, "answers": answers, **others}
    result = replace(StudyResult("s-1", "study", findings, checks, verdicts), **more)
    estimated = made.Estimated(sample, (), tuple(found), Bootstrap(), Compared([]))
    return Shown(made.Judged(result, estimated), settings)


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
    assert (words[:3], words[3::2]) == (["synthrisk", "benchmark", "study.yaml"], ["--set"] * len(words[3::2]))
    result = load(study, words[4::2])
    assert result.thresholds["memorization/zero_cap.income"].value == 0.05
    assert result.metrics[0].options == {"bins": {"age": 5}}
    return result


INSTEAD = "memorization 0.150 [0.140, 0.160] instead of 0.200, limit 0.05"
BROKEN = [Check("copy", "cap.vote", "high memorization", False, "0.01")]
PUT = "Put the file of this study in place of study.yaml and a number in place of &lt;limit&gt;."
SAYS = {  # what is seen, what is said of it, and what is not
    "a what-if tells what it would do to what is limited, and to the risk": (
        {"findings": [CART, fewer(0.15, around(0.1, 0.02)), *COPIES]},
        [INSTEAD, "without age: would lower the memorization by 0.050 [0.050, 0.050]",
         "would raise the risk by 0.100 [0.080, 0.120]",
         "Nothing that was tried helps: where the memorization falls, the risk rises."],
        ["coarsen or drop it", *SAFE]),
    "what helps is advised with both numbers": (
        {"findings": [CART, fewer(0.15, around(-0.05, 0.02)), *COPIES]},
        [INSTEAD, "“without age” lowers the memorization most: change the table so before fitting"], []),
    "a what-if that lowers nothing is told so": (
        {"findings": [CART, fewer(0.25, around(0.0, 0.02)), *COPIES], "falls": -0.05},
        ["None is shown to lower the memorization: nothing that was tried helps."], []),
    "a what-if helps a limit on risk where risk falls and memorization does not rise": (
        {"findings": [CART, fewer(0.25, around(-0.1, 0.02)), *COPIES], "limits": {"risk/cap.vote": 0.05}, "falls": 0.0},
        ["lowers the risk most"], ["an attacker who knows less"]),
    "a what-if that is not estimable is told": (
        {"findings": [CART, fewer(0.2, NOT_ESTIMABLE), *COPIES], "limits": {"risk/cap.vote": 0.05}},
        ["without age: change of the risk not estimable"], []),
    "risk is explained by the quasi-identifiers that go with it, without a cell": (
        {}, ["<bdi>job: from"], ["<bdi>age: from", "cook", "nurse"]),
    "beyond the limit a generator with a promise is named, and nothing advised where nothing was tried": (
        {}, ["Nothing was tried, so nothing is advised", "take a generator that is differentially private"], []),
    "what has to be put into a command is said": ({"limits": {}}, [PUT], ["run as they stand"]),
    "commands of a shipped study run as they stand": (
        {"limits": {"risk/cap.vote": 0.05}, "settings": SETTINGS + "name: demo\n"},
        ["Commands in grey run as they stand. Give again what was given with --set."], []),
    "measures without quasi-identifiers say so": (
        {"findings": [finding("cart", MEMBERSHIP), *copies(MEMBERSHIP)], "limits": {"memorization/membership": 0.05}},
        ["All columns of a record are looked at"], ["what_if"]),
    "an open interval tells how many more records": (
        {"findings": [NEAR, *COPIES]},
        ["if the value stays where it is: 1,800 records (there are 400), or a limit of 0.07."], []),
    "where more data would hardly decide, the limit that would": (
        {"findings": [finding("cart", extra=0.0499, half=0.02), *COPIES]},
        ["if the value stays where it is: a limit of 0.07."], []),
    "copies that hardly reach the limit are told": (
        {"findings": [finding("cart", extra=0.0), *copies(extra=0.06)], "limits": {"memorization/cap.vote": 0.1}},
        ["A full copy of the training rows reaches 0.060"], []),
    "an invalid study is mended first": (
        {"checks": BROKEN}, ["Mend the study itself first"], ["what_if", "Fit again"]),
    "failures are told": ({"failures": {"cart": "out of <memory>"}}, ["out of &lt;memory&gt;"], []),
    "names are escaped": (
        {"findings": [finding("cart", EVIL), *copies(EVIL)], "limits": {f"memorization/{EVIL.key}": 0.05},
         "planned": (Planned(EVIL, KEYS),)},
        [], ["<script"]),
    "others that keep the limit are named and sixty are folded": (
        {"findings": [*(finding(f"g{i}") for i in range(60)), finding("good", extra=0.0), *COPIES]},
        ["Look at good (0.000", "56 more synthesizers"], []),
}  # fmt: skip


@pytest.mark.parametrize(("given", "said", "unsaid"), SAYS.values(), ids=SAYS)
def test_what_is_said(tmp_path, given, said, unsaid):
    text = html_of(shown(tmp_path, **given))
    assert [each for each in said if each not in text] == []
    assert [each for each in unsaid if each in text] == []
    assert len(text) < 200_000


def leaves(commands):
    assert commands[0] == "synthrisk try study.yaml --drop job --coarsen age=5"
    return [(s.name, s.options) for s in patched(commands[-2]).synthesizers]


def promising(commands):
    last = patched(commands[-1]).synthesizers[-1]
    return last.name, last.options


STEPS = {  # what is seen, what is said of it, what the commands come to
    "a preview, and larger leaves beside what was there": (
        {}, "", leaves, [("gaussian_copula", {}), ("cart-less", {"min_samples_leaf": 20})]),
    "a generator with a promise": ({}, "", promising, ("mst", {"epsilon": 1, "assume_public": True})),
    "more repetitions where generators differ": (
        {"findings": [replace(NEAR, memorization=replace(NEAR.memorization, parts=OF_GENERATORS)), *COPIES]},
        "14 repetitions (there are 3), or a limit of 0.07", lambda c: patched(c[0]).split.repetitions, 14),
    "more repetitions where there is no interval": (
        {"findings": [NO_INTERVAL, *COPIES]},
        "needs more repetitions or records: its memorization has no interval: one repetition.",
        lambda c: patched(c[0]).split.repetitions, 6),
    "references where there are none": (
        {"findings": [finding("cart", extra=0.0)]}, "", lambda c: [r.name for r in patched(c[0]).references],
        ["copy", "near_copy", "fresh", "marginals"]),
    "limits where there are none": (
        {"limits": {}}, "Choose limits", lambda c: patched(c[0]).thresholds["memorization/cap.vote"].value, 0.05),
}  # fmt: skip


@pytest.mark.parametrize(("given", "told", "come_to", "found"), STEPS.values(), ids=STEPS)
def test_commands_run_what_is_advised(tmp_path, given, told, come_to, found):
    text = html_of(shown(tmp_path, **given))
    assert told in text
    assert come_to(codes(text)) == found


def test_where_nobody_was_kept_away_the_risk_is_explained(tmp_path):
    what = shown(tmp_path)
    risk = kept_exposed(str(tmp_path / "exposed.parquet"), CAP.key)["as_member"]
    keep_exposed(tmp_path / "exposed.parquet", {CAP.key: said_of_records(risk, np.nan)})
    assert "tell records of much risk from others" in html_of(what)


def test_steps_that_several_limits_have_are_said_once(tmp_path):
    rows = Measure("rows", "common_rows_proportion")
    every = [f for m in (MEMBERSHIP, rows) for f in (finding("cart", m), *copies(m))]
    limits = {"memorization/membership": 0.05, "memorization/rows": 0.05}
    text = html_of(shown(tmp_path, every, limits))
    assert text.count("All columns of a record are looked at") == 1
    assert all(f"<b>{breakable(limit)}</b>" in text for limit in limits)


def test_releases_that_look_like_copies_are_to_be_looked_at_first(tmp_path):
    members = pd.DataFrame({"a": np.arange(300), "b": np.arange(300) % 7})
    others = pd.DataFrame({"a": np.arange(300, 600), "b": np.arange(300) % 5})
    people, strangers, new = (pd.DataFrame(np.random.default_rng(s).normal(size=(300, 3))) for s in range(3))
    for release, copied in ((people, True), (pd.concat([people[:60], new[:240]]), False)):
        looked = {"cart": summarise([check_release(people, strangers, release)])}
        assert looked["cart"].suspicious
        assert ("The release is a copy of the real records" in html_of(shown(tmp_path, releases=looked))) == copied
    looked = {"cart": summarise([check_release(members, others, members)])}
    text = html_of(shown(tmp_path, releases=looked))
    assert text.index("Look at the releases themselves first, whatever the limits are.") < text.index("cap.<wbr>vote")
    assert "look like copies" not in text  # a few people in 100 are no copy of the table: what was seen is told
    assert looked["cart"].suspicious in unescape(text)


RELEASED = [finding("release"), *COPIES]


def test_of_one_release_the_command_is_given(tmp_path):
    text = html_of(shown(tmp_path, RELEASED, settings=OF_ONE_RELEASE, kind="files"))
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
    for name in ("real", "control", "quasi_identifiers", "sensitive"):
        assert said[name] == ASKED[name]
    assert said["metrics"] == ["zero_cap", "rapid", "membership"]
    assert said["thresholds"] == {"memorization/zero_cap.vote": 0.05, "tpr/membership": 0.06}
    assert (others["synthetic"], others["seed"]) == ("s.csv", 7)
    assert others["what_if"] == ASKED["what_if"]


@pytest.mark.parametrize("more", [
    {"metrics": [{"name": "zero_cap", "bins": {"age": 5}}]}, {"columns": {"age": {"type": "numeric"}}},
    {"sensitive": ["a, b"]}, {"real": made.FRAME}, {"tracking_block": "ours"},
])  # fmt: skip
def test_no_command_is_given_that_asks_for_less(more, tmp_path):
    settings = yaml.safe_dump(ASKED | more)
    assert evaluate_command(settings) == ""
    text = html_of(shown(tmp_path, RELEASED, {"risk/cap.vote": 0.05}, settings, "files"))
    assert codes(text) == []
    assert "Commands in grey" not in text
    assert "if others knew less: --without job --coarsen age=5, added to what was asked." in text


@pytest.mark.parametrize(("word", "ends", "advice", "words"), [
    ("RISK", (0.2, 0.15, 0.25), "", ("Fit on coarser cells", "larger leaves of cart, or mst")),
    ("RISK", (-0.2, -0.25, -0.15), "", ("Leave out what keeps released rows away from members",)),
    ("INCONCLUSIVE", (0.04, 0.01, 0.08), "12 repetitions (there are 3)", ("12 repetitions", "split.repetitions")),
    ("INCONCLUSIVE", (0.06, 0.01, 0.08), "9,000 records", ("What would decide", "Fit on coarser cells")),
])  # fmt: skip
def test_the_look_at_the_releases_has_a_next_step(tmp_path, word, ends, advice, words):
    looked = Verdict("cart", LOOK, 0.05, word, "lies on members", *ends, "nearness", advice)
    text = html_of(shown(tmp_path, verdicts=[looked]))
    part = text.partition("nearness")[2]
    assert all(each in unescape(part) for each in words)


def test_nothing_is_said_where_limits_are_kept(tmp_path):
    what = shown(tmp_path, [finding("cart", extra=0.0), *COPIES])
    assert what.result.verdict("cart") == "NO EVIDENCE"
    assert NEXT_STEPS.context(what) is None


@pytest.mark.parametrize("column", ["age", "home town", "a: b", "it's", 'say "x"', "{x}", "- y", "עיר", "#1"])
def test_a_command_to_try_names_the_same_columns(column):
    words = shlex.split(try_command(SETTINGS, [{"bins": {column: 5}}, {"drop": [column]}]))
    assert words == ["synthrisk", "try", "study.yaml", "--coarsen", f"{column}=5", "--drop", column]
    words = shlex.split(set_command("name: demo", {"split.stratify": column}))
    assert words[:4] == ["synthrisk", "benchmark", "demo", "--set"]
    assert load("demo", words[4:]).split.stratify == column
    assert evaluate_words([{"bins": {"home; rm x": 5}}]) == "--coarsen 'home; rm x=5'"
