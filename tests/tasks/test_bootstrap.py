import json
from dataclasses import asdict, replace
from functools import wraps
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from samples.checks import keep_ledger as keep
from samples.studies import ledger_in, sampled
from synthrisk.conf.study import Bootstrap
from synthrisk.metrics import METRICS
from synthrisk.metrics.exposure.single_records import vulnerable
from synthrisk.metrics.intervals.epsilon import epsilon_lower_bound
from synthrisk.metrics.intervals.estimates import METHODS
from synthrisk.metrics.intervals.rates import attack_summary
from synthrisk.metrics.intervals.yardsticks import CURVE, TOLERANCES
from synthrisk.metrics.study.estimation import find_all
from synthrisk.metrics.study.ledger import Cell, Measure, OfRecords, OfRelease, Planned, Reasons, values_from_plain
from synthrisk.metrics.study.scoring import attack_release
from synthrisk.tasks.bootstrap import bootstrap
from synthrisk.tasks.workspace.references import LEDGER, VALUES, Sample

N, REPETITIONS, FOLDS = 12, 3, 2
CAP = Measure("cap", "zero_cap", "vote")
RAPID = Measure("rapid", "rapid", "vote", "logistic")
MEMBERS, CLOSEST = (Measure(name, name) for name in ("membership", "distance_to_closest_record"))
RATIO = Measure("nearest_neighbour_distance_ratio", "nearest_neighbour_distance_ratio")


def said_by_hand(r: int, k: int):
    apart = {"unseen_keys": 0.1 * k}, {"unseen_keys": 0.2 + 0.1 * k}
    told = {"guess": 0.4, "mean_gain": 0.1, "curve_0.00": 0.3, "wilson_lower": 0.2, "null_real_p_value": 0.1}
    ratio = 0.8 + 0.01 * r + 0.1 * k
    release = {"controls": 0.7 + 0.02 * r, "control": float("nan"), "reasons": Reasons(controls="other sizes")}
    return {
        CAP.key: OfRecords({"guess": 0.5 + 0.01 * r, "unseen_keys": 0.9}, members=apart[0], controls=apart[1]),
        RAPID.key: OfRecords(told, gains=True, reasons=Reasons(members="no member"), warning="mind"),
        RATIO.key: OfRelease(ratio, members=ratio, details={"attempts": 10.0 + r, "selective_1": 0.5}, **release),
    }


def made_ledgers(folder: Path, holes: bool = False) -> tuple[list[tuple[Path, Cell]], pd.DataFrame]:
    rng = np.random.default_rng(5)
    kept, frames = [], []
    for r in range(REPETITIONS):
        held_out = rng.permutation(N) % FOLDS
        for k in range(FOLDS):
            parts = []
            for measure in (CAP, RAPID):
                gain = rng.uniform(-1, 1, N)
                score = rng.random(N).round(2) if measure is CAP else (gain > 0.3).astype(float)
                member = pd.array(held_out != k, dtype="boolean")
                if holes:
                    score[rng.random(N) < 0.2] = np.nan
                    member[np.flatnonzero(held_out == k)[:2]] = pd.NA
                names = {"metric": measure.label, "sensitive": "vote"}
                texts = {name: pd.array([text] * N, dtype="string") for name, text in names.items()}
                numbers = {"score": score, "gain": gain if measure is RAPID else np.full(N, np.nan)}
                parts.append(pd.DataFrame({"record": np.arange(N), "member": member, **texts, **numbers}))
            frame = pd.concat(parts, ignore_index=True)
            kept.append((keep(folder / f"{r}-{k}", said_by_hand(r, k), frame), Cell("cart", r, k)))
            frames.append(frame.assign(r=r, k=k))
    return kept, pd.concat(frames, ignore_index=True)


def sample_of(rows: int, repetitions: int, folder: Path) -> Sample:
    numbers = np.arange(rows)
    table = pd.DataFrame({"a": numbers, "person": numbers // 2, "vote": ["yes", "no"] * (rows // 2)})
    return sampled(table, np.zeros((repetitions, rows)), folder)


@pytest.fixture
def sample(tmp_path) -> Sample:
    return sample_of(N, REPETITIONS, tmp_path)


def findings(ledgers, sample, measures=(CAP, RAPID, RATIO), **settings):
    known = replace(sample, quasi_identifiers=("a",))
    found = bootstrap.fn([ledger_in(p, known, cell, measures) for p, cell in ledgers], Bootstrap(**settings))
    return {f.measure: f for f in found.findings}, pd.read_parquet(found.exposed)


@pytest.fixture(scope="module", params=[False, True], ids=["whole", "with holes"])
def made(request, tmp_path_factory):
    """Give ledgers that no test changes, all their rows, what is found in them, and the exposed records."""
    folder = tmp_path_factory.mktemp("made")
    ledgers, rows = made_ledgers(folder, request.param)
    return ledgers, rows, *findings(ledgers, sample_of(N, REPETITIONS, folder))


whole = pytest.mark.parametrize("made", [False], indirect=True)


def said_in(ledger):
    return values_from_plain(json.loads((ledger[0] / VALUES).read_text()))


def chosen(rows: pd.DataFrame, measure: Measure, member: bool) -> pd.DataFrame:
    rows = rows[(rows["metric"] == measure.label) & rows["score"].notna()]
    return rows[(rows["member"] == member).fillna(False).astype(bool)]


@pytest.mark.parametrize("measure", [CAP, RAPID], ids=lambda m: m.label)
def test_risk_is_the_mean_over_repetitions_of_the_mean_over_records(made, measure):
    _, rows, found, _ = made
    found = found[measure]
    for estimate, member in ((found.risk, True), (found.risk_control, False)):
        by_hand = np.mean([chosen(rows[rows.r == r], measure, member)["score"].mean() for r in range(REPETITIONS)])
        assert estimate.value == pytest.approx(by_hand, abs=1e-12)
        assert estimate.lower < estimate.value < estimate.upper
    assert found.memorization.value == pytest.approx(found.risk.value - found.risk_control.value, abs=1e-12)
    assert (found.synthesizer, found.role) == ("cart", "synthesizer")


@whole
def test_values_of_releases_are_in_order_and_a_release_level_metric_is_judged_over_repetitions(made):
    _, rows, found, _ = made
    by_hand = [
        chosen(rows[(rows.r == r) & (rows.k == k)], CAP, True)["score"].mean()
        for r, k in np.ndindex(REPETITIONS, FOLDS)
    ]
    assert found[CAP].release_risk == pytest.approx(by_hand, abs=1e-12)
    found = made[2][RATIO]
    assert (found.risk.value, found.memorization.value) == pytest.approx((0.86, 0.14))
    assert np.isnan(found.risk_control.value)  # its groups have another size: only the difference is told
    assert found.release_risk == pytest.approx([0.8, 0.9, 0.81, 0.91, 0.82, 0.92])
    assert found.details["attempts"] == pytest.approx((11, float("nan")), nan_ok=True)
    assert set(found.details) == {"attempts", "selective_1"}  # limits of one release are none of a study


def told(found) -> str:
    return repr([asdict(each) for each in found.values()])


def test_findings_are_found_again_to_the_bit_and_made_anew_where_anything_is_asked_otherwise(
    sample, tmp_path, monkeypatch
):
    ledgers, _ = made_ledgers(tmp_path, holes=True)
    calls = []

    def counted(*given, **named):
        calls.append(find_all(*given, **named))
        return calls[-1]

    monkeypatch.setattr("synthrisk.tasks.bootstrap.find_all", counted)
    first, second = (findings(ledgers, sample)[0] for _ in range(2))
    assert len(calls) == 1
    assert told(first) == told(second) == told({f.measure: f for f in calls[0].findings})
    findings(ledgers, sample, confidence=0.8)
    findings(ledgers, sample, measures=(CAP,))
    findings(ledgers, replace(sample, seed=2))
    back, _ = findings(ledgers[::-1], sample)
    assert len(calls) == 5
    for measure, found in first.items():  # the order of the ledgers does not matter
        assert (found.risk.value, found.release_risk) == (back[measure].risk.value, back[measure].release_risk)


@whole
def test_guess_and_details_are_means_over_releases_of_members_and_controls(made):
    found = made[2]
    cap = found[CAP]
    assert (cap.guess, cap.risk_gain.value) == (pytest.approx(0.51), pytest.approx((cap.risk.value - 0.51) / 0.49))
    assert cap.details["unseen_keys"] == pytest.approx((0.05, 0.25))
    assert cap.details["guess"] == pytest.approx((0.51, 0.51))  # said of all: stands for both
    assert (set(found[RAPID].details), cap.warning, found[RAPID].warning) == ({"guess", "mean_gain"}, "", "mind")
    assert "no member" not in found[RAPID].risk.note  # it has a value


def test_guess_of_claims_is_that_of_the_claims_about_members(sample, tmp_path):
    ledgers, _ = made_ledgers(tmp_path)
    for each, luck in zip(ledgers, (0.2, 0.4, float("nan"), 0.6), strict=False):  # without claims there is none
        values = said_in(each)
        own = values[CAP.key]
        keep(each[0], values | {CAP.key: replace(own, members=own.members | {"guess": luck})})
    said = [0.2, 0.4, 0.6, *(0.5 + 0.01 * cell.repetition for _, cell in ledgers[4:])]
    assert findings(ledgers, sample)[0][CAP].guess == pytest.approx(np.mean(said))


def test_why_a_measure_has_no_value_is_handed_on(sample, tmp_path):
    ledgers, _ = made_ledgers(tmp_path)
    for each in ledgers:
        values = said_in(each)
        lost = replace(values[RATIO.key], value=float("nan"), reasons=Reasons(members="one record"))
        keep(each[0], values | {RATIO.key: lost}, pd.read_parquet(each[0] / LEDGER).assign(score=np.nan))
    found = findings(ledgers, sample)[0]
    assert [found[m].risk.note for m in (CAP, RAPID, RATIO)] == ["not scored", "no member", "one record"]


@whole
def test_curve_is_the_mean_share_of_members_above_each_threshold(made):
    _, rows, found, _ = made
    assert found[CAP].curve == ()
    parts = [part["gain"] for _, part in chosen(rows, RAPID, True).groupby(["r", "k"])]
    by_hand = [np.mean([sum(g > threshold for g in gains) / len(gains) for gains in parts]) for threshold in CURVE]
    assert [e.value for e in found[RAPID].curve] == pytest.approx(by_hand, abs=1e-12)
    assert all(e.lower <= e.value <= e.upper for e in found[RAPID].curve)
    at_default = found[RAPID].curve[6]  # the threshold of the measure itself: the same estimate
    assert (at_default.lower, at_default.upper) == pytest.approx((found[RAPID].risk.lower, found[RAPID].risk.upper))


def test_the_curve_of_a_number_is_the_mean_share_of_members_nearer_than_each_tolerance(sample, tmp_path):
    ledgers, _ = made_ledgers(tmp_path)
    rng, parts = np.random.default_rng(6), []
    for each in ledgers:
        frame = pd.read_parquet(each[0] / LEDGER)
        frame["error"] = np.where(rng.random(len(frame)) < 0.2, np.nan, rng.uniform(0, 0.6, len(frame)))
        parts.append(frame.assign(r=each[1].repetition, k=each[1].fold))
        values = said_in(each)
        own = replace(values[RAPID.key], all={"tolerance": 0.1}, gains=False, errors=True)
        keep(each[0], values | {RAPID.key: own}, frame.assign(gain=np.nan))
    found, exposed = findings(ledgers, sample)
    found = found[RAPID]
    own = chosen(pd.concat(parts, ignore_index=True), RAPID, True)
    for place, (tolerance, point) in enumerate(zip(found.curve_at, found.curve, strict=True)):
        assert tolerance == pytest.approx(0.025 * (place + 1))
        of_repetitions = []
        for r in range(REPETITIONS):  # the mean over the records of a repetition, each of which is a member once here
            near, known = 0, 0
            for error in own.loc[own["r"] == r, "error"]:
                near, known = near + (error < tolerance), known + (not np.isnan(error))
            of_repetitions.append(near / known)
        assert point.value == pytest.approx(np.mean(of_repetitions), abs=1e-12)
        assert point.lower <= point.value <= point.upper
    assert len(found.curve) == len(TOLERANCES)
    errors = exposed[exposed["measure"] == RAPID.key].set_index("record")["error_as_member"]
    for i in range(N):
        known = [row.error for row in own.itertuples() if row.record == i and row.error == row.error]
        assert errors[i] == pytest.approx(sum(known) / len(known), abs=1e-12)


def test_exposed_records_against_a_plain_loop(made):
    _, rows, _, exposed = made
    assert len(exposed) == 2 * N  # the distance has no record
    for measure in (CAP, RAPID):
        own = exposed[exposed["measure"] == measure.key].set_index("record")
        for i in range(N):
            all_of = rows[(rows["metric"] == measure.label) & (rows["record"] == i)]
            a, b = (chosen(all_of, measure, member)["score"].mean() for member in (True, False))
            shown = own.loc[i, ["as_member", "as_control", "memorization"]].to_numpy(float)
            np.testing.assert_allclose(shown, [a, b, a - b])
            gains = [all_of.loc[all_of["member"].eq(member).fillna(False), "gain"].mean() for member in (True, False)]
            shown = own.loc[i, ["gain_as_member", "gain_as_control"]].to_numpy(float)
            np.testing.assert_allclose(shown, gains, rtol=0, atol=1e-12)
        assert own[["error_as_member", "error_as_control"]].isna().all(axis=None)


def test_another_method_or_confidence_has_another_interval(sample, tmp_path):
    ledgers, _ = made_ledgers(tmp_path)
    found = findings(ledgers, sample, method="pigeonhole")[0][CAP]
    assert set(found.intervals["risk"]) == set(found.intervals["memorization"]) == set(METHODS)
    assert (found.risk.method, found.risk) == ("pigeonhole", found.intervals["risk"]["pigeonhole"])
    narrow, wide = (findings(ledgers, sample, confidence=c)[0][CAP].risk for c in (0.8, 0.99))
    assert wide.lower < narrow.lower < narrow.upper < wide.upper


def test_entities_make_the_interval_of_repeated_records_wider(sample, tmp_path):
    ledgers = made_ledgers(tmp_path)[0]
    for each in ledgers:  # both records of an entity score the same
        frame = pd.read_parquet(each[0] / LEDGER)
        frame["score"] = frame["score"].iloc[(frame.index // 2) * 2].to_numpy()
        frame.to_parquet(each[0] / LEDGER)
    alone, together = (findings(ledgers, replace(sample, identifier=i))[0][CAP].risk for i in (None, "person"))
    assert together.value == alone.value
    assert together.upper - together.lower > alone.upper - alone.lower


def test_a_weighted_measure_has_the_values_of_its_metric(sample, tmp_path):
    rng = np.random.default_rng(0)
    real = pd.DataFrame({"a": rng.integers(0, 3, N), "b": rng.integers(0, 2, N)})
    measure = Measure("inference", "attribute_inference_risk", "b")
    planned = Planned(measure, {"quasi_identifiers": ["a"], "sensitive": "b"})
    ledgers, expected = [], []
    for r in range(REPETITIONS):
        held_out = rng.permutation(N) % FOLDS
        for k in range(FOLDS):
            release = pd.DataFrame({"a": rng.integers(0, 3, 9), "b": rng.integers(0, 2, 9)})
            member, cell = pd.array(held_out != k, dtype="boolean"), Cell("cart", r, k)
            ledger, values = attack_release(real, release, member, [planned], 0, cell)
            own, other = real[held_out != k], real[held_out == k]
            score = METRICS["attribute_inference_risk"](own, release, control=other, **planned.options)
            expected.append((score.value, score.details["control"]))
            ledgers.append((keep(tmp_path / f"weighted-{r}-{k}", values, ledger), cell))
    found = findings(ledgers, sample, [measure])[0][measure]
    risks, controls = zip(*expected, strict=True)
    np.testing.assert_allclose(found.release_risk, risks, atol=1e-12)
    assert found.risk.value == pytest.approx(np.mean(risks), abs=0.02)
    assert found.risk_control.value == pytest.approx(np.mean(controls), abs=0.02)


def ranked_ledgers(folder: Path, n: int = 600) -> tuple[list[tuple[Path, Cell]], pd.DataFrame]:
    """Return ledgers of two metrics that rank records, with abstentions, and all their rows in one frame."""
    rng, kept, frames = np.random.default_rng(2), [], []
    for r, k in np.ndindex(2, 2):
        held_out = np.random.default_rng(r).permutation(n) % 2 == k
        frame = pd.DataFrame({"record": np.arange(n), "member": pd.array(~held_out, dtype="boolean")})
        sure = rng.normal(size=n).round(1) + 3 * ~held_out
        unsure = rng.random(n) < 0.1
        score = np.where(rng.random(n) < 0.1, np.nan, 0.5)
        parts = {
            MEMBERS: {"score": score, "confidence": np.where(unsure, np.nan, sure)},
            CLOSEST: {"score": 0.5, "distance": np.exp(-sure)},
            CAP: {"score": score},
        }
        rows = pd.concat([frame.assign(metric=m.label, sensitive=m.sensitive, **c) for m, c in parts.items()])
        values = {m.key: OfRecords({"unseen_keys": 0.0}) for m in parts}
        place = keep(folder / f"ranked-{r}-{k}", values, rows.astype({"metric": "string", "sensitive": "string"}))
        kept.append((place, Cell("cart", r, k)))
        frames.append(rows.assign(r=r, k=k))
    return kept, pd.concat(frames)


def test_members_found_are_those_of_all_releases_in_one(tmp_path):
    ledgers, rows = ranked_ledgers(tmp_path)
    found = findings(ledgers, sample_of(600, 2, tmp_path), [MEMBERS, CLOSEST, CAP])[0]
    for measure, likely in ((MEMBERS, rows["confidence"].fillna(-np.inf)), (CLOSEST, -rows["distance"])):
        own = rows.assign(likely=likely)
        parts = [chosen(own, measure, member) for member in (True, False)]
        summary = attack_summary(*(p["likely"].to_numpy() for p in parts))
        expected = max(summary.rates[0.01], summary.missing[0.01], key=lambda e: e.value)
        rates = found[measure].tpr
        assert (list(rates), rates[0.01].value) == ([0.01, 0.001], pytest.approx(expected.value, abs=1e-12))
        assert rates[0.01].lower < rates[0.01].value < rates[0.01].upper
        assert rates[0.001].note == "fewer than 10000 control scores"
        first = [p[p["k"] == 0] for p in parts]
        by_split = [[own["likely"].to_numpy() for _, own in p.groupby("r")] for p in first]
        bound = epsilon_lower_bound(*by_split, 2 / len(first[0]))
        assert found[measure].epsilon == bound
        assert bound.epsilon > 1
    assert (found[CAP].tpr, found[CAP].epsilon) == ({}, None)


def test_who_is_vulnerable_is_found_once_for_all_generators(sample, tmp_path, monkeypatch):
    ledgers, _ = made_ledgers(tmp_path)
    first, _ = findings(ledgers, sample)
    (kept,) = (tmp_path / "vulnerable").iterdir()
    with np.load(kept) as groups:
        rows = dict(groups)
    counts = {name: int(own.details["records"][0]) for name, own in first[CAP].groups.items() if name in rows}
    assert {name: int(own.sum()) for name, own in rows.items()} == counts
    monkeypatch.setattr("synthrisk.tasks.bootstrap.vulnerable", wraps(vulnerable)(lambda *_: 1 / 0))
    again, _ = findings(ledgers, sample)  # would fail if it were computed a second time
    assert repr(again[CAP].groups) == repr(first[CAP].groups)
    with pytest.raises(Exception, match="ZeroDivisionError"):
        findings(ledgers, sample, vulnerable=0.2)
