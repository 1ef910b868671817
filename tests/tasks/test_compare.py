"""Findings beside each other, from ledgers of hand-made scores: against the functions they are made with."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from synthrisk.conf.plan import Planned
from synthrisk.conf.study import NON_MEMBERS, Bootstrap
from synthrisk.metrics import METRICS
from synthrisk.metrics.contributions import Contributions
from synthrisk.metrics.estimates import t_test
from synthrisk.metrics.findings import Interval
from synthrisk.metrics.ledger import Measure
from synthrisk.metrics.results import StudyResult, yardstick_table
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study_yardsticks import beside_control_at_one_size
from synthrisk.tasks.attack import attack_release
from synthrisk.tasks.bootstrap import bootstrap
from synthrisk.tasks.compare import compare
from synthrisk.tasks.contributions import keep_contributions, kept_contributions
from synthrisk.tasks.data.table import store
from synthrisk.tasks.references import LEDGER, VALUES, Cell, Cut, LedgerFolder, Sample
from synthrisk.tasks.store import save_array

N, R, K = 40, 2, 2
ROLES = {"quasi_identifiers": ["a"], "sensitive": "vote"}
CAP = Planned(Measure("cap", "zero_cap", "vote"), ROLES)
FOREST = Planned(Measure("rapid-forest", "rapid", "vote", "forest"), ROLES | {"attacker": "forest"})
LASSO = Planned(Measure("rapid-lasso", "rapid", "vote", "lasso"), ROLES | {"attacker": "lasso"})
STRICT = Planned(Measure("strict", "rapid", "vote", "forest"), ROLES | {"attacker": "forest", "threshold": 0.9})
RATIO = Planned(Measure("nndr", "nearest_neighbour_distance_ratio"), {})
PLANNED = [CAP, FOREST, LASSO, STRICT, RATIO]
CHANCE = {"cap": 0.3, "rapid-forest": 0.4, "rapid-lasso": 0.6, "strict": 0.1}


@pytest.fixture
def sample(tmp_path) -> Sample:
    table = store(pd.DataFrame({"a": np.arange(N), "person": np.arange(N) // 2}), tmp_path)
    save_array(np.zeros((R, N), np.int16), tmp_path / "cut.npy")
    return Sample(table, Cut(str(tmp_path / "cut.npy"), "cut", R, K, 0.0))


def ledgers(folder: Path, name: str, leak: float, planned) -> list[LedgerFolder]:
    """Return ledgers in which members are hit more often by ``leak``; the split is the same for all names."""
    splits, rng = np.random.default_rng(1), np.random.default_rng(sum(map(ord, name)))
    kept = []
    for r in range(R):
        held_out = splits.permutation(N) % K
        for k in range(K):
            member = pd.array(held_out != k, dtype="boolean")
            if name == NON_MEMBERS:
                member[held_out == k] = pd.NA
            parts, values = [], {}
            for p in planned:
                if p is RATIO:
                    names = ("value", "control", "members", "controls")
                    values[p.measure.key] = {n: rng.random() for n in names} | {"reasons": {}, "details": {}}
                    continue
                hit = rng.random(N) < CHANCE[p.measure.label] + leak * (held_out != k)
                names = {
                    c: pd.array([v] * N, dtype="string")
                    for c, v in (("metric", p.measure.label), ("sensitive", "vote"))
                }
                parts.append(pd.DataFrame({"record": np.arange(N), "member": member, **names, "score": hit * 1.0}))
                values[p.measure.key] = {"all": {"guess": 0.25}, "warning": "", "reasons": {}}
            place = folder / f"{name}-{r}-{k}"
            place.mkdir(parents=True)
            pd.concat(parts, ignore_index=True).to_parquet(place / LEDGER)
            (place / VALUES).write_text(json.dumps(values))
            kept.append(LedgerFolder(Cell(name, r, k), str(place)))
    return kept


def compared(sample, folder, names=("cart", "forest", "leaky", "fresh", NON_MEMBERS), shares=None, entities=None):
    roles = {"leaky": "control", "fresh": "control", NON_MEMBERS: "yardstick"}
    leaks = {"cart": 0.2, "leaky": 0.3}
    found, kept = [], {}
    for name in names:
        planned = [p for p in PLANNED if p is not RATIO] if name == NON_MEMBERS else PLANNED
        made = ledgers(folder, name, leaks.get(name, 0.0), planned)
        role, measures = roles.get(name, "synthesizer"), [p.measure for p in planned]
        findings, _, path = bootstrap.fn(name, role, made, measures, sample, [], Bootstrap(), 3, str(folder))
        found += findings
        kept[name] = path
    done = compare.fn(found, kept, PLANNED, sample, shares or {}, Bootstrap(), 3, str(folder))
    return done, {name: kept_contributions(path) for name, path in kept.items()}, found


def test_the_model_is_no_finding_and_the_others_keep_their_numbers(sample, tmp_path):
    done, _, found = compared(sample, tmp_path)
    own = [f for f in found if f.synthesizer != NON_MEMBERS]
    assert [(f.synthesizer, f.measure, f.risk, f.memorization) for f in done.findings] == [
        (f.synthesizer, f.measure, f.risk, f.memorization) for f in own
    ]


def test_three_yardsticks_of_each_guess_and_none_of_a_release(sample, tmp_path):
    done, kept, found = compared(sample, tmp_path)
    for f in done.findings:
        if f.measure == RATIO.measure:
            assert f.yardsticks == {}
            continue
        assert list(f.yardsticks) == ["guess", "control", "model"]
        for each in f.yardsticks.values():
            s = each.success.value
            assert each.gain.value == pytest.approx((f.risk.value - s) / (1 - s), abs=1e-12)
            assert each.difference.value == pytest.approx(f.risk.value - s, abs=1e-12)
        assert f.yardsticks["guess"].success.value == 0.25
        assert f.yardsticks["control"].difference == f.memorization
    (cap,) = [f for f in done.findings if (f.synthesizer, f.measure) == ("cart", CAP.measure)]
    (model,) = [f for f in found if (f.synthesizer, f.measure) == (NON_MEMBERS, CAP.measure)]
    assert cap.model == model.risk
    own = t_test(kept["cart"][CAP.measure.key].risk - kept[NON_MEMBERS][CAP.measure.key].risk).estimate
    assert cap.yardsticks["model"].difference == own


TWO = Planned(Measure("two", "singling_out"), {"columns": ["x", "y"], "size": 2, "attempts": 9})


def right_by_hand(predicates, rows) -> float:
    """C: how many of the claims fit exactly one of the rows."""
    hits = 0
    for predicate in predicates:
        mask = np.ones(len(rows), dtype=bool)
        for column, operator, value in predicate:
            mask &= (rows[column] >= value) if operator == ">=" else (rows[column] <= value)
        hits += mask.sum() == 1
    return hits / len(predicates)


def luck_by_hand(predicate, rows) -> float:
    """S of a claim: the chance that a predicate of its weight fits exactly one of the rows."""
    weight = 1.0
    for column in "xy":
        mask = np.ones(len(rows), dtype=bool)
        for _, operator, value in (p for p in predicate if p[0] == column):
            mask &= (rows[column] >= value) if operator == ">=" else (rows[column] <= value)
        weight *= mask.mean()
    return len(rows) * weight * (1 - weight) ** (len(rows) - 1)


def singled_out(folder: Path):
    """Ledgers of releases with some members, S of each, and C by all subsamples: (R, K) on members, on controls."""
    rng = np.random.default_rng(2)
    real = pd.DataFrame({c: rng.integers(0, 12, 20) for c in "xy"})
    made, x, s, luck = [], np.empty((R, K)), np.empty((R, K)), np.empty((R, K))
    for r in range(R):
        held_out = rng.permutation(20) % K
        for k in range(K):
            rows, others = np.flatnonzero(held_out != k), np.flatnonzero(held_out == k)
            release = pd.concat([real.iloc[rows[:7]], real.iloc[others[:2]]], ignore_index=True)
            cell = Cell("cart", r, k)
            ledger, values = attack_release(real, release, pd.array(held_out != k, dtype="boolean"), [TWO], 3, cell)
            own = seed_of(3, r, k, "cart", *TWO.words)
            score = METRICS["singling_out"](real.iloc[rows], release, seed=own, **TWO.options)
            claims = [p for p in score.records["predicate"] if p is not None]
            luck[r, k] = np.mean([luck_by_hand(p, real.iloc[rows]) for p in claims])
            assert len(claims) >= 3
            size = len(others) // 2
            subsamples = [right_by_hand(claims, real.iloc[list(c)]) for c in combinations(rows, size)]
            drawn = np.random.default_rng(own).choice(others, size, replace=False)
            x[r, k], s[r, k] = np.mean(subsamples), right_by_hand(claims, real.iloc[drawn])
            place = folder / f"two-{r}-{k}"
            place.mkdir()
            ledger.to_parquet(place / LEDGER)
            (place / VALUES).write_text(json.dumps(values))
            made.append(LedgerFolder(cell, str(place)))
    return made, x, s, luck


def t_interval(values):
    """Mean and 95 % interval of numbers that are one a repetition."""
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return np.mean(values), np.mean(values) - half, np.mean(values) + half


def test_singling_out_stands_beside_control_at_one_size(sample, tmp_path):
    """x and s by all subsamples of members and by plain counts, G and x - s from them, intervals over splits."""
    made, x, s, luck = singled_out(tmp_path)
    found, _, path = bootstrap.fn("cart", "synthesizer", made, [TWO.measure], sample, [], Bootstrap(), 3, str(tmp_path))
    (f,) = compare.fn(found, {"cart": path}, [TWO], sample, {}, Bootstrap(), 3, str(tmp_path)).findings
    assert list(f.yardsticks) == ["guess", "control"]
    guess = f.yardsticks["guess"]
    assert guess.success.value == f.guess == pytest.approx(luck.mean(), abs=1e-12)
    assert guess.difference.value == pytest.approx(f.risk.value - luck.mean(), abs=1e-12)
    for end in ("value", "lower", "upper"):
        assert getattr(guess.gain, end) == pytest.approx((getattr(f.risk, end) - f.guess) / (1 - f.guess), abs=1e-12)
    beside = f.yardsticks["control"]
    for each, by_hand in ((beside.attack, x), (beside.success, s), (beside.difference, x - s)):
        expected = t_interval(by_hand.mean(axis=1))
        assert (each.value, each.lower, each.upper) == pytest.approx(expected, abs=1e-9)
    assert s.mean() > 0
    assert beside.gain.value == pytest.approx((x.mean() - s.mean()) / (1 - s.mean()), abs=1e-9)
    slope = 1 / (1 - s.mean()), (1 - x.mean()) / (1 - s.mean()) ** 2
    linear = slope[0] * (x - x.mean()) - slope[1] * (s - s.mean())
    half = t_interval(linear.mean(axis=1))[2]
    assert beside.gain.upper - beside.gain.value == pytest.approx(half, abs=1e-9)
    assert beside.gain.note == "members and control records counted at one size"
    assert beside.difference == f.memorization
    assert f.risk.value > beside.attack.value + 0.1  # of all members more are alone than of half as many
    assert np.isnan(f.risk_control.value)
    assert f.risk_control.note.endswith("the control yardstick has both at one size")
    told = [f.details[name][0] for name in ("common_size", "members_at_common_size", "control")]
    assert told == pytest.approx([5, x.mean(), s.mean()])
    _, row = yardstick_table(StudyResult("s", "s", [f], [], [])).to_dict("records")
    assert row["risk"] == beside.attack.value
    assert (row["risk"] - row["success"]) / (1 - row["success"]) == pytest.approx(row["gain"])


def test_control_at_one_size_without_claims_or_always_right():
    nothing = np.full((2, 2), np.nan)
    assert beside_control_at_one_size(nothing, nothing, Interval()) is None
    certain = beside_control_at_one_size(np.full((2, 2), 0.5), np.ones((2, 2)), Interval())
    assert np.isnan(certain.gain.value)
    assert certain.gain.note == "the yardstick is always right: no gain is possible"
    assert certain.difference.value == -0.5
    lone = beside_control_at_one_size(np.array([[0.5, np.nan]]), np.array([[0.25, np.nan]]), Interval())
    assert (lone.attack.value, lone.success.value, lone.gain.value) == (0.5, 0.25, pytest.approx(1 / 3))
    assert np.isnan(lone.gain.lower)
    half = beside_control_at_one_size(np.array([[0.5, 0.7]]), np.array([[0.25, np.nan]]), Interval())
    assert (half.attack.value, half.difference.value) == (0.5, 0.25)  # of releases that have both


def test_the_best_model_is_that_of_the_best_attacker_with_the_same_options(sample, tmp_path):
    done, _, found = compared(sample, tmp_path)
    alone = {f.measure.label: f.risk.value for f in found if f.synthesizer == NON_MEMBERS}
    best = {f.measure.label: f.model.value for f in done.findings if f.synthesizer == "cart" and f.yardsticks}
    assert best["rapid-forest"] == best["rapid-lasso"] == max(alone["rapid-forest"], alone["rapid-lasso"])
    assert best["strict"] == alone["strict"]
    assert best["cap"] == alone["cap"]


def test_without_the_model_two_yardsticks_are_left(sample, tmp_path):
    done, _, _ = compared(sample, tmp_path, names=("cart", "forest"))
    assert {tuple(f.yardsticks) for f in done.findings if f.measure != RATIO.measure} == {("guess", "control")}


def test_pairs_are_of_synthesizers_alone(sample, tmp_path):
    done, kept, _ = compared(sample, tmp_path)
    assert {(c.first, c.second) for c in done.comparisons} == {("cart", "forest")}
    assert [c.measure for c in done.comparisons] == [p.measure for p in PLANNED for _ in range(2)]
    first = done.comparisons[0]
    own = t_test(kept["cart"][CAP.measure.key].risk - kept["forest"][CAP.measure.key].risk)
    assert (first.difference, first.p_value) == (own.estimate, own.p_value)
    assert compared(sample, tmp_path / "one", names=("cart",))[0].comparisons == []


def test_a_measure_of_releases_is_compared_in_what_its_findings_say(sample, tmp_path):
    done, _, _ = compared(sample, tmp_path)
    found = {f.synthesizer: f for f in done.findings if f.measure == RATIO.measure}
    rows = [c for c in done.comparisons if c.measure == RATIO.measure]
    assert [c.quantity for c in rows] == ["risk", "memorization"]
    for row in rows:
        one, other = (getattr(found[n], row.quantity).value for n in ("cart", "forest"))
        assert row.difference.value == pytest.approx(one - other, abs=1e-12)


def test_a_synthesizer_more_moves_no_difference(sample, tmp_path):
    one = compared(sample, tmp_path)[0].comparisons
    two = compared(sample, tmp_path / "more", names=("cart", "forest", "third", "fresh"))[0].comparisons
    known = {(c.measure, c.quantity): (c.difference, c.p_value) for c in one}
    again = {
        (c.measure, c.quantity): (c.difference, c.p_value) for c in two if (c.first, c.second) == ("cart", "forest")
    }
    assert known == again


def test_power_is_told_where_shares_are_given(sample, tmp_path):
    assert compared(sample, tmp_path)[0].powers == {}
    done, _, _ = compared(sample, tmp_path / "power", shares={"leaky": 0.1, "fresh": 0.0})
    assert set(done.powers) == {p.measure.key for p in PLANNED}
    assert [share for share, _ in done.powers[CAP.measure.key].seen] == [0.1]


def test_entities_count_once(sample, tmp_path):
    alone = compared(sample, tmp_path)[0].comparisons[0]
    together = compared(Sample(sample.table, sample.cut, "person"), tmp_path / "e")[0].comparisons[0]
    assert together.difference.value == alone.difference.value
    assert together.difference.upper != alone.difference.upper


def test_contributions_come_back_whatever_the_measure_is_called(tmp_path):
    made = Contributions(*(np.random.default_rng(i).random((2, 3)) for i in range(3)))
    given = {"a/../b.größe [cm]": made, "x": np.ones((3, 2, 2)), "empty": Contributions(*[np.empty((2, 0))] * 3)}
    found = kept_contributions(keep_contributions(tmp_path / "c.npz", given))
    assert list(found) == list(given)
    for part in ("risk", "control", "memorization"):
        np.testing.assert_array_equal(getattr(found["a/../b.größe [cm]"], part), getattr(made, part))
    np.testing.assert_array_equal(found["x"], np.ones((3, 2, 2)))
    assert (tmp_path / "c.npz").stat().st_mode & 0o077 == 0
