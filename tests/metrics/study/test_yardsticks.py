"""Covariates know nothing of membership, and findings of one release are adjusted for them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from samples.estimates import half_width as half
from samples.findings import Kept
from synthrisk.conf.plan import plan
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.estimation import Releases, find_all
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Cell, Measure, Planned
from synthrisk.metrics.study.scoring import attack_release
from synthrisk.metrics.study.yardsticks import FOLDS, STRANGERS, Covariates, Strangers, beside_control
from synthrisk.tasks.data.example_tables import read_adult

KNOWN = ["age", "education", "occupation", "sex", "race"]
N = 400


def of_adult(count: int, seed: int) -> pd.DataFrame:
    table = read_adult()
    return table.iloc[np.random.default_rng(seed).permutation(len(table))[:count]].reset_index(drop=True)


def planned(*metrics, table: pd.DataFrame) -> Sequence[Planned]:
    return plan(list(metrics), list(table.columns), KNOWN, ["income"])


def ledger(people: pd.DataFrame, release: pd.DataFrame, control: np.ndarray, every, place=(0, 0)) -> Kept:
    cell = Cell("a", *place)
    return Kept(cell, *attack_release(people, release, pd.array(~control, dtype="boolean"), every, 1, cell))


def found(people, release, control, every, interval=None, entities=None, groups=None) -> dict[str, Finding]:
    """Return the findings of one release, adjusted, by the key of the measure."""
    releases = Releases([ledger(people, release, control, every)], people, entities, groups or {})
    strangers = Strangers(people, control, 1)
    scores = {each.measure.key: strangers.scores(each) for each in every}
    known = {each.measure.key: each.options.get("quasi_identifiers", ()) for each in every}
    covariates = Covariates(people, {key: own for key, own in scores.items() if own is not None}, 1, known)
    return {f.measure.key: f for f in find_in(releases, every, interval, covariates).findings}


def find_in(releases, every, interval=None, covariates=None):
    return find_all("a", "synthesizer", releases, [p.measure for p in every], interval or Interval(), (), covariates)


def widths(finding: Finding) -> tuple[float, float, float]:
    """Return by how much adjusting narrows the interval, and the adjusted and the raw difference."""
    raw = finding.intervals["memorization"].get("raw", finding.memorization)
    return half(finding.memorization) / half(raw), finding.memorization.value, raw.value


@pytest.fixture(scope="module")
def tables():
    """Return members, control records and a release of strangers, and who is a control record."""
    rows = of_adult(5 * N, 3)
    people, release = rows[: 4 * N], rows[4 * N :].reset_index(drop=True)
    return people, release, np.arange(4 * N) >= 2 * N


def test_nobody_is_attacked_with_himself_and_both_groups_see_equally_many_strangers(tables):
    people, _, control = tables
    (first, one), (second, other) = Strangers(people.assign(place=np.arange(len(people))), control, 1)._halves
    assert sorted(np.concatenate([first, second])) == list(range(len(people)))
    for rows, these in ((first, one), (second, other)):
        assert not set(rows) & set(these.synthetic["place"])
        assert control[these.synthetic["place"]].all()
        assert len(these.synthetic) == min(STRANGERS, int(control.sum()) // 2)
        assert {int(control[rows].sum()), int((~control[rows]).sum())} == {N}
    assert set(one.synthetic["place"]).isdisjoint(other.synthetic["place"])


def test_scores_of_strangers_are_those_of_the_attack_with_their_half(tables):
    people, _, control = tables
    strangers = Strangers(people, control, 1)
    zero, *others = planned("zero_cap", "rapid", "membership", "inference", table=people)
    scores = strangers.scores(zero)
    for rows, own in strangers._halves:
        score = METRICS["zero_cap"](people.iloc[rows], own.synthetic, quasi_identifiers=KNOWN, sensitive="income")
        assert scores[rows].tolist() == score.records["score"].tolist()
    assert 0.01 < scores.mean() < 0.8
    assert [strangers.scores(each) for each in others] == [None] * 3  # they fit a model
    assert Strangers(people, np.arange(len(people)) == 0, 1).scores(zero) is None  # one control record has no halves


def test_the_order_of_rows_and_columns_moves_no_covariate(tables):
    people, _, control = tables
    order = np.random.default_rng(0).permutation(len(people))
    mixed = people.iloc[order, ::-1].reset_index(drop=True)
    (zero,) = planned("zero_cap", table=people)
    one, other = (Strangers(t, c, 1).scores(zero) for t, c in ((people, control), (mixed, control[order])))
    distinct = ~people.duplicated(keep=False).to_numpy()
    assert one[order][distinct[order]].tolist() == other[distinct[order]].tolist()
    scores = (people["age"] > 40).to_numpy(dtype=float)
    first, second = Covariates(people, {}, 1).predicted(scores), Covariates(mixed, {}, 1).predicted(scores[order])
    np.testing.assert_allclose(first[order], second, atol=1e-12)


def test_a_prediction_has_not_seen_the_score_it_predicts(tables):
    people, _, _ = tables
    covariates = Covariates(people, {}, 1)
    scores = np.random.default_rng(1).integers(0, 2, len(people)).astype(float)
    before = covariates.predicted(scores)
    fold = covariates._order(())[1] == 2
    assert 0.1 < fold.mean() * FOLDS / 2 < 0.9
    after = covariates.predicted(np.where(fold, 1 - scores, scores))
    assert before[fold].tolist() == after[fold].tolist()
    assert before[~fold].tolist() != after[~fold].tolist()
    assert abs(np.corrcoef(before, scores)[0, 1]) < 0.1  # of noise nothing is foretold


def test_records_that_are_not_scored_have_no_prediction_and_teach_nothing(tables):
    people, _, _ = tables
    covariates = Covariates(people, {}, 1)
    scores = (people["age"] > 40).to_numpy(dtype=float)
    holes = np.where(np.arange(len(people)) % 3 == 0, np.nan, scores)
    predicted = covariates.predicted(holes)
    assert np.isnan(predicted).tolist() == np.isnan(holes).tolist()
    assert np.corrcoef(predicted[~np.isnan(holes)], scores[~np.isnan(holes)])[0, 1] > 0.9


def test_memorization_and_gain_of_one_release_are_adjusted_and_the_raw_one_stays(tables):
    people, release, control = tables
    every = planned("zero_cap", "generalized_cap", "distance_to_closest_record", table=people)
    groups = {"outliers": np.arange(len(people)) % 4 == 0, "rare_keys": np.arange(len(people)) < 2 * N + 30}
    own = found(people, release, control, every, groups=groups)
    for key, f in own.items():
        raw = f.intervals["memorization"]["raw"]
        assert (f.memorization.method, raw.method != "adjusted") == ("adjusted", True)
        assert half(f.memorization) < (1 if key.startswith("zero_cap") else 0.9) * half(raw)
        assert raw.value == pytest.approx(f.risk.value - f.risk_control.value) or key == "distance_to_closest_record"
        assert f.groups["rare_keys"].memorization.method != "adjusted"  # 30 control records are too few
    cap = own["generalized_cap.income"]
    assert cap.control_gain == pytest.approx(cap.memorization.value / (1 - cap.risk_control.value))
    assert cap.groups["outliers"].memorization.method == "adjusted"
    assert cap.groups["outliers"].yardsticks["control"].gain.method == "adjusted"
    assert cap.groups["outliers"].yardsticks["control"].difference == cap.groups["outliers"].memorization


def test_the_yardstick_of_control_says_the_same(tables):
    people, release, control = tables
    (cap,) = planned("generalized_cap", table=people)
    releases = Releases([ledger(people, release, control, [cap])], people, None, {})
    made = find_in(releases, [cap], None, Covariates(people, {}, 1))
    (finding,) = made.findings
    beside = beside_control(finding, made.kept[cap.measure.key], Interval(), None)
    assert beside.difference == finding.memorization
    assert (beside.gain.value, beside.gain.method) == (finding.control_gain, "adjusted")
    assert half(beside.gain) == pytest.approx(half(finding.memorization) / (1 - finding.risk_control.value))


def test_the_confidence_of_the_study_holds_and_entities_and_resampled_intervals_are_left_as_they_are(tables):
    people, release, control = tables
    every = planned("zero_cap", table=people)
    pairs = np.arange(len(people)) // 2
    given = [{"interval": Interval(c)} for c in (0.99, 0.9)] + [{"entities": pairs}]
    given.append({"interval": Interval(method="crossed_bootstrap")})
    strict, loose, paired, drawn = (
        next(iter(found(people, release, control, every, **own).values())).memorization for own in given
    )
    assert half(strict) / half(loose) == pytest.approx(2.576 / 1.645, rel=0.01)
    assert (paired.method, drawn.method) == ("crossed", "crossed_bootstrap")


def test_a_study_in_which_the_same_people_are_both_adjusts_nothing(tables):
    people, release, _ = tables
    every = planned("zero_cap", table=people)
    folds = [ledger(people, release, np.arange(len(people)) % 2 == k, every, (0, k)) for k in (0, 1)]
    one, other = (
        find_in(Releases(folds, people, None, {}), every, None, covariates).findings
        for covariates in (Covariates(people, {}, 1), None)
    )
    assert repr(one) == repr(other)  # NaN is not NaN


def test_a_copy_has_its_raw_interval_where_every_member_is_right(tables):
    people, _, control = tables
    release = people[~control].reset_index(drop=True)
    (finding,) = found(people, release, control, planned("common_rows_proportion", table=people)).values()
    assert (finding.risk.value, finding.memorization.method) == (1, "newcombe")
    assert half(finding.memorization) > 0


def test_members_and_control_records_are_scored_with_one_baseline(tables):
    people, release, control = tables
    half_rich = np.where(np.arange(len(people)) % 2, "<=50K", ">50K")
    odd = people.assign(income=np.where(control, people["income"], half_rich))
    share = (odd["income"] == ">50K").mean()
    options = {"quasi_identifiers": KNOWN, "sensitive": "income", "attacker": "cart"}
    every = [Planned(Measure("rapid", "rapid", "income", "cart"), options)]
    rows = ledger(odd, release, control, every).rows
    rich = (odd["income"] == ">50K").to_numpy()
    expected = np.where(rich, share, 1 - share)
    assert rows["baseline"].to_numpy() == pytest.approx(expected)
    direct = METRICS["rapid"](odd[~control], release, control=odd[control].reset_index(drop=True), **options)
    assert direct.records["baseline"].to_numpy() == pytest.approx(expected[~control])
    scores, of_control = rows["score"].to_numpy(), direct.details["control"]
    assert (direct.value, of_control) == pytest.approx((scores[~control].mean(), scores[control].mean()))


def shown(rng, table: pd.DataFrame, count: int, every, leak: float = 0.0) -> dict[str, Finding]:
    """Return the findings of a release of strangers into which a share of the members was copied."""
    rows = table.iloc[rng.permutation(len(table))[: 3 * count]].reset_index(drop=True)
    people, release = rows[: 2 * count].reset_index(drop=True), rows[2 * count :].reset_index(drop=True)
    told = int(leak * count)
    release = pd.concat([people[:told], release[told:]], ignore_index=True)
    return found(people, release, np.arange(2 * count) >= count, every)


def test_records_that_an_attacker_cannot_tell_apart_do_not_foretell_each_other(tables):
    people, _, _ = tables
    covariates, key = Covariates(people, {}, 1), people.groupby(KNOWN, observed=True, dropna=False).ngroup().to_numpy()
    scores = np.random.default_rng(4).random(len(people))
    for group in np.flatnonzero(np.bincount(key) > 1)[:5]:
        before = covariates.predicted(scores, KNOWN)[key == group]
        after = covariates.predicted(np.where(key == group, 1 - scores, scores), KNOWN)[key == group]
        assert (after == before).all()
    few = covariates._order(("sex",))
    assert (few[1] == covariates._order(())[1]).all()  # two groups are no folds


# one measure in CI, the others by hand (-m slow): a split takes half a second for each
OTHERS = ("zero_cap", "distance_to_closest_record")
MEASURES = ["generalized_cap", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]


@pytest.mark.proof
@pytest.mark.parametrize("measure", MEASURES)
def test_100_null_splits_of_a_real_table_cover_zero_at_the_nominal_rate(measure):
    rng, table = np.random.default_rng(6), read_adult()
    every = planned(measure, table=table)
    made = [f for _ in range(100) for f in shown(rng, table, 1500, every).values()]
    assert np.mean([f.memorization.lower <= 0 <= f.memorization.upper for f in made]) > 0.91  # .95, less 1.8 sd
    ratios = [widths(f)[0] for f in made]
    assert max(ratios) < 1.05
    assert np.mean(ratios) < 0.92


@pytest.mark.proof
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("leak", [0.05, 0.1, 0.2])
def test_planted_shares_of_a_real_table_are_estimated_without_bias(leak, measure):
    rng, table = np.random.default_rng(7), read_adult()
    every = planned(measure, table=table)
    splits = 25 if measure == MEASURES[0] else 50
    made = [f for _ in range(splits) for f in shown(rng, table, 1500, every, leak).values()]
    _, adjusted, raw = np.transpose([widths(f) for f in made])
    moved, of_leak = adjusted - raw, 0.02 * np.mean(raw)
    assert abs(np.mean(moved)) < max(2 * np.std(moved, ddof=1) / np.sqrt(len(moved)), of_leak)


def test_what_ranks_records_says_how_much_surer_it_is_of_members(tables):
    people, strangers, _ = tables
    every = planned("membership", "zero_cap", table=people)
    said = {}
    for name in ("copy", "strangers"):
        folds = []
        for k in (0, 1):
            control = np.arange(len(people)) % 2 == k
            release = people[~control].reset_index(drop=True) if name == "copy" else strangers
            folds.append(ledger(people, release, control, every, (0, k)))
        membership, cap = find_in(Releases(folds, people, None, {}), every).findings
        assert not {d for d in cap.details if d.startswith("standardised_difference")}
        said[name] = [membership.details[f"standardised_difference{end}"][0] for end in ("_lower", "", "_upper")]
    lower, value, upper = said["strangers"]
    assert lower < min(0, value) <= max(0, value) < upper
    assert said["copy"][0] > 1
