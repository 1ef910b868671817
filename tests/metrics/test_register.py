"""What holds for every metric of the register, whatever it measures."""

import inspect
import math
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import ATTACKS, METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.models.attackers import ATTACKER_MODELS
from synthrisk.metrics.score import Score
from synthrisk.metrics.tables.tables import Tables

ROLES = {"quasi_identifiers": ["age", "city"], "sensitive": ["illness"]}
OPTIONS = {
    "train_synthetic_test_real": {"model": "logistic"},  # gradient boosting wants more than 40 records
    "linkability": {"columns_a": ["age", "city"], "columns_b": ["illness"]},
    "singling_out": {"columns": ["age", "city", "illness"]},
    "membership": {"claim_share": 0.6},  # of a copy every member can be claimed: 40 of 70 targets
    "detection_mlp": {"folds": 2},  # nets are costly
    "membership_inference_risk": {"folds": 2},
}

NUMBER = {"sensitive": "income"}
WAYS = {
    "rapid": [
        {"attacker": a} for a in ("ranger", "cart", "gradient_boosting", "lasso", "logistic", ["cart", "logistic"])
    ]
    + [{"attacker": a} | NUMBER for a in ("random_forest", "cart", "gradient_boosting", "lasso", "linear")]
    + [{"attacker": "cart", "permute": p, "permutations": 3} for p in ("synthetic", "real")]
    + [{"attacker": "cart", "bins": bins} for bins in ({"city": 2}, {"illness": 2}, {"age": 3})],
    "train_synthetic_test_real": [{"model": m} for m in ("random_forest", "cart", "gradient_boosting", "lasso")]
    + [{"model": m} | NUMBER for m in ("cart", "gradient_boosting", "lasso", "linear")],
    "inference": [
        {"attacker": a} for a in ("key_class", "ranger", "random_forest", "cart", "gradient_boosting", "lasso")
    ]
    + [{"attacker": a} | NUMBER for a in ("nearest_record", "key_class", "cart", "linear")]
    + [{"neighbours": 3}, {"attempts": 20}, {"attacker": "logistic"}, {"attacker": "unanimous_class"}],
    "group_inference": [{"attacker": "key_class"}, {"attacker": "cart"}, {"bins": {"age": 3, "city": 2}}, NUMBER],
    "apparent_match_rate": [{"bins": {"age": 3}}],
    "membership": [{"claim_share": 0.6, "attacker": a} for a in ("distance_difference", "density_ratio", "classifier")],
    "singling_out": [{"mode": "univariate", "columns": ["city", "income"]}, {"size": 3}, {"attempts": 20}],
    "linkability": [{"neighbours": 3}, {"attempts": 20}],
    "attribute_disclosure": [{"measure": m} for m in ("rep_u", "i_s", "di_s", "di_sdi_o")],
    "disclosure_protection": [{"method": m, "continuous": ["age"]} for m in ("cap", "zero_cap", "generalized_cap")],
    "categorical_cap": [{"bins": {"city": 2}}, {"bins": {"illness": 2, "age": 3}}],
    "distance_to_closest_record": [{"space": "gower"}, {"projection": "famd"}, {"baseline": True}],
    "nearest_neighbour_distance_ratio": [{"space": "gower"}, {"projection": "famd"}],
}
"""Ways to call a metric beside its defaults, above all those in which a model learns from numbered levels."""

IDENTIFYING = {"apparent_match_rate": {"quasi_identifiers": ["age", "city", "income"]}}
"""Roles with which a copy gives nearly all away, for metrics that look at unique keys alone."""


def draw(seed, n):
    rng = np.random.default_rng(seed)
    ages, cities = rng.integers(20, 28, n), rng.choice(["Ulm", "Łódź", "Zanzibar"], n)
    table = pd.DataFrame({"age": ages, "city": cities, "income": rng.lognormal(8, 1, n).round(2)})
    table["illness"] = rng.choice(["none", "mild", "severe"], n)
    table.loc[rng.random(n) < 0.1, "income"] = np.nan
    table.loc[rng.random(n) < 0.1, "city"] = None
    return table


REAL, SYNTHETIC, CONTROL = draw(1, 40), draw(2, 50), draw(3, 30)
SYNTHETIC.iloc[:5] = REAL.iloc[:5]

INSTALLED = {name: metric for name, metric in METRICS.items() if metric.installed}  # quality needs an extra
every_metric = pytest.mark.parametrize("metric", INSTALLED.values(), ids=INSTALLED.keys())


def of_those(condition):
    own = {name: metric for name, metric in INSTALLED.items() if condition(metric)}
    return pytest.mark.parametrize("metric", own.values(), ids=own)


with_roles = of_those(lambda m: "quasi_identifiers" in m.needs)


def balanced(rng, n):
    """Return as many records of each city and illness, so that counts tell no levels apart."""
    table = pd.DataFrame({"age": rng.integers(20, 24, n), "income": rng.lognormal(8, 1, n).round(2)})
    table["city"] = np.array(["Ulm", "Łódź", "Zanzibar", None])[np.arange(n) % 4]
    table["illness"] = np.array(["none", "mild", "severe"])[np.arange(n) // 4 % 3]
    return table


def links(real, synthetic):
    """Which real row each synthetic row is said to be made from: the copies first, as they are."""
    return np.arange(len(synthetic)) % len(real)


def call(metric, real=REAL, synthetic=SYNTHETIC, **options):
    given = {name: value for name, value in ROLES.items() if name in metric.needs}
    if "control" in metric.needs:
        given["control"] = CONTROL
    if "links" in metric.options and isinstance(real, pd.DataFrame) and isinstance(synthetic, pd.DataFrame):
        given["links"] = links(real if len(real) else REAL, synthetic)
    return metric(real, synthetic, **given | OPTIONS.get(metric.name, {}) | {"seed": 0} | options)


@cache
def plain(metric):
    """Return the score of the tables as they are, which many tests compare with: made once."""
    return call(metric)


def assert_same_scores(after, before, rows=slice(None), atol=1e-12):
    """Compare the scores of records, where the metric has such."""
    if before.records is None:
        assert after.records is None
        return
    expected = before.records["score"].to_numpy()[rows]
    np.testing.assert_allclose(after.records["score"], expected, rtol=0, atol=atol)


def assert_same_records(after, before):
    assert after.value == before.value
    assert (after.records is None) == (before.records is None)
    if before.records is not None:
        pd.testing.assert_frame_equal(after.records, before.records)


@every_metric
def test_facts(metric):
    assert isinstance(metric, Metric)
    assert METRICS[metric.name] is metric
    assert metric.name.isidentifier()
    assert metric.name.islower()
    assert metric.group in {"cap", "rapid", "distance", "claims", "utility"}
    assert (metric.range, metric.scores in ("real", "synthetic")) == ((0.0, 1.0), True)
    assert len(metric.reference) > 10
    assert set(metric.needs) <= {"quasi_identifiers", "sensitive", "control", *OPTIONS.get(metric.name, {})}
    assert set(metric.own_needs) <= set(metric.choices)
    assert metric.label in ("signal", "sanity", "utility")
    assert (metric.label == "utility") == (metric.group == "utility")
    assert {"seed", *metric.needs} <= set(metric.options)
    assert metric.function.__doc__
    with pytest.raises(AttributeError):
        metric.name = "other"


@every_metric
def test_the_score_keeps_to_its_facts(metric):
    score = plain(metric)
    low, high = metric.range
    assert (type(score), score.metric, score.reason) == (Score, metric.name, None)
    assert (type(score.value), type(score.published)) == (float, float)
    assert low <= score.value <= high
    assert all(isinstance(k, str) and isinstance(v, float) for k, v in score.details.items())
    assert score.published == score.value or not metric.is_utility
    if metric.is_utility:
        assert score.records is None
        return
    attacked = REAL if metric.scores == "real" else SYNTHETIC
    assert score.records.index.tolist() == attacked.index.tolist()
    assert score.records["score"].dropna().between(low, high).all()


@every_metric
def test_the_value_follows_from_the_records(metric):
    score, own = plain(metric), metric.records
    if metric.is_utility:
        assert metric.by_release
        return
    if own.mean or own.weight:
        assert (own.transform, own.contribution, bool(own.mean and own.weight)) == (None, "score", False)
    if not metric.per_record:  # a median: only the reduction of all records gives it
        assert (metric.by_release, own.mean) == (True, False)
        assert score.value == own.reduce(score.records.sample(frac=1, random_state=0)).value
        return
    weights = None if own.weight is None else score.records[own.weight]
    mean = np.average(score.records[own.contribution].dropna().astype(float), weights=weights)
    assert score.value == pytest.approx(mean if own.transform is None else own.transform(mean), abs=1e-12)


@every_metric
def test_settings_travel_with_the_score(metric):
    settings = plain(metric).settings
    for name, value in (ROLES | OPTIONS.get(metric.name, {})).items():
        if name in metric.options:
            found = settings[name]
            assert found == value or found == value[0] or list(found) == list(value)


@every_metric
def test_the_same_call_gives_the_same_score_and_leaves_tables_and_global_chance_as_they_were(metric):
    first, chance = plain(metric), np.random.get_state()[1].copy()  # noqa: NPY002
    real, synthetic = REAL.copy(deep=True), SYNTHETIC.copy(deep=True)
    again = call(metric, real, synthetic)
    np.testing.assert_array_equal(np.random.get_state()[1], chance)  # noqa: NPY002
    pd.testing.assert_frame_equal(real, REAL)
    pd.testing.assert_frame_equal(synthetic, SYNTHETIC)
    assert_same_records(again, first)
    assert first.details == again.details


def scored_on(tables, metric):
    given = {name: value for name, value in ROLES.items() if name in metric.needs}
    given |= {"links": links(REAL, SYNTHETIC)} if "links" in metric.options else {}
    return metric.score(tables, **given | OPTIONS.get(metric.name, {}) | {"seed": 0})


@cache
def scored_by_all(control):
    """Return tables on which every metric that can has been scored."""
    tables = Tables(REAL, SYNTHETIC, CONTROL if control else None)
    for metric in INSTALLED.values():
        if "control" in metric.options if control else "control" not in metric.needs:
            scored_on(tables, metric)
    return tables


@every_metric
def test_shared_tables_give_the_same_score(metric):
    assert_same_records(scored_on(scored_by_all("control" in metric.needs), metric), plain(metric))


@every_metric
def test_an_exact_copy_is_riskier_and_more_useful_than_an_unrelated_table(metric):
    pure = REAL.assign(illness=REAL["city"].fillna("?"))
    other = SYNTHETIC.iloc[5:].assign(illness="none")
    if metric.name == "one_person_values":  # nothing is there to be released unless people have values of their own
        pure = pure.assign(city=[f"place {i}" for i in range(len(pure))])
    given = IDENTIFYING.get(metric.name, {})
    copied = call(metric, pure, pure, **given).value
    assert copied > call(metric, pure, other, **given).value
    assert copied > 0.9


@every_metric
def test_order_of_rows_and_columns_moves_nothing(metric):
    before = plain(metric)
    rng = np.random.default_rng(0)
    real, synthetic = rng.permutation(len(REAL)), rng.permutation(len(SYNTHETIC))
    given = {"links": np.argsort(real)[links(REAL, SYNTHETIC)[synthetic]]} if "links" in metric.options else {}
    after = call(metric, REAL.iloc[real], SYNTHETIC.iloc[synthetic], **given)
    assert after.value == pytest.approx(before.value, abs=1e-9)
    assert_same_scores(after, before, real if metric.scores == "real" else synthetic, 1e-6)
    one, other = ["illness", "city", "age", "income"], ["income", "illness", "age", "city"]
    for left, right in ((REAL[one], SYNTHETIC), (REAL, SYNTHETIC[other])):
        after = call(metric, left, right)
        assert after.value == pytest.approx(before.value, abs=1e-12)
        assert_same_scores(after, before)


@every_metric
def test_index_labels_move_nothing(metric):
    before, backwards = plain(metric), pd.RangeIndex(50, 0, -1)
    labels = pd.Index(["twice", "twice", *range(38)], name="patient")
    after = call(metric, REAL.set_axis(labels), SYNTHETIC.set_axis(backwards))
    assert after.value == before.value
    assert_same_scores(after, before, atol=0)
    if not metric.is_utility:
        assert after.records.index.tolist() == (labels if metric.scores == "real" else backwards).tolist()


EACH_WAY = {
    f"{metric.name}-{'-'.join(map(str, options.values())) or 'default'}": (metric, options)
    for metric in INSTALLED.values()
    for options in [{}, *WAYS.get(metric.name, [])]
}


def test_models_and_attacks_are_all_among_the_ways():
    named = {str(v) for ways in WAYS.values() for way in ways for v in way.values()}
    defaults = {str(p.default) for m in METRICS.values() for p in inspect.signature(m.function).parameters.values()}
    modes = {"unique_values", "unique_combinations"}  # what the modes of singling out are called as attacks
    assert set(ATTACKER_MODELS) | set(ATTACKS) <= named | defaults | modes


@pytest.mark.parametrize(("metric", "options"), EACH_WAY.values(), ids=EACH_WAY)
@pytest.mark.parametrize("drawn", [pytest.param(0, marks=pytest.mark.proof), 1])
def test_names_and_order_of_levels_rows_and_columns_move_nothing(metric, options, drawn):
    rng = np.random.default_rng(drawn)
    tables = (REAL, SYNTHETIC, CONTROL) if drawn else tuple(balanced(rng, n) for n in (36, 48, 24))
    names = {
        "city": dict(zip(["Ulm", "Łódź", "Zanzibar"], rng.permutation([*"xyz"]), strict=True)),
        "illness": dict(zip(["none", "mild", "severe"], rng.permutation([*"123"]), strict=True)),
    }
    orders = [rng.permutation(len(t)) for t in tables]
    renamed = [t.replace(names).iloc[order] for t, order in zip(tables, orders, strict=True)]
    renamed[0] = renamed[0][["illness", "city", "age", "income"]]
    declared = {c: pd.CategoricalDtype(["unused", *rng.permutation([*m])]) for c, m in names.items()}
    with_control = [{"control": t} if "control" in metric.needs else {} for t in (tables[2], renamed[2])]
    if "quasi_identifiers" in metric.needs and "quasi_identifiers" not in options:
        with_control[1]["quasi_identifiers"] = ROLES["quasi_identifiers"][::-1]
    before = call(metric, *tables[:2], **with_control[0] | options)
    if "links" in metric.options:
        with_control[1]["links"] = np.argsort(orders[0])[links(*tables[:2])[orders[1]]]
    moved = orders[0 if metric.scores == "real" else 1]
    other_columns = tables[1][["income", "illness", "age", "city"]]
    again = tables[0].astype(declared), other_columns, with_control[0], slice(None)
    for real, synthetic, given, rows in ((*renamed[:2], with_control[1], moved), again):
        after = call(metric, real, synthetic, **given | options)
        for number in ("value", "published", "details"):
            assert getattr(after, number) == pytest.approx(getattr(before, number), abs=1e-6, nan_ok=True), number
        assert_same_scores(after, before, rows, 1e-6)


@of_those(lambda m: not m.is_utility)  # of which every column is what is useful
def test_a_column_that_no_role_names_matters_only_to_distances(metric):
    before, after = plain(metric), call(metric, REAL.assign(income=0.0), SYNTHETIC.assign(income=0.0))
    scores = before.records["score"].to_numpy(dtype=float), after.records["score"].to_numpy(dtype=float)
    same = before.value == after.value and np.array_equal(*scores, equal_nan=True)
    everything = metric.group == "distance" or metric.name == "membership"  # compares whole records
    assert same != everything  # values that are cut off at 0 and 1 may be the same by that


LEAKED = (0, 5, 20, 40)


@pytest.mark.parametrize("name", ["zero_cap", "generalized_cap"])
@pytest.mark.filterwarnings("ignore:.*keys are unseen")
def test_releasing_records_of_unique_keys_does_not_lower_the_credit(name):
    # with shared keys it may: the record added outvotes the others of its key
    real = REAL.assign(city=[f"place {i % 30}" for i in range(40)], age=range(40))
    releases = [pd.concat([SYNTHETIC, real.iloc[:leaked]]) for leaked in LEAKED]
    values = [METRICS[name](real, release, **ROLES).records["score"].to_numpy() for release in releases]
    for leaked, before, after in zip(LEAKED[1:], values, values[1:], strict=False):
        assert (after[:leaked] == 1).all()
        assert name != "zero_cap" or (after >= before).all()


@pytest.mark.parametrize("name", ["distance_to_closest_record", "nearest_neighbour_distance_ratio"])
@pytest.mark.parametrize("space", ["euclid", "gower"])
def test_releasing_real_records_brings_the_release_nearer(name, space):
    releases = [pd.concat([SYNTHETIC, REAL.iloc[:leaked]]) for leaked in LEAKED]
    values = [METRICS[name](REAL, release, space=space).value for release in releases]
    assert values == sorted(values)
    assert values[0] < values[-1]


@every_metric
def test_an_unknown_option_is_refused_with_the_nearest(metric):
    for name in metric.options:
        with pytest.raises(InputError, match=f"'{name}x'.*did you mean '{name}'") as caught:
            call(metric, **{name + "x": 1})
        assert metric.name in str(caught.value)


@every_metric
def test_roles_are_refused_where_they_make_no_sense(metric):
    for name, columns in {**ROLES, "control": CONTROL}.items():
        given = {key: value for key, value in ROLES.items() if key in metric.needs and key != name}
        if name in metric.needs and not (name == "control" and metric.yardsticks.without_control):
            with pytest.raises(InputError, match=name):
                metric(REAL, SYNTHETIC, **given)
            with pytest.raises(InputError, match=name):
                call(metric, **{name: None})
        elif name not in metric.options:
            with pytest.raises(InputError, match=name):
                call(metric, **{name: columns})


@of_those(lambda m: "control" in m.options and "control" not in m.needs and not m.yardsticks.own_control)
def test_control_records_are_scored_too_where_records_are(metric):
    given = {"links": np.arange(len(SYNTHETIC))} if "links" in metric.options else {}  # some from control records
    beside = call(metric, control=CONTROL, **given)
    everyone = call(metric, real=pd.concat([REAL, CONTROL], ignore_index=True), **given).records
    own, other = everyone.iloc[: len(REAL)], everyone.iloc[len(REAL) :]
    pd.testing.assert_frame_equal(beside.records, own.set_axis(REAL.index), check_dtype=False)
    assert beside.value == pytest.approx(metric.records.reduce(own).value, abs=1e-12)
    of_others, d = metric.records.reduce(other), beside.details
    difference = own["score"].astype(float).mean() - other["score"].astype(float).mean()
    assert (d["control"], d["control_difference"]) == pytest.approx((of_others.value, difference), abs=1e-12)
    assert d["control_lower"] <= difference <= d["control_upper"]
    told = {name: d[f"control_{name}"] for name in of_others.details}
    assert told == pytest.approx(of_others.details, nan_ok=True)


@of_those(lambda m: m.is_utility)
def test_control_records_give_the_ceiling_of_a_utility(metric):
    beside = call(metric, control=CONTROL)
    assert {"ceiling", "thinned", "ceiling_rows"} <= set(beside.details)
    assert 0 <= beside.details["ceiling"] <= 1
    if metric.name != "train_synthetic_test_real":  # which tests on control records, and trains on members
        assert (beside.value, beside.details["ceiling_rows"]) == (plain(metric).value, len(CONTROL))
        same = call(metric, synthetic=CONTROL, control=CONTROL)
        assert same.value == same.details["ceiling"] == same.details["thinned"] == beside.details["ceiling"]
    after = call(metric, REAL.iloc[::-1], SYNTHETIC.iloc[::-1], control=CONTROL.sample(frac=1, random_state=0))
    names = {"city": {"Ulm": "z", "Łódź": "y", "Zanzibar": "x"}}
    renamed = call(metric, REAL.replace(names), SYNTHETIC.replace(names), control=CONTROL.replace(names))
    for other in (after, renamed):
        assert other.details == pytest.approx(beside.details, abs=1e-6, nan_ok=True)


@of_those(lambda m: m.yardsticks.own_control and not m.is_utility)
def test_control_records_move_no_score_of_a_metric_that_compares_itself(metric):
    alone, beside = plain(metric), call(metric, control=CONTROL)
    assert_same_records(beside, alone)
    names = {"control", "control_gain", "control_difference", "control_lower", "control_upper"}
    assert {*alone.details, *names} <= set(beside.details)
    assert set(alone.details) < set(beside.details)
    assert beside.details["control_lower"] <= beside.details["control_difference"] <= beside.details["control_upper"]


@every_metric
def test_a_value_against_some_real_records_is_taken_under_the_options(metric):
    given = OPTIONS.get(metric.name, {}) | {"seed": 3}
    found = metric.value_against(Tables(REAL, SYNTHETIC), np.arange(20), **given)
    if metric.study.against is None:
        assert math.isnan(found)
        return
    assert (metric.by_release, 0 <= found <= 1) == (True, True)
    parameters, taken = (inspect.signature(f).parameters for f in (metric.function, metric.study.against))
    assert {o for o in metric.choices if o in parameters} <= set(taken)
    order = np.random.default_rng(0).permutation(len(REAL))
    moved = metric.value_against(Tables(REAL.iloc[order], SYNTHETIC), np.flatnonzero(order < 20), **given)
    assert moved == pytest.approx(found, abs=1e-12)


@with_roles
@pytest.mark.parametrize("role", ROLES)
def test_columns_that_are_not_there_are_refused(metric, role):
    for columns in (["citty"], ["age", "Age"], [], ["age", "age"], 3, [None]):
        with pytest.raises(InputError, match=role) as caught:
            call(metric, **{role: columns})
        assert "\n" not in str(caught.value)
        if (role, columns) == ("quasi_identifiers", ["citty"]):
            assert "did you mean 'city'" in str(caught.value)


@of_those(lambda m: set(ROLES) <= set(m.needs))
def test_a_column_is_known_or_sensitive_not_both(metric):
    with pytest.raises(InputError, match=r"quasi_identifiers and sensitive .*'illness'"):
        call(metric, quasi_identifiers=["age", "illness"])


@with_roles
def test_one_column_may_be_given_by_its_name(metric):
    named = {"quasi_identifiers": "city", "sensitive": "illness"}
    names = {role: name for role, name in named.items() if role in metric.needs}
    single = call(metric, **names).value
    np.testing.assert_equal(single, call(metric, **{role: [name] for role, name in names.items()}).value)


TWICE = ["age", "city", "age", "illness"]
BAD_TABLES = {
    "no real row": (REAL.iloc[:0], SYNTHETIC, "real"),
    "no synthetic row": (REAL, SYNTHETIC.iloc[:0], "synthetic"),
    "column absent": (REAL, SYNTHETIC.drop(columns="income"), "income"),
    "column too many": (REAL, SYNTHETIC.assign(more=1), "more"),
    "array": (REAL.to_numpy(), SYNTHETIC, "real .*ndarray"),
    "dict": (REAL, SYNTHETIC.to_dict(), "synthetic .*dict"),
    "none": (REAL, None, "synthetic .*NoneType"),
    "series": (REAL, SYNTHETIC["age"], "synthetic .*Series"),
    "no column": (pd.DataFrame(index=range(3)), SYNTHETIC, "real"),
    "real name twice": (REAL.set_axis(TWICE, axis=1), SYNTHETIC, "real"),
    "synthetic name twice": (REAL, SYNTHETIC.set_axis(TWICE, axis=1), "synthetic"),
}


@every_metric
def test_bad_tables_are_refused(metric):
    for real, synthetic, named in BAD_TABLES.values():
        with pytest.raises(InputError, match=named) as caught:
            call(metric, real, synthetic)
        assert "\n" not in str(caught.value)


@every_metric
def test_a_number_is_not_its_text(metric):
    both = {"rapid": {"attacker": "random_forest"}, "train_synthetic_test_real": {"model": "cart"}}
    options = dict(both.get(metric.name, {}))  # models that guess classes and numbers
    if "control" in metric.needs:
        options["control"] = CONTROL.assign(illness=CONTROL["age"] % 3)
    for side, column in product((0, 1), ("age", "illness")):
        tables = [REAL.assign(illness=REAL["age"] % 3), SYNTHETIC.assign(illness=SYNTHETIC["age"] % 3)]
        tables[side] = tables[side].astype({column: str})
        with pytest.raises(InputError, match=f"'{column}'"):
            call(metric, *tables, **options)


@every_metric
def test_no_cell_of_the_real_table_is_in_an_error(metric):
    cells = {str(v) for v in [*REAL["city"].dropna(), *REAL["illness"], *REAL["income"].dropna()]}
    for changed in ({"city": 1.5, "illness": 2}, {"age": "text", "illness": pd.Timestamp("2020-01-01")}):
        with pytest.raises(InputError) as caught:
            call(metric, REAL, SYNTHETIC.assign(**changed))
        assert not [cell for cell in cells if cell in str(caught.value)]


@every_metric
def test_an_infinite_number_is_never_a_silent_nan(metric):
    for side in ("real", "synthetic"):
        tables = {"real": REAL.astype({"age": float}), "synthetic": SYNTHETIC.astype({"age": float})}
        tables[side].loc[0, "age"] = math.inf
        if metric.group == "cap":  # takes it as a value like another
            assert 0 <= call(metric, **tables).value <= 1
        else:
            with pytest.raises(InputError, match="'age'"):
                call(metric, **tables)


SECRETS = ("Zwiebelkuchen", "987654321")


def awkward():
    """Tables on which some metric has no value, the third the control records; all hold secrets."""
    cell = {"age": int(SECRETS[1]), "city": SECRETS[0], "income": float(SECRETS[1]), "illness": SECRETS[0]}
    one, own = pd.DataFrame([cell]), REAL.assign(**cell)
    others = REAL.assign(city=SECRETS[0], age=np.arange(len(REAL)) + int(SECRETS[1]))
    return {
        "one record": (one, SYNTHETIC, one),
        "one released": (REAL, one, CONTROL),
        "constant": (own, own, own),
        "apart": (others, REAL, others.assign(age=others["age"] + len(others))),
    }


@pytest.mark.parametrize("case", awkward())
@every_metric
@pytest.mark.filterwarnings("ignore:.*keys are unseen")
def test_a_score_without_value_says_why_without_a_cell(metric, case):
    real, synthetic, others = awkward()[case]
    options = {"links": None} if metric.name == "hidden_rate" else {}
    for control in ({}, {"control": others}) if "control" in metric.options else ({},):
        try:
            score = call(metric, real, synthetic, **options, **control)
        except InputError as error:  # one class only
            said = str(error)
        else:
            said = score.reason or ""
            assert bool(said) == math.isnan(score.value)
        assert not any(secret in said for secret in SECRETS)


def test_reasons_of_the_whole_metric_stand_beside_control():
    real = pd.concat([REAL.iloc[:1]] * 5)
    score = METRICS["identifiability_score"](real, SYNTHETIC, control=real)
    assert score.reason == "every real column is constant: no column has a weight"
    assert "no row link" in METRICS["hidden_rate"](REAL, SYNTHETIC, control=CONTROL).reason
