"""Generators that end the process, never return or are killed: they have failed, and the others finish."""

import pytest

ONE = {"holdout": 0.5, "repetitions": 1}  # release of each generator


@pytest.fixture(scope="module")
def ended(run, folder):
    path = str(folder / "generators.py")
    bad = [{"name": name, "kind": "callable", "path": f"{path}:{name}"} for name in ("leaves", "stuck", "killed")]
    runner = {"time_limit": 20, "memory_limit": 8, "workers": 2}
    return run("faults", synthesizers=["cart", *bad], metrics=["zero_cap"], runner=runner, split=ONE)


@pytest.mark.proof
def test_a_generator_that_behaves_finishes_beside_those_that_do_not(ended):
    result = ended.result
    assert set(result.failures) == {"leaves", "stuck", "killed"}
    assert ({f.synthesizer for f in result.findings}, result.exit_code) == ({"cart"}, 1)


@pytest.mark.proof
@pytest.mark.parametrize(("name", "reason"), [
    ("leaves", "SystemExit in generators.py"), ("stuck", "it took longer than runner.time_limit, 20 seconds"),
    ("killed", "its process was ended by signal 9 (SIGKILL)"),
])  # fmt: skip
def test_the_reason_is_told_without_a_cell(ended, secret, name, reason):
    told = ended.result.failures[name]
    assert reason in told
    assert secret not in told


@pytest.mark.proof
def test_a_worker_that_is_killed_costs_the_one_who_killed_it_alone(run, folder, secret):
    killed = {"name": "killed", "kind": "callable", "path": f"{folder / 'generators.py'}:killed"}
    parts = {"synthesizers": ["cart", killed], "references": ["copy"], "metrics": ["zero_cap"], "split": ONE}
    result = run("killed", **parts, runner={"workers": 2}).result
    assert list(result.failures) == ["killed"]
    assert "its process was ended by signal 9 (SIGKILL)" in result.failures["killed"]
    assert {f.synthesizer for f in result.findings} == {"cart", "copy"}
