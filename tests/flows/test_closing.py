"""The last words on the terminal, of hand-made results."""

import numpy as np
import pytest

from synthrisk.flows.closing import close
from synthrisk.flows.study import Outcome
from synthrisk.metrics.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.findings import Finding, Interval
from synthrisk.metrics.ledger import Measure
from synthrisk.metrics.results import StudyResult
from synthrisk.metrics.study_yardsticks import beside_control_at_one_size
from synthrisk.tasks.log import Logged


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
