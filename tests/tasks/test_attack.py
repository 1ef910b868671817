import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from samples.studies import sampled
from synthrisk.conf.study import Bootstrap
from synthrisk.metrics import METRICS, InputError, Tables
from synthrisk.metrics.release.k_anonymity import KAnonymity, KeySizes, ReleaseKeys
from synthrisk.metrics.release.validity import check_release
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.comparison import Compared
from synthrisk.metrics.study.ledger import COLUMNS, Cell, Measure, OfRecords, OfRelease, Planned, Reasons, as_frame
from synthrisk.metrics.study.scoring import attack_release, look, score_release, tables_of
from synthrisk.tasks.attack import attack
from synthrisk.tasks.judge import judge
from synthrisk.tasks.workspace import references
from synthrisk.tasks.workspace.references import Estimated, Generator, ReleaseFolder, Sample
from synthrisk.tasks.workspace.store import save_array, write_typed

VOTES = pd.Categorical(["a", "b", "a", "b", "a", None])
REAL = pd.DataFrame({"age": [30, 30, 40, 50, 60, 60], "vote": VOTES, "pay": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
RELEASED = pd.DataFrame(
    {"age": [30, 30, 40, 60], "vote": pd.Categorical(["a", "a", "b", None]), "pay": [1.0, 2.5, 3.0, 6.0]}
)
WHOLE = REAL.assign(vote=pd.Categorical(list("ababab"))), RELEASED.assign(vote=pd.Categorical(list("abba")))
PARTS = np.array([[0, 1, 0, 1, 0, 1]], dtype=np.int16)  # folds in which the six are held out
ROLES = {"quasi_identifiers": ["age"], "sensitive": "vote"}
CAP = Planned(Measure("cap", "zero_cap", "vote"), ROLES)
RATIO = "nearest_neighbour_distance_ratio"  # scores the release, not the real records
DISTANCE = Planned(Measure(RATIO, RATIO), {})
CELL = Cell("cart", 0, 0)
MAKER = Generator("cart", "cart")


def rapid_of(column, attacker, roles=("age",), label="rapid", **options):
    told = {"quasi_identifiers": list(roles), "sensitive": column, "attacker": attacker, **options}
    return Planned(Measure(label, "rapid", column, attacker), told)


@pytest.fixture
def sample(tmp_path) -> Sample:
    return sampled(REAL, PARTS, tmp_path)


def released(sample, used=(), cell=CELL, key="k", table=RELEASED) -> ReleaseFolder:
    place = Path(sample.workspace) / f"release-{key}"
    place.mkdir()
    write_typed(table, place / references.RELEASE)
    save_array(np.array(used, dtype=np.int64), place / references.USED)
    return ReleaseFolder(sample, MAKER, cell, str(place), key)


def attacked(*planned, member=PARTS[0] != 0, real=REAL, release=RELEASED, seed=3, cell=CELL):
    return attack_release(real, release, pd.array(member, dtype="boolean"), planned, seed, cell)


def test_members_are_the_records_that_are_neither_held_out_nor_used(sample):
    assert released(sample).membership().tolist() == [False, True, False, True, False, True]
    other = released(sample, cell=Cell("cart", 0, 1), key="o").membership()
    assert other.tolist() == [True, False, True, False, True, False]
    member = released(sample, used=[0, 2], key="used").membership()  # first and third of the held-out records
    assert member.isna().tolist() == [True, False, False, False, True, False]
    assert member[[1, 2, 3, 5]].tolist() == [True, False, True, True]


def test_the_check_of_the_release_is_kept_beside_the_ledger_and_what_it_breaks_is_named(sample):
    folder = attack.fn(released(sample, used=[0]), [CAP])
    real = sample.records()
    members, controls = real.iloc[[1, 3, 5]], real.iloc[[2, 4]]  # the first was used
    assert str(folder.check()) == str(check_release(members, controls, RELEASED, 1))
    assert folder.check().verbatim.rows_of_members.count == 1
    release = released(sample, table=RELEASED.assign(pay=np.inf), key="broken")
    with pytest.raises(InputError, match="column 'pay' holds infinite numbers in the release; column 'pay' must hold"):
        attack.fn(release, [Planned(Measure("dcr", "distance_to_closest_record"), {})])


def test_ledger_is_the_metric_called_by_hand():
    planned = rapid_of("vote", "logistic", ("age", "pay"))
    real, release = WHOLE
    ledger, values = attacked(planned, member=[True] * 6, real=real, release=release, seed=7, cell=Cell("cart", 2, 1))
    score = METRICS["rapid"](real, release, seed=seed_of(7, 2, 1, "cart", "rapid.vote"), **planned.options)
    for column in ("score", "gain", "confidence", "baseline"):
        np.testing.assert_array_equal(ledger[column], score.records[column].astype(float))
    assert ledger["guessed"].tolist() == score.records["guessed"].astype(str).tolist()
    assert (values["rapid.vote"].all, values["rapid.vote"].warning) == (score.details, "")


def test_members_and_control_records_are_described_apart():
    options = {**ROLES, "measure": "i_s"}
    planned = Planned(Measure("classes", "attribute_disclosure", "vote"), options)
    found = attacked(planned, member=[True, True, True, False, False, None])[1]["classes.vote"]
    score = METRICS["attribute_disclosure"](REAL, RELEASED, **options)
    for name in ("rep_u", "i_s", "di_s", "di_sco", "di_sdi_o"):
        flags = score.records[name]
        means = flags.iloc[:3].mean(), flags.iloc[3:5].mean(), flags.mean()
        assert (found.members[name], found.controls[name], found.all[name]) == means


def test_measures_draw_independently_and_repeatably():
    def gains(seed, cell, *also):
        planned = *also, rapid_of("vote", "random_forest", ("age", "pay"))
        ledger, _ = attacked(*planned, member=[True] * 6, real=WHOLE[0], release=WHOLE[1], seed=seed, cell=cell)
        return ledger.loc[ledger["metric"] == "rapid", "gain"].tolist()

    one = gains(1, CELL)
    assert gains(1, CELL, CAP) == one
    assert one not in (gains(2, CELL), gains(1, Cell("cart", 0, 1)))


def unscored(planned, member, real=REAL):
    return attacked(planned, member=member, real=real)[1][planned.measure.key]


def test_reasons_are_those_of_the_group_that_has_no_value_or_of_the_whole_metric():
    planned = Planned(Measure("cap", "categorical_cap", "vote"), ROLES)
    found = unscored(planned, [True, True, True, False, True, True])  # nobody of 50 is in the release
    reasons = Reasons(members="", controls="no real record has a key that occurs in the release")
    assert (found.reasons, type(found)) == (reasons, OfRecords)
    real = REAL.assign(pay=[np.nan, 2.0, np.nan, 4.0, 5.0, 6.0])
    found = unscored(rapid_of("pay", "linear"), [True, False, True, False, False, False], real)
    assert found.reasons == Reasons(members="the sensitive value of every record is missing", controls="")
    name, why = "identifiability_score", "every real column is constant: no column has a weight"
    found = unscored(Planned(Measure(name, name), {}), [True] * 3 + [False] * 3, pd.concat([REAL.iloc[:1]] * 6))
    assert found.reasons == Reasons(members=why, controls=why)


def test_a_release_without_value_says_why_and_without_controls_has_a_value_for_members_alone():
    few, sizes = "too few records for two groups of one size", "groups of other sizes: read the difference"
    alone = unscored(DISTANCE, [True] + [False] * 5).reasons
    assert alone.members == "fewer than two real records: no second nearest"
    assert (alone.controls, alone.difference) == (sizes, few)
    whole = unscored(DISTANCE, [True] * 6)
    assert whole.reasons == Reasons(members="", controls="no control records", difference="no control records")
    assert whole.value == METRICS[RATIO](REAL, RELEASED).value
    assert np.isnan(whole.controls)


def ratio_by_hand(rows):
    """NNDR of RELEASED against some records of REAL, by plain loops over gower's definition with REAL's ranges."""
    both = {c: [*REAL[c], *RELEASED[c]] for c in REAL}

    def gap(column, a, b):
        if pd.isna(a) or pd.isna(b):
            return 0.0 if pd.isna(a) and pd.isna(b) else 1.0
        if isinstance(a, str):
            return float(a != b)
        values = [v for v in both[column] if not pd.isna(v)]
        return abs(a - b) / (max(values) - min(values))

    ratios = []
    for z in RELEASED.to_dict("records"):
        first, second, *_ = sorted(sum(gap(c, z[c], REAL.iloc[i][c]) for c in REAL) for i in rows)
        ratios.append(1.0 if first == 0 else 1 - first / second)
    return sum(ratios) / len(ratios)


def test_release_level_metric_compares_groups_of_one_size_in_one_space_without_those_that_are_neither():
    ledger, values = attacked(DISTANCE, member=[True, True] + [False] * 4)
    assert (list(ledger.columns), len(ledger)) == (list(COLUMNS), 0)  # no real record is scored
    found, alone = values[RATIO], METRICS[RATIO](REAL.iloc[:2], RELEASED)
    assert (type(found), found.details, found.value) == (OfRelease, alone.details, alone.value)
    assert np.isnan(found.control)  # it depends on how many control records there are
    assert found.members == pytest.approx(ratio_by_hand([0, 1]), abs=1e-12)
    chosen = [2 + a for a in range(4)]
    pairs = [ratio_by_hand([a, b]) for a in chosen for b in chosen if a < b]
    assert min(abs(found.controls - p) for p in pairs) < 1e-12
    found = unscored(DISTANCE, [True, True, False, False, pd.NA, pd.NA])
    assert found.controls == pytest.approx(ratio_by_hand([2, 3]), abs=1e-12)


def drawn(name, **options):
    """A table, and a release drawn from those of it that are neither, a tenth of it members."""
    rng = np.random.default_rng(5)
    real = pd.DataFrame(rng.normal(size=(160, 2)), columns=["x", "y"]).assign(c=rng.choice(list("ab"), 160))
    release = real.iloc[np.r_[rng.choice(np.arange(120, 160), 90), rng.choice(80, 10)]].reset_index(drop=True)
    member = [True] * 80 + [False] * 40 + [pd.NA] * 40
    planned = Planned(Measure(name, name), options)
    return real, release, *attacked(planned, member=member, real=real, release=release, cell=Cell("leaky", 0, 0))


DISTANCES = ["distance_to_closest_record", "authenticity", "identifiability_score"]
DISTANCES += ["nearest_neighbour_adversarial_accuracy", "close_value_probability", "hitting_rate"]


@pytest.mark.parametrize("name", DISTANCES)
def test_distances_are_those_of_a_call_with_members_and_controls_alone(name):
    real, release, ledger, values = drawn(name)
    score = METRICS[name](real.iloc[:80], release, control=real.iloc[80:120])
    column = METRICS[name].records.contribution
    np.testing.assert_array_equal(ledger[column][:80], score.records[column])
    assert ledger["score"].isna().tolist() == [False] * 120 + [True] * 40
    assert METRICS[name].records.reduce(score.records).details == values[name].members
    for detail, value in values[name].controls.items():
        assert score.details[f"control_{detail}"] == value
    if name == "identifiability_score":  # beside the records that fresh ones were drawn from it would be 0
        assert 0.1 < ledger["risk"][80:120].mean() < 0.9


def test_members_and_controls_are_exchangeable_in_distances():
    rng = np.random.default_rng(5)
    real, release = (pd.DataFrame(rng.normal(size=(rows, 2)), columns=["x", "y"]) for rows in (60, 50))
    planned = [Planned(Measure(name, name), {}) for name in DISTANCES]
    scores = []
    for seed in (0, 1):
        known = np.random.default_rng(seed).permutation([True] * 30 + [False] * 15)
        member = [*known, *[pd.NA] * 15]
        scores.append(attacked(*planned, member=member, real=real, release=release)[0]["score"])
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("space", ["euclid", "gower"])
def test_a_median_has_the_values_of_a_call_with_control(space):
    name = "median_distance_to_closest_record"
    real, release, _, values = drawn(name, space=space)
    score = METRICS[name](real.iloc[:80], release, control=real.iloc[80:120], space=space)
    assert values[name].value == score.value
    assert values[name].control == score.details["control"] != score.value
    assert values[name].reasons == Reasons(members="", controls="", difference=values[name].reasons.difference)


def test_a_median_is_taken_of_a_release_and_its_flags_of_records():
    real = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 3)), columns=["x", "y", "z"])
    names = ["median_distance_to_closest_record", "authenticity"]
    planned = [Planned(Measure(name, name), {}) for name in names]
    ledger, values = attacked(*planned, member=[True] * 60 + [False] * 60, real=real, release=real.iloc[:60])
    assert set(ledger["metric"]) == {"authenticity"}
    assert ledger["risk"].notna().all()
    own = METRICS[names[0]](real.iloc[:60], real.iloc[:60])
    assert values[names[0]].value == own.value == values[names[0]].members == 1 > values[names[0]].controls


def test_records_that_claims_isolate_are_in_the_ledger_by_plain_loops_and_nobody_where_none_is_made():
    rng = np.random.default_rng(0)
    real = pd.DataFrame({c: rng.integers(0, 30, 40) for c in "xyz"}).assign(name=[f"n{i}" for i in range(40)])
    release = real.iloc[:15].reset_index(drop=True)
    planned = Planned(Measure("two", "singling_out"), {"columns": ["x", "y", "z"], "size": 2, "attempts": 12})
    member = [True] * 20 + [False] * 18 + [None] * 2
    ledger, values = attacked(planned, member=member, real=real, release=release)
    seed = seed_of(3, 0, 0, "cart", *planned.words)
    score = METRICS["singling_out"](real.iloc[:20], release, seed=seed, **planned.options)
    assert values["two"].value == score.value
    isolated = set()
    for predicate in (p for p in score.records["predicate"] if p is not None):
        mask = np.ones(38, dtype=bool)
        for column, operator, value in predicate:
            cells = real[column].iloc[:38]
            mask &= {">=": cells >= value, "<=": cells <= value, "==": cells == value}[operator].to_numpy()
        isolated |= {int(np.flatnonzero(mask)[0])} if mask.sum() == 1 else set()
    assert isolated
    np.testing.assert_array_equal(ledger["score"], [float(i in isolated) for i in range(38)] + [np.nan] * 2)
    assert values["two"].details["isolated"] == len(isolated)
    _, alone = attacked(planned, member=[True] * 40, real=real, release=release)
    assert "isolated" not in alone["two"].details
    constant = pd.DataFrame({"a": ["x"] * 20, "b": [1] * 20})
    planned = Planned(Measure("one", "singling_out"))
    ledger, values = attacked(planned, member=[True] * 10 + [False] * 10, real=constant, release=constant)
    assert np.isnan(values["one"].value)
    assert (ledger["score"] == 0).all()
    assert values["one"].reasons.members == "the attack made no claim"


OPTIONS = {"linkability": {"columns_a": ["x", "c"], "columns_b": ["y"]}}
OPTIONS |= {"apparent_match_rate": {"quasi_identifiers": ["c"]}, "detection_mlp": {"folds": 2}}


@pytest.mark.parametrize("name", [n for n, m in METRICS.items() if m.has_population and "sensitive" not in m.needs])
def test_non_members_as_the_release_meet_members_alone(name):
    rng = np.random.default_rng(8)
    real = pd.DataFrame(rng.normal(size=(90, 2)), columns=["x", "y"]).assign(c=rng.choice(list("ab"), 90))
    held_out = rng.permutation(90) < 30
    planned, cell = Planned(Measure(name, name), OPTIONS.get(name, {})), Cell("nonmembers", 0, 0)
    member = np.where(held_out, None, True)
    ledger, values = attacked(planned, member=member, real=real, release=real[held_out], cell=cell)
    seed = seed_of(3, 0, 0, "nonmembers", *planned.words)
    alone = METRICS[name](real[~held_out], real[held_out], seed=seed, **planned.options)
    column = METRICS[name].records.contribution
    np.testing.assert_array_equal(ledger.loc[~held_out, column], alone.records[column])
    assert ledger.loc[held_out, "score"].isna().all()
    assert METRICS[name].records.reduce(alone.records).details == pytest.approx(values[name].members, nan_ok=True)


def test_what_guesses_keeps_the_class_shares_of_all_real_records():
    real = REAL.assign(vote=pd.Categorical(list("aaabbb")))
    planned = [Planned(Measure(name, name, "vote"), ROLES) for name in ("zero_cap", "attribute_inference_risk")]
    member, cell = [True] * 3 + [None] * 3, Cell("nonmembers", 0, 0)
    ledger, values = attacked(*planned, member=member, real=real, release=real.iloc[3:], cell=cell)
    assert values["zero_cap.vote"].all["guess"] == 0.5
    weights = ledger.loc[ledger["metric"] == "attribute_inference_risk", "weight"]
    np.testing.assert_allclose(weights, 1 / 6)  # among the members alone they would be of one class


def estimated(sample, ledgers):
    found = (references.Found(tuple(ledgers), (), (), "", ""),) if ledgers else ()
    return Estimated(sample, (MAKER,), found, Bootstrap(), Compared([]))


def test_task_keeps_the_ledger_and_finds_it_again(sample, tmp_path):
    release = released(sample)
    found = attack.fn(release, [CAP, DISTANCE])
    ledger, values = attacked(CAP)
    texts = dict.fromkeys(ledger.select_dtypes("string"), "string")  # read as pandas keeps them, not as Arrow does
    pd.testing.assert_frame_equal(found.ledger(), ledger.astype(texts))
    assert (set(found.values()), found.values()["cap.vote"]) == ({"cap.vote", RATIO}, values["cap.vote"])
    before = (tmp_path / "ledgers").stat().st_mtime_ns
    assert (attack.fn(release, [CAP, DISTANCE]), (tmp_path / "ledgers").stat().st_mtime_ns) == (found, before)


def test_keys_are_described_beside_the_ledger_and_in_the_mean_of_the_releases(sample):
    """Ages 30, 30, 40, 60 go out; members are 30, 50 and missing-vote 60 in one fold, and 30, 40, 60 in the other."""
    known = replace(sample, quasi_identifiers=("age",))
    ledgers = [attack.fn(released(known, cell=Cell("cart", 0, f), key=str(f)), [CAP]) for f in (0, 1)]
    release, one, two = (KeySizes((*few, 0, 0, 0, 0), 1, lost) for few, lost in (((2, 2), 0), ((1, 1), 1), ((2, 1), 0)))
    assert ledgers[0].keys() == ReleaseKeys(release, one, two)
    found = judge.fn(estimated(known, ledgers)).result.keys
    mean = KeySizes((1.5, 1, 0, 0, 0, 0), 1, 0.5)
    assert found == KAnonymity(("age",), KeySizes((2, 4, 0, 0, 0, 0), 1, 0), {"cart": ReleaseKeys(release, mean, mean)})
    assert judge.fn(estimated(sample, [])).result.keys is None
    assert attack.fn(replace(ledgers[0].release, sample=sample), [CAP]).path != ledgers[0].path


def test_where_each_generator_has_failed_the_limit_is_not_to_blame(sample):
    failures = {MAKER.name: "attack: TypeError"}
    result = judge.fn(replace(estimated(sample, []), failures=failures), {"memorization/zero_cap.vote": 0.1}).result
    assert (result.failures, result.verdict(MAKER.name)) == (failures, "FAILED")


def test_like_studies_of_one_moment_have_ids_of_their_own_that_sort_by_time(sample):
    begun = datetime(2026, 11, 23, 1, 36, 9, 20, UTC)
    nothing = estimated(sample, [])
    ids = [judge.fn(nothing, started=begun + timedelta(microseconds=k)).result.study_id for k in (0, 0, 1, 300_000)]
    assert (len(set(ids)), sorted(ids)[2:]) == (4, ids[2:])
    assert all(re.fullmatch(r"20261123-013609-[0-9a-f]+", each) for each in ids)


def test_other_settings_are_another_ledger(sample):
    release = released(sample)
    again = replace(release, sample=replace(sample, seed=2))
    other = Planned(CAP.measure, {**ROLES, "quasi_identifiers": ["pay"]})
    rapid = [rapid_of("pay", "linear", label="r", tolerance=t) for t in (0.1, 0.2)]
    asked = [(again, [CAP]), (released(sample, key="other"), [CAP])]
    asked += [(release, each) for each in ([CAP], [other], [CAP, other], rapid[:1], rapid[1:])]
    assert len({attack.fn(r, planned).path for r, planned in asked}) == 7


def test_rows_of_one_measure_are_read_alone(sample):
    other = Planned(Measure("cap", "zero_cap", "pay"), {"quasi_identifiers": ["age"], "sensitive": "pay"})
    found = attack.fn(released(sample), [CAP, other])
    whole = found.ledger()
    for planned in (CAP, other):
        rows = found.of(planned.measure, ("record", "score"))
        assert rows["score"].tolist() == whole.loc[whole["sensitive"] == planned.measure.sensitive, "score"].tolist()
        assert rows["record"].tolist() == list(range(6))


PER_PATIENT = [
    Planned(Measure("inference", "inference", "ward"), {"quasi_identifiers": ["age"], "sensitive": "ward"}),
    Planned(Measure("linkability", "linkability"), {"columns_a": ["age"], "columns_b": ["bed"]}),
    Planned(Measure("out", "singling_out"), {"mode": "univariate"}),
    Planned(Measure("coverage", "coverage"), {}),
    Planned(Measure("accuracy", "accuracy"), {}),
]


def test_a_study_counts_the_entities_of_its_identifier(tmp_path):
    rng = np.random.default_rng(0)
    real = pd.DataFrame({c: rng.integers(0, high, 180) for c, high in (("bed", 12), ("ward", 90))})
    real["age"] = np.repeat(rng.integers(0, 60, 60), 3)
    real = real.assign(ward=real["ward"].map("w{}".format), patient=[f"patient-{i // 3}" for i in range(180)])
    release = real.drop(columns="patient").sample(90, random_state=0).reset_index(drop=True)
    held_out = np.arange(180) // 3 % 3 == 0
    sample = sampled(real, np.where(held_out, 0, 1)[None, :], tmp_path, identifier="patient")
    folder = attack.fn(released(sample, table=release), PER_PATIENT)
    found, ledger = folder.values(), folder.ledger()
    members = real[~held_out]
    tables = Tables(real.drop(columns="patient"), release, groups=(~held_out).astype(int), entities=real["patient"])
    for place, planned in enumerate(PER_PATIENT):
        metric, seed = METRICS[planned.measure.metric], seed_of(1, 0, 0, CELL.synthesizer, *planned.words)
        if place > 1:
            score = metric(members, release, identifier="patient", **planned.options, seed=seed)
            assert found[planned.measure.key].value == score.value
            assert score.value != metric(members.drop(columns="patient"), release, **planned.options, seed=seed).value
            continue
        score = metric.score(tables, seed=seed, **planned.options)
        own = ledger[ledger["metric"] == planned.measure.label]
        np.testing.assert_array_equal(own["score"], score.records["score"])
        assert own["claim"].sum() < score.records["attempt"].sum()
    written = [p.read_bytes() for p in (tmp_path / "ledgers").rglob("*") if p.is_file()]
    assert written
    assert not any(b"patient" in text for text in written)
    assert not ledger.astype(str).apply(lambda column: column.str.contains("patient")).any(axis=None)


def test_people_are_counted_as_the_split_keeps_them_together(tmp_path):
    """Names that differ after a NUL alone are two people, and a row without a name is one of its own."""
    names = ["a\0b", "a\0c", "a", "b", "a\0b"]
    for whose, has_entities in ((names, True), ([*names[:4], None], False), ([*names[:3], None, None], False)):
        sample = sampled(pd.DataFrame({"who": whose, "x": range(5)}), PARTS, tmp_path, identifier="who")
        assert len(set(sample.entities())) == sample.how_many_entities() == 5 - has_entities
    assert replace(sample, identifier=None).how_many_entities() == 5
    people = np.arange(12) // 3
    table = pd.DataFrame({"who": people, "x": range(12)})
    for identifier, per_person in (("who", 3), (None, 1)):
        sample = sampled(table, (people == 0)[None], tmp_path, identifier=identifier)
        held = int(sample.held_out(0, 0).sum())
        assert sample.how_many(0, 0) == ((12 - held) // per_person, held // per_person)


def test_a_look_at_a_release_searches_what_its_measures_search():
    rng = np.random.default_rng(4)
    real = pd.DataFrame({"x": rng.normal(size=80), "y": rng.choice(list("abc"), 80)})
    release = real.iloc[rng.integers(80, size=70)].reset_index(drop=True)
    member = pd.array([True] * 80, dtype="boolean")
    tables = tables_of(real, release, member)
    assert look(tables, member, 0) == check_release(real, None, release)
    searched = [key for key in tables._shared if key[0] == "nearest"]
    ledger, said = score_release(tables, member, [DISTANCE], 3, CELL)
    apart = attacked(DISTANCE, member=member, real=real, release=release)
    pd.testing.assert_frame_equal(as_frame(ledger), apart[0])
    assert repr(said) == repr(apart[1])
    assert [key for key in tables._shared if key[0] == "nearest"] == searched  # none was made again
