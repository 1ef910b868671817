"""A release whose columns are far off is attacked twice, and of each measure the reading that shows more counts."""

from pathlib import Path

import numpy as np
import pytest

from synthrisk.conf.study import Bootstrap
from synthrisk.metrics.study.ledger import Cell, Measure, Planned
from synthrisk.tasks.attack import attack
from synthrisk.tasks.bootstrap import bootstrap
from synthrisk.tasks.data.example_tables import ADULT
from synthrisk.tasks.workspace.files.parquet import write_typed
from synthrisk.tasks.workspace.references import RELEASE, USED, Cut, Generator, ReleaseFolder, Sample, store
from synthrisk.tasks.workspace.store import save_array

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
    folder = tmp_path_factory.mktemp("sample")
    save_array(np.repeat([-1, 0], N).astype(np.int16)[None, :], folder / "cut.npy")
    return Sample(store(adult, folder), Cut(str(folder / "cut.npy"), "cut", 1, 1, 0.0), str(folder))


@pytest.fixture(scope="module")
def plain(sample):
    return found(sample, "plain", lambda members: members)


def found(sample, key, change):
    place = Path(sample.workspace) / f"release-{key}"
    place.mkdir()
    write_typed(change(sample.members()), place / RELEASE)
    save_array(np.empty(0, dtype=np.int64), place / USED)
    ledger = attack.fn(ReleaseFolder(sample, Generator(key, "files"), Cell(key, 0, 0), str(place), key), PLANNED)
    return ledger, {f.measure.label: f for f in bootstrap.fn([ledger], Bootstrap()).findings}


def months(members):
    return members.assign(age=members["age"] * 12)


def capitals(members):
    return members.assign(education=members["education"].cat.rename_categories(str.upper))


def test_a_copy_with_months_for_years_is_seen_through_at_half_the_error_each(sample, plain):
    first_look, own = plain
    ledger, twice = found(sample, "months", months)
    assert first_look.again is None
    assert not first_look.check().far
    assert ledger.check().far == ("age",)
    first, second = (each.of(PLANNED[0].measure, ["score"])["score"] for each in (ledger, ledger.again))
    assert first[:N].isna().all() or first[:N].sum() == 0  # as it is, no key is known
    assert twice["cap"].risk.value == pytest.approx(second[:N].mean())
    assert twice["cap"].memorization.value > 0.05
    width = own["cap"].risk.upper - own["cap"].risk.lower
    assert twice["cap"].risk.upper - twice["cap"].risk.lower > width  # 97.5 %


def decimals(members):
    noise = np.random.default_rng(0).uniform(-0.49, 0.49, len(members))
    numeric = [c for c in members if members[c].dtype == "int64"]
    return members.assign(**{c: members[c] + noise for c in numeric})


def test_decimals_where_the_real_records_have_none_are_rounded_away(sample, plain):
    _, own = plain
    ledger, twice = found(sample, "decimals", decimals)
    assert ledger.check().far == ()
    assert set(ledger.check().finer) >= {"age", "hours_per_week"}
    assert ledger.check().invalid == ""
    for label in ("cap", "common_rows_proportion"):
        assert twice[label].memorization.value == own[label].memorization.value
        assert twice[label].risk.value == own[label].risk.value


def test_levels_in_capitals_are_read_as_the_real_ones(sample, plain):
    _, own = plain
    ledger, twice = found(sample, "capitals", capitals)
    assert ledger.check().far == ("education",)
    assert ledger.check().invalid == ""
    assert twice["cap"].memorization.value == own["cap"].memorization.value
    label = "common_rows_proportion"
    assert twice[label].risk.value == own[label].risk.value == 1


def test_a_broken_release_among_whole_ones_is_left_out_of_what_is_found(tmp_path, adult):
    table = store(adult, tmp_path)
    parts = np.array([np.random.default_rng(r).permutation(np.arange(2 * N) % 2) for r in range(2)], dtype=np.int16)
    save_array(parts, tmp_path / "cut.npy")
    sample = Sample(table, Cut(str(tmp_path / "cut.npy"), "cut", 2, 2, 0.0), str(tmp_path))

    def ledgers(name, broken):
        made = []
        for r, k in ((0, 0), (0, 1), (1, 0), (1, 1)):
            place = tmp_path / f"{name}-{r}-{k}"
            place.mkdir()
            rows = sample.members(r, k)
            write_typed(
                rows.assign(income=rows["income"].mode()[0]) if broken and (r, k) == (1, 1) else rows, place / RELEASE
            )
            save_array(np.empty(0, dtype=np.int64), place / USED)
            release = ReleaseFolder(sample, Generator(name, "files"), Cell(name, r, k), str(place), place.name)
            made.append(attack.fn(release, PLANNED))
        return made

    whole, some = (bootstrap.fn(ledgers(name, name == "some"), Bootstrap()) for name in ("whole", "some"))
    for own, other in zip(whole.findings, some.findings, strict=True):
        assert other.risk.value == pytest.approx(own.risk.value, abs=0.03)
        assert not np.isnan(other.memorization.lower)
        assert other.memorization.value == pytest.approx(own.memorization.value, abs=0.05)
    assert len(some.ledgers) == 4
    assert [bool(each.check().invalid) for each in some.ledgers] == [False, False, False, True]
