"""Several attacker models in a study: their largest and mean value and their envelope, from the ledgers of each."""

import numpy as np
import pandas as pd
import pytest

from samples.attacked import ill_and_paid
from samples.findings import Kept
from synthrisk.conf.plan import plan
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.intervals.yardsticks import CURVE, TOLERANCES
from synthrisk.metrics.models import attackers
from synthrisk.metrics.study.estimation import Releases, find_all
from synthrisk.metrics.study.ledger import Cell
from synthrisk.metrics.study.scoring import attack_release

MODELS = {"ill": ["cart", "logistic", "lasso"], "pay": ["cart", "linear"]}
RNG = np.random.default_rng(4)
REAL, RELEASE = ill_and_paid(RNG, 80), ill_and_paid(RNG, 70)
MEMBER = pd.array([True] * 50 + [False] * 30, dtype="boolean")


def planned(sensitive, *, what_if=()):
    asked = {"name": "rapid", "attackers": MODELS[sensitive], "envelope": ["max", "mean", "record"]}
    return plan([{**asked, "what_if": list(what_if)}], list(REAL), ["age", "sex"], [sensitive])


def ledger_of(measures):
    return attack_release(REAL, RELEASE, MEMBER, measures, 1, Cell("cart", 0, 0))


def scores_of(ledger, label):
    return ledger.loc[ledger["metric"] == label, "score"].tolist()


@pytest.mark.parametrize("sensitive", list(MODELS))
def test_each_together_follows_from_the_ledgers_of_each_by_plain_loops(sensitive):
    measures = planned(sensitive, what_if=[{"drop": ["sex"]}])
    ledger, values = ledger_of(measures)
    for change in ("", "-without-sex"):
        scores = {m: ledger.loc[ledger["metric"] == f"rapid-{m}{change}", "score"].tolist() for m in MODELS[sensitive]}
        assert all(len(own) == 80 for own in scores.values())
        totals = {m: sum(own) for m, own in scores.items()}
        largest = next(m for m in MODELS[sensitive] if totals[m] == max(totals.values()))
        expected = {
            "max": scores[largest],
            "mean": [sum(own[i] for own in scores.values()) / len(scores) for i in range(80)],
            "envelope": [max(own[i] for own in scores.values()) for i in range(80)],
        }
        for name, own in expected.items():
            rows = ledger[ledger["metric"] == f"rapid_{name}{change}"]
            assert rows["score"].tolist() == pytest.approx(own, abs=1e-12)
            said = values[f"rapid_{name}{change}.{sensitive}"]
            members = [sum(each[:50]) / 50 for each in scores.values()]
            assert said.members["rapid_max"] == pytest.approx(max(members), abs=1e-12)
            assert said.members["rapid_mean"] == pytest.approx(sum(members) / len(members), abs=1e-12)
            evidence = name != "mean"  # whose models have one each
            assert (said.gains, said.errors) == (evidence and sensitive == "ill", evidence and sensitive == "pay")


def test_no_model_is_fitted_twice_for_it(monkeypatch):
    fits, own = [], attackers.class_probabilities
    counted = lambda model, *given: fits.append(type(model).__name__) or own(model, *given)  # noqa: E731
    monkeypatch.setattr("synthrisk.metrics.rapid.guesses.class_probabilities", counted)
    ledger_of(planned("ill"))
    assert len(fits) == len(set(fits)) == 3


def test_what_is_together_is_the_same_where_the_models_are_not_measured_alone_and_so_is_each_model():
    measures = planned("ill")
    (largest,) = (p for p in measures if p.measure.label == "rapid_max")
    every, _ = ledger_of(measures)
    assert ledger_of([largest])[0]["score"].tolist() == scores_of(every, "rapid_max")
    (single,) = plan([{"name": "rapid", "attackers": ["cart"]}], list(REAL), ["age", "sex"], ["ill"])
    assert ledger_of([single])[0]["score"].tolist() == scores_of(every, "rapid-cart")


def found_in(measures):
    """Return the findings by label, and the rows of the ledger."""
    ledger = Kept(Cell("cart", 0, 0), *ledger_of(measures))
    every, releases = [p.measure for p in measures], Releases([ledger], REAL, None, {})
    findings = find_all("cart", "synthesizer", releases, every, Interval(), ()).findings
    return {f.measure.label: f for f in findings}, ledger.rows


@pytest.mark.parametrize(("sensitive", "places"), [("ill", CURVE), ("pay", TOLERANCES)])
def test_the_curve_of_all_together_is_the_largest_or_the_mean_at_each_threshold(sensitive, places):
    curves, every = found_in(planned(sensitive))
    for i, place in enumerate(places):
        shares = []
        for model in MODELS[sensitive]:
            rows = every[(every["metric"] == f"rapid-{model}") & every["member"]]
            if sensitive == "ill":
                at_risk = [gain > place for gain in rows["gain"]]
            else:
                at_risk = [error < place * 0.1 for error in rows["error"]]
            shares.append(sum(at_risk) / 50)
        assert curves["rapid_max"].curve[i].value == pytest.approx(max(shares), abs=1e-12)
        assert curves["rapid_mean"].curve[i].value == pytest.approx(sum(shares) / len(shares), abs=1e-12)
        assert curves["rapid_envelope"].curve[i].value >= max(shares) - 1e-12
    scale = 1 if sensitive == "ill" else 0.1
    for each in curves.values():
        assert each.curve_at.tolist() == pytest.approx((scale * places).tolist())


def test_a_study_finds_the_largest_value_of_the_papers_algorithm_and_no_curve_of_models_not_measured():
    risks = {label: f.risk.value for label, f in found_in(planned("ill"))[0].items()}
    each = [risks[f"rapid-{m}"] for m in MODELS["ill"]]
    assert (risks["rapid_max"], risks["rapid_mean"]) == (max(each), pytest.approx(sum(each) / len(each)))
    assert risks["rapid_envelope"] >= risks["rapid_max"]
    (largest,) = (p for p in planned("ill") if p.measure.label == "rapid_max")
    assert found_in([largest])[0]["rapid_max"].curve == ()
