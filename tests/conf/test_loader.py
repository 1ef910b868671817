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
    "name": "small",
    "data": {"source": "people.csv", "quasi_identifiers": ["age", "city"], "sensitive": ["income"]},
    "synthesizers": ["cart"],
    "metrics": ["zero_cap"],
}


def changed(**parts) -> dict:
    """Return the small study with some parts replaced; ``data__drop=...`` reaches one level down."""
    settings = copy.deepcopy(SMALL)
    for name, value in parts.items():
        parent, _, child = name.partition("__")
        if child:
            settings.setdefault(parent, {})[child] = value
        else:
            settings[parent] = value
    return settings


def refusal(settings, overrides=()) -> str:
    with pytest.raises(InputError) as caught:
        load(settings, overrides)
    assert caught.value.__cause__ is None
    return str(caught.value)


@pytest.mark.parametrize("name", shipped())
def test_shipped_studies_load(name):
    assert load(name).name == name


def test_shipped_studies_are_demo_adult_smoke():
    assert {"adult", "demo", "smoke"} <= set(shipped())


def test_shipped_name_gives_way_to_a_file_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("smoke").write_text(yaml.safe_dump(SMALL))
    assert load("smoke").name == "small"


def test_defaults_are_those_of_the_design():
    study = load(SMALL)
    assert (study.split.folds, study.split.holdout, study.split.repetitions) == (5, None, 3)
    assert [r.name for r in study.references] == ["copy", "near_copy", "repelled", "leaky", "fresh", "marginals"]
    assert study.tracking.records == "hashed"
    assert (study.runner.kind, study.runner.workers) == ("processes", 2)
    assert (study.bootstrap.resamples, study.bootstrap.confidence) == (500, 0.9)
    assert study.workspace == ".synthrisk"
    assert study.thresholds == {}


def test_study_is_frozen():
    study = load(SMALL)
    for part, field in ((study, "seed"), (study.data, "source"), (study.synthesizers[0], "name")):
        with pytest.raises(ValidationError, match="frozen"):
            setattr(part, field, "x")


def test_absent_file_names_the_nearest_shipped_study(tmp_path):
    assert "got 'adlut' (did you mean 'adult'?)" in refusal("adlut")
    absent = str(tmp_path / "none.yaml")
    assert absent in refusal(absent)


def test_folder_is_no_study(tmp_path):
    assert "must be a YAML file" in refusal(str(tmp_path))


def test_all_errors_are_told_at_once():
    told = refusal(
        changed(
            split={"folds": 1},
            metrics=["zero_kap", {"name": "rapid", "treshold": 0.3}],
            synthesizers=["kart"],
            tracking={"records": "some"},
            seed=-1,
        )
    )
    for line in (
        "the study has 6 errors:",
        "- split.folds: ",
        "- metrics.0: no metric is called 'zero_kap' (did you mean 'zero_cap'?)",
        "- metrics.1: rapid takes no option 'treshold' (did you mean 'threshold'?)",
        "- synthesizers.0: no synthesizer is called 'kart' (did you mean 'cart'?)",
        "- tracking.records: ",
        "- seed: ",
    ):
        assert line in told


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_a_setting_of_an_earlier_study_is_told_with_its_new_name(old, new):
    sentence = f"{old} is called {new} now"
    assert refusal(changed(**{old: []})) == f"the study has 1 error: {sentence}"
    assert refusal(changed(), [f"{old}=[]"]) == f"the study has 1 error: {sentence}"
    assert f"- {sentence}" in refusal(changed(**{old: []}, seed=-1))
    assert new in Study.model_fields
    assert old not in Study.model_fields


def test_parts_of_an_earlier_setting_are_told_with_its_new_name():
    assert (
        refusal(changed(), ["controls.leaky.share=0.5"]) == "the study has 1 error: controls is called references now"
    )
    assert "data.controls: no such setting" in refusal(changed(data__controls=["copy"]))  # it never stood there


def test_missing_settings_are_told_by_path():
    told = refusal({"name": "x", "data": {"source": "a.csv"}})
    for path in ("data.quasi_identifiers", "data.sensitive", "synthesizers", "metrics"):
        assert f"- {path}: must be given" in told


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (changed(synthesizers=["cart", "cart"]), "cart"),
        (changed(synthesizers=["copy"]), "copy"),  # a reference generator has that name
        (changed(synthesizers=[{"name": "fresh", "kind": "cart"}]), "fresh"),
        (changed(metrics=["zero_cap", "zero_cap"]), "zero_cap"),
        (changed(metrics=["zero_cap", {"name": "rapid", "label": "zero_cap"}]), "zero_cap"),
        (changed(metrics=[{"name": "rapid", "attackers": ["logistic", "logistic"]}]), "logistic"),
        (
            changed(
                metrics=[
                    {"name": "rapid", "attackers": ["logistic", "random_forest"]},
                    {"name": "rapid", "label": "rapid-logistic"},
                ]
            ),
            "rapid-logistic",
        ),
        (changed(data__sensitive=["income", "income"]), "income"),
        (changed(data__quasi_identifiers=["age", "age"]), "age"),
        (changed(metrics=[{"name": "zero_cap", "sensitive": ["income", "income"]}]), "income"),
    ],
)
def test_names_are_used_once(settings, name):
    assert name in refusal(settings)


def test_same_metric_twice_under_two_labels():
    study = load(changed(metrics=["rapid", {"name": "rapid", "label": "strict", "threshold": 0.7}]))
    assert [(m.name, m.label, m.options) for m in study.metrics] == [
        ("rapid", "rapid", {}),
        ("rapid", "strict", {"threshold": 0.7}),
    ]


def test_short_forms():
    study = load(
        changed(
            synthesizers=["cart", {"name": "vendor", "kind": "files", "path": "a.csv"}],
            references=[
                "copy",
                {"name": "leaky", "share": 0.3},
                {"name": "leaky2", "kind": "leaky", "options": {"share": 1}},
            ],
            thresholds={"risk/zero_cap.income": 0.1, "memorization/zero_cap.income": {"value": 0.2, "source": "board"}},
        )
    )
    assert [(s.name, s.kind, s.options) for s in study.synthesizers] == [
        ("cart", "cart", {}),
        ("vendor", "files", {"path": "a.csv"}),
    ]
    assert [r.options for r in study.references] == [{}, {"share": 0.3}, {"share": 1}]
    assert study.thresholds["risk/zero_cap.income"].value == 0.1
    assert study.thresholds["memorization/zero_cap.income"].source == "board"


def test_settings_survive_a_round_trip():
    for name in shipped():
        study = load(name)
        assert load(study.model_dump(mode="json")) == study


# --set


@pytest.mark.parametrize(
    ("override", "read"),
    [
        ("seed=7", lambda s: s.seed == 7),
        ("split.folds=3", lambda s: s.split.folds == 3),
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
    ],
)  # fmt: skip
def test_set(override, read):
    settings = changed(
        references=[{"name": "leaky"}],
        metrics=["zero_cap", {"name": "rapid"}],
        thresholds={},
    )
    assert read(load(settings, [override]))


def test_limits_may_be_called_limits_or_thresholds_and_not_both():
    one = {"memorization/zero_cap": 0.05}
    study = load(changed(limits=one), ["limits.tpr/membership=0.1", "thresholds.risk/rapid.income=0.2"])
    assert study == load(changed(thresholds=one | {"tpr/membership": 0.1, "risk/rapid.income": 0.2}))
    assert load(study.model_dump()) == study
    Draft202012Validator(schema()).validate(changed(limits=one))
    assert "limits and thresholds are one setting, got 'memorization/zero_cap' in both" in refusal(
        changed(limits=one, thresholds=one)
    )
    assert "must be a number, got 'low'" in refusal(changed(limits={"memorization/zero_cap": "low"}))
    assert "limits" in refusal(changed(limits=[0.05]))


def test_later_set_wins():
    assert load(changed(), ["seed=2", "seed=3"]).seed == 3


def test_set_leaves_the_callers_settings_alone():
    settings = changed(split={"folds": 4})
    before = copy.deepcopy(settings)
    load(settings, ["split.folds=2", "synthesizers.0.min_samples_leaf=3", "data.rows=9"])
    assert settings == before


# the environment


def test_variables_are_read_only_where_declared(monkeypatch):
    monkeypatch.setenv("SYNTHRISK_TEST", "value")
    monkeypatch.setenv("SYNTHRISK_VARIABLES", "SYNTHRISK_TEST")
    study = load(changed(data__source="${SYNTHRISK_TEST}.csv", tracking={"uri": "http://u:${SYNTHRISK_TEST}@host"}))
    assert study.data.source == "${SYNTHRISK_TEST}.csv"
    assert study.tracking.uri == "http://u:${SYNTHRISK_TEST}@host"  # the study keeps the name, never the value
    assert resolve(study.tracking.uri) == "http://u:value@host"


def test_absent_variable_is_named(monkeypatch):
    monkeypatch.delenv("SYNTHRISK_TEST", raising=False)
    monkeypatch.setenv("SYNTHRISK_VARIABLES", "SYNTHRISK_TEST")
    for settings in (
        changed(tracking={"uri": "http://u:${SYNTHRISK_TEST}@host"}),
        changed(data__source={"url": "postgresql+psycopg://u:${SYNTHRISK_TEST}@h/d", "query": "select 1"}),
    ):
        assert "must have the variable SYNTHRISK_TEST" in refusal(settings)


def test_absent_variable_elsewhere_does_not_matter(monkeypatch):
    monkeypatch.delenv("SYNTHRISK_TEST", raising=False)
    assert load(changed(workspace="${SYNTHRISK_TEST}")).workspace == "${SYNTHRISK_TEST}"


@pytest.mark.parametrize(
    "settings",
    [
        changed(data__source={"url": "postgresql+psycopg://reader:hunter2@host/db", "query": "select 1"}),
        changed(data__source={"url": "postgresql+psycopg://reader:hunt/er2@host/db", "query": "select 1"}),
        changed(tracking={"uri": "http://reader:hunter2@host:5000"}),
        changed(data__source="s3://key:hunter2@bucket/people.csv"),
        changed(synthesizers=[{"name": "vendor", "kind": "files", "path": "s3://key:hunter2@bucket/{fold}.csv"}]),
    ],
    ids=["data", "slash", "tracking", "url", "files"],
)
def test_password_in_plain_text_is_refused_and_not_repeated(settings):
    told = refusal(settings)
    assert "environment" in told
    assert "hunt" not in told


def test_password_is_not_repeated_among_other_errors():
    source = {"url": "postgresql+psycopg://reader:hunter2@host/db", "query": "select 1", "qery": "x"}
    assert "hunter2" not in refusal(changed(data__source=source))


# the JSON schema


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(schema())
    return Draft202012Validator(schema())


@pytest.mark.parametrize("name", shipped())
def test_schema_accepts_shipped_studies(validator, name):
    validator.validate(yaml.safe_load(shipped()[name]))


def test_schema_accepts_what_the_loader_made(validator):
    validator.validate(load("demo").model_dump(mode="json"))


@pytest.mark.parametrize(
    "settings",
    [
        changed(sed=1),
        changed(data__quasi_identifier=[]),
        changed(split={"folds": 1}),
        changed(split={"holdout": 2}),
        changed(synthesizers=[]),
        changed(synthesizers=[{"kind": "cart"}]),
        changed(metrics=[{"attackers": ["logistic"]}]),
        changed(thresholds={"risk/zero_cap.income": 3}),
        changed(thresholds={"risk/zero_cap.income": {"value": 0.1, "by": "me"}}),
        changed(tracking={"records": "some"}),
        {k: v for k, v in SMALL.items() if k != "metrics"},
    ],
    ids=repr,
)
def test_schema_refuses_what_the_loader_refuses(validator, settings):
    refusal(settings)
    with pytest.raises(SchemaError):
        validator.validate(settings)


def test_every_setting_is_described():
    found = schema()
    parts = [found, *found["$defs"].values()]
    bare = [name for p in parts for name, f in p.get("properties", {}).items() if not f.get("description")]
    assert set(bare) <= {"data", "split", "bootstrap", "tracking", "runner"}  # their types say it


def test_model_accepts_a_mapping_as_the_loader_does():
    assert Study.model_validate(SMALL) == load(SMALL)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"attacker": ["logistic", "cart"]}, "list several as attackers"),
        ({"attackers": ["cart"], "envelope": "mean"}, "envelope needs at least two attackers, got ['cart']"),
        ({"attackers": ["cart", "lasso"], "envelope": "largest"}, "'max', 'mean' or 'record'"),
        ({"attackers": ["cart", "lasso"], "envelope": ["max", "max"]}, "got 'max' twice"),
        ({"attackers": ["cart", "lasso"], "options": {"envelope": "max"}}, "envelope must stand beside attackers"),
        ({"name": "inference", "attackers": ["key_class", "nearest_record"], "envelope": "max"}, "left out"),
    ],
)
def test_a_study_has_no_envelope_that_it_would_ignore(option, said):
    assert said in refusal(changed(metrics=[{"name": "rapid", **option}]))


def test_an_envelope_is_one_word_or_several():
    models = {"name": "rapid", "attackers": ["cart", "lasso"]}
    for given, read in (("max", ["max"]), (["max", "record"], ["max", "record"])):
        settings = changed(metrics=[{**models, "envelope": given}])
        Draft202012Validator(schema()).validate(settings)
        assert load(settings).metrics[0].envelope == read
    taken = {"name": "zero_cap", "label": "rapid_max"}
    assert "got 'rapid_max' twice" in refusal(changed(metrics=[{**models, "envelope": "max"}, taken]))


def test_a_study_of_many_releases_takes_no_links_of_one():
    text = refusal(changed(metrics=[{"name": "hidden_rate", "links": [0, 1]}]))
    assert "links belong to one release" in text


# built-in tables with options


def test_a_built_in_table_takes_options():
    options = {"kappa": 10, "rows": 1000, "seed": 3}
    study = load(changed(data__source={"name": "simulated_health", "options": options}))
    assert (study.data.source.name, study.data.source.options) == ("simulated_health", options)
    assert load(study.model_dump(mode="json")) == study


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ({"name": "simulated_helth"}, "data.source: no table is called 'simulated_helth' (did you mean"),
        (
            {"name": "simulated_health", "options": {"kapa": 1}},
            "data.source: simulated_health takes no option 'kapa' (did you mean 'kappa'?); it takes rows, kappa",
        ),
        ({"name": "adult", "options": {"rows": 5}}, "data.source: adult takes no option 'rows'; it takes none"),
        ({"name": "adult", "optoins": {}}, "data.source.optoins: no such setting (did you mean 'options'?)"),
        ({"options": {}}, "data.source.name: must be given"),
        ({"url": "sqlite://"}, "data.source.query: must be given"),
        (["adult"], "data.source: must be a name, a path or a URL, {url, query} or {name, options}"),
        (5, "data.source: must be a name, a path or a URL, {url, query} or {name, options}, got 5"),
    ],
)
def test_a_source_of_no_known_form_is_told_in_one_line(source, told):
    text = refusal(changed(data__source=source))
    assert text.startswith(f"the study has 1 error: {told}")
    assert "\n" not in text


# the weakest columns


def test_the_gda_score_is_taken_over_all_columns_and_the_worst_unless_told():
    assert load(SMALL).weakest == (None, 1)
    assert load(changed(weakest_columns=["all", 3, 1])).weakest == (None, 3, 1)
    assert load(SMALL, ["weakest_columns=[2]"]).weakest == (2,)


COUNTS = [[], [0], [-1], [1.5], ["al"], [True], [1, 1], ["all", "all"], 3, "all", None, [None], [[1]], {"k": 3}]


@pytest.mark.parametrize("counts", COUNTS, ids=repr)
def test_numbers_of_columns_are_distinct_and_whole(counts, validator):
    said = refusal(changed(weakest_columns=counts))
    rule = "weakest_columns must be a list of distinct numbers of columns, each all or at least 1, got "
    assert said == f"the study has 1 error: weakest_columns: {rule}{counts!r}"
    with pytest.raises(SchemaError):
        validator.validate(changed(weakest_columns=counts))


def test_the_schema_knows_numbers_of_columns(validator):
    validator.validate(changed(weakest_columns=["all", 3, 1]))
    assert schema()["properties"]["weakest_columns"]["default"] == ["all", 1]


# yardstick and power


def test_population_yardstick_is_on_and_power_off():
    study = load(SMALL)
    assert (study.population_yardstick, study.power) == (True, None)


@pytest.mark.parametrize("shares", [[0.0], [1.5], [0.1, 0.1], [-0.1]])
def test_shares_are_distinct_and_between_0_and_1(shares):
    assert "shares must be distinct numbers in (0, 1], got" in refusal(changed(power={"shares": shares}))


def test_there_must_be_a_share():
    assert "power.shares" in refusal(changed(power={"shares": []}))


@pytest.mark.parametrize(
    "parts",
    [
        {"synthesizers": ["nonmembers"]},
        {"synthesizers": [{"name": "mine", "kind": "nonmembers"}]},
        {"synthesizers": [{"name": "nonmembers", "kind": "cart"}]},
        {"references": [{"name": "nonmembers", "kind": "copy"}]},
    ],
)
def test_the_yardstick_is_no_synthesizer(parts):
    assert "must not be called 'nonmembers': it is the yardstick" in refusal(changed(**parts))


def test_settings_can_be_added_to_what_is_there():
    base = changed(metrics=["zero_cap"], thresholds={"memorization/zero_cap": 0.1})
    more = "references+={name: half, kind: leaky, share: 0.5}"
    made = load(base, ["metrics+=membership", "limits+={tpr/membership: 0.05}", more])
    assert [m.name for m in made.metrics] == ["zero_cap", "membership"]
    assert list(made.thresholds) == ["memorization/zero_cap", "tpr/membership"]
    assert {"copy", "near_copy", "half"} <= {r.name for r in made.references}  # beside those of a study that names none
    assert base["metrics"] == ["zero_cap"]
    assert "must add to a list" in refusal(base, ["name+=y"])
