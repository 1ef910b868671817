"""Control records are read to fit the real ones, as releases are."""

import re
from itertools import zip_longest

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from dresses import DRESSES, PEOPLE, people
from pandas.api import types
from pyarrow import feather

from synthrisk.conf.study import Data
from synthrisk.conf.tables import FileForm, Reading
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.data import source
from synthrisk.tasks.data.task import given
from synthrisk.tasks.synthesize.column_matching import fitted

REAL = people(200, 1).drop(columns="stay")
WORN = [
    dress
    for dress in DRESSES
    if not dress.name.startswith(("empty", "absent", "stay", "file"))
    and not dress.name.endswith(("from 1904", "Python's days"))  # other people cannot show it: they read as younger
]
KINDS = ["age", "wage", "pay", "share", "born", "seen", "paid", "flag", "smokes", "names", "extra"]
ROLES = {"quasi_identifiers": ["age", "city"], "sensitive": ["smokes"]}


def read(control: pd.DataFrame, folder, real: pd.DataFrame = REAL, **roles):
    real.to_csv(folder / "real.csv", index=False)
    control.to_csv(folder / "control.csv", index=False)
    data = Data(source=str(folder / "real.csv"), **(roles or ROLES))
    table, _ = given.fn(data, str(folder / "control.csv"), 1, str(folder / "workspace"))
    return table.read().iloc[len(real) :].reset_index(drop=True), table.told


WARDROBES = [[dress for dress in WORN if dress.name.startswith(f"{kind}:")] for kind in KINDS]
TOGETHER = [list(filter(None, each)) for each in zip_longest(*WARDROBES[:-2])]  # one dress a column at a time
TOGETHER += [[dress] for wardrobe in WARDROBES[-2:] for dress in wardrobe]


@pytest.mark.parametrize("dresses", TOGETHER, ids=lambda dresses: ", ".join(dress.name for dress in dresses))
def test_control_records_in_any_dress_are_the_records_that_they_are_and_what_was_done_is_told(dresses, tmp_path):
    worn = PEOPLE.copy()
    for dress in dresses:
        worn = dress.wear(worn)
    got, told = read(worn.drop(columns="stay"), tmp_path)
    for name in REAL.columns.difference([lost for dress in dresses for lost in dress.lost]):
        assert (got[name].astype(object) == PEOPLE[name].astype(object)).all(), name
    for dress in dresses:
        kind = dress.name.partition(":")[0]
        in_csv = "True" in dress.name or kind == "extra"  # which a CSV file holds as numbers are; which releases keep
        own = [line for line in told if len(dresses) == 1 or f"column '{kind}'" in line]
        assert in_csv or (any(dress.told in line for line in own) if dress.told else not own), dress.name


def test_control_records_in_another_spelling_are_told_and_those_with_other_levels_are_left_as_they_are(tmp_path):
    got, told = read(PEOPLE.drop(columns="stay").assign(city=PEOPLE["city"].str.upper()), tmp_path)
    assert got["city"].tolist() == PEOPLE["city"].tolist()
    assert told == ("control: column 'city': 60 of 60 texts are spelled otherwise",)
    some = PEOPLE["city"].astype(str).where(PEOPLE.index % 5 > 0, PEOPLE["city"].astype(str) + " ")
    got, told = read(PEOPLE.drop(columns="stay").assign(city=some), tmp_path)
    assert got["city"].tolist() == PEOPLE["city"].tolist()
    assert told == ("control: column 'city': 12 of 60 texts are spelled otherwise",)
    got, told = read(PEOPLE.drop(columns="stay").assign(city="GRAZ-Umgebung"), tmp_path)
    assert set(got["city"]) == {"GRAZ-Umgebung"}
    assert len(told) == 1
    assert "by 1 column: 'city' (distributions apart by up to 1.00" in told[0]


@pytest.mark.parametrize(("column", "kind"), [("age", "numbers"), ("born", "dates"), ("paid", "true and false")])
def test_control_records_of_another_kind_are_refused_with_a_way_out(column, kind, tmp_path):
    with pytest.raises(InputError, match=rf"^control: column '{column}' must hold {kind} as .* --drop {column}"):
        read(PEOPLE.drop(columns="stay").assign(**{column: "confidential"}), tmp_path)


REFUSED = {
    "cents": ("wage", lambda p: (100 * p["wage"]).round(), "must be in the unit of the real table, got .* 1.* times"),
    "days for years": ("age", lambda p: 365 * p["age"], "must be in the unit of the real table"),
    "bands": ("age", lambda p: p["age"].map(lambda x: f"{x // 10 * 10}-{x // 10 * 10 + 9}"), "got .* bands of numbers"),
    "months": ("born", lambda p: p["born"].dt.strftime("%Y-%m"), "got .* periods"),
    "codes": ("city", lambda p: p["city"].cat.codes, "must hold labels in column 'city' as real does, got numbers"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_control_records_that_would_make_members_stand_out_are_refused(what, tmp_path):
    column, write, told = REFUSED[what]
    with pytest.raises(InputError, match=told):
        read(PEOPLE.drop(columns="stay").assign(**{column: write(PEOPLE)}), tmp_path)


def test_a_few_bands_among_control_records_are_missing_and_told(tmp_path):
    cells = PEOPLE["age"].astype(object)
    cells.iloc[[0, 1]] = "30-39", "60+"
    got, told = read(PEOPLE.drop(columns="stay").assign(age=cells), tmp_path)
    assert got["age"].isna().tolist() == [True, True] + [False] * (len(PEOPLE) - 2)
    assert told == ("control: column 'age': 2 bands of numbers are taken as missing",)


@pytest.mark.parametrize(("mark", "written"), [("+", "{}+"), ("+", ">={}"), (">", "> {}"), ("<", "<{}"), ("≤", "≤{}")])
@pytest.mark.parametrize("decimal", ["", ".5", ",5"])
def test_cells_at_the_limit_of_the_real_ones_are_read_alike_in_all_tables(mark, written, decimal, tmp_path):
    own = [f"{own}{decimal}" for own in (5, 6, 7, 8)]
    numbers = pd.Series(np.array(own)[np.arange(200) % 4], dtype=object)
    limit = own[0] if mark in "<≤" else own[-1]
    real = REAL.assign(months=numbers.replace(limit, f"{limit}{mark}" if mark == "+" else f"{mark}{limit}"))
    reading = {"months": {"type": "number", "unit": mark, "decimal": "," if "," in decimal else "."}}
    control = PEOPLE.drop(columns="stay").assign(months=numbers.replace(limit, written.format(limit))[: len(PEOPLE)])
    due = numbers.str.replace(",", ".").astype(float)
    got, told = read(control, tmp_path, real, columns=reading, **ROLES)
    assert (got["months"] == due[: len(PEOPLE)]).all()
    assert not [line for line in told if "months" in line]
    whole = FileForm(columns=Data(source="real.csv", columns=reading, **ROLES).columns)
    for mark_of_release in {".", decimal[:1] or "."}:
        worn = control.assign(months=control["months"].str.replace(".", mark_of_release))
        release = fitted(worn, REAL.assign(months=due), whole, "release")
        assert (release.synthetic["months"] == due[: len(PEOPLE)]).all()
        assert not release.sets.columns


@pytest.mark.parametrize(("odd", "count"), [("twins", 1), ("twins", 2), (None, 0), ("twins", 40)])
def test_a_few_texts_among_numbers_are_told_and_not_the_numbers_of_the_control_records(odd, count, tmp_path):
    kids = pd.Series([str(k % 5) for k in range(200)], dtype=object)
    kids.iloc[:count] = odd
    control = PEOPLE.drop(columns="stay").assign(kids=[k % 5 for k in range(len(PEOPLE))])
    got, told = read(control, tmp_path, REAL.assign(kids=kids))
    assert got["kids"].astype(str).astype(int).tolist() == control["kids"].tolist()
    own = [line for line in told if "kids" in line]
    cells = f"{count} of {200 + len(PEOPLE)} cells {'is no number' if count == 1 else 'are no numbers'}"
    assert own == [f"real: column 'kids' is of texts: {cells}; write numbers there, or nothing"] * (0 < count < 9)


def test_bands_beyond_the_limit_of_the_real_ones_stay_bands():
    whole = FileForm(columns={"months": Reading(type="number", unit="+")})
    real, worn = (pd.DataFrame({"months": own * 9}) for own in ([5, 6, 7, 8], ["5", "7+", "6", "8+"]))
    made = fitted(worn, real, whole, "release")
    assert [(each.low, each.high) for each in made.sets.columns["months"].values()] == [(7, np.inf)]


@pytest.mark.parametrize("form", ["%Y-%m", "%m/%Y", "%b-%y", "%B %Y"])
def test_months_are_whole_values_where_the_real_column_is_read_as_months(form, tmp_path):
    rng = np.random.default_rng(3)
    months = pd.Series(pd.to_datetime([f"{y}-{m}-01" for y, m in rng.integers([2014, 1], [2022, 13], (400, 2))]))
    real, control = (
        REAL.assign(seen=months[part].dt.strftime(form).to_numpy()) for part in (slice(200), slice(200, 400))
    )
    reading = {"seen": {"type": "date", "format": form}}
    got, told = read(control, tmp_path, real, columns=reading, **ROLES)
    assert got["seen"].tolist() == months[200:].tolist()
    assert not [line for line in told if "seen" in line]
    whole = Data(source="real.csv", columns=reading, **ROLES).columns
    release = fitted(
        control.drop(columns="stay", errors="ignore"),
        REAL.assign(seen=months[:200]),
        FileForm(columns=whole),
        "release",
    )
    assert release.synthetic["seen"].tolist() == months[200:].tolist()
    assert not [each.words for each in release.told if "seen" in each.words]


@pytest.mark.parametrize(
    ("keys", "is_told"),
    [
        ([f"MRN{k:05d}" for k in range(150)], True),
        ([f"p{k}@example.org" for k in range(150)], True),
        ([f"19{k % 90 + 10}-03-1{k % 10}" for k in range(150)], False),  # days of birth
        ([f"{k:05d}" for k in range(20)], False),  # postcodes, which many share
        ([f"Miller {'abcdefghij'[k % 10]}" for k in range(150)], False),
    ],
)
def test_the_same_people_on_both_sides_are_told_by_a_key_that_is_left_out(keys, is_told, tmp_path):
    rng = np.random.default_rng(5)
    real, control = (REAL.assign(MRN=rng.choice(keys, 200), age=rng.integers(18, 90, 200)) for _ in range(2))
    told = [line for line in read(control, tmp_path, real, drop=["MRN"], **ROLES)[1] if "--identifier" in line]
    assert len(told) == is_told
    assert not is_told or re.match(
        r"control: \d+ of 200 records have a value of column 'MRN' that a real record", told[0]
    )


def test_codes_that_have_lost_their_zeros_are_the_real_ones(tmp_path):
    coded = [table.assign(city=table["city"].cat.codes.map("{:02d}".format)) for table in (REAL, PEOPLE)]
    lost = coded[1].drop(columns="stay").assign(city=coded[1]["city"].astype(int))
    got, told = read(lost, tmp_path, coded[0])
    assert got["city"].tolist() == coded[1]["city"].tolist()
    assert told == ("control: column 'city': 60 of 60 texts are spelled otherwise",)


OTHERS = {  # which of many people are control records, and what is told of them
    "at random": (lambda p: p.index % 2 == 1, ""),
    "the old": (
        lambda p: p["age"].rank(pct=True) > 0.7,
        "by 1 column: 'age' (distributions apart by up to 1.00, where",
    ),
    "those of one town": (lambda p: p["city"] == p["city"].iloc[0], "'city'"),
    "those of one town, of ten entities": (lambda p: p["city"] == p["city"].iloc[0], ""),
}


@pytest.mark.parametrize("which", OTHERS)
def test_control_records_of_other_people_are_told_by_their_columns(which, tmp_path):
    every = people(1000, 3).drop(columns="stay")
    choose, due = OTHERS[which]
    every["person"] = np.arange(1000) // (100 if "entities" in which else 1)  # 10 of them: too few to tell anything
    chosen = np.asarray(choose(every))
    held_out = every[chosen].assign(person=lambda p: p["person"] + 5000)
    _, told = read(held_out, tmp_path, every[~chosen], **ROLES, identifier="person")
    lines = [line for line in told if "other people" in line]
    assert (due in lines[0]) if due else not lines


@pytest.mark.parametrize("sign", ["{}-", "–{}", "－{}", "‑{}", "({})", "− {}"])
def test_minus_signs_of_any_kind_are_minus_signs(sign, tmp_path):
    owed = [table.assign(wage=-table["wage"]) for table in (REAL, PEOPLE)]
    worn = owed[1].drop(columns="stay").assign(wage=PEOPLE["wage"].map(lambda x: sign.format(f"{x:.2f}")))
    got, _ = read(worn, tmp_path, owed[0])
    assert got["wage"].tolist() == owed[1]["wage"].tolist()


def test_the_names_of_columns_that_control_records_have_besides_are_not_told(tmp_path):
    got, told = read(PEOPLE.drop(columns="stay").assign(Zebrafink=1, Rotkehlchen=2), tmp_path)
    assert list(got.columns) == list(REAL.columns)
    assert told == ("control: 2 columns that real has not are left out",)


def test_what_the_folders_of_a_parquet_table_are_called_is_a_column(tmp_path):
    table = REAL[["age", "city", "flag"]].assign(city=REAL["city"].astype(str).where(REAL.index % 5 > 0))
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    by = pa.schema([("city", pa.string()), ("flag", pa.int64())])
    ds.write_dataset(arrow, tmp_path / "real", format="parquet", partitioning=ds.partitioning(by, flavor="hive"))
    got = source.read(str(tmp_path / "real"))
    rows = [
        sorted(map(str, each[["age", "city", "flag"]].fillna({"city": "-"}).to_numpy().tolist()))
        for each in (got, table)
    ]
    assert rows[0] == rows[1]
    assert types.is_integer_dtype(got["flag"].dtype)


def test_numbers_that_a_feather_file_holds_as_a_dictionary_are_numbers_beside_other_files(tmp_path):
    ages = pa.array([*range(20, 60)] * 2).dictionary_encode()
    table = pa.table({"age": ages, "vote": ["a", "b"] * 40, "pay": list(range(80))})
    feather.write_feather(table, tmp_path / "real.feather", compression="uncompressed")
    pd.DataFrame({"age": [20, 70], "vote": ["a", "b"], "pay": [1, 2]}).to_csv(tmp_path / "control.csv", index=False)
    data = Data(source=str(tmp_path / "real.feather"), quasi_identifiers=["age"], sensitive=["vote"])
    table, _ = given.fn(data, str(tmp_path / "control.csv"), 1, str(tmp_path / "workspace"))
    assert table.read()["age"].tolist() == [*range(20, 60)] * 2 + [20, 70]


def test_texts_that_seem_to_be_numbers_or_dates_are_told_unless_the_study_says_how_they_are_read(tmp_path):
    table = REAL.assign(wage=REAL["wage"].map("${:,.2f}".format), born=REAL["born"].dt.strftime("%d/%m/%Y"), code="A1")
    worn = PEOPLE.assign(
        wage=PEOPLE["wage"].map("${:,.2f}".format), born=PEOPLE["born"].dt.strftime("%d/%m/%Y"), code="A1"
    )
    _, told = read(worn.drop(columns="stay"), tmp_path, table)
    assert [each.split(", but")[0] for each in told] == [
        "real: column 'wage' seems to hold numbers", "real: column 'born' seems to hold dates"
    ]  # fmt: skip
    columns = {
        "wage": {"type": "number", "thousands": ",", "unit": "$"},
        "born": {"type": "date", "format": "%d/%m/%Y"},
    }
    got, told = read(worn.drop(columns="stay"), tmp_path, table, **ROLES, columns=columns)
    assert (got["wage"].tolist(), told) == (PEOPLE["wage"].tolist(), ())


def test_texts_that_the_real_table_keeps_apart_by_their_letters_are_left_as_they_are(tmp_path):
    real, control = (pd.DataFrame({"age": range(60), "kind": kinds * 20, "vote": [*"ab"] * 30}) for kinds in (
        ["ab", "AB", "c"], ["Ab", "aB", "c"]
    ))  # fmt: skip
    got, told = read(control, tmp_path, real, quasi_identifiers=["age", "kind"], sensitive=["vote"])
    assert got["kind"].tolist() == control["kind"].tolist()
    assert ["other people" in line for line in told] == [True]  # nothing was done to them


def test_control_records_of_another_schedule_are_not_moved_onto_the_members(tmp_path):
    times = [
        pd.Timestamp("2021-01-01") + pd.to_timedelta(np.random.default_rng(seed).integers(0, 250, 300), unit="D")
        for seed in (1, 2)
    ]
    real, control = (
        pd.DataFrame({"age": range(300), "seen": t + pd.Timedelta(hours=h), "vote": [*"ab"] * 150})
        for t, h in zip(times, (8, 9), strict=True)
    )
    got, told = read(control, tmp_path, real, quasi_identifiers=["age"], sensitive=["vote"])
    assert (got["seen"].tolist(), told) == (control["seen"].tolist(), ())


def test_a_folder_of_a_table_is_no_partition_of_it_however_its_path_is_written(tmp_path, monkeypatch):
    folder = tmp_path / "seed=7" / "plain"
    folder.mkdir(parents=True)
    REAL[["age", "flag"]].to_parquet(folder / "part.parquet")
    monkeypatch.chdir(tmp_path)
    for path in ("seed=7/plain", "./seed=7/plain/", str(folder), f"file://{folder}"):
        if "://" not in path:
            assert list(source.read(path).columns) == ["age", "flag"]
