"""The atlas: a tiny grid from the command, its numbers again by the public tasks, and found again where it was."""

import csv

import pytest

from synthrisk.conf.grid import FULL, NONE, REDUCED, grid_of
from synthrisk.flows.atlas import looked
from synthrisk.flows.execution.calls_and_retries import PlainCalls
from synthrisk.metrics.atlas import read, shipped
from synthrisk.metrics.errors import InputError
from synthrisk.tasks import attack, estimate, sample, synthesize
from synthrisk.tasks.synthesize import check_options, find_synthesizer

pytestmark = pytest.mark.proof
ASKED = ["--table", "adult", "--leak", "leaky", "--studies", 1, "--rows", 120]
MEASURES = ["--metric", "zero_cap", "--metric", "common_rows_proportion"]


@pytest.fixture(scope="module")
def ran(tmp_path_factory, say, prefect_database):
    place = tmp_path_factory.mktemp("atlas")
    where = ["--to", place / "out", "--workspace", place / "work", "--workers", 1]
    said = say("atlas", *ASKED, *MEASURES, *where)
    assert said.code == 0, said.err
    return place, said, say("atlas", *ASKED, *MEASURES, "--to", place / "again", *where[2:])


def test_the_command_writes_looks_digest_tables_and_a_heat_map_and_finds_them_again(ran):
    place, said, again = ran
    names = ("looks.csv", "atlas.json", "atlas.md", "atlas_tables.md", "atlas.png")
    assert {line.removeprefix("wrote ") for line in said.out.splitlines()} == {str(place / "out" / n) for n in names}
    digest = read((place / "out" / "atlas.json").read_text())
    assert digest.grid["leaks"] == {"leaky": {"words": "exact copies", "doses": [0.02, 0.05, 0.2, 1.0]}}
    assert (digest.grid["studies"], digest.grid["rows"]) == (1, 120)
    assert digest.grid["shapes"] == {"adult": {"columns": 15, "numeric": 0.4, "records_each": 1}}
    copies = next(e for e in digest.of("common_rows_proportion") if e.quantity == "memorization")
    assert (copies.seen_full, copies.studies, copies.quiet) == (1, 1, 4)
    assert copies.value_full > 0.9
    for page in ("atlas.md", "atlas_tables.md"):
        assert "| `common_rows_proportion` |" in (place / "out" / page).read_text()
    assert (place / "out" / "atlas.png").read_bytes().startswith(b"\x89PNG")
    assert again.code == 0
    assert "releases attacked: 32 of 32" in said.err
    assert "found again: 32 of 32 releases" in again.err
    for name in names:
        assert (place / "out" / name).read_bytes() == (place / "again" / name).read_bytes()


def test_three_cells_again_by_the_public_tasks(ran, tmp_path):
    place, _, _ = ran
    with (place / "out" / "looks.csv").open() as file:
        rows = list(csv.DictReader(file))[::-1]  # of several looks at nothing planted, the first
    looks = {(r["leak"], float(r["dose"]), r["measure"], r["quantity"]): r for r in rows}
    key, cut = ["age", "education", "occupation", "sex", "race"], {"folds": 2, "repetitions": 2, "rows": 120, "seed": 1}
    table = sample.fn("adult", key, ["income"], **cut, workspace=str(tmp_path / "work"))
    asked = ["zero_cap", "common_rows_proportion"]
    made_by = {"fresh": ("fresh", {}), "leaky-0_2": ("leaky", {"share": 0.2}), "leaky-1": ("leaky", {"share": 1.0})}
    ledgers = [
        attack.fn(synthesize.fn(table, kind, r, f, name=name, role="reference", **options), asked)
        for name, (kind, options) in made_by.items() for r in range(2) for f in range(2)
    ]  # fmt: skip
    found = estimate.fn(ledgers, method="crossed").compared.findings
    for finding in found:
        kind, options = made_by[finding.synthesizer]
        look = looks["" if kind == NONE else kind, options.get("share", 0.0), finding.measure.label, "memorization"]
        assert float(look["value"]) == pytest.approx(finding.memorization.value, abs=1e-12)
    assert len(found) == 6


def test_cells_of_the_digest_that_ships_come_out_again(tmp_path, say, monkeypatch):
    monkeypatch.setattr("synthrisk.flows.atlas._looked", lambda *asked: list(looked(*asked, PlainCalls())))
    asked = ["--leak", "leaky_near", *MEASURES, "--to", tmp_path / "out", "--workspace", tmp_path / "work"]
    assert say("atlas", *asked).code == 0
    again, ships = read((tmp_path / "out" / "atlas.json").read_text()), shipped()
    named = {(e.measure, e.quantity): e for e in ships.answers if (e.table, e.leak) == ("adult", "leaky_near")}
    found = [e for e in again.answers if e.quantity in ("memorization", "control_gain")]
    assert len(found) >= 3
    for each in found:
        due = named[each.measure, each.quantity]
        assert each.studies == due.studies == FULL.studies
        for number in ("value_full", "value_none", "rank"):
            assert getattr(each, number) == pytest.approx(getattr(due, number), abs=2e-4, nan_ok=True), (each, due)


def test_each_study_is_named_its_leaks_are_looked_at_and_wrong_parts_raise(tmp_path, capsys):
    tiny = grid_of(REDUCED, leaks=["leaky_group"], measures=["common_rows_proportion"], studies=1, rows=40)
    assert {look.leak for look in list(looked(tiny, str(tmp_path), 1, PlainCalls()))} == {"", "leaky_group"}
    assert "study 1 of 1: Adult, seed 1" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"did you mean 'adult'"):
        grid_of(FULL, tables=["adlut"])


@pytest.mark.parametrize("table", FULL.tables, ids=lambda t: t.name)
def test_each_study_of_the_full_grid_is_one_that_can_be_asked(table):
    if table.source == "fair":
        pytest.importorskip("statsmodels")
    study = FULL.study(table, 1, "work", 2)
    names = [each.name for each in study.references]
    planted = [leak for leak in FULL.leaks if leak != "real_identifiers" or table.identifier]
    assert len(names) == 4 * len(planted) + FULL.nothing - 1
    assert len(planted) in (10, 11)
    for each in study.references[FULL.nothing - 1 :]:
        own = find_synthesizer(each.kind)
        check_options(own, each.options)
        assert own.dose is not None
        assert own.dose(**each.options) in FULL.doses(each.kind)
    assert len(study.metrics) >= 26
