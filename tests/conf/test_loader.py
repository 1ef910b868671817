"""The loader: what it takes, and what it refuses beside the bad inputs of tests/bad_inputs."""

import copy
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError as SchemaError
from pydantic import ValidationError

from synthrisk.conf import Study, load, resolve, schema, shipped
from synthrisk.conf.loader import RENAMED
from synthrisk.metrics import InputError

SMALL = {
    "name": "small", "synthesizers": ["cart"], "metrics": ["zero_cap"],
    "data": {"source": "people.csv", "quasi_identifiers": ["age", "city"], "sensitive": ["income"]},
}  # fmt: skip


def changed(**parts) -> dict:
    """Return the small study with some parts replaced; ``data__drop`` is one level down."""
    settings = copy.deepcopy(SMALL)
    for name, value in parts.items():
        *parent, last = name.split("__")
        (settings.setdefault(parent[0], {}) if parent else settings)[last] = value
    return settings


def refusal(settings, overrides=()) -> str:
    with pytest.raises(InputError) as caught:
        load(settings, overrides)
    assert caught.value.__cause__ is None
    return str(caught.value)


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(schema())
    return Draft202012Validator(schema())


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_study_loads_fits_the_schema_and_survives_a_round_trip(validator, name):
    study = load(name)
    assert (study.name, load(study.model_dump(mode="json"))) == (name, study)
    for settings in (yaml.safe_load(shipped()[name]), study.model_dump(mode="json")):
        validator.validate(settings)


def test_a_shipped_name_gives_way_to_a_file_of_that_name(tmp_path, monkeypatch):
    assert {"adult", "demo", "smoke"} <= set(shipped())
    monkeypatch.chdir(tmp_path)
    Path("smoke").write_text(yaml.safe_dump(SMALL))
    assert load("smoke").name == "small"
    assert str(tmp_path / "none.yaml") in refusal(str(tmp_path / "none.yaml"))


def test_defaults_are_those_of_the_design():
    study = load(SMALL)
    assert (study.split.folds, study.split.holdout, study.split.repetitions) == (5, None, 3)
    assert [r.name for r in study.references] == ["copy", "near_copy", "repelled", "leaky", "fresh", "marginals"]
    assert (study.tracking.records, study.workspace, study.thresholds) == ("hashed", ".synthrisk", {})
    assert (study.runner.kind, study.runner.workers) == ("processes", 2)
    assert (study.bootstrap.resamples, study.bootstrap.confidence) == (500, 0.9)
    assert (study.population_yardstick, study.power, study.weakest) == (True, None, (None, 1))
    assert (schema()["properties"]["weakest_columns"]["default"], Study.model_validate(SMALL)) == (["all", 1], study)


def test_study_is_frozen():
    study = load(SMALL)
    for part, field in ((study, "seed"), (study.data, "source"), (study.synthesizers[0], "name")):
        with pytest.raises(ValidationError, match="frozen"):
            setattr(part, field, "x")


def test_settings_that_are_missing_are_told_by_path_all_at_once():
    missing = ("data.quasi_identifiers", "data.sensitive", "synthesizers", "metrics")
    told = ["the study has 4 errors:", *(f"- {path}: must be given" for path in missing)]
    assert refusal({"name": "x", "data": {"source": "a.csv"}}) == "\n".join(told)


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_a_setting_of_an_earlier_study_is_told_with_its_new_name(old, new):
    sentence = f"{old} is called {new} now"
    for settings, overrides in ((changed(**{old: []}), []), (changed(), [f"{old}=[]"]), (changed(), [f"{old}.x.y=1"])):
        assert refusal(settings, overrides) == f"the study has 1 error: {sentence}"
    assert f"- {sentence}" in refusal(changed(**{old: []}, seed=-1))
    assert f"data.{old}: no such setting" in refusal(changed(**{f"data__{old}": []}))  # it never stood there
    assert new in Study.model_fields
    assert old not in Study.model_fields


def rapid(**options):
    return [{"name": "rapid", **options}]


def vendor(path):
    return [{"name": "vendor", "kind": "files", "path": path}]


MODELS = ["logistic", "random_forest"]
YARDSTICK = "must not be called 'nonmembers': it is the yardstick"
SHARES = "shares must be distinct numbers in (0, 1], got"


@pytest.mark.parametrize(("parts", "told"), [
    ({"synthesizers": ["copy"]}, "'copy'"),  # a reference generator has that name
    ({"synthesizers": [{"name": "fresh", "kind": "cart"}]}, "'fresh'"),
    ({"metrics": ["zero_cap", *rapid(label="zero_cap")]}, "'zero_cap'"),
    ({"metrics": rapid(attackers=["logistic", "logistic"])}, "'logistic'"),
    ({"metrics": rapid(attackers=MODELS) + rapid(label="rapid-logistic")}, "'rapid-logistic'"),
    ({"metrics": rapid(attackers=MODELS, envelope="max") + rapid(label="rapid_max")}, "got 'rapid_max' twice"),
    ({"data__quasi_identifiers": ["age", "age"]}, "'age'"),
    ({"metrics": [{"name": "zero_cap", "sensitive": ["income", "income"]}]}, "'income'"),
    ({"metrics": rapid(attacker=["logistic", "cart"])}, "list several as attackers"),
    ({"metrics": rapid(attackers=["cart"], envelope="mean")}, "envelope needs at least two attackers, got ['cart']"),
    ({"metrics": rapid(attackers=["cart", "lasso"], envelope="largest")}, "'max', 'mean' or 'record'"),
    ({"metrics": rapid(attackers=["cart", "lasso"], envelope=["max", "max"])}, "got 'max' twice"),
    ({"metrics": rapid(attackers=["cart", "lasso"], options={"envelope": "max"})},
     "envelope must stand beside attackers"),
    ({"metrics": [{"name": "inference", "attackers": ["key_class", "nearest_record"], "envelope": "max"}]}, "left out"),
    ({"metrics": [{"name": "hidden_rate", "links": [0, 1]}]}, "links belong to one release"),
    *(({"power": {"shares": shares}}, SHARES) for shares in ([1.5], [0.1, 0.1], [-0.1])),
    ({"synthesizers": ["nonmembers"]}, YARDSTICK),
    ({"synthesizers": [{"name": "mine", "kind": "nonmembers"}]}, YARDSTICK),
    ({"references": [{"name": "nonmembers", "kind": "copy"}]}, YARDSTICK),
])  # fmt: skip
def test_what_breaks_a_rule_is_refused_with_the_name_or_the_rule(parts, told):
    assert told in refusal(changed(**parts))


def test_short_and_long_forms(validator):
    for given, read in (("max", ["max"]), (["max", "record"], ["max", "record"])):
        enveloped = changed(metrics=rapid(attackers=["cart", "lasso"], envelope=given))
        validator.validate(enveloped)
        assert load(enveloped).metrics[0].envelope == read
    leaky = [{"name": "leaky", "share": 0.3}, {"name": "leaky2", "kind": "leaky", "options": {"share": 1}}]
    limits = {"risk/rapid.income": 0.1, "memorization/rapid.income": {"value": 0.2, "source": "board"}}
    metrics = ["rapid", *rapid(label="strict", threshold=0.7)]
    made = {"metrics": metrics, "synthesizers": ["cart", *vendor("a.csv")], "references": ["copy", *leaky]}
    study = load(changed(**made, thresholds=limits))
    found = [(s.name, s.kind, s.options) for s in study.synthesizers]
    assert found == [("cart", "cart", {}), ("vendor", "files", {"path": "a.csv"})]
    options = {"kappa": 10, "rows": 1000, "seed": 3}
    built_in = load(changed(data__source={"name": "simulated_health", "options": options}))
    assert (built_in.data.source.name, built_in.data.source.options) == ("simulated_health", options)
    assert load(built_in.model_dump(mode="json")) == built_in
    assert [r.options for r in study.references] == [{}, {"share": 0.3}, {"share": 1}]
    assert study.thresholds["risk/rapid.income"].value == 0.1
    assert study.thresholds["memorization/rapid.income"].source == "board"
    found = [(m.name, m.label, m.options) for m in study.metrics]
    assert found == [("rapid", "rapid", {}), ("rapid", "strict", {"threshold": 0.7})]


@pytest.mark.parametrize(("override", "read"), [
    ("seed=7", lambda s: s.seed == 7), ("split.folds=3", lambda s: s.split.folds == 3),
    ("split={holdout: 0.25, repetitions: 2}", lambda s: (s.split.folds, s.split.holdout) == (None, 0.25)),
    ("data.rows=null", lambda s: s.data.rows is None),
    ("data.sensitive=[wage]", lambda s: s.data.sensitive == ["wage"]),
    ('data.quasi_identifiers="*"', lambda s: s.data.quasi_identifiers == "*"),
    ("data.source=a=b.csv", lambda s: s.data.source == "a=b.csv"),
    ("synthesizers.0.min_samples_leaf=9", lambda s: s.synthesizers[0].options == {"min_samples_leaf": 9}),
    ("synthesizers.cart.min_samples_leaf=9", lambda s: s.synthesizers[0].options == {"min_samples_leaf": 9}),
    ("synthesizers.0=marginals", lambda s: s.synthesizers[0].kind == "marginals"),
    ("references.leaky.share=0.5", lambda s: s.references[0].options == {"share": 0.5}),
    ("metrics.rapid.threshold=0.7", lambda s: s.metrics[1].options == {"threshold": 0.7}),
    ("metrics.1.attackers=[logistic]", lambda s: s.metrics[1].attackers == ["logistic"]),
    ("thresholds.risk/zero_cap.income=0.05", lambda s: s.thresholds["risk/zero_cap.income"].value == 0.05),
    ("thresholds.risk/rapid.capital.gain=0.1", lambda s: s.thresholds["risk/rapid.capital.gain"].value == 0.1),
    ("tracking.uri=''", lambda s: s.tracking.uri is None),  # as deployments write what is not set
    ("tracking.uri=sqlite:///x.db", lambda s: s.tracking.uri == "sqlite:///x.db"),
    ("weakest_columns=[2]", lambda s: s.weakest == (2,)),
    ("weakest_columns=[all, 3, 1]", lambda s: s.weakest == (None, 3, 1)),
])  # fmt: skip
def test_set(override, read):
    settings = changed(references=[{"name": "leaky"}], metrics=["zero_cap", *rapid()], thresholds={})
    assert read(load(settings, [override]))


def test_limits_may_be_called_limits_or_thresholds_and_not_both(validator):
    one = {"memorization/zero_cap": 0.05}
    study = load(changed(limits=one), ["limits.tpr/membership=0.1", "thresholds.risk/rapid.income=0.2"])
    assert study == load(changed(thresholds=one | {"tpr/membership": 0.1, "risk/rapid.income": 0.2}))
    assert load(study.model_dump()) == study
    validator.validate(changed(limits=one))
    told = refusal(changed(limits=one, thresholds=one))
    assert "limits and thresholds are one setting, got 'memorization/zero_cap' in both" in told
    assert "must be a number, got 'low'" in refusal(changed(limits={"memorization/zero_cap": "low"}))
    assert "limits" in refusal(changed(limits=[0.05]))


def test_later_set_wins_and_leaves_the_callers_settings_alone():
    settings = changed(split={"folds": 4})
    before = copy.deepcopy(settings)
    overrides = ["split.folds=2", "synthesizers.0.min_samples_leaf=3", "data.rows=9", "seed=2", "seed=3"]
    assert (load(settings, overrides).seed, settings) == (3, before)


def test_settings_can_be_added_to_what_is_there():
    base = changed(thresholds={"memorization/zero_cap": 0.1})
    more = "references+={name: half, kind: leaky, share: 0.5}"
    made = load(base, ["metrics+=membership", "limits+={tpr/membership: 0.05}", more])
    assert [m.name for m in made.metrics] == ["zero_cap", "membership"]
    assert list(made.thresholds) == ["memorization/zero_cap", "tpr/membership"]
    assert {"copy", "near_copy", "half"} <= {r.name for r in made.references}  # beside those of a study that names none
    assert base["metrics"] == ["zero_cap"]
    assert "must add to a list" in refusal(base, ["name+=y"])


def test_variables_are_read_only_where_declared(monkeypatch):
    monkeypatch.setenv("SYNTHRISK_TEST", "value")
    monkeypatch.setenv("SYNTHRISK_VARIABLES", "SYNTHRISK_TEST")
    study = load(changed(data__source="${SYNTHRISK_TEST}.csv", tracking={"uri": "http://u:${SYNTHRISK_TEST}@host"}))
    assert study.data.source == "${SYNTHRISK_TEST}.csv"
    assert study.tracking.uri == "http://u:${SYNTHRISK_TEST}@host"  # the study keeps the name, never the value
    assert resolve(study.tracking.uri) == "http://u:value@host"


def sql(url, **more):
    return {"data__source": {"url": url, "query": "select 1", **more}}


def test_an_absent_variable_is_named_where_it_matters(monkeypatch):
    monkeypatch.delenv("SYNTHRISK_TEST", raising=False)
    assert load(changed(workspace="${SYNTHRISK_TEST}")).workspace == "${SYNTHRISK_TEST}"
    monkeypatch.setenv("SYNTHRISK_VARIABLES", "SYNTHRISK_TEST")
    tracking = {"tracking": {"uri": "http://u:${SYNTHRISK_TEST}@host"}}
    for parts in (tracking, sql("postgresql+psycopg://u:${SYNTHRISK_TEST}@h/d")):
        assert "must have the variable SYNTHRISK_TEST" in refusal(changed(**parts))


SECRET = "postgresql+psycopg://reader:hunter2@host/db"


@pytest.mark.parametrize("parts", [
    sql(SECRET), sql(SECRET.replace("hunt", "hunt/")), {"tracking": {"uri": "http://reader:hunter2@host:5000"}},
    {"data__source": "s3://key:hunter2@bucket/people.csv"},
    {"synthesizers": vendor("s3://key:hunter2@bucket/{fold}.csv")},
], ids=["data", "slash", "tracking", "url", "files"])  # fmt: skip
def test_password_in_plain_text_is_refused_and_not_repeated(parts):
    told = refusal(changed(**parts))
    assert "environment" in told
    assert "hunt" not in told


def test_password_is_not_repeated_among_other_errors():
    assert "hunter2" not in refusal(changed(**sql(SECRET, qery="x")))


@pytest.mark.parametrize("settings", [
    changed(sed=1), changed(data__quasi_identifier=[]), changed(split={"folds": 1}), changed(split={"holdout": 2}),
    changed(synthesizers=[]), changed(synthesizers=[{"kind": "cart"}]), changed(metrics=[{"attackers": ["cart"]}]),
    changed(thresholds={"risk/zero_cap.income": 3}), changed(tracking={"records": "some"}),
    changed(thresholds={"risk/zero_cap.income": {"value": 0.1, "by": "me"}}),
    {k: v for k, v in SMALL.items() if k != "metrics"},
], ids=repr)  # fmt: skip
def test_schema_refuses_what_the_loader_refuses(validator, settings):
    refusal(settings)
    with pytest.raises(SchemaError):
        validator.validate(settings)


def test_every_setting_is_described():
    found = schema()
    parts = [found, *found["$defs"].values()]
    bare = [name for p in parts for name, f in p.get("properties", {}).items() if not f.get("description")]
    assert set(bare) <= {"data", "split", "bootstrap", "tracking", "runner"}  # their types say it


FORMS = "must be a name, a path or a URL, {url, query} or {name, options}"


@pytest.mark.parametrize(("source", "told"), [
    ({"name": "simulated_helth"}, ": no table is called 'simulated_helth' (did you mean"),
    ({"name": "simulated_health", "options": {"kapa": 1}},
     ": simulated_health takes no option 'kapa' (did you mean 'kappa'?); it takes rows, kappa"),
    ({"name": "adult", "optoins": {}}, ".optoins: no such setting (did you mean 'options'?)"),
    ({"options": {}}, ".name: must be given"), (["adult"], f": {FORMS}"), (5, f": {FORMS}, got 5"),
])  # fmt: skip
def test_a_source_of_no_known_form_is_told_in_one_line(source, told):
    text = refusal(changed(data__source=source))
    assert text.startswith(f"the study has 1 error: data.source{told}")
    assert "\n" not in text


COUNTS = [[], [0], [-1], [1.5], ["al"], [True], [1, 1], ["all", "all"], 3, "all", None, [None], [[1]], {"k": 3}]


@pytest.mark.parametrize("counts", COUNTS, ids=repr)
def test_numbers_of_columns_are_distinct_and_whole(counts, validator):
    validator.validate(changed(weakest_columns=["all", 3, 1]))
    said = refusal(changed(weakest_columns=counts))
    rule = "weakest_columns must be a list of distinct numbers of columns, each all or at least 1, got "
    assert said == f"the study has 1 error: weakest_columns: {rule}{counts!r}"
    with pytest.raises(SchemaError):
        validator.validate(changed(weakest_columns=counts))
