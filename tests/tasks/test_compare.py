from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from samples.checks import keep_ledger
from samples.studies import ledger_in, sampled
from synthrisk.conf.study import NON_MEMBERS, Bootstrap
from synthrisk.metrics import METRICS
from synthrisk.metrics.intervals.estimates import t_test
from synthrisk.metrics.intervals.moderated_intervals import moderate
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.comparison import compare as pairs
from synthrisk.metrics.study.ledger import Cell, Contributions, Measure, OfRecords, OfRelease, Planned, ReleasedValues
from synthrisk.metrics.study.scoring import attack_release
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.metrics.verdicts.tables import yardstick_table
from synthrisk.tasks.bootstrap import bootstrap
from synthrisk.tasks.compare import compare
from synthrisk.tasks.workspace.records import keep_contributions, kept_contributions
from synthrisk.tasks.workspace.references import Sample
from synthrisk.tasks.workspace.store import save_array

N, R, K = 40, 2, 2
ROLES = {"quasi_identifiers": ["a"], "sensitive": "vote"}
CAP = Planned(Measure("cap", "zero_cap", "vote"), ROLES)
FOREST = Planned(Measure("rapid-forest", "rapid", "vote", "forest"), ROLES | {"attacker": "forest"})
LASSO = Planned(Measure("rapid-lasso", "rapid", "vote", "lasso"), ROLES | {"attacker": "lasso"})
STRICT = Planned(Measure("strict", "rapid", "vote", "forest"), ROLES | {"attacker": "forest", "threshold": 0.9})
RATIO = Planned(Measure("nndr", "nearest_neighbour_distance_ratio"), {})
PLANNED = [CAP, FOREST, LASSO, STRICT, RATIO]
CHANCE = {"cap": 0.3, "rapid-forest": 0.4, "rapid-lasso": 0.6, "strict": 0.1}


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> Sample:
    folder, rows = tmp_path_factory.mktemp("sample"), np.arange(N)
    table = pd.DataFrame({"a": rows, "person": rows // 2, "vote": np.where(rows % 2, "yes", "no")})
    return sampled(table, np.zeros((R, N)), folder)


def ledgers(folder: Path, name: str, leak: float, planned) -> list[tuple[Path, Cell]]:
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
                    values[p.measure.key] = OfRelease(**{n: rng.random() for n in names})
                    continue
                hit = rng.random(N) < CHANCE[p.measure.label] + leak * (held_out != k)
                texts = {"metric": p.measure.label, "sensitive": "vote"}
                names = {c: pd.array([v] * N, dtype="string") for c, v in texts.items()}
                parts.append(pd.DataFrame({"record": np.arange(N), "member": member, **names, "score": hit * 1.0}))
                values[p.measure.key] = OfRecords({"guess": 0.25, "unseen_keys": 0.0})
            place = keep_ledger(folder / f"{name}-{r}-{k}", values, pd.concat(parts, ignore_index=True))
            kept.append((place, Cell(name, r, k)))
    return kept


@pytest.fixture(scope="module")
def compared(sample, tmp_path_factory):
    roles = {"leaky": "reference", "fresh": "reference", NON_MEMBERS: "yardstick"}
    leaks = {"cart": 0.2, "leaky": 0.3}

    @cache
    def made(names=("cart", "forest", "leaky", "fresh", NON_MEMBERS), shares=(), identifier=None, method="moderated"):
        folder = tmp_path_factory.mktemp("compared")
        own, settings = replace(sample, workspace=str(folder), identifier=identifier), Bootstrap(method=method)
        found = []
        for name in names:
            planned = [p for p in PLANNED if p is not RATIO] if name == NON_MEMBERS else PLANNED
            by = {"role": roles.get(name, "synthesizer"), "leaked": dict(shares).get(name)}
            kept = ledgers(folder, name, leaks.get(name, 0.0), planned)
            found.append(bootstrap.fn([ledger_in(place, own, cell, planned, **by) for place, cell in kept], settings))
        done = compare.fn(found, own, [f.generator for f in found], settings, power=True).compared
        contributions = {f.name: kept_contributions(f.contributions) for f in found}
        return done, contributions, [each for f in found for each in f.findings]

    return made


def test_by_default_intervals_are_moderated_by_the_findings_of_their_kind(compared):
    done, _, found = compared()
    own = [f for f in found if f.synthesizer != NON_MEMBERS]
    for quantity in ("risk", "risk_control", "memorization"):
        made = moderate([getattr(f, quantity) for f in own], 0.9)
        assert [getattr(f, quantity) for f in done.findings] == made
        assert {e.method for e in made} == {"moderated", "repetitions"}
    population = moderate([f.risk for f in found if f.synthesizer == NON_MEMBERS], 0.9)
    cart = {f.measure: f for f in done.findings if f.synthesizer == "cart"}
    assert cart[CAP.measure].population == population[0]
    crossed = compared(method="crossed")[0]
    for name in ("control", "population"):
        beside = [[f.yardsticks[name] for f in d.findings if f.yardsticks] for d in (done, crossed)]
        assert [y.gain for y in beside[0]] == moderate([y.gain for y in beside[1]], 0.9)
        assert [y.difference for y in beside[0]] == moderate([y.difference for y in beside[1]], 0.9)
    for f in done.findings:
        if f.yardsticks:
            assert (f.yardsticks["guess"].gain, f.intervals["risk"]["moderated"]) == (f.risk_gain, f.risk)
    assert all("moderated" in f.intervals["risk"] for f in crossed.findings if f.yardsticks)
    assert {f.risk.method for f in crossed.findings} == {"crossed", "repetitions"}


def test_the_population_is_no_finding_and_the_others_keep_their_numbers_beside_three_yardsticks_of_each_guess(compared):
    done, kept, found = compared(method="crossed")
    own = [f for f in found if f.synthesizer != NON_MEMBERS]
    told = [[(f.synthesizer, f.measure, f.risk, f.memorization) for f in each] for each in (done.findings, own)]
    assert told[0] == told[1]
    for f in done.findings:
        if f.measure == RATIO.measure:
            assert f.yardsticks == {}
            continue
        assert list(f.yardsticks) == ["guess", "control", "population"]
        for each in f.yardsticks.values():
            s = each.success.value
            assert each.gain.value == pytest.approx((f.risk.value - s) / (1 - s), abs=1e-12)
            assert each.difference.value == pytest.approx(f.risk.value - s, abs=1e-12)
        assert (f.yardsticks["guess"].success.value, f.yardsticks["control"].difference) == (0.25, f.memorization)
    (cap,) = [f for f in done.findings if (f.synthesizer, f.measure) == ("cart", CAP.measure)]
    (population,) = [f for f in found if (f.synthesizer, f.measure) == (NON_MEMBERS, CAP.measure)]
    assert cap.population == population.risk
    own = t_test(kept["cart"][CAP.measure.key].risk - kept[NON_MEMBERS][CAP.measure.key].risk, 0.9).estimate
    assert cap.yardsticks["population"].difference == own
    without = compared(names=("cart", "forest"))[0].findings
    assert {tuple(f.yardsticks) for f in without if f.measure != RATIO.measure} == {("guess", "control")}


TWO = Planned(Measure("two", "singling_out"), {"columns": ["x", "y"], "size": 2, "attempts": 9})


def luck_by_hand(predicate, rows) -> float:
    weight = 1.0
    for column in "xy":
        weight *= len(fulfilling_by_hand([c for c in predicate if c[0] == column], rows)) / len(rows)
    return len(rows) * weight * (1 - weight) ** (len(rows) - 1)


def fulfilling_by_hand(predicate, rows) -> np.ndarray:
    mask = np.ones(len(rows), dtype=bool)
    for column, operator, value in predicate:
        cells = rows[column].to_numpy()
        mask &= {">=": cells >= value, "<=": cells <= value, "==": cells == value}[operator]
    return np.flatnonzero(mask)


def singled_out(folder: Path, leaked: int = 7):
    """Ledgers of releases with some members, values and S of each (R, K), and whom the claims isolate, by release."""
    rng = np.random.default_rng(2)
    real = pd.DataFrame({c: rng.integers(0, 12, 20) for c in "xy"})
    made, value, luck, isolated = [], np.empty((R, K)), np.empty((R, K)), {}
    for r in range(R):
        held_out = rng.permutation(20) % K
        for k in range(K):
            rows, others = np.flatnonzero(held_out != k), np.flatnonzero(held_out == k)
            release = pd.concat([real.iloc[rows[:leaked]], real.iloc[others[:2]]], ignore_index=True)
            cell = Cell("cart", r, k)
            ledger, values = attack_release(real, release, pd.array(held_out != k, dtype="boolean"), [TWO], 3, cell)
            own = seed_of(3, r, k, "cart", *TWO.words)
            score = METRICS["singling_out"](real.iloc[rows], release, seed=own, **TWO.options)
            claims = [p for p in score.records["predicate"] if p is not None]
            assert len(claims) >= 3
            luck[r, k] = np.mean([luck_by_hand(p, real.iloc[rows]) for p in claims])
            value[r, k] = score.value
            alone = [fulfilling_by_hand(p, real) for p in claims]
            isolated[r, k] = {(int(one[0]), bool(held_out[one[0]] == k)) for one in alone if len(one) == 1}
            made.append((keep_ledger(folder / f"two-{r}-{k}", values, ledger), cell))
    return made, value, luck, isolated


@pytest.fixture
def of_twenty(sample, tmp_path) -> Sample:
    save_array(np.zeros((R, 20), np.int16), tmp_path / "of20.npy")
    return replace(sample, cut=replace(sample.cut, path=str(tmp_path / "of20.npy")))


def test_singling_out_remembers_whom_its_claims_isolate(of_twenty, tmp_path):
    made, value, luck, isolated = singled_out(tmp_path)
    found = bootstrap.fn([ledger_in(p, of_twenty, cell, [TWO]) for p, cell in made], Bootstrap())
    (f,) = compare.fn([found], of_twenty, [found.generator], Bootstrap()).compared.findings
    assert list(f.yardsticks) == ["guess", "control"]
    guess = f.yardsticks["guess"]
    assert guess.success.value == f.guess == pytest.approx(luck.mean(), abs=1e-12)
    assert guess.difference.value == pytest.approx(f.risk.value - luck.mean(), abs=1e-12)
    for end in ("value", "lower", "upper"):
        assert getattr(guess.gain, end) == pytest.approx((getattr(f.risk, end) - f.guess) / (1 - f.guess), abs=1e-12)
    assert f.risk.value == pytest.approx(value.mean())
    everyone = [own for each in isolated.values() for own in each]
    as_control = sum(is_control for _, is_control in everyone)
    assert 0 < as_control < len(everyone) / 2
    gain = 1 - as_control / (len(everyone) / 2)  # half of the records are members
    assert f.control_gain == f.details["isolated_gain"][0] == pytest.approx(gain)
    of_claims = len(everyone) / (f.details["claims"][0] * len(isolated))  # isolated records a claim
    assert f.memorization.value == pytest.approx(gain * of_claims)
    assert -1 <= f.memorization.lower < gain * of_claims < f.memorization.upper <= 1
    beside = f.yardsticks["control"]
    assert (beside.success.value, beside.attack.value) == (0.5, pytest.approx(1 - as_control / len(everyone)))
    assert beside.difference.value == pytest.approx(beside.attack.value - 0.5)
    (told,) = f.intervals["isolated_gain"].values()
    assert (beside.gain, told.lower * of_claims) == (told, pytest.approx(f.memorization.lower))
    assert np.isnan(f.risk_control.value)
    assert f.risk_control.note.endswith("see memorization")
    assert f.details["isolated"][0] == pytest.approx(len(everyone) / 4)
    _, row = yardstick_table(StudyResult("s", "s", [f], [], [])).to_dict("records")
    assert row["risk"] == beside.attack.value
    assert (row["risk"] - row["success"]) / (1 - row["success"]) == pytest.approx(row["gain"])


def test_singling_out_is_compared_by_releases_in_risk_and_by_records_in_memorization(of_twenty, tmp_path):
    kept, values = {}, {}
    for name, leaked in (("one", 7), ("two", 2)):
        made, values[name], _, _ = singled_out(tmp_path / name, leaked)
        named = [ledger_in(p, of_twenty, replace(c, synthesizer=name), [TWO]) for p, c in made]
        found = bootstrap.fn(named, Bootstrap())
        kept[name] = kept_contributions(found.contributions)[TWO.measure.key]
        np.testing.assert_array_equal(kept[name].value, values[name])
    risk, memorization = pairs({TWO.measure: kept})
    assert risk.difference.value == pytest.approx((values["one"] - values["two"]).mean())
    own = t_test(kept["one"].memorization - kept["two"].memorization).estimate
    assert (memorization.difference.value, memorization.difference.lower) == pytest.approx((own.value, own.lower))


def test_the_population_is_that_of_the_best_attacker_with_the_same_options(compared):
    done, _, found = compared()
    alone = {f.measure.label: f.risk.value for f in found if f.synthesizer == NON_MEMBERS}
    best = {f.measure.label: f.population.value for f in done.findings if f.synthesizer == "cart" and f.yardsticks}
    assert best["rapid-forest"] == best["rapid-lasso"] == max(alone["rapid-forest"], alone["rapid-lasso"])
    assert (best["strict"], best["cap"]) == (alone["strict"], alone["cap"])


def test_pairs_are_of_synthesizers_alone_and_of_all_measures(compared):
    done, kept, _ = compared()
    assert {(c.first, c.second) for c in done.comparisons} == {("cart", "forest")}
    assert [c.measure for c in done.comparisons] == [p.measure for p in PLANNED for _ in range(2)]
    first = done.comparisons[0]
    own = t_test(kept["cart"][CAP.measure.key].risk - kept["forest"][CAP.measure.key].risk)
    assert (first.difference, first.p_value) == (own.estimate, own.p_value)
    assert compared(names=("cart",))[0].comparisons == []


def test_a_synthesizer_more_moves_no_difference(compared):
    one = compared()[0].comparisons
    two = compared(names=("cart", "forest", "third", "fresh"))[0].comparisons
    known, again = (
        {(c.measure, c.quantity): (c.difference, c.p_value) for c in each if (c.first, c.second) == ("cart", "forest")}
        for each in (one, two)
    )
    assert known == again


def test_power_is_told_where_shares_are_given_and_entities_count_once(compared):
    assert compared()[0].powers == {}
    done, _, _ = compared(shares=(("leaky", 0.1), ("fresh", 0.0)))
    assert set(done.powers) == {p.measure.key for p in PLANNED}
    assert [share for share, _ in done.powers[CAP.measure.key].seen] == [0.1]
    alone = compared()[0].comparisons[0]
    together = compared(identifier="person")[0].comparisons[0]
    assert together.difference.value == alone.difference.value
    assert together.difference.upper != alone.difference.upper


def test_contributions_come_back_whatever_the_measure_is_called(tmp_path):
    made = Contributions(*(np.random.default_rng(i).random((2, 3)) for i in range(3)))
    given = {
        "a/../b.größe [cm]": made,
        "x": ReleasedValues(*np.ones((4, 2, 2))),
        "empty": Contributions(*[np.empty((2, 0))] * 3),
    }
    keep_contributions(tmp_path / "c.npz", given)
    found = kept_contributions(str(tmp_path / "c.npz"))
    assert list(found) == list(given)
    for part in ("risk", "control", "memorization"):
        np.testing.assert_array_equal(getattr(found["a/../b.größe [cm]"], part), getattr(made, part))
    np.testing.assert_array_equal(list(vars(found["x"]).values()), np.ones((4, 2, 2)))
    assert (tmp_path / "c.npz").stat().st_mode & 0o077 == 0


AUTH, NNAA = "authenticity", "nearest_neighbour_adversarial_accuracy"


def real_ledgers(sample, folder, planned):
    real = pd.DataFrame({"x": np.random.default_rng(0).normal(size=N).round(1), "c": list("ab") * (N // 2)})
    found = []
    for name in ("cart", "copy"):
        made = []
        for r, k in np.ndindex(R, K):
            rng = np.random.default_rng((r, k))
            member = pd.array(np.random.default_rng(r).permutation(N) % K != k, dtype="boolean")
            release = real[np.asarray(member, dtype=bool)].reset_index(drop=True)
            if name == "cart":
                release = release.assign(x=release["x"] + rng.normal(size=len(release)).round(1))
            rows, values = attack_release(real, release, member, planned, 1, Cell(name, r, k))
            place = keep_ledger(folder / f"{name}-{r}-{k}", values, rows)
            made.append(ledger_in(place, sample, Cell(name, r, k), planned))
        found.append(bootstrap.fn(made, Bootstrap()))
    return compare.fn(found, sample, [f.generator for f in found], Bootstrap()).compared


@pytest.mark.proof
@pytest.mark.parametrize(
    ("of_auth", "of_nnaa", "same"),
    [
        ({}, {}, True),
        ({"space": "gower"}, {"space": "euclid"}, True),  # differences are in gower whatever the space of the value
        ({"ties": "safe"}, {"ties": "safe"}, True),
        ({"ties": "risk"}, {"ties": "safe"}, False),
        ({}, {"sizes": "equal"}, False),
    ],
)
def test_one_difference_that_two_measures_say_is_told_once(sample, tmp_path, of_auth, of_nnaa, same):
    planned = [Planned(Measure(NNAA, NNAA), of_nnaa), Planned(Measure("auth", AUTH), of_auth)]
    done = real_ledgers(replace(sample, workspace=str(tmp_path)), tmp_path, planned)
    by = {(f.synthesizer, f.measure.metric): f for f in done.findings}
    for name in ("cart", "copy"):
        ours, theirs = by[name, NNAA], by[name, AUTH]
        assert (ours.memorization.value == theirs.memorization.value) == same
        assert ours.same_difference_as == ("auth" if same else "")
        assert ("the same difference as that of auth" in ours.memorization.note) == same
        assert not theirs.same_difference_as
        assert name == "copy" or ours.risk.value != theirs.risk.value
    tested = {(c.measure.metric, c.quantity) for c in done.comparisons}
    everything = {(m, q) for m in (AUTH, NNAA) for q in ("risk", "memorization")}
    assert tested == everything - ({(NNAA, "memorization")} if same else set())
