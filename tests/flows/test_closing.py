"""The last words on the terminal, of hand-made results."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from synthrisk.conf.study import Study
from synthrisk.flows.closing import close
from synthrisk.flows.study import Outcome, conclude
from synthrisk.metrics.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.findings import Finding, Interval
from synthrisk.metrics.ledger import Measure
from synthrisk.metrics.results import StudyResult
from synthrisk.metrics.study_yardsticks import beside_control_at_one_size
from synthrisk.tasks.compare import Compared
from synthrisk.tasks.data.table import store
from synthrisk.tasks.log import Logged
from synthrisk.tasks.references import Cut, Sample


@pytest.mark.parametrize("beside", [True, False])
def test_success_at_another_size_than_the_risk_is_told_apart(beside, capsys):
    own = beside_control_at_one_size(np.array([[0.5], [0.4]]), np.array([[0.25], [0.15]]), Interval())
    risk = Estimate(0.9, 0.8, 1.0)
    measure = Measure("singling_out", "singling_out")
    yardsticks = {"control": own} if beside else {}
    found = Finding("cart", "synthesizer", measure, risk, NOT_ESTIMABLE, own.difference, yardsticks=yardsticks)
    settings, facts = {"cart": {"role": "synthesizer"}}, {"records": "9", "releases": "2"}
    result = StudyResult("s", "s", [found], [], [], settings=settings, facts=facts)
    close(Outcome(result, Logged("sqlite:///x", "1", "s", {}), "report.html"))
    said = capsys.readouterr().out
    assert ".900 [.800, 1.000]" in said
    assert ("members and control at one size: cart .450 and .200" in said) == beside


@pytest.mark.parametrize("identifier", ["who", None])
def test_a_study_says_whether_entities_have_several_records(identifier, tmp_path):
    """Where they have, independent columns may beat the guess, and the study is valid nevertheless."""
    table = store(pd.DataFrame({"who": ["ann", "ann", "bob"], "a": [1, 2, 3], "b": list("xyx")}), tmp_path)
    sample = Sample(table, Cut("unused", "cut", 1, 2, 0.0), identifier)
    study = Study(
        name="tiny",
        data={"source": "t.csv", "quasi_identifiers": ["a"], "sensitive": ["b"]},
        synthesizers=["cart"],
        controls=["marginals"],
        metrics=["inference"],
    )
    risk, none = Estimate(0.6, 0.58, 0.62), Estimate(0.0, -0.02, 0.02)
    found = Finding("marginals", "control", Measure("inference", "inference", "b"), risk, risk, none, 0.5)
    result = conclude(study, sample, Compared([found]), [], {}, datetime.now(UTC), "id")
    assert bool(result.invalid) == (identifier is None)


@pytest.mark.parametrize("claims", [True, False])
def test_the_guess_of_claims_is_not_called_constant(claims, capsys):
    """It is S, how often such claims are right by luck, and has a line of its own."""
    details = {"statistical_confidence": (0.6, 0.6)} if claims else {}
    risk, measure = Estimate(0.9, 0.8, 1.0), Measure("inference", "inference", "vote")
    found = Finding("release", "synthesizer", measure, risk, risk, risk, 0.6, details=details)
    settings, facts = {"release": {"role": "synthesizer"}}, {"records": "9", "releases": "1"}
    result = StudyResult("s", "s", [found], [], [], settings=settings, facts=facts)
    close(Outcome(result, Logged("sqlite:///x", "1", "s", {}), "report.html"))
    said = capsys.readouterr().out
    assert ("constant guess: .600" in said) != claims
    assert ("statistical guess S: release .600" in said) == claims
