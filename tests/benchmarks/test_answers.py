"""The releases of ``benchmarks/answers.py`` are what their truths say, and its marks can be missed."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from _answers_releases import RELEASES, Truth
from _answers_shares import MARKS, STUDIED, Answer, print_tables
from _answers_tables import TABLES, People, people, with_addresses


@pytest.fixture(scope="module")
def visits() -> People:
    return people("prescriptions", None, 0)


def made(name: str, own: People) -> pd.DataFrame:
    return RELEASES[name].make(own, np.random.default_rng(1))


def equal_rows(release: pd.DataFrame, real: pd.DataFrame, own: People) -> int:
    columns = [c for c in real if c != own.person]
    hashes = [pd.util.hash_pandas_object(f[columns].astype("string"), index=False) for f in (release, real)]
    return int(hashes[0].isin(hashes[1]).sum())


def test_nobody_is_member_and_control_or_stranger(visits):
    ids = [set(part[visits.person]) for part in (visits.members, visits.control, visits.strangers)]
    assert len(set.union(*ids)) == sum(map(len, ids))


def test_a_share_of_people_is_released_with_all_their_rows_and_no_number_of_theirs(visits):
    release, persons = made("share 20 %", visits), visits.members[visits.person].nunique()
    by_chance = equal_rows(made("fresh", visits), visits.members, visits)
    expected = 0.2 * persons * len(visits.members) / persons
    assert abs(equal_rows(release, visits.members, visits) - by_chance - expected) < 0.2 * expected
    assert not set(release[visits.person]) & set(visits.members[visits.person])


def test_what_is_told_by_absence_is_counted():
    own = people("fair", None, 0)
    known = RELEASES["no twins"]
    truth = known.truth(own, made("no twins", own))
    assert truth.people > 0.05  # few answers make many twins
    assert equal_rows(made("no twins", own), own.members, own) == 0
    assert known.truth(own, made("fresh", own)).people < 0.03


@pytest.mark.parametrize("name", [name for name in RELEASES if name not in ("ctgan", "copula")])
def test_each_release_of_a_hard_table_has_its_columns_and_rows(visits, name):
    own = visits
    if RELEASES[name].named:
        parts = [with_addresses(p, i) for i, p in enumerate((own.members, own.control, own.strangers))]
        own = People(*parts, own.person)
    release = made(name, own)
    assert list(release.columns) == list(own.members.columns)
    assert len(release) > 0.6 * len(own.members)


def test_there_are_eleven_more_tables_of_the_kinds_that_are_asked_for():
    traits = [trait for name, each in TABLES.items() if name != "adult" for trait in each.traits]
    assert len(TABLES) == 12
    least = {"numeric": 4, "rare class": 2, "missing": 2, "dates": 1, "several rows": 1}
    assert all(traits.count(trait) >= count for trait, count in least.items())


def test_where_a_truth_stands_beside_a_limit():
    stands = [Truth(share, share).stands(0.05) for share in (0, 0.02, 0.05, 0.07, 0.1)]
    assert stands == ["safe", "below", "at", "above", "twice"]
    assert Truth(0.01, 0.2).stands(0.1) == "twice"  # of the most exposed


def line(release: str, word: str, share: float, kind: str) -> dict:
    truth = {"kind": kind, "people": share, "exposed": share}
    own = {"table": "adult", "size": 5000, "seed": 0, "release": release, "members": 5000, "truth": truth}
    return own | {"words": {"0.05": word}, "seconds": {"attack": 1.0}}


def test_the_marks_are_met_and_missed(capsys):
    good = [line("fresh", "NO EVIDENCE", 0, "safe"), line("share 10 %", "RISK", 0.1, "leak")]
    bad = [line("fresh", "INVALID RELEASE", 0, "safe"), line("share 10 %", "NO EVIDENCE", 0.1, "leak")]
    for own, missed in ((good, 0), (bad, 4)):
        told = [m.told([Answer(each, "0.05", each["words"]["0.05"]) for each in own]) for m in MARKS]
        assert [each.rsplit("|", 2)[1].strip() for each in told].count("missed") == missed
    study = {"table": "fair", "size": 0, "seed": 0, "release": "benchmark", "rows": 6366, "seconds": {}}
    study |= {"words": {"cart": "RISK", "gaussian_copula": "INCONCLUSIVE"}}
    assert "missed" in STUDIED[0].told([Answer(study, by, word) for by, word in study["words"].items()])
    print_tables([*good, study])
    assert "| fair | 6,366 | RISK | INCONCLUSIVE |" in capsys.readouterr().out
