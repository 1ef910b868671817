"""What ``evaluate`` understands of what it is given: roles said, taken from a study, or proposed."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from synthrisk.conf.study import NOT_SAID
from synthrisk.flows.evaluate_settings import UNDERSTOOD, one_setting, study_of, understood
from synthrisk.flows.terminal.proposal import print_roles
from synthrisk.metrics import METRICS, InputError
from synthrisk.tasks.propose.measures import RECOMMENDED

pytestmark = pytest.mark.proof


@pytest.fixture
def place(tmp_path, people, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    sick = np.random.default_rng(0).choice(["ja", "nein"], (3, 200))
    for number, name in enumerate(("real", "heldout", "synthetic")):
        table = people(200, seed=21 + number).assign(id=np.arange(200), sick=sick[number])
        table.to_csv(f"{name}.csv", index=False)
    return tmp_path


def of(**said):
    return understood(**dict.fromkeys(UNDERSTOOD) | {"real": "real.csv", "control": "heldout.csv"} | said)


def test_roles_that_are_given_are_taken_and_all_other_columns_need_a_sensitive_one(place):
    meant = of(quasi_identifiers=["age"], sensitive=["income"])
    assert meant.proposal is None
    assert (meant.data.quasi_identifiers, meant.data.sensitive) == (["age"], ["income"])
    assert list(meant.metrics) == list(RECOMMENDED)
    assert of(quasi_identifiers=["*"], sensitive=["income"]).data.quasi_identifiers == "*"
    with pytest.raises(InputError, match="got no sensitive"):
        of(quasi_identifiers=["*"])


def test_roles_are_proposed_where_one_is_not_given_and_a_number_of_the_record_is_left_out(place):
    meant = of(sensitive=["income"])
    assert meant.proposal
    assert (meant.data.quasi_identifiers, meant.data.sensitive) == (["age", "city", "sick"], ["income"])
    assert [each["name"] for each in meant.metrics] == list(RECOMMENDED)
    meant = of()
    assert meant.data.identifier is None
    assert "id" in meant.data.drop


def test_what_looks_like_two_answers_is_none_where_control_records_have_a_third(place):
    bright = np.random.default_rng(1).integers(0, 2, 200).astype(float)
    pd.read_csv("real.csv").assign(pixel=bright).to_csv("real.csv", index=False)
    for third, kind in ((1.0, "boolean"), (8.0, None)):
        other = pd.read_csv("heldout.csv").assign(pixel=bright)
        other.loc[7, "pixel"] = third
        other.to_csv("heldout.csv", index=False)
        reading = of().data.columns.get("pixel")
        assert (reading and reading.type) == kind


@pytest.mark.parametrize("roles", [{}, {"quasi_identifiers": ["age"], "sensitive": ["income"]}])
def test_columns_of_either_table_are_left_out(place, roles):
    pd.read_csv("synthetic.csv").assign(score=1).to_csv("synthetic.csv", index=False)
    meant = of(drop=["sick", "score"], synthetic="synthetic.csv", **roles)
    assert ("sick" in meant.data.drop, list(meant.beside)) == (True, ["score"])
    assert {"sick", "score"} <= set(meant.arguments["drop"])
    study = study_of(meant, "synthetic.csv", None, "none", "evaluate", None, "work", 1)
    assert study.synthesizers[0].options == {"path": "synthetic.csv", "drop": ["score"]}
    with pytest.raises(InputError, match=r"--drop must name a column of the table, got 'scor'"):
        of(drop=["scor"], synthetic="synthetic.csv")


def test_a_study_says_roles_readings_metrics_and_limits(place, settings):
    limits = {"risk/zero_cap.income": {"value": 0.5, "source": "me"}}
    study = settings(place / "work", place / "other.csv", thresholds=limits)
    sick = {"type": "boolean", "true_values": ["ja"], "false_values": ["nein"]}
    study["data"] |= {"columns": {"sick": sick}, "rows": 9}
    Path("study.yaml").write_text(yaml.safe_dump(study))
    meant = of(study="study.yaml")
    assert (meant.data.source, meant.data.rows) == ("real.csv", None)
    assert (meant.data.columns["sick"].type, meant.thresholds) == ("boolean", limits)
    assert [each["name"] for each in meant.metrics] == ["zero_cap", "rapid"]
    other = of(
        study="study.yaml", sensitive=["city"], quasi_identifiers=["age"], metrics=["rapid"],
        thresholds={"risk/rapid": 0.1},
    )  # fmt: skip
    assert (other.data.sensitive, other.metrics, other.thresholds) == (["city"], ["rapid"], {"risk/rapid": 0.1})


@pytest.mark.parametrize("said", [{}, {"quasi_identifiers": ["age"], "sensitive": ["income"]}])
def test_what_is_understood_is_understood_again_from_the_arguments(place, said):
    meant = of(**said)
    again = of(**meant.arguments)
    assert again.data == meant.data
    assert (list(again.metrics), again.thresholds) == (list(meant.metrics), meant.thresholds)


@pytest.mark.parametrize("said", [{}, {"quasi_identifiers": ["age"], "sensitive": ["income"]}, {"metrics": ["all"]}])
def test_without_control_records_no_metric_needs_them(place, said):
    names = [each if isinstance(each, str) else each["name"] for each in of(control=None, **said).metrics]
    assert "zero_cap" in names
    assert not [name for name in names if "control" in METRICS[name].needs]


def test_all_metrics_are_those_without_options_of_their_own(place):
    assert set(of(metrics=["all"]).metrics) == {name for name, m in METRICS.items() if m.installed and not m.own_needs}


def test_limits_are_one_setting_under_either_name_and_each_says_who_chose_it(place):
    limits = {"risk/zero_cap.income": 0.5, "risk/rapid.income": {"value": 0.4, "source": "me"}}
    meant = of(quasi_identifiers=["age"], sensitive=["income"], thresholds=limits)
    for said, source in (("the board", "the board"), (None, NOT_SAID)):
        study = study_of(meant, "synthetic.csv", None, "none", "evaluate", None, "work", 1, limit_source=said)
        assert {name: (each.value, each.source) for name, each in study.thresholds.items()} == {
            "risk/zero_cap.income": (0.5, source),
            "risk/rapid.income": (0.4, "me"),
        }
    assert one_setting({"a": 1}, {"b": 2}) == {"a": 1, "b": 2}
    assert one_setting(None, None) is None
    with pytest.raises(InputError, match="limits and thresholds are one setting, got 'a' in both"):
        one_setting({"a": 1}, {"a": 2})


def test_each_column_is_in_one_of_the_lines_that_say_what_it_is_taken_for(place, capsys):
    for name in ("real", "heldout"):
        pd.read_csv(f"{name}.csv").assign(xyz=[1.5, 2.5] * 100).to_csv(f"{name}.csv", index=False)
    print_roles(of().proposal)
    said = capsys.readouterr().out
    assert "Neither      hours and xyz" in said
    assert set(re.findall(r"\w+", said)) >= set(pd.read_csv("real.csv").columns)


def test_evaluate_of_two_files_and_control_records_answers(place, say, secret, plain):
    said = say("evaluate", "real.csv", "synthetic.csv", "--control", "heldout.csv", "--json", "out.json")
    assert said.code == 0, said
    before, _, after = said.out.partition("No limits: no verdict. Nothing was judged.")
    assert [each for each in ("Known        age", "-v says why; --quasi-identifiers") if each not in before] == []
    assert "Study evaluate" not in before
    told = "real.csv: 200 members and 200 control records", "the least limit that would have been kept, had it been set"
    assert [each for each in told if each not in after] == []
    assert secret not in said.out + said.err
    found = json.loads(Path("out.json").read_text())
    assert found["verdicts"] == []
    kept = {row["quantity"] for row in found["limits_kept"]}
    assert kept >= {"control_gain/zero_cap.income", "control_gain/rapid.income"}
    roles = {row["synthesizer"] for row in found["findings"]}
    assert roles == {"release", "copy", "near_copy", "repelled", "fresh"}


@pytest.fixture
def judged_copy(place, say, plain):
    def judged(*more: str):
        pd.read_csv("real.csv").drop(columns="id").to_csv("copy.csv", index=False)
        tables = ("real.csv", "copy.csv", "--control", "heldout.csv")
        said = say("evaluate", *tables, "--limit", "0.1", "--json", "out.json", *more)
        assert said.code == 1, said
        return said.out, json.loads(Path("out.json").read_text())

    return judged


def test_evaluate_with_one_limit_gives_verdicts(judged_copy):
    out, found = judged_copy()
    assert "No limits" not in out
    words = {v["quantity"]: v["word"] for v in found["verdicts"]}
    assert words["memorization/common_rows_proportion"] == "RISK"
    assert "NO EVIDENCE" not in words.values()


def test_evaluate_as_a_study_says(place, settings, say, plain):
    study = settings(place / "work", place / "other.csv", thresholds={"risk/zero_cap.income": 0.01})
    study["data"]["drop"] = ["id"]
    Path("study.yaml").write_text(yaml.safe_dump(study))
    said = say("evaluate", "real.csv", "synthetic.csv", "--study", "study.yaml", "--json", "out.json")
    assert said.code == 1, said
    found = json.loads(Path("out.json").read_text())
    assert {row["measure"] for row in found["findings"]} == {"zero_cap.income", "rapid.income"}
    assert found["verdicts"][0]["word"] == "RISK"


def test_the_maker_of_the_release_is_told_words_and_whole_people(judged_copy, secret):
    out, found = judged_copy("--for-vendor")
    assert (set(found), found["word"], found["exit_code"]) == ({"word", "exit_code", "limits"}, "RISK", 1)
    shares = {each["quantity"]: each["people_in_100"] for each in found["limits"]}
    assert shares["memorization/common_rows_proportion"] is None
    assert all(share is None or isinstance(share, int) for share in shares.values())
    assert any(shares.values())
    assert out.startswith("Verdict  RISK\n")
    assert len(out.splitlines()) == 2 + len(found["limits"])
    assert [each for each in ("report", secret) if each in out] == []
