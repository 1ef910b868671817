"""Generators that end the process, never return or are killed: they have failed, and the others finish."""

import pytest

pytestmark = pytest.mark.proof
ONE = {"split": {"holdout": 0.5, "repetitions": 1}, "population_yardstick": False}  # release of each generator
REASONS = {
    "leaves": "SystemExit in generators.py", "stuck": "it took longer than runner.time_limit, 20 seconds",
    "killed": "its process was ended by signal 9 (SIGKILL)",
}  # fmt: skip


@pytest.fixture(scope="module")
def ended(run, folder):
    path = str(folder / "generators.py")
    bad = [{"name": name, "kind": "callable", "path": f"{path}:{name}"} for name in REASONS]
    runner = {"time_limit": 20, "memory_limit": 8, "workers": 2}
    return run("faults", synthesizers=["cart", *bad], metrics=["zero_cap"], runner=runner, **ONE)


def test_who_behaves_finishes_beside_those_that_do_not_and_of_them_no_cell_is_told(ended, secret):
    result = ended.result
    assert ({f.synthesizer for f in result.findings}, result.exit_code) == ({"cart"}, 1)
    assert set(result.failures) == set(REASONS)
    for name, told in result.failures.items():
        assert (REASONS[name] in told, secret in told) == (True, False), told


def test_a_worker_that_is_killed_costs_the_one_who_killed_it_alone(run, folder):
    killed = {"name": "killed", "kind": "callable", "path": f"{folder / 'generators.py'}:killed"}
    parts = {"synthesizers": ["cart", killed], "references": ["copy"], "metrics": ["zero_cap"], **ONE}
    result = run("killed", **parts, runner={"workers": 2}).result
    assert list(result.failures) == ["killed"]
    assert REASONS["killed"] in result.failures["killed"]
    assert {f.synthesizer for f in result.findings} == {"cart", "copy"}
