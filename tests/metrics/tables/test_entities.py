"""Several rows of one entity: what METHODS 3 counts in entities, by hand and against plain loops that share no code."""

import math

import numpy as np
import pandas as pd
import pytest

from samples.cells import same as equal
from synthrisk.metrics import METRICS, Attack, InputError, Tables
from synthrisk.metrics.claims.judging import halves
from synthrisk.metrics.claims.linkability import SHARED_NEIGHBOUR
from synthrisk.metrics.exposure.what_if import Change, what_if
from synthrisk.metrics.tables.tolerance import share_close

# groups of several sizes are meant; that it is told is tested with other warnings of control records
pytestmark = pytest.mark.filterwarnings("ignore:membership. .* reads as .* at most:UserWarning")

SECRETS = [f"patient-{i}-zq" for i in range(100)]
CALLS = {
    "singling_out": {},
    "inference": {"quasi_identifiers": ["age", "job"], "sensitive": "ill"},
    "linkability": {"columns_a": ["age", "job"], "columns_b": ["ill"]},
    "coverage": {},
    "accuracy": {},
}
counting = pytest.mark.parametrize("name", CALLS)


def draw(seed, n):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"age": rng.integers(20, 30, n)})
    table["job"] = rng.choice(["a", "b", "c", None], n, p=[0.4, 0.3, 0.2, 0.1])
    table["pay"] = rng.choice([-3.0, 0.0, 0.5, 10.0, 10.4, 10.9, 100.0, np.nan], n)
    return table.assign(ill=rng.choice(["x", "y", "z", None], n, p=[0.4, 0.3, 0.2, 0.1]))


def visits(seed, n, people=25, first=0):
    """A table with several rows of most patients, half of them as an earlier one, and some rows of nobody known."""
    rng = np.random.default_rng(seed + 1000)
    whose = pd.Series(rng.choice(SECRETS[first : first + people], n)).where(rng.random(n) > 0.15, None)
    table = draw(seed, n).assign(patient=whose)
    earlier = table.groupby("patient", dropna=False)["age"].transform(lambda rows: rows.index[0])
    again = whose.notna() & (rng.random(n) < 0.5)
    return table.iloc[np.where(again, earlier, np.arange(n))].reset_index(drop=True)


def by_patient(table):
    """Return the rows of each entity as dicts; a row without a patient is one of its own."""
    found = {}
    for place, row in enumerate(table.to_dict("records")):
        whose = row.pop("patient")
        found.setdefault(place if pd.isna(whose) else whose, []).append((place, row))
    return found


def call(name, real, release, **options):
    return METRICS[name](real, release, **CALLS[name] | options)


def fulfils(row, predicate):
    tests = {"==": equal, "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b, "missing": lambda a, _: pd.isna(a)}
    return all(tests[operator](row[column], value) for column, operator, value in predicate)


def fulfilling(people, predicate):
    return sum(any(fulfils(row, predicate) for _, row in rows) for rows in people.values())


def name_all(release, rng):
    """Name the age and job of each row, with a limit on its pay, and the job alone of some."""
    named = []
    for place, row in enumerate(release.to_dict("records")):
        job = ("job", "missing", None) if pd.isna(row["job"]) else ("job", "==", row["job"])
        limit = [] if pd.isna(row["pay"]) else [("pay", ("<=", ">=")[place % 2], row["pay"])]
        named.append((("age", "==", row["age"]), job, *limit) if place % 5 else (job,))
    return pd.DataFrame({"predicate": pd.Series(named, dtype=object), "confidence": 1.0})


NAME_ALL = Attack("name_all", "singling_out", name_all)


@pytest.mark.parametrize("seed", range(4))
def test_entities_that_are_singled_out_are_counted_as_by_plain_loops(seed):
    real, release, control = visits(seed, 60), draw(seed + 50, 50), visits(seed + 70, 30, people=12, first=25)
    found = call("singling_out", real, release, attacker=NAME_ALL, control=control, identifier="patient")
    people, others = by_patient(real), by_patient(control)
    n, m, isolated = len(people), len(others), set()
    claims = found.records[found.records["claim"]]
    for record in claims.to_dict("records"):
        conditions, own = record["predicate"], fulfilling(people, record["predicate"])
        columns = {column for column, *_ in conditions}
        alone = [fulfilling(people, [c for c in conditions if c[0] == column]) / n for column in columns]
        weight = math.prod(alone)
        assert record["score"] == (own == 1)
        assert record["baseline"] == pytest.approx(n * weight * (1 - weight) ** (n - 1), abs=1e-12)
        both = [
            (side, who)
            for side, group in ((1, people), (0, others))
            for who, own_rows in group.items()
            if any(fulfils(row, conditions) for _, row in own_rows)
        ]
        isolated |= set(both) if len(both) == 1 else set()
    rows = [sum(fulfils(row, p) for row in real.to_dict("records")) for p in claims["predicate"]]
    assert (np.array(rows) == 1).tolist() != claims["score"].astype(bool).tolist()  # or the test could not fail
    assert found.details["isolated"] == len(isolated) > 3
    assert found.details["isolated_members"] == sum(side for side, _ in isolated)
    assert found.details["control"] == n / (n + m)


def facts_of(people, column):
    return {e: [row[column] for _, row in rows if not pd.isna(row[column])] for e, rows in people.items()}


def check_claims(found, real, right, claimed, facts):
    """Compare the claims with those of an attack that was let count all: right, S, and once a fact."""
    people = by_patient(real)
    owner = {place: e for e, rows in people.items() for place, _ in rows}
    known, made = [e for e in people if facts[e]], {}
    for place, (value, confidence) in enumerate(claimed):
        if not pd.isna(value):
            made.setdefault((owner[place], value), []).append((confidence, place))
    counted = np.flatnonzero(found.records["claim"])
    assert len(counted) == len(made) < sum(len(each) for each in made.values())
    for place in counted:
        value, confidence = claimed[place]
        row = found.records.iloc[place]
        assert confidence == max(c for c, _ in made.pop((owner[place], value)))
        assert row["score"] == any(right(value, truth) for truth in facts[owner[place]])
        assert row["baseline"] == pytest.approx(np.mean([any(right(value, t) for t in facts[e]) for e in known]))
    assert not made
    others = found.records[~found.records["claim"]]
    assert others[["score", "baseline", "confidence"]].isna().all(axis=None)
    d, claims = found.details, found.records[found.records["claim"]]
    assert found.value == d["confidence"] == pytest.approx(claims["score"].mean())
    assert d["statistical_confidence"] == d["guess"] == pytest.approx(claims["baseline"].mean())
    assert d["attempts"] == found.records["attempt"].sum() > d["claims"]
    assert d["claim_probability"] == d["claims"] / d["attempts"]


@pytest.mark.parametrize("secret", ["ill", "pay"])
@pytest.mark.parametrize("attacker", ["nearest_record", "key_class", "cart"])
@pytest.mark.parametrize("seed", range(2))
def test_inferences_of_entities_are_judged_as_by_plain_loops(secret, attacker, seed):
    real, release = visits(seed, 70), draw(seed + 50, 60)
    options = {"quasi_identifiers": ["age", "job"], "sensitive": secret, "attacker": attacker, "seed": seed}
    found = METRICS["inference"](real, release, identifier="patient", **options)
    alone = METRICS["inference"](real.drop(columns="patient"), release, **options).records
    width = np.std(real["pay"].dropna())

    def right(guess, truth):
        return abs(guess - truth) <= 0.05 * max(abs(truth), width) if secret == "pay" else guess == truth

    surety, facts = alone["confidence"].fillna(0), facts_of(by_patient(real), secret)
    check_claims(found, real, right, list(zip(alone["guessed"], surety, strict=True)), facts)
    values = {v for own in facts.values() for v in own}
    known = [own for own in facts.values() if own]
    best = max(np.mean([any(right(v, t) for t in own) for own in known]) for v in values)
    assert found.details["constant_guess"] == pytest.approx(best)


@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_share_of_entities_close_to_a_guess(seed, relative):
    rng = np.random.default_rng(seed)
    truths = rng.choice([rng.normal(scale=10, size=30).round(0), rng.integers(-3, 3, 30).astype(float)], axis=0)
    entities, guesses = rng.integers(0, rng.integers(1, 30), 30), rng.normal(scale=12, size=25).round(0)
    found = share_close(guesses, truths, 0.3, 2.0, relative=relative, entities=entities)
    for guess, share in zip(guesses, found, strict=True):
        allowed = 0.3 * np.maximum(abs(truths), 2.0) if relative else 0.3 * 2.0
        holders = set(entities[abs(guess - truths) <= allowed])
        assert share == len(holders) / len(set(entities))


@pytest.mark.parametrize("name", ["inference", "linkability"])
def test_independent_columns_beat_the_guess_where_entities_are_of_unequal_size(name):
    gains, of_rows = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        real = draw(seed, 400).assign(patient=np.minimum(rng.geometric(0.02, 400), 100))
        release = real.drop(columns="patient").apply(lambda column, rng=rng: rng.permutation(column.to_numpy()))
        for found, table, own in ((gains, real, {"identifier": "patient"}), (of_rows, real[release.columns], {})):
            found.append(call(name, table, release, **own).details["confidence_improvement"])
    assert np.mean(gains) > 0.1
    assert abs(np.mean(of_rows)) < 0.05


@pytest.mark.parametrize("seed", range(4))
def test_links_within_an_entity_are_right_as_by_plain_loops(seed):
    real, release, heard = visits(seed, 70), draw(seed + 50, 60), []

    def listen(release, part_a, part_b, rng):
        heard[:] = part_a, part_b, SHARED_NEIGHBOUR.function(release, part_a, part_b, rng)
        return heard[2]

    attack = Attack("listen", "linkability", listen)
    found = call("linkability", real, release, attacker=attack, identifier="patient")
    part_a, part_b, said = heard
    texts, claimed = part_b["ill"].fillna("missing"), []
    for row in real.to_dict("records"):
        (place,) = [i for i, a in enumerate(part_a.to_dict("records")) if all(equal(a[c], row[c]) for c in a)]
        match = said["match"].iloc[place]
        claimed.append((None if pd.isna(match) else texts[match], said["confidence"].iloc[place]))
    facts = facts_of(by_patient(real.fillna({"ill": "missing"})), "ill")
    check_claims(found, real, lambda claimed, truth: claimed == truth, claimed, facts)
    best = max(np.mean([t in f for f in facts.values()]) for t in texts)
    assert found.details["constant_guess"] == pytest.approx(best)


def membership_by_loops(real, control, release, claim_share):
    """Return shares of patients claimed, each as sure as its surest row, ties at the cut by their share."""
    known = real.columns.drop("patient")
    everyone = pd.concat([real[known], control[known]], ignore_index=True)
    options = {"attacker": "distance_difference"}
    alone = METRICS["membership"](everyone.iloc[: len(real)], release, control=everyone.iloc[len(real) :], **options)
    of_rows = METRICS["membership"](everyone.iloc[len(real) :], release, control=everyone.iloc[: len(real)], **options)
    sure = {1: alone.records["confidence"].to_numpy(), 0: of_rows.records["confidence"].to_numpy()}
    targets = [
        (max(sure[group][place] for place, _ in rows), group)
        for group, table in ((1, real), (0, control))
        for rows in by_patient(table).values()
    ]
    left, claimed = claim_share * len(targets), {0: 0.0, 1: 0.0}
    for confidence in sorted({c for c, _ in targets}, reverse=True):
        own = [group for c, group in targets if c == confidence]
        part = min(1.0, left / len(own))
        left -= part * len(own)
        for group in own:
            claimed[group] += part
    size = {group: sum(g == group for _, g in targets) for group in (0, 1)}
    return claimed[1] / size[1], claimed[0] / size[0], size, targets


@pytest.mark.parametrize("claim_share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("seed", range(2))
def test_members_are_claimed_as_by_plain_loops(seed, claim_share):
    real, control, release = visits(seed, 40), visits(seed + 50, 30), draw(seed + 20, 35)
    control = control.assign(patient=control["patient"] + " of the others")
    release.iloc[:10] = real[release.columns].iloc[:10]
    options = {"control": control, "identifier": "patient", "attacker": "distance_difference"}
    found = METRICS["membership"](real, release, claim_share=claim_share, **options)
    member, other, size, targets = membership_by_loops(real, control, release, claim_share)
    assert found.value == pytest.approx(member, abs=1e-12)
    assert found.details["control"] == pytest.approx(other, abs=1e-12)
    assert found.details["attempts"] == size[0] + size[1] < 70
    assert found.details["claims"] == pytest.approx(claim_share * (size[0] + size[1]))
    assert found.details["correct"] == pytest.approx(member * size[1])
    assert found.details["statistical_confidence"] == pytest.approx(size[1] / (size[0] + size[1]))
    assert found.details["prior_knowledge"] == pytest.approx(70 * 4 / found.details["claims"])
    pairs = [(a > b) + (a == b) / 2 for a, g in targets if g == 1 for b, h in targets if h == 0]
    assert found.details["auc"] == pytest.approx(np.mean(pairs))
    scored = found.records["score"].notna().to_numpy()
    assert all(sum(scored[place] for place, _ in rows) == 1 for rows in by_patient(real).values())
    again = METRICS["membership"](real.iloc[::-1], draw(seed + 70, 35), **options)
    rows = [real[own].map(str).agg("|".join, axis=1) for own in (scored, again.records["score"].notna()[::-1])]
    assert sorted(rows[0]) == sorted(rows[1])  # the same records, whatever order and release


def test_a_patient_whose_rows_nobody_speaks_about_is_not_claimed():
    def silent(release, known, rng):
        return pd.DataFrame({"confidence": known["x"].where(known["x"] < 3).astype(float)}, index=known.index)

    real = pd.DataFrame({"x": [1, 5, 6, 7], "who": ["ann", "ann", "bob", "bob"]})
    control = pd.DataFrame({"x": [2, 8], "who": ["eve", "kim"]})
    options = {"attacker": Attack("silent", "membership", silent), "claim_share": 0.75, "identifier": "who"}
    found = METRICS["membership"](real, real[["x"]], control=control, **options)
    np.testing.assert_array_equal(found.records["score"], [1, np.nan, 0, np.nan])
    np.testing.assert_array_equal(found.records["confidence"], [1, np.nan, np.nan, np.nan])
    assert (found.value, found.details["control"], found.details["claims"]) == (0.5, 0.5, 2)


@pytest.mark.parametrize("seed", range(5))
def test_an_entity_is_in_one_half(seed):
    real, release = visits(seed, 60), draw(seed, 20)
    half = halves(Tables.identified(real, release, identifier="patient"), seed)
    assert 0 < half.mean() < 1
    for rows in by_patient(real).values():
        assert len({half[place] for place, _ in rows}) == 1
    order = np.random.default_rng(seed).permutation(60)
    again = halves(Tables.identified(real.iloc[order], release, identifier="patient"), seed)
    np.testing.assert_array_equal(again, half[order])


@pytest.mark.parametrize("seed", range(4))
def test_values_of_two_entities_are_to_be_covered(seed):
    real, release = visits(seed, 25, people=8), draw(seed + 9, 6)
    people, found = by_patient(real), METRICS["coverage"](real, release, identifier="patient")
    for column in ("job", "ill"):
        facts = facts_of(people, column)
        common = [v for v in set(real[column].dropna()) if sum(v in own for own in facts.values()) >= 2]
        assert found.details[f"coverage_{column}"] == np.mean([v in set(release[column]) for v in common])


def test_what_one_patient_has_twice_is_not_owed():
    real = pd.DataFrame({"job": ["spy", "spy", "cook", "cook"], "who": ["ann", "ann", "ann", "bob"]})
    release = pd.DataFrame({"job": ["cook"]})
    assert METRICS["coverage"](real, release, identifier="who").details == {"coverage_job": 1.0, "columns": 1.0}
    assert METRICS["coverage"](real[["job"]], release).value == 0.5
    asked = {"queries": [{"count": "*", "by": ["job"]}]}
    found = METRICS["accuracy"](real, release, identifier="who", **asked)
    # of 4 rows 2 are cooks, in the release all: records are counted, not entities
    assert (found.details["answers"], found.value) == (1, 0.5)
    assert METRICS["accuracy"](real[["job"]], release, **asked).details["answers"] == 2
    control = pd.DataFrame({"job": ["cook"], "who": ["eve"]})  # and the ceiling is of entities too
    found = METRICS["coverage"](real, pd.DataFrame({"job": ["cook", "spy"]}), control=control, identifier="who").details
    assert found["ceiling"] == 1
    assert found["thinned"] in (0, 1)  # one row of the release: of two values to cover it would cover a half


@pytest.mark.parametrize("seed", range(4))
def test_no_query_is_asked_about_one_entity(seed):
    real, release = visits(seed, 30, people=6), draw(seed + 9, 20)
    people, pairs = by_patient(real), {}
    for e, rows in people.items():
        for _, row in rows:
            if not pd.isna(row["job"]) and not pd.isna(row["ill"]):
                pairs.setdefault((row["job"], row["ill"]), []).append(e)
    found = METRICS["accuracy"](real, release, identifier="patient", queries=[{"count": "*", "by": ["job", "ill"]}])
    asked = {pair: len(own) for pair, own in pairs.items() if len(set(own)) >= 2}
    assert found.details["answers"] == len(asked) < len([own for own in pairs.values() if len(own) >= 2]) + 1
    errors = []
    for (job, ill), real_count in asked.items():
        count = int(((release["job"] == job) & (release["ill"] == ill)).sum()) * len(real) / len(release)
        errors.append(abs(real_count - count) / max(real_count, count))
    assert found.value == pytest.approx(1 - np.mean(errors))


def same(one, other):
    assert one.value == other.value or (np.isnan(one.value) and np.isnan(other.value))
    assert one.details == pytest.approx(other.details, abs=0, rel=0, nan_ok=True)
    assert one.settings == other.settings
    if one.records is not None:
        pd.testing.assert_frame_equal(one.records, other.records, check_exact=True)


@counting
@pytest.mark.parametrize("beside", [False, True])
def test_entities_all_different_are_records_bit_for_bit(name, beside):
    real, release, other = draw(1, 60), draw(2, 50), draw(3, 40)
    control, named = ({"control": other}, {"control": other.assign(patient=SECRETS[60:])}) if beside else ({}, {})
    alone = call(name, real, release, **control)
    same(call(name, real.assign(patient=SECRETS[:60]), release, identifier="patient", **named), alone)
    nameless = {key: table.assign(patient=None) for key, table in named.items()}
    same(call(name, real.assign(patient=None), release, identifier="patient", **nameless), alone)
    tables = Tables(real, release, control.get("control"))
    tables._entities = np.random.default_rng(0).permutation(len(real) + 40 * beside)  # counted, though none is twice
    same(METRICS[name].score(tables, **CALLS[name]), alone)


@counting
def test_one_entity_only(name):
    real = draw(1, 30).dropna()
    found = call(name, real.assign(patient="ann"), real, identifier="patient")
    if name in ("inference", "linkability"):
        assert found.value == found.details["statistical_confidence"] == found.details["constant_guess"] == 1
        assert math.isnan(found.details["confidence_improvement"])
        assert found.details["claims"] == real["ill"].nunique()
    elif name == "singling_out":
        assert found.value == found.details["guess"] == 1  # whatever he has, he alone has
    else:
        assert found.details.get("coverage_ill") is None
        assert not any("_by_" in detail for detail in found.details)


@counting
def test_neither_order_of_rows_nor_names_of_entities_move_anything(name):
    real, release, control = visits(4, 60), draw(5, 50), visits(6, 40, people=40, first=25)
    before = call(name, real, release, control=control, identifier="patient")
    order = np.random.default_rng(0).permutation(60)
    names = dict(zip(SECRETS, np.random.default_rng(1).permutation(100), strict=True))
    shuffled = real.iloc[order].assign(patient=lambda t: t["patient"].map(names))
    control = {"control": control.assign(patient=control["patient"].map(names))}
    after = call(name, shuffled, release, **control, identifier="patient")
    assert (after.value, after.details) == (before.value, pytest.approx(before.details, nan_ok=True))


@pytest.mark.parametrize("name", ["inference", "linkability"])
def test_facts_of_members_and_of_control_records_are_apart(name):
    real, release = visits(4, 60), draw(5, 50)
    tables = Tables.identified(real, release, real, "patient")  # at the door they would be refused as no strangers
    beside = METRICS[name].score(tables, **CALLS[name])
    assert beside.details["claims"] == beside.details["control_claims"]
    assert beside.details["control_difference"] == 0
    assert beside.details["claims"] == call(name, real, release, identifier="patient").details["claims"]


def test_coarser_columns_are_still_of_entities():
    real, release = visits(4, 60), draw(5, 50)
    roles = CALLS["inference"] | {"identifier": "patient"}
    found = METRICS["inference"](real, release, **roles, bins={"age": 2})
    assert found.details["claims"] < found.details["attempts"]
    tried = what_if(METRICS["inference"], real, release, [Change(bins={"age": 2})], **roles)
    assert tried["value"].iloc[1] == found.value


@pytest.mark.parametrize("metric", [m for m in METRICS.values() if m.group in ("cap", "claims", "utility")])
def test_an_identifier_is_no_column_of_any_metric(metric):
    if "sdmetrics" in (metric.package or "") or set(metric.own_needs) - {"columns_a", "columns_b"}:
        pytest.skip("needs more than roles")
    roles = {"quasi_identifiers": ["age", "job"], "sensitive": ["ill"], "control": draw(9, 30)}
    given = {k: v for k, v in roles.items() if k in metric.needs} | CALLS.get(metric.name, {})
    named = given | ({"control": given["control"].assign(patient=SECRETS[60:90])} if "control" in given else {})
    real, release = draw(1, 60), draw(2, 50)
    alone = metric(real, release, **given)
    same(metric(real.assign(patient=SECRETS[:60]), release, identifier="patient", **named), alone)


@pytest.mark.parametrize("name", ["inference", "linkability", "singling_out"])
def test_no_attack_sees_entities_and_no_result_tells_them(name):
    seen = []

    def listen(*handed):
        seen.extend(handed)
        size = len(handed[0] if name == "singling_out" else handed[1])
        column = {"inference": "guessed", "linkability": "match", "singling_out": "predicate"}[name]
        return pd.DataFrame({column: pd.Series([None] * size, dtype=object), "confidence": 0.5})

    attacks = {
        "inference": lambda release, known, secret, rng: listen(release, known),
        "linkability": lambda release, part_a, part_b, rng: listen(release, part_a, part_b),
        "singling_out": lambda release, rng: listen(release),
    }
    real = visits(1, 60)
    found = call(name, real, draw(2, 50), identifier="patient", attacker=Attack("listen", name, attacks[name]))
    assert seen
    assert not [frame for frame in seen if "patient" in frame or "-zq" in frame.to_csv()]
    assert "-zq" not in repr((found.details, found.settings, found.reason)) + found.records.to_csv()


@pytest.mark.parametrize(
    ("identifier", "real", "release", "told"),
    [
        ("patint", {"patient": SECRETS[:5]}, {}, "identifier must be a column of real, .* got 'patint'"),
        ("patient", {"patient": SECRETS[:5]}, {"patient": SECRETS[:5]}, "none of synthetic, got 'patient'"),
        (SECRETS[:5], {"patient": SECRETS[:5]}, {}, "identifier must be .* got list"),
        ("patient", {"patient": [[s] for s in SECRETS[:5]]}, {}, "column 'patient' must hold single values"),
    ],
)
def test_a_wrong_identifier_is_told_without_a_name(identifier, real, release, told):
    with pytest.raises(InputError, match=told) as caught:
        METRICS["coverage"](draw(1, 5).assign(**real), draw(2, 5).assign(**release), identifier=identifier)
    assert "-zq" not in str(caught.value)


def test_an_identifier_may_be_a_number_as_pandas_gives_it():
    real, release = pd.DataFrame([[1, "a"], [1, "b"], [2, "b"]]), pd.DataFrame({1: ["a", "b"]})
    score = METRICS["coverage"](real, release, identifier=np.int64(0))
    assert score.details == {"coverage_1": 1.0, "columns": 1.0}


def test_an_identifier_is_asked_of_the_control_records_too():
    with pytest.raises(InputError, match="identifier must be a column of real and control, and none of synthetic"):
        METRICS["coverage"](visits(1, 9), draw(2, 5), control=draw(3, 9), identifier="patient")


def test_entities_are_one_a_record():
    with pytest.raises(InputError, match="entities must name one entity a record, got 3 for 9 records"):
        Tables(draw(1, 5), draw(2, 5), draw(3, 4), entities=np.array(["a", "a", "b"]))
    entities = np.array(["a", "a", None, None, "b", "b", "c", "d", None])
    tables = Tables(draw(1, 5), draw(2, 5), draw(3, 4), entities=entities)
    assert (len(set(tables.entities)), tables.entities[0]) == (4, tables.entities[1])
    assert tables.control_entities[0] == tables.entities[4]
    assert len({*tables.entities, *tables.control_entities}) == 7
