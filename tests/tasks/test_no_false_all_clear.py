import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.append(str(Path(__file__).parents[2]))

from benchmarks._in_process import evaluated, limits_of, studied
from synthrisk.conf.study import Data, MetricChoice
from synthrisk.flows.evaluate_settings import Understood, study_of
from synthrisk.metrics import METRICS
from synthrisk.metrics.verdicts.verdicts import Beside, judge, worst

pytestmark = pytest.mark.proof

FORESTS = ("membership_inference_risk",)  # seconds a release: in one test of its own
LIMITS = (0.0, 0.02, 0.05, 0.2, 0.5)


def people(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    job = rng.choice(["clerk", "nurse", "smith", "baker", "mayor"], n, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    pay = np.round(1000 + 40 * age + 300 * (job == "mayor") + rng.normal(0, 300, n), 2)
    ill = np.where(rng.random(n) < 0.2 + 0.004 * age, "yes", "no")
    return pd.DataFrame({"age": age, "job": job, "town": rng.choice(list("abcdef"), n), "pay": pay, "ill": ill})


RARE = people(200, 1).assign(ill=np.where(np.arange(200) % 50 == 0, "yes", "no"))
LEVELS = people(160, 2).assign(  # with natural twins
    age=lambda t: (t["age"] // 10).astype(str), pay=lambda t: (t["pay"] // 1500).astype(str)
)


def numbers(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    cause = rng.normal(0, 1, (n, 4)) @ rng.normal(0, 1, (4, 4))
    frame = pd.DataFrame(cause + rng.normal(0, 0.3, (n, 4)), columns=["age", "town", "job", "pay"])
    return frame.assign(ill=np.where(frame["age"] + rng.normal(0, 1, n) > 0, "yes", "no"))


HALVES = {"holdout": 0.5, "repetitions": 2}
TABLES = {
    "mixed, many keys": (people(160), ["age", "job", "town", "pay"], HALVES),
    "rare class": (RARE, ["age", "job", "town"], HALVES),
    "categories": (LEVELS, ["age", "job", "town"], HALVES),
    "numbers": (numbers(150), ["age", "town", "job"], HALVES),
    "small control set": (people(160, 5), ["age", "job", "town"], {"holdout": 0.1, "repetitions": 2}),
    "few keys, folds": (people(160, 6), ["job"], {"folds": 2, "repetitions": 1}),
}


GENERATORS = """
import numpy as np
import pandas as pd
def half_twice(train, rows, seed):
    half = train.sample(max(rows // 2, 1), random_state=seed % 2**32)
    return pd.concat([half] * 3).head(rows).reset_index(drop=True)
def rounded(train, rows, seed):
    made = train.copy()
    for name in made.select_dtypes("float"):
        made[name] = made[name].round(int(1 - np.log10(made[name].std())))
    return made
def secret_shuffled(train, rows, seed):
    rng = np.random.default_rng(seed)
    return train.assign(ill=train["ill"].to_numpy()[rng.permutation(len(train))]).astype(train.dtypes)
def column_shuffled(train, rows, seed):
    rng = np.random.default_rng(seed)
    return train.assign(town=train["town"].to_numpy()[rng.permutation(len(train))]).astype(train.dtypes)
"""
DISGUISES = ("half_twice", "rounded", "secret_shuffled", "column_shuffled")


def called(folder: Path, names: tuple[str, ...]) -> list[dict]:
    (folder / "made.py").write_text(GENERATORS)
    return [{"name": n, "kind": "callable", "path": f"{folder / 'made.py'}:{n}"} for n in names]


def measures() -> list[MetricChoice]:
    """Return every risk measure of the register that may carry a limit, in its cheap form."""
    own = {
        "rapid": {"attackers": ["logistic"]},
        "linkability": {"columns_a": ["age", "job"], "columns_b": ["town", "pay"]},
    }
    signals = [m.name for m in METRICS.values() if m.label == "signal" and m.name not in FORESTS]
    chosen = [{"name": name, **own.get(name, {})} for name in signals]
    chosen.append({"name": "linkability", "label": "linkability-10", "neighbours": 10, **own["linkability"]})
    chosen.append({"name": "membership", "label": "density", "attackers": ["density_ratio"]})
    return chosen


def result_of(table: pd.DataFrame, known: list[str], split: dict, synthesizers: list, folder: Path, metrics=None):
    """Return what is found in a study of these measures, or all; its limits are set afterwards, one by one."""
    data = {"source": "adult", "quasi_identifiers": known, "sensitive": ["ill"]}
    study = {"name": "property", "data": data, "split": split, "synthesizers": synthesizers, "workspace": str(folder)}
    study |= {"references": ["copy", "near_copy"], "metrics": metrics or measures(), "bootstrap": {"resamples": 100}}
    result = studied(study, table, folder)
    assert not result.failures
    return result


def all_clears(result, answers: dict[str, str], *, groups: bool = True) -> list[tuple[str, str, float, str]]:
    """Return who gets NO EVIDENCE where one limit alone is set, and where all are set at one value."""
    beside = Beside(
        answers,
        broken={n: s.invalid for n, s in result.releases.items()},
        near={n: s.blind for n, s in result.releases.items()},
        excess={n: replace(s.excess, note=s.suspicious) for n, s in result.releases.items()},
    )
    names, found = [name for name in limits_of(result) if groups or "@" not in name], []
    for limit in LIMITS:
        alone = (v for name in names for v in judge(result.findings, {name: limit}, [], beside))
        found += [(v.synthesizer, v.quantity, limit, v.reason) for v in alone if v.word == "NO EVIDENCE"]
        every = judge(result.findings, dict.fromkeys(names, limit), [], beside)
        for synthesizer in dict.fromkeys(v.synthesizer for v in every):
            if worst([v.word for v in every if v.synthesizer == synthesizer]) == "NO EVIDENCE":
                found.append((synthesizer, "all", limit, ""))
    return found


ANSWERS = {"copy": "copy", "near_copy": "near_copy", "fresh": "ideal"}
COPIES = [{"name": "mine", "kind": "copy"}, {"name": "near", "kind": "near_copy", "jitter": 0.01}]


@pytest.mark.parametrize("case", TABLES)
def test_no_copy_and_no_near_copy_gets_no_evidence_in_a_study(case, tmp_path):
    result = result_of(*TABLES[case], [*COPIES, *called(tmp_path, ("half_twice",))], tmp_path / "w")
    assert len(limits_of(result)) > 40
    assert all_clears(result, ANSWERS) == []


def test_the_same_of_the_measures_that_train_forests(tmp_path):
    result = result_of(*TABLES["mixed, many keys"], COPIES, tmp_path / "w", list(FORESTS))
    assert all_clears(result, ANSWERS) == []


def test_a_copy_in_disguise_gets_no_evidence_whatever_is_judged(tmp_path):
    table = people(900, 9).assign(hours=lambda t: (t["age"] * 7 + t["pay"]).astype(int) % 61)
    cheap = ["zero_cap", "generalized_cap", "common_rows_proportion", "hitting_rate", "distance_to_closest_record"]
    result = result_of(table, ["age", "job", "town"], HALVES, called(tmp_path, DISGUISES), tmp_path / "w", cheap)
    assert all_clears(result, ANSWERS) == []


@pytest.mark.parametrize("controls", [40, 0])
def test_no_copy_and_no_near_copy_gets_no_evidence_in_an_evaluation(controls, tmp_path):
    table = people(150 + controls, 7)
    members, control = table.head(150), table.tail(controls).reset_index(drop=True) if controls else None
    rng = np.random.default_rng(8)
    ages, pays = members["age"] + rng.integers(-1, 2, 150), (members["pay"] + rng.normal(0, 30, 150)).round(2)
    near = members.assign(age=ages, pay=pays)
    for name, release in {"copy": members, "near": near}.items():
        path = tmp_path / f"{name}.csv"
        release.to_csv(path, index=False)
        chosen = [m for m in measures() if control is not None or "control" not in METRICS[m["name"]].needs]
        roles = Data(source="adult", quasi_identifiers=["age", "job", "town"], sensitive=["ill"])
        meant = Understood(roles, chosen, {})
        study = study_of(meant, str(path), None, "all", "evaluate", None, str(tmp_path / "w"), 1).model_dump()
        study |= {"bootstrap": {"resamples": 100}}
        result = evaluated(study, members, control, tmp_path / "w")  # where references are found again
        assert not result.failures
        assert all_clears(result, ANSWERS) == []


def test_a_study_can_say_no_evidence(tmp_path):
    (table, known, _), split = TABLES["mixed, many keys"], {"folds": 2, "repetitions": 3}
    ideal = [{"name": "ideal", "kind": "fresh"}]
    metrics = ["singling_out", {"name": "membership", "attackers": ["density_ratio"]}]
    result = result_of(table, known, split, ideal, tmp_path, metrics)
    assert {quantity for _, quantity, limit, _ in all_clears(result, ANSWERS, groups=False) if limit >= 0.2}
