"""Names of other tools lead to ours: on the command line, in errors, in studies and on the page of metrics."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from synthrisk.conf import load
from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.errors import ARGUMENTS_ELSEWHERE, METRICS_ELSEWHERE, MODELS_ELSEWHERE, nearest, ours, plain
from synthrisk.metrics.models.attackers import ATTACKER_MODELS

PAGE = (Path(__file__).parents[2] / "docs/elsewhere.md").read_text("utf-8").partition("## A name there")[2]
BROUGHT, ARGUMENTS = (
    [(tool, name, own) for tool, theirs in brought.items() for own, names in theirs.items() for name in names]
    for brought in (METRICS_ELSEWHERE, ARGUMENTS_ELSEWHERE)
)
FRAME = pd.DataFrame({"age": [1, 2], "income": ["a", "b"]})


@pytest.mark.parametrize(("tool", "name", "own"), BROUGHT)
def test_a_metric_by_the_name_of_another_tool_is_found(tool, name, own):
    assert own in METRICS
    assert (ours(name, METRICS), nearest(name, METRICS)) == (own, f" (did you mean {own!r}?)")
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {tool} |") and f"`{name}`" in line)
    assert row.endswith(f"| `{own}` |")


@pytest.mark.parametrize(("tool", "name", "own"), ARGUMENTS)
def test_an_argument_by_the_name_of_another_tool_is_found(tool, name, own):
    for each in own:
        assert ours(name, ["elsewhere", each]) == each
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {tool} |") and f"`{name}`" in line)
    assert row.endswith(f"| {' or '.join(f'`{each}`' for each in own)} |")


def test_models_of_rapid_are_found():
    with pytest.raises(InputError, match=r"got 'rf' \(did you mean 'random_forest'\?\)"):
        METRICS["rapid"](FRAME, FRAME, quasi_identifiers=["age"], sensitive="income", attacker="rf")
    for names in MODELS_ELSEWHERE.values():
        for own, theirs in names.items():
            assert own in ATTACKER_MODELS
            assert {ours(name, ATTACKER_MODELS) for name in theirs} == {own}
            assert all(f"| RAPID | `{name}` | `{own}` |" in PAGE for name in theirs)


def test_the_17_of_priveval_and_all_attacks_of_sdmetrics_are_there():
    single_table = pytest.importorskip("sdmetrics.single_table")
    short = ["ZCAP", "GCAP", "AIR", "CRP", "CVP", "DVP", "DMLP", "Auth", "IDS", "NSND", "NNDR", "DCR", "MDCR"]
    short += ["NNAA", "MIR", "HidR", "HitR"]
    assert {plain(name) for tool, name, _ in BROUGHT if tool == "PrivEval"} >= {plain(name) for name in short}
    theirs = {name for name in vars(single_table) if name.startswith(("Categorical", "DCR", "Disclosure"))}
    assert theirs - {"CategoricalPrivacyMetric"} <= {name for tool, name, _ in BROUGHT if tool == "SDMetrics"}


def test_where_the_page_says_that_numbers_agree_they_do():
    rng = np.random.default_rng(0)
    levels = {"age": range(4), "sex": ["f", "m"], "ill": [*"abc"]}
    real, release = (pd.DataFrame({c: rng.choice(own, 80) for c, own in levels.items()}) for _ in range(2))
    theirs = pytest.importorskip("sdmetrics.single_table").DisclosureProtection.compute(
        real_data=real, synthetic_data=release, known_column_names=["age", "sex"], sensitive_column_names=["ill"]
    )
    ours_ = METRICS["categorical_cap"](real, release, quasi_identifiers=["age", "sex"], sensitive="ill")
    assert min(1.0, ours_.published / (1 - 1 / 3)) == pytest.approx(theirs)
    unique = real[~real.duplicated(keep=False)]
    found = unique.merge(release.drop_duplicates(), how="inner")
    assert METRICS["unique_exact_matches"](real, release).published == pytest.approx(100 * len(found) / len(unique))


def test_one_name_means_one_thing():
    meant: dict[str, set[object]] = {}
    for _, name, own in [*BROUGHT, *ARGUMENTS]:
        meant.setdefault(plain(name), set()).add(own)
    assert all(len(each) == 1 for each in meant.values())


def test_ours_may_be_written_otherwise_and_a_name_of_a_table_is_not_taken_for_another_tools():
    for name in ("nearest neighbor distance ratio", "Zero-CAP", "HITTING_RATE"):
        assert ours(name, METRICS) is not None
    # columns may be called as tools call arguments; without one of ours in the table nothing is said
    assert (nearest("target", ["age", "income"]), ours("ZCAP", ["rapid"])) == ("", None)


def test_metrics_refuse_arguments_of_sdmetrics_with_ours():
    for theirs, own, roles in (
        ("key_fields", "quasi_identifiers", {"key_fields": ["age"], "sensitive_fields": ["income"]}),
        ("sensitive_fields", "sensitive", {"quasi_identifiers": ["age"], "sensitive_fields": ["income"]}),
    ):
        with pytest.raises(InputError, match=rf"takes no argument '{theirs}' \(did you mean '{own}'\?\)"):
            METRICS["zero_cap"](FRAME, FRAME, **roles)
    with pytest.raises(KeyError, match="did you mean 'zero_cap'"):
        METRICS["CategoricalZeroCAP"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("metrics=[CategoricalZeroCAP]", "no metric is called 'CategoricalZeroCAP' (did you mean 'zero_cap'?)"),
        ("data.key_fields=[age]", "data.key_fields: no such setting (did you mean 'quasi_identifiers'?)"),
        ("metrics=[{name: rapid, options: {cat_tau: 0.3}}]", "takes no option 'cat_tau' (did you mean 'threshold'?)"),
        ("metrics=[{name: zero_cap, key_fields: [age]}]", "no option 'key_fields' (did you mean 'quasi_identifiers'?)"),
        ("metrics=[{name: zero_cap, sensitive_fields: [sex]}]", "'sensitive_fields' (did you mean 'sensitive'?)"),
    ],
)
def test_studies_refuse_them_with_ours(asked, said):
    with pytest.raises(InputError) as refused:
        load("demo", [asked])
    assert said in str(refused.value)
