from pathlib import Path

import numpy as np
import pytest

from samples.studies import sampled
from synthrisk.conf.study import Bootstrap
from synthrisk.metrics.study.ledger import Cell, Measure, Planned
from synthrisk.tasks.attack import attack
from synthrisk.tasks.bootstrap import bootstrap
from synthrisk.tasks.data.example_tables import ADULT
from synthrisk.tasks.workspace.references import RELEASE, USED, Generator, ReleaseFolder, Sample
from synthrisk.tasks.workspace.store import save_array, write_typed

N = 300
ROLES = {"quasi_identifiers": ["age", "sex", "education"], "sensitive": "income"}
PLANNED = (
    Planned(Measure("cap", "zero_cap", "income"), ROLES),
    Planned(Measure("common_rows_proportion", "common_rows_proportion"), {}),
)


@pytest.fixture(scope="module")
def adult():
    return ADULT().sample(2 * N, random_state=1).reset_index(drop=True)


@pytest.fixture(scope="module")
def sample(tmp_path_factory, adult) -> Sample:
    return sampled(adult, np.repeat([-1, 0], N)[None, :], tmp_path_factory.mktemp("sample"), 1)


@pytest.fixture(scope="module")
def plain(sample):
    return found(sample, "plain", lambda members: members)


def attacked(sample, name, table, r=0, k=0):
    place = Path(sample.workspace) / f"{name}-{r}-{k}"
    place.mkdir()
    write_typed(table, place / RELEASE)
    save_array(np.empty(0, dtype=np.int64), place / USED)
    release = ReleaseFolder(sample, Generator(name, "files"), Cell(name, r, k), str(place), place.name)
    return attack.fn(release, PLANNED)


def found(sample, key, change):
    ledger = attacked(sample, key, change(sample.members()))
    return ledger, {f.measure.label: f for f in bootstrap.fn([ledger], Bootstrap()).findings}


def test_a_copy_with_months_for_years_is_seen_through_at_half_the_error_each(sample, plain):
    first_look, own = plain
    ledger, twice = found(sample, "months", lambda members: members.assign(age=members["age"] * 12))
    assert first_look.again is None
    assert not first_look.check().far
    assert ledger.check().far == ("age",)
    first, second = (each.of(PLANNED[0].measure, ["score"])["score"] for each in (ledger, ledger.again))
    assert first[:N].isna().all() or first[:N].sum() == 0  # as it is, no key is known
    assert twice["cap"].risk.value == pytest.approx(second[:N].mean())
    assert twice["cap"].memorization.value > 0.05
    width = own["cap"].risk.upper - own["cap"].risk.lower
    assert twice["cap"].risk.upper - twice["cap"].risk.lower > width  # 97.5 %


def test_decimals_where_the_real_records_have_none_are_rounded_away(sample, plain):
    def decimals(members):
        noise = np.random.default_rng(0).uniform(-0.49, 0.49, len(members))
        return members.assign(**{c: members[c] + noise for c in members if members[c].dtype == "int64"})

    _, own = plain
    ledger, twice = found(sample, "decimals", decimals)
    assert (ledger.check().far, ledger.check().invalid) == ((), "")
    assert set(ledger.check().finer) >= {"age", "hours_per_week"}
    for label in ("cap", "common_rows_proportion"):
        assert twice[label].memorization.value == own[label].memorization.value
        assert twice[label].risk.value == own[label].risk.value


def test_levels_in_capitals_are_read_as_the_real_ones(sample, plain):
    _, own = plain
    upper = sample.members()["education"].cat.rename_categories(str.upper)
    ledger, twice = found(sample, "capitals", lambda members: members.assign(education=upper))
    assert (ledger.check().far, ledger.check().invalid) == (("education",), "")
    assert twice["cap"].memorization.value == own["cap"].memorization.value
    label = "common_rows_proportion"
    assert twice[label].risk.value == own[label].risk.value == 1


def test_a_broken_release_among_whole_ones_is_left_out_of_what_is_found(tmp_path, adult):
    parts = [np.random.default_rng(r).permutation(np.arange(2 * N) % 2) for r in range(2)]
    sample = sampled(adult, parts, tmp_path)

    def released(name, r, k):
        rows = sample.members(r, k)
        return rows.assign(income=rows["income"].mode()[0]) if (name, r, k) == ("some", 1, 1) else rows

    whole, some = (
        bootstrap.fn([attacked(sample, name, released(name, *at), *at) for at in np.ndindex(2, 2)], Bootstrap())
        for name in ("whole", "some")
    )
    for own, other in zip(whole.findings, some.findings, strict=True):
        assert other.risk.value == pytest.approx(own.risk.value, abs=0.03)
        assert not np.isnan(other.memorization.lower)
        assert other.memorization.value == pytest.approx(own.memorization.value, abs=0.05)
    assert len(some.ledgers) == 4
    assert [bool(each.check().invalid) for each in some.ledgers] == [False, False, False, True]
