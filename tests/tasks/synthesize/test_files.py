import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from synthrisk.conf.study import Data, Split
from synthrisk.conf.tables import FileForm, Reading
from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.tables import Tables
from synthrisk.tasks.data import read
from synthrisk.tasks.data.types import typed
from synthrisk.tasks.synthesize import files as module
from synthrisk.tasks.synthesize import run
from synthrisk.tasks.synthesize.files import FILES
from synthrisk.tasks.synthesize.synthesizer import Job
from synthrisk.tasks.workspace.store import read_typed, write_typed

TRAIN = pd.DataFrame({
    "age": [30, 40, 2**53 + 1], "vote": pd.Categorical(["a", "NA", None], ["NA", "a", "unused"]),
    "text": ["ü", 'say "no"', np.nan], "when": pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
})  # fmt: skip
VOTES = pd.DataFrame({"age": [30, 40, 50], "vote": pd.Categorical(["no", "yes", None])})


def job(train=TRAIN, repetition: int = 0, fold: int = 0, **others) -> Job:
    return Job(train, train.head(0), 3, 1, repetition, fold, **others)


def released(path, given=None, **options):
    return run(given or job(), FILES, {"path": str(path), **options})


def table_of(path, given=None, **options):
    return released(path, given, **options).synthetic


@pytest.fixture
def path(tmp_path):
    return tmp_path / "release.csv"


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "pq", "memory"])
def test_what_was_written_is_read(tmp_path, ending):
    path = "memory://synthrisk-files/release.csv" if ending == "memory" else str(tmp_path / f"release.{ending}")
    TRAIN.to_parquet(path) if ending.startswith("p") else TRAIN.to_csv(path, index=False)
    release = released(path)
    pd.testing.assert_frame_equal(release.synthetic, TRAIN)
    assert len(release.used) == 0


@pytest.mark.parametrize("ending", ["parquet", "pq"])
def test_what_stands_in_the_index_of_a_file_is_a_column_unless_it_numbers_rows(tmp_path, ending):
    path = tmp_path / f"release.{ending}"
    TRAIN.set_index(["age", "text"]).to_parquet(path)
    pd.testing.assert_frame_equal(released(path).synthetic, TRAIN)
    TRAIN.set_axis(pd.Index(["Ada", "Bob", "Cyd"], name="who")).to_parquet(path)
    assert released(path).beside["who"].tolist() == ["Ada", "Bob", "Cyd"]
    TRAIN.set_axis([7, 3, 5]).to_parquet(path)
    assert released(path).beside.shape[1] == 0
    pd.testing.assert_frame_equal(released(path).synthetic, TRAIN)


def test_repetition_and_fold_choose_the_file(tmp_path):
    pattern = str(tmp_path / "{repetition}" / "{fold}.parquet")
    (tmp_path / "2").mkdir()
    for fold in (0, 1):
        TRAIN.assign(age=fold).to_parquet(pattern.format(repetition=2, fold=fold))
    assert table_of(pattern, job(repetition=2, fold=1))["age"].tolist() == [1, 1, 1]
    assert FILES.inputs({"path": pattern}, 2, 1) == [str(tmp_path / "2" / "1.parquet")]
    with pytest.raises(InputError) as caught:
        released(pattern, job(repetition=1))
    assert pattern in str(caught.value)
    assert str(tmp_path / "1" / "0.parquet") in str(caught.value)


@pytest.mark.parametrize("ending", ["xlsx", "xlsx#Two", "sav", "dta"])
def test_releases_of_other_programs_are_read(tmp_path, ending):
    path = tmp_path / f"release.{ending.partition('#')[0]}"
    codes, labels = VOTES.assign(vote=[1.0, 2, None]), {"vote": {1: "no", 2: "yes"}}
    if ending == "sav":
        pyreadstat.write_sav(codes, path, variable_value_labels=labels)
    elif ending == "dta":
        codes.to_stata(path, write_index=False, value_labels=labels)
    else:
        with pd.ExcelWriter(path) as book:
            (VOTES if ending == "xlsx" else VOTES.assign(age=0)).to_excel(book, index=False)
            VOTES.to_excel(book, sheet_name="Two", index=False)
    synthetic = table_of(tmp_path / f"release.{ending}", job(VOTES))
    assert synthetic.age.tolist() == [30, 40, 50]
    assert synthetic.vote.equals(VOTES.vote)
    assert not synthetic.attrs
    assert FILES.inputs({"path": str(tmp_path / f"release.{ending}")}, 0, 0) == [str(path)]


@pytest.mark.parametrize("form", ["{!r}", "{:.17e}", "{:.25f}"])
def test_a_copy_of_a_csv_file_is_one_to_the_last_bit(path, form):
    rng = np.random.default_rng(1)
    cells = np.concatenate([rng.random(500), rng.lognormal(5, 8, 500), rng.integers(0, 2**53, 500) / 1e3])
    path.write_text("\n".join(["age,wage", *(f"{n % 90},{form.format(float(x))}" for n, x in enumerate(cells))]) + "\n")
    real = typed(read(str(path)), Data(source=str(path), quasi_identifiers=["age"], sensitive=["wage"]), Split(folds=2))
    assert table_of(path, job(real)).equals(real)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_codes_where_the_real_table_has_labels_are_refused(tmp_path, ending):
    path, codes = tmp_path / f"release.{ending}", VOTES.assign(vote=[1.0, 2, None])
    codes.to_parquet(path) if ending == "parquet" else codes.to_csv(path, index=False)
    with pytest.raises(InputError, match="column 'vote' must hold texts as the real table does, got numbers only"):
        released(path, job(VOTES))


def test_a_marker_is_missing_unless_the_real_column_holds_it_and_so_are_the_studys_texts(path):
    path.write_text("age,vote,text,when\n1,NA,NA,NaT\n,nan,null,\n")
    release = table_of(path)
    assert release["vote"].tolist()[0] == "NA"
    assert release.isna().to_numpy().tolist() == [[False, False, True, True], [True] * 4]
    path.write_text("age,vote,text,when\n1,?,?,\n2,a,b,2020-01-01\n")
    release = table_of(path, job(form=FileForm(missing=("?",))))
    assert release.isna().to_numpy().tolist() == [[False, True, True, True], [False] * 4]


@pytest.mark.parametrize(("cells", "ends"), [
    (["[20, 30[", "[40, 50["], [(20, 29), (40, 49)]), (["[20,30)", "[40,50)"], [(20, 29), (40, 49)]),
    (["(20,30]", "(40,50]"], [(21, 30), (41, 50)]), (["{20, 21}", "40"], [(20, 21)]),
    (["20,30", "40,50"], [(20, 30), (40, 50)]),
    (["(20,30)", "45,5"], [(20, 30)]), (["20-29", "45,5"], [(20, 29)]),
])  # fmt: skip
def test_in_a_semicolon_file_a_comma_between_the_ends_of_a_band_is_no_decimal_one(path, cells, ends):
    train = pd.DataFrame({"age": range(18, 60), "job": ["cook", "nurse"] * 21})
    path.write_text("".join(f"{line}\n" for line in ["age;job", *(f"{cell};cook" for cell in cells)]))
    found = released(path, job(train)).sets.columns["age"]
    assert [(own.low, own.high) for own in found.values()] == ends
    assert len(ends) == 2 or table_of(path, job(train))["age"].iloc[1] in (40, 45.5)


def test_empty_files_are_refused(tmp_path):
    TRAIN.head(0).to_parquet(tmp_path / "release.parquet")
    with pytest.raises(InputError, match="must lead to files of at least two rows, got none in"):
        released(tmp_path / "release.parquet")


BROKEN = b'age,vote\n"secret\n\xff\xfe,secret,secret,secret,secret,secret\n'
NESTED = b"[%s]" % b",".join([b'{"age": ["secret", 4], "vote": "a", "text": "b", "when": null}'] * 2)


@pytest.mark.parametrize(("ending", "content", "rule"), [
    ("csv", BROKEN, "lead to readable files"),
    ("json", NESTED, "hold single values, got several"), ("json", b"[]", "hold records of single values"),
])  # fmt: skip
def test_broken_files_are_refused_without_showing_them(tmp_path, ending, content, rule):
    path = tmp_path / f"release.{ending}"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"must {rule}") as caught:
        released(path)
    assert "secret" not in str(caught.value)
    assert content != BROKEN or caught.value.__suppress_context__


@pytest.mark.parametrize(("path", "sentence"), [  # beside those of tests/bad_inputs
    ("release.pdf", r"path must end in .csv, .tsv, .* \(also with .gz, .*\), .parquet, .* got 'release.pdf'"),
    ("{fol}.csv", r"got 'fol' \(did you mean 'fold'"), ("", "path must be a path or URL, got ''"),
])  # fmt: skip
def test_wrong_paths_are_named(path, sentence):
    with pytest.raises(InputError, match=sentence):
        run(job(), FILES, {"path": path})


def test_one_file_for_several_releases_was_made_from_all_records_and_leaves_no_control_records(path, tmp_path):
    TRAIN.to_csv(path, index=False)
    several = Job(TRAIN, TRAIN.head(2), 3, 1, releases=4)
    assert released(path, several).used.tolist() == [0, 1]
    TRAIN.to_csv(tmp_path / "0.csv", index=False)
    assert len(released(tmp_path / "{fold}.csv", several).used) == 0


def test_texts_are_the_same_whether_they_are_read_as_codes_or_as_cells(path, monkeypatch):
    path.write_text('when,text,vote,age\n2020-01-03,"z,\n""ü""",NA,+5\n,N/A,new,9007199254740993\n2020-01-01,b,,-1\n')
    read = []
    for looked_at in (0, 10_000):  # with none to look at, no column is seen to hold few values
        monkeypatch.setattr(module, "_LOOKED_AT", looked_at)
        read.append(table_of(path))
    pd.testing.assert_frame_equal(*read)
    assert read[1]["vote"].cat.categories.tolist() == ["NA", "a", "unused", "new"]
    assert (read[1]["text"].tolist()[::2], read[1]["age"].tolist()) == (['z,\n"ü"', "b"], [5, 2**53 + 1, -1])


@pytest.mark.parametrize(("cells", "numbers"), [
    (["-9223372036854775808", "9223372036854775807", "007"], [-(2**63), 2**63 - 1, 7]),
    (["5.0", " 6", "+7"], [5, 6, 7]), (["9007199254740993", "", "1"], [2**53 + 1, pd.NA, 1]),
    (["9007199254740993", "-8", " NA "], [2**53 + 1, pd.NA, pd.NA]),
])  # fmt: skip
def test_whole_numbers_are_exact_whatever_is_beside_them(path, cells, numbers):
    train = pd.DataFrame({"n": [1, 2, 3], "vote": ["a", "b", "a"]})
    pd.DataFrame({"vote": ["a", "c", None], "n": cells}).to_csv(path, index=False)
    assert table_of(path, job(train, form=FileForm(missing=["-8"])))["n"].tolist() == numbers


@pytest.mark.parametrize("looked_at", [0, 10_000])
def test_what_cannot_be_cast_is_told_alike_of_codes_and_cells(path, monkeypatch, looked_at):
    monkeypatch.setattr(module, "_LOOKED_AT", looked_at)
    path.write_text("when,text,vote,age\n2020-01-03,a,a,forty\n2020-01-03,a,a,fifty\n")
    with pytest.raises(InputError, match="column 'age' must hold numbers as the real table does, got cells that are"):
        released(path)


@pytest.mark.parametrize("ending", ["sav", "xlsx", "csv"])
def test_releases_are_read_as_the_real_table_whatever_file_they_are_in(tmp_path, ending):
    columns = {
        "smokes": Reading(type="boolean", true_values=["ja"], false_values=["nein"]),
        "pay": Reading(missing=["-8"]),
        "left": Reading(type="date", format="ISO8601", missing=["9999-12-31"]),
    }
    train = pd.DataFrame(
        {"smokes": [True, False], "pay": [1.0, np.nan], "left": pd.to_datetime(["2020-01-02", None]), "sex": ["f", "m"]}
    )
    days = [dt.date(2021, 1, 2), dt.date(9999, 12, 31)]
    table = pd.DataFrame({"smokes": ["nein", "ja"], "pay": [-8, 3], "left": days, "sex": ["m", "?"]})
    path = tmp_path / f"release.{ending}"
    if ending == "sav":
        codes = table.assign(smokes=[0.0, 1.0], pay=[-8.0, 3.0])
        pyreadstat.write_sav(codes, path, variable_value_labels={"smokes": {0: "nein", 1: "ja"}})
    elif ending == "xlsx":
        table.to_excel(path, index=False)
    else:
        table.to_csv(path, index=False, encoding="utf-16")
    read = table_of(path, job(train, form=FileForm(columns=columns, missing=("?",))))
    assert (read["smokes"].tolist(), read["left"].tolist()) == ([False, True], [pd.Timestamp("2021-01-02"), pd.NaT])
    assert read[["pay", "sex"]].isna().to_numpy().tolist() == [[True, False], [False, True]]


def test_a_file_that_is_checked_and_then_used_is_read_once(path, monkeypatch):
    TRAIN.to_csv(path, index=False)
    again = Job(TRAIN.copy(), TRAIN.head(0), 3, 7)
    reads = []
    read = module.read_file
    monkeypatch.setattr(module, "read_file", lambda *given: reads.append(1) or read(*given))
    first, second = (FILES.function(each, path=str(path)).synthetic for each in (job(), again))
    assert len(reads) == 1
    pd.testing.assert_frame_equal(first, second)
    FILES.function(again, path=str(path))
    assert len(reads) == 2, "what was read is handed over once"
    other = job(TRAIN.iloc[::-1].reset_index(drop=True))
    FILES.function(other, path=str(path))
    assert len(reads) == 3, "beside other records it may be read otherwise"
    TRAIN.iloc[:2].to_csv(path, index=False)
    assert len(FILES.function(other, path=str(path)).synthetic) == 2
    assert len(reads) == 4, "the file was written anew"


def people(seed: int = 0, n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "pay": rng.lognormal(10, 1, n).round(2), "cents": rng.integers(10**8, 10**9, n),
        "day": (pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D")).astype("<M8[ns]"),
        "waited": pd.to_timedelta(rng.integers(0, 86_400, n), unit="s").astype("<m8[ns]"),
        "ward": rng.choice([*"ABCD"], n),
    })  # fmt: skip


@pytest.mark.parametrize(
    ("column", "dress"),
    [
        ("pay", lambda c: c.astype("float32")), ("pay", lambda c: c.astype("Float32")),
        ("pay", lambda c: c.map(lambda v: Decimal(f"{v:.2f}"))), ("cents", lambda c: c.astype("float32")),
        ("cents", lambda c: c.map(Decimal)), ("cents", lambda c: c.astype("uint32")), ("day", lambda c: c.dt.date),
        ("day", lambda c: c.dt.to_period("D")), ("day", lambda c: c.dt.tz_localize("UTC")),
        ("day", lambda c: c.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")),
        ("day", lambda c: c.astype("datetime64[s]")), ("waited", lambda c: c.astype("timedelta64[ms]")),
        ("waited", lambda c: (pd.Timestamp("2000-01-01") + c).dt.time), ("ward", lambda c: c.map(str.encode)),
        ("ward", lambda c: c.astype("category")),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)  # fmt: skip
def test_a_copy_in_a_file_is_one_whatever_type_its_values_have(tmp_path, column, dress):
    """Kept in the workspace and read from there, beside real records that it was made without."""
    data = Data(source="x.csv", quasi_identifiers=["pay"], sensitive=["ward"])
    real, held_out = (typed(people(seed), data, Split()) for seed in (0, 1))
    path = tmp_path / "release.parquet"
    people().assign(**{column: dress(people()[column])}).iloc[::-1].to_parquet(path, index=False)
    made = table_of(path, Job(real, held_out, len(real), 0))
    write_typed(made, tmp_path / "kept.parquet")
    both = pd.concat([real, held_out], ignore_index=True)
    tables = Tables(both, read_typed(tmp_path / "kept.parquet"), groups=np.repeat([1, 0], len(real)))
    score = METRICS["common_rows_proportion"].score(tables)
    assert score.records["score"].tolist() == [1.0] * len(real) + [0.0] * len(held_out)


def test_a_folder_of_parquet_parts_is_one_release_an_edited_part_another_and_whole_singles_are_doubles(tmp_path):
    folder = tmp_path / "release.parquet"
    folder.mkdir()
    for place, part in enumerate((TRAIN.head(1), TRAIN.iloc[1:])):
        part.to_parquet(folder / f"part-{place}.parquet")
    pd.testing.assert_frame_equal(table_of(folder), TRAIN)
    assert FILES.inputs({"path": str(folder)}, 0, 0) == [str(folder / f"part-{place}.parquet") for place in (0, 1)]
    TRAIN.head(1).to_parquet(folder / "part-1.parquet")
    assert len(table_of(folder)) == 2
    pd.DataFrame({"x": np.float32([1, 2, np.nan])}).to_parquet(tmp_path / "singles.parquet")
    train = pd.DataFrame({"x": [1.5, 2.25, 3.0]})
    assert table_of(tmp_path / "singles.parquet", job(train))["x"].dtype == "float64"


@pytest.mark.parametrize(("folder", "names"), [
    ("release.csv", ["part-00000-5f-c000.csv", "part-00001-5f-c000.csv"]), ("release.csv", ["2.part", "10.part"]),
    ("release", ["part-00000.csv.gz", "part-00001.csv.gz"]), ("release.json", ["part-00000.json", "part-00001.json"]),
])  # fmt: skip
def test_a_folder_of_texts_is_one_release_as_spark_and_dask_write_it(tmp_path, folder, names):
    folder = tmp_path / folder
    folder.mkdir()
    for name, part in zip(names, (VOTES.head(1), VOTES.iloc[1:]), strict=True):
        if name.endswith("json"):
            part.to_json(folder / name, orient="records", lines=True)
        else:
            part.to_csv(folder / name, index=False)
    for name in ("_SUCCESS", ".part-00000.csv.crc"):
        (folder / name).touch()
    pd.testing.assert_frame_equal(table_of(folder, job(VOTES)), VOTES)
    assert FILES.inputs({"path": str(folder)}, 0, 0) == [str(folder / name) for name in names]
    (folder / names[1]).write_bytes(b"")
    with pytest.raises(InputError, match=r"at least two rows, got one|must hold records"):
        released(folder, job(VOTES))


@pytest.mark.parametrize(("names", "rule"), [
    (["a.csv", "b.csv"], "parts of one table, got other first lines"), (["a.csv", "b.json"], "path must end in"),
    ([], "path must end in"),
])  # fmt: skip
def test_a_folder_of_other_files_is_no_release(tmp_path, names, rule):
    (tmp_path / "release").mkdir()
    for place, name in enumerate(names):
        (tmp_path / "release" / name).write_text(f"secret{place},vote\n1,a\n2,b\n")
    with pytest.raises(InputError, match=rule) as caught:
        released(tmp_path / "release", job(VOTES))
    assert "secret" not in str(caught.value)


def test_columns_that_the_file_alone_has_may_be_left_out_and_are_told(path):
    TRAIN.assign(score=1, mail="a").to_csv(path, index=False)
    release = released(path, drop=["score"])
    assert list(release.beside.columns) == ["mail"]
    assert [each.words for each in release.told] == ["'score': left out as asked for, and not looked at"]
    with pytest.raises(InputError, match=r"drop must name columns that the release alone has, got 'age'"):
        released(path, drop=["age"])
