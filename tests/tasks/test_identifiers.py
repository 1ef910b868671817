import json
import sys

import numpy as np
import pandas as pd
import pytest

from samples.releases_judged import cut_of
from samples.releases_judged import judged as judged_beside
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.release.identifiers import RELEASED
from synthrisk.metrics.verdicts.results import overview
from synthrisk.tasks.attack import attack
from synthrisk.tasks.estimate import estimate
from synthrisk.tasks.judge import judge
from synthrisk.tasks.sample import sample
from synthrisk.tasks.synthesize.task import synthesize
from synthrisk.tasks.workspace.references import Sample

N = 120
LIMIT = {"memorization/common_rows_proportion": 0.1}


def people(n: int, start: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    who = range(start, start + n)
    return pd.DataFrame({
        "mail": [f"person{i}@example.org" for i in who], "age": rng.integers(18, 90, n),
        "area": rng.choice(list("NSEW"), n), "ill": rng.choice(["yes", "no"], n),
    })  # fmt: skip


MEMBERS, CONTROL, INVENTED = people(N, 0, 1), people(N, 10_000, 2), people(N, 900_000, 3)
REAL_MAILS = INVENTED.assign(mail=MEMBERS["mail"].sample(frac=1, random_state=0).to_numpy())


@pytest.fixture(scope="module", params=["drop", "identifier"])
def one(request, tmp_path_factory) -> Sample:
    """Return members and control records, with the mail left out, or as their identifier; all in one workspace."""
    roles = {"quasi_identifiers": ["age", "area"], "sensitive": ["ill"]}
    roles |= {"drop": ["mail"]} if request.param == "drop" else {"identifier": "mail"}
    return cut_of(MEMBERS, CONTROL, tmp_path_factory.mktemp("identifiers"), "csv", **roles)


def judged(cut: Sample, table: pd.DataFrame | str, limits=LIMIT, others=()):
    return judged_beside(cut, table, ["common_rows_proportion"], limits, others)


def of_identifiers(result):
    return [v for v in result.verdicts if v.quantity == RELEASED]


@pytest.mark.parametrize("limits", [LIMIT, {}])
def test_real_addresses_in_fresh_rows_are_a_risk_whatever_the_limits(one, limits):
    result = judged(one, REAL_MAILS, limits)
    (found,) = of_identifiers(result)
    told = f"mail: values of {N} of {N} people in the data are in the release, of 0 of {N} other people"
    assert (found.synthesizer, found.word, found.limit, found.reason) == ("vendor", "RISK", 0.0, told)
    assert (result.verdict("vendor"), result.exit_code, result.passed) == ("RISK", 1, False)
    facts = [result.facts.get(name) for name in ("who_is_who", "left_out")]
    assert facts == (["mail", None] if one.identifier else [None, "mail"])
    assert told in overview(result).synthesizers[0].sentence
    assert "mail" in one.table.left_out.columns if one.table.left_out else one.identifier == "mail"


def test_invented_addresses_change_nothing(one):
    without = judged(one, INVENTED.drop(columns="mail"))
    beside = judged(one, INVENTED)
    assert of_identifiers(beside) == of_identifiers(without) == []
    assert [(v.word, v.value) for v in beside.verdicts] == [(v.word, v.value) for v in without.verdicts]
    assert judged(one, INVENTED, {}).verdicts == []


def test_a_column_that_the_real_table_does_not_have_is_named_or_found_to_be_an_identifier(one):
    renamed = judged(one, REAL_MAILS.rename(columns={"mail": "contact"}))
    (found,) = of_identifiers(renamed)
    assert found.reason.startswith("contact: values of column 'mail' are in the release under this name")
    plain = judged(one, INVENTED.assign(score=np.linspace(0, 1, N)))
    assert of_identifiers(plain) == []
    assert "score: a column that the real table does not have" in plain.releases["vendor"].notes[0]


def test_no_value_of_a_person_is_in_the_result_and_files_say_what_frames_say(one, tmp_path):
    result = judged(one, REAL_MAILS)
    assert "@" not in repr(vars(result))
    assert "@" not in json.dumps([vars(each) for each in result.verdicts])
    REAL_MAILS.to_csv(tmp_path / "release.csv", index=False)
    REAL_MAILS.to_parquet(tmp_path / "release.parquet")
    for ending in ("csv", "parquet"):
        assert len(of_identifiers(judged(one, str(tmp_path / f"release.{ending}")))) == 1


def test_the_reference_with_real_identifiers_must_be_seen_and_looks_fresh_to_all_attacks(one):
    result = judged(one, INVENTED, others=("real_identifiers",))
    assert result.released["real_identifiers"].share == 1
    assert result.valid
    (seen,) = [c for c in result.checks if c.measure == RELEASED]
    assert (seen.reference, seen.passed) == ("real_identifiers", True)
    assert of_identifiers(result) == []  # it is no verdict on a reference generator


def test_in_a_study_callables_and_files_that_bring_such_columns_are_looked_at(tmp_path):
    whole = pd.concat([MEMBERS, CONTROL], ignore_index=True)
    cut = sample.fn(whole, ["age", "area"], ["ill"], folds=2, drop=["mail"], rows=200, workspace=str(tmp_path))
    assert cut.table.left_out.rows == cut.table.rows == 200
    mails = cut.unattacked()["mail"].astype(str)
    whole.to_csv(tmp_path / "all.csv", index=False)
    (tmp_path / "leaking.py").write_text(
        "import pandas as pd\n"
        f"KNOWN = pd.read_csv({str(tmp_path / 'all.csv')!r})\n"
        "def leak(train, rows, seed):\n"
        "    return train.merge(KNOWN, how='left').drop_duplicates(list(train)).reindex(range(rows)).ffill()\n"
        "def plain(train, rows, seed):\n"
        "    return train.sample(rows, replace=True, random_state=1).reset_index(drop=True)\n"
    )
    made = [
        synthesize.fn(cut, "callable", fold=fold, name=name, path=f"{tmp_path / 'leaking.py'}:{name}")
        for name in ("leak", "plain")
        for fold in (0, 1)
    ]
    result = judge.fn(estimate.fn([attack.fn(each, ["common_rows_proportion"]) for each in made])).result
    (found,) = of_identifiers(result)
    assert (found.synthesizer, found.word) == ("leak", "RISK")
    assert found.reason.startswith("2 of 2 releases: mail: values of ")
    assert mails.is_unique


def test_a_verdict_stands_where_what_carries_it_cannot_be_found(one, monkeypatch):
    asked = []

    def fails(*given):
        asked.append(given)
        raise ValueError("cell")

    monkeypatch.setattr(sys.modules["synthrisk.tasks.judge"], "carriers", fails)
    fails.__module__ = "synthrisk.metrics.verdicts.revealing_columns"  # whose code is part of the key
    found = judged(one, INVENTED.assign(**{c: MEMBERS[c].to_numpy() for c in ("age", "area", "ill")}))
    assert (len(asked), found.carriers, found.verdict("vendor")) == (1, {}, "RISK")
    assert "cell" not in repr(vars(found))


def test_a_reference_with_real_identifiers_needs_some(tmp_path):
    cut = sample.fn(INVENTED.drop(columns="mail"), ["age", "area"], ["ill"], folds=2, workspace=str(tmp_path))
    with pytest.raises(InputError, match="real_identifiers needs an identifier or a column that is left out"):
        synthesize.fn(cut, "real_identifiers", role="reference")
