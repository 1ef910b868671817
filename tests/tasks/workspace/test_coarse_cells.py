import numpy as np
import pandas as pd
import pytest

from synthrisk.conf.tables import FileForm
from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.release.columns import coarsened_alike
from synthrisk.metrics.tables.tables import Tables, inside
from synthrisk.tasks.synthesize.column_matching import fit_release, fitted
from synthrisk.tasks.synthesize.synthesizer import Release
from synthrisk.tasks.workspace.files.coarse_cells import coarse_cells

AGES = pd.Series([18, 29, 30, 35, 39, 40, 62, 90], name="x")
PAYS = pd.Series([1200.5, 1999.0, 2000.0, 20_000.0, 25_500.25, 90_000.0], name="x")
ZIPS = pd.Series(["12001", "12345", "13001", "20001", "20999", "30000"], name="x")
DAYS = pd.Series(pd.to_datetime(["1979-12-31", "1980-01-01", "1987-05-31", "1987-06-01", "1989-12-31", "2001-02-03"]))
SHARES = pd.Series([0.1, 0.25, 0.3, 0.75], name="x")
WIDE = pd.Series([-20.0, 10.5, 90.5, 36_500.5, 80_000.0], name="x")
CODES = pd.Series(["E11.0", "E11.9", "E12.0", "I10.0"], name="x")
JOBS = pd.Series(["cook", "nurse", "clerk", "teacher"], name="x")


def may_be(cell: object, real: pd.Series) -> list[object]:
    """Return the real values that a released cell stands for, among exact ones."""
    real = real.rename("x")
    column = pd.Series([cell, *real.head(2).astype(str)], dtype=object, name="x")
    made = fitted(column.to_frame(), real.to_frame(), FileForm(), "release")
    tables = Tables(real.to_frame(), made.sets.beside(made.synthetic))
    codes, within = tables.codes(["x"]).tables, inside(tables, "x")
    assert within.row[codes[1][1:]].tolist() == [0, 0]
    return real[within.equal(codes[0], codes[1][0])].tolist()


COARSE = [
    (AGES, [30, 35, 39], "30-39; 30 - 39; 30–39; 30 to 39; 30..39; [30, 40); [30, 40[; (29.999, 39.0]; 3*; 3x"),
    (AGES, [30, 35, 39, 40], "[30,40]"), (AGES, [35, 39, 40], "(30, 40]; ]30, 40]"), (AGES, [35], "35"),
    (AGES, [40, 62, 90], "40+; 40 +; >=40; ≥ 40; 40 and over; 40 or older"), (AGES, [62, 90], "[62, inf); >40"),
    (AGES, [18, 29], "(-inf, 30); <30; < 30; under 30"), (AGES, [18, 29, 30], "<=30; up to 30"),
    (AGES, [30, 35, 39], "30-39 years; 30-39 Jahre; 30 - 39 yrs.; Age 30-39; Y30-39; von 30 bis 39; 30 à 39"),
    (AGES, [30, 35, 39], "de 30 a 39 años"),
    (AGES, [30, 35, 39], "30 bis unter 40; 30 to under 40; 30-<40; 30~39; 30_39; 30‑39; 30s; 30er; between 30 and 39"),
    (AGES, [29, 30], "{29, 30}; {29,30,31}"),
    (AGES, [35, 39, 40], "über 30 bis 40; > 30 to 40"), (AGES, [39], "[39, 40["),
    (AGES, [40, 62, 90], "ab 40; 40 plus; 40 y+; 40+ years; 40 und älter; 40 years and over; 40 Jahre und älter"),
    (AGES, [40, 62, 90], "40 et plus; 40 ans et plus; 40 o más años; 40 e oltre; mindestens 40; à partir de 40"),
    (AGES, [40, 62, 90], "Y_GE40; Age 40+"),
    (AGES, [62, 90], "über 40; plus de 40; más de 40; older than 40"),
    (AGES, [18, 29, 30], "bis 30; bis zu 30; hasta 30"),
    (AGES, [18, 29], "unter 30; moins de 30; moins de 30 ans; menos de 30; bis unter 30; Y_LT30; meno di 30"),
    (AGES, [30, 35, 39], "(30, 39); 30 through 39; 30 thru 39; 30 til 39 år; 30-39 лет; 30〜39歳"),
    (AGES, [30, 35, 39], "30代; Age group 30-39"),
    (AGES, [30, 35, 39], "30 <= x < 40; 30 ≤ age < 40; >=30 & <40; >= 30 and < 40"),
    (AGES, [40, 62, 90], "≧40; 40歳以上; min. 40; 40..; 40-high; 40 thru highest; 40 u. mehr; 40 och äldre"),
    (AGES, [40, 62, 90], "[40, Infinity)"),
    (AGES, [18, 29, 30], "≦30; 30以下; max. 30; ..30; low-30; lowest thru 30; 30 u. jünger"),
    (AGES, [18, 29], "30歳未満"),
    (SHARES, [0.25, 0.3], "20-30%; 20% - 30%"), (WIDE, [36_500.5], "36.000 bis unter 37.000 EUR; 36.000 € - 37.000 €"),
    (ZIPS.astype(int), [12001, 12345], "12???; 12###; 12•••; 12___; 12---; 12nnn"),
    (AGES, AGES, "*; ***; suppressed"),
    (PAYS, [1200.5, 1999.0], "1,000-1,999; €1,000 – €1,999; <2000"), (PAYS, [1999.0], "[1999, 2000)"),
    (PAYS, [20_000.0, 25_500.25], "20k-30k; 20.000,00-30.000,50; 20.000-30.000"), (PAYS, [2000.0], "(1999, 2000]"),
    (PAYS, [25_500.25, 90_000.0], ">20K"), (PAYS, [20_000.0, 25_500.25, 90_000.0], "20000.0+"),
    (PAYS, [20_000.0, 25_500.25], "20-30k; 20000-29999 EUR; EUR 20.000-29.999; 20 000-29 999; 19,5-25,6k"),
    (PAYS, [20_000.0, 25_500.25], "[2e+04,3e+04)"), (PAYS, [20_000.0], "(1.5e+04,2e+04]"),
    (DAYS, DAYS[2:4], "1987; 1987-Q2; Q2 1987; 1987-**-**; 1987-05-01 - 1987-06-30"),
    (DAYS, DAYS[2:4], "1. Halbjahr 1987"),
    (DAYS, DAYS[2:3], "1987-05; 05/1987; 1987-05-**; 198705; May 1987; mai 1987; 1987-May; May-87; 1987-W22"),
    (DAYS, DAYS[5:], "Feb-01; Feb '01; Şubat 2001; 2001-W05; 2001H1"), (DAYS, DAYS[2:4], "1987-H1; 1987 S1"),
    (DAYS, DAYS[2:4], "1987.0; Q2/87; 2. Quartal 1987; 2e trimestre 1987; 2Q1987; H1 1987; XX.XX.1987"),
    (DAYS, DAYS[2:4], "[01.05.1987, 01.07.1987[; 01.05.1987-30.06.1987; 1987-00-00"),
    (DAYS, DAYS[2:3], "**.05.1987; 00.05.1987; 1987-05-00; 1987M05; 198705.0; KW 22/1987; 22. KW 1987; 1987-KW22"),
    (DAYS, DAYS[5:], "after 1989; nach 1989; since 2001; Q1/01"),
    (DAYS, DAYS[:1], "bis 31.12.1979; before 1980; vor 1980"),
    (DAYS, DAYS[1:5], "1980s; 198*; 198x; 1980-1989"),
    (DAYS, DAYS[:5], "19**"), (DAYS, DAYS[1:3], "[1980-01-01, 1987-06-01)"), (DAYS, DAYS[2:], "1987+"),
    (DAYS, DAYS[:1], "<1980"), (DAYS, DAYS, "*"),
    (ZIPS, ZIPS[:2], "12***; 12*; 12xxx"), (ZIPS, ZIPS[1:2], "12345"), (ZIPS, ZIPS, "*"), (ZIPS, [], "99***"),
    (ZIPS, ZIPS[:2], "12???; 12•••; 12___; 12---; 12..."), (CODES, ["E11.0", "E11.9"], "E11.-; E11.x; E11.*; E11.??"),
    (JOBS, ["cook", "nurse"], "{cook, nurse}; cook|nurse; nurse, cook; cook or nurse; cook/nurse"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("real", "due", "cell"),
    [pytest.param(real, due, cell, id=cell) for real, due, cells in COARSE for cell in cells.split("; ")],
)
def test_a_coarse_cell_may_be_each_real_value_that_it_stands_for(real, due, cell):
    assert may_be(cell, real) == list(due)


def read(cells: object, like: pd.Series) -> Release:
    return fitted(pd.DataFrame({"x": cells}), like.to_frame("x"), FileForm(), "release")


@pytest.mark.parametrize(("real", "cells", "ends"), [
    ([0.1, 0.35, 0.62, 0.97], ["0.000-0.250", "0.250-0.500", "0.500-1.000"], [(0, 0.25), (0.25, 0.5), (0.5, 1)]),
    ([0.1, 0.35, 0.62, 0.97], ["0.000-0.250"], [(0, 0.25)]),
    ([-29.5, -3.25, 16.4, 59.8], ["(-1.012,0.012)", "(12.232,13.232)", "(16.400,17.400)"],
     [(-1.012, 0.012), (12.232, 13.232), (16.4, 17.4)]),
    ([-1999.5, -20.25, 1164.5, 1959.25], ["1.100-1.200", "-2.000--1.900"], [(1100, 1200), (-2000, -1900)]),
    ([-3.5, -0.5, 0.4, 2.1], ["[-1.012,-0.012]", "[-3.512, -2.512]"], [(-1.012, -0.012), (-3.512, -2.512)]),
    ([0.02, 0.3, 0.9], ["0-10%", "10-40%"], [(0, 0.1), (0.1, 0.4)]),
    ([2.0, 30.5, 90.5], ["0-1%", "10-40%"], [(0, 1), (10, 40)]),
])  # fmt: skip
def test_points_and_percents_of_bands_are_those_of_which_most_bands_lie_among_the_real_values(real, cells, ends):
    sets = read(cells * 20, pd.Series(real * 20)).sets.columns["x"].values()
    assert [(own.low, own.high) for own in sets] == ends


def test_months_in_six_digits_are_such_though_one_is_none_and_some_lie_beside_the_real_years():
    months = [f"19{year}{month:02d}" for year in (80, 85, 89) for month in range(1, 13)]
    assert len(read([*months, "999999", "200503"], DAYS).sets.columns["x"]) == 37


@pytest.mark.parametrize("cells", [
    ["(1,234.50)", "80.00", "(2,500.25)"], ["(1.234,50)", "80,00", "(2.500,25)"],
    ["(€1.234,50)", "€80,00", "(€2.500,25)"],
    ["($1,234.50)", "$80.00", "($2,500.25)"], ["(1 234,50)", "80,00", "(2 500,25)"],
])  # fmt: skip
def test_numbers_in_parentheses_are_negative_where_some_real_ones_are_and_bands_where_none_is(cells):
    real = pd.Series([-1234.5, 80.0, -2500.25] * 9)
    assert read(cells * 9, real).synthetic["x"].tolist() == real.tolist()
    whole = pd.Series([-1234, 80, -2500] * 9)
    assert read(["(1,234)", "80", "(2,500)"] * 9, whole).synthetic["x"].tolist() == whole.tolist()
    assert coarse_cells(pd.Series(["(20,30)", "(30,40)"]), AGES) is not None
    assert coarse_cells(pd.Series(["(20,30)", "(-5,20)"]), pd.Series([-4, *AGES])) is not None


def test_two_numbers_with_a_comma_are_a_band_where_all_such_are_in_order_within_whole_numbers():
    made = read(["62,90", "18,35", "40"], AGES)
    assert [(own.low, own.high) for own in made.sets.columns["x"].values()] == [(62, 90), (18, 35)]
    assert read(["62,95", "18,35", "40"], AGES).synthetic["x"].tolist() == [62.95, 18.35, 40]
    assert read(["0,5", "1,5", "2,5"], pd.Series(range(9))).synthetic["x"].tolist() == [0.5, 1.5, 2.5]
    assert read(["1,234", "2,500"], pd.Series([1, 234, 2500, 500, 9000])).synthetic["x"].tolist() == [1234, 2500]


def test_an_s_is_a_unit_where_not_all_numbers_with_one_are_tens():
    assert read(["30s", "35s", "40s"], AGES).synthetic["x"].tolist() == [30, 35, 40]
    assert not read(["30s", "40s"], pd.Series([30, 40, 50])).sets


def test_tokens_among_coarse_cells_are_missing_and_told():
    made = read(["30-39", "unknown", "40+"], AGES)
    assert (len(made.sets.columns["x"]), made.synthetic["x"].isna().tolist()) == (2, [False, True, False])
    assert any("1 of 3 cells are no numbers and taken as missing" in each.words for each in made.told)
    with pytest.raises(InputError, match="column 'x' must hold numbers"):
        read([*["unknown"] * 10, "40+"], AGES)


def test_beginnings_years_and_intervals_without_a_sign_are_read_where_all_texts_are_such():
    starts = read(["12", "20", "30000"], ZIPS).sets.columns["x"]
    assert {text: own.prefix for text, own in starts.items()} == {"12": "12", "20": "20"}
    assert not read(["12", "20", "x"], ZIPS).sets
    assert len(read(["12", "20"], pd.Series(["12-001", "12-345", "20-001", "20-999"])).sets.columns["x"]) == 2
    assert not read(["co", "nur"], JOBS).sets, "texts without digits are no codes"
    assert len(read([1980, 1987, 1987], DAYS).sets.columns["x"]) == 2
    assert not read([3650, 6300, 4000], DAYS).sets
    made = read(pd.cut(AGES, [0, 30, 60, 100]), AGES)
    assert [(own.low, own.high) for own in made.sets.columns["x"].values()] == [(1, 30), (31, 60), (61, 100)]


@pytest.mark.parametrize(("cells", "like"), [
    (["-5", "(7)", "+3", "1e3"], pd.Series([-5, 7, 3, 1000])), (["2024-01-05", "2023-02-06"], DAYS),
    (["a-b", "5-10", "cook"], JOBS), (["30-39", "40+"], pd.Series(["30-39", "40+", "18-29"])),
    (["*", "a"], pd.Series(["*", "a", "b"])), (["<5", "30"], AGES), ([1.5, 2.5], PAYS),
    (["200101", "200812"], pd.Series(pd.to_datetime(["2020-01-01", "2020-08-12"]))),
    (["1_234", "20_000"], PAYS), (["30 years", "35 y"], AGES),
    (["31.12.00", "01-02-00"], DAYS), (["Q5/87", "KW 60/1987", "H3 1987", "Q1/55"], DAYS), (["2.0", "31.0"], DAYS),
    (["198705", "870531"], DAYS), (["2001-W60", "Brumaire 1987", "May-02"], DAYS),
])  # fmt: skip
def test_what_stands_for_itself_stays(cells: list[object], like: pd.Series):
    assert coarse_cells(pd.Series(cells, dtype=None), like) is None


@pytest.mark.parametrize("like", [AGES, AGES.astype("category"), AGES.astype("float32"), PAYS.astype("float32")])
def test_each_set_has_a_value_of_its_own_that_no_exact_cell_has(like: pd.Series):
    low, high = like.astype(float).min(), like.astype(float).max()
    bands = [f"{low + k}-{high - k}" for k in range(8)]
    exact = [str(v) for v in like.astype(float)]
    made = read(bands + exact, like)
    tables = Tables(like.to_frame("x"), made.sets.beside(made.synthetic))
    rows = inside(tables, "x").row[tables.codes(["x"]).tables[1]]
    assert len(set(rows[:8].tolist()) - {0}) == 8
    assert not rows[8:].any()


def test_in_a_coarse_reading_a_copy_is_equal_in_all_cells_and_of_nested_sets_the_commonest_counts():
    real = pd.DataFrame({"x": AGES, "d": [*DAYS, *DAYS.head(2)], "z": [*ZIPS, *ZIPS.head(2)], "y": 1.5})
    ages = [f"{a // 10 * 10}-{a // 10 * 10 + 9}" if a < 60 else "60+" for a in AGES]
    release = real.assign(x=ages, d=real["d"].dt.year, z=real["z"].str[:2] + "*")
    made = fitted(release, real, FileForm(), "release")
    same = coarsened_alike(Tables(real, made.sets.beside(made.synthetic)))
    pd.testing.assert_frame_equal(same.real, same.synthetic, check_dtype=False)
    assert (same.real["x"].nunique(), same.real["d"].nunique()) == (5, real["d"].dt.year.nunique())
    real = pd.DataFrame({"x": AGES})
    cells = ["30-39"] * 3 + ["30-34", "0-99", "62"]
    made = read(cells, AGES)
    same = coarsened_alike(Tables(real, made.sets.beside(made.synthetic)))
    bands = made.synthetic["x"]
    assert same.real["x"][[2, 3, 4]].tolist() == [bands[0]] * 3
    assert same.synthetic["x"][:4].tolist() == [bands[0]] * 4, "the narrower band is in the one that counts"
    assert (same.real["x"][[0, 1, 5, 6, 7]].tolist(), same.synthetic["x"][5]) == ([bands[4]] * 5, bands[4])


@pytest.mark.parametrize(("step", "as_text"), [(10, False), (5, True), (1000, False)])
@pytest.mark.parametrize("cut", [False, True])
def test_numbers_rounded_to_tens_are_the_numbers_that_round_so(step, as_text, cut):
    real = pd.Series(np.random.default_rng(step).integers(0, 20 * step, 400))
    made = (real // step if cut else (real / step).round().astype(int)) * step
    release = made.astype(str) if as_text else made
    found = coarse_cells(release, real)
    assert found is not None
    assert found.words == f"{made.nunique()} numbers {'cut down' if cut else 'rounded'} to multiples of {step:,}"
    for k, (cell, truth) in enumerate(zip(made, real, strict=True)):
        own = found.sets[found.rows[k]]
        assert own.low <= truth <= own.high
        assert (own.low, own.high) == ((cell, cell + step - 1) if cut else pytest.approx((cell, cell), abs=step / 2))
    read = fitted(pd.DataFrame({"n": release}), pd.DataFrame({"n": real}), FileForm(), "release")
    assert f"to multiples of {step:,}" in read.told[0].words
    assert read.sets.columns["n"]


AMOUNTS = np.random.default_rng(5).uniform(1000, 9000, 60).round(2)
YEARS = np.random.default_rng(5).uniform(0.5, 30, 400).round(2)
WEIGHTS = np.random.default_rng(5).normal(25, 4, 200).round(1)


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize(("real", "step"), [(AMOUNTS, 1), (AMOUNTS, 10), (AMOUNTS, 1000), (WEIGHTS, 1),
                                            (AMOUNTS.round(), 10), (AMOUNTS / 3, 1)])  # fmt: skip
@pytest.mark.parametrize("rows", [1, 2])
def test_amounts_rounded_to_whole_ones_tens_or_thousands_may_be_each_that_rounds_so(real, step, cut, rows):
    made = (np.floor(real / step) if cut else np.round(real / step)) * step
    found = coarse_cells(pd.Series(made[::rows]), pd.Series(real))
    assert found is not None
    assert f"{'cut down' if cut else 'rounded'} to multiples of {step:,}" in found.words
    held = [
        found.sets[row].low <= truth <= found.sets[row].high
        for row, truth in zip(found.rows, real[::rows], strict=True)
    ]
    assert all(held)


TIMES = pd.Series(pd.date_range("2021-03-01 07:15", periods=60, freq="13h"))
ZONED = TIMES.dt.tz_localize("Europe/Vienna")


@pytest.mark.parametrize(("cells", "real"), [
    (TIMES.dt.strftime("%Y-%m-%d"), TIMES), (TIMES.dt.normalize(), TIMES), (TIMES.dt.strftime("%d.%m.%Y"), TIMES),
    (TIMES.dt.strftime("%Y-%m-%d 00:00:00"), TIMES), (TIMES.dt.strftime("%Y%m%d"), TIMES), (TIMES.dt.date, TIMES),
    (TIMES.dt.strftime("%Y-%m-%d"), ZONED), (ZONED.dt.normalize(), ZONED), (TIMES.dt.date.astype("category"), TIMES),
    (TIMES.dt.strftime("%Y-%m-%d").mask(TIMES.index % 5 == 0, TIMES.dt.strftime("%Y-%m")), TIMES),
    (TIMES.dt.strftime("%Y-%m-%d").mask(TIMES.index % 5 == 0, "*"), TIMES),
])  # fmt: skip
def test_days_stand_for_all_their_times_where_real_ones_have_a_time_and_no_released_one_has(cells, real):
    made = read(cells, real)
    tables = Tables(real.to_frame("x"), made.sets.beside(made.synthetic))
    codes, within = tables.codes(["x"]).tables, inside(tables, "x")
    assert all(within.equal(codes[0][k : k + 1], codes[1][k])[0] for k in range(60))
    assert any("days without the time" in each.words for each in made.told)


@pytest.mark.parametrize(("cells", "real"), [
    (TIMES.dt.normalize().where(TIMES.index > 0, TIMES), TIMES),  # one with a time
    (TIMES.dt.normalize(), TIMES.where(TIMES.index % 2 > 0, TIMES.dt.normalize())),  # as many real ones without one
    (TIMES.dt.normalize().head(3), TIMES.where(TIMES.index % 5 > 0, TIMES.dt.normalize())),  # by chance
    (TIMES.dt.normalize(), TIMES.dt.normalize()), (TIMES, TIMES),
])  # fmt: skip
def test_days_that_real_dates_have_too_stay_what_they_are(cells, real):
    assert not read(cells, real).sets


@pytest.mark.parametrize(("release", "real"), [
    (np.arange(400) % 90 + 1, np.arange(400) % 90),  # ages as they are
    (np.arange(400) % 9 * 10, np.arange(400) % 9 * 10),  # real tens
    (np.repeat(40, 400), np.arange(400) % 60),  # one value, which a poor generator makes
    (np.where(np.arange(400) % 10, 0, 5000), np.where(np.arange(400) % 10, 0, np.arange(400))),  # mostly none
    (np.array([10, 20, 30]), np.arange(400) % 60),  # too few to tell
    (np.arange(400) * 7.0, np.where(np.arange(400) % 4, np.arange(400) * 7.0, 0.5)),  # mostly whole real ones
    (np.repeat([40.0, 50.0, 60.0], 100), np.linspace(1000.37, 9000.81, 300).round(2)),  # not where the real ones are
    (np.linspace(1, 9, 300).round(1), np.random.default_rng(1).uniform(1, 9, 300)),  # decimals, as generators write
    (np.round(12 * YEARS), YEARS),  # months
])  # fmt: skip
def test_numbers_that_may_be_tens_by_chance_or_by_nature_stay_exact(release, real):
    assert coarse_cells(pd.Series(release), pd.Series(real)) is None


def test_columns_may_be_absent_but_not_all():
    real = pd.DataFrame({"age": [1, 2] * 20, "city": ["a", "b"] * 20, "pay": [1.5, 2.5] * 20})
    made = fitted(real[["city"]], real, FileForm(), "release")
    assert made.sets.suppressed == {"age", "pay"}
    assert made.synthetic[["age", "pay"]].isna().all(axis=None)
    assert [each.column for each in made.told] == ["age", "pay"]
    with pytest.raises(ValueError, match="absent: \\['city', 'pay'\\]"):
        fitted(pd.DataFrame({"age": [1], "a": [1], "b": [2]}), real, FileForm(), "release")


SETTINGS = {"quasi_identifiers": ["age", "city"], "sensitive": "illness"}
NOT_SO = ("hidden_rate", "linkability")  # need more than a release and roles


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n, metric in METRICS.items() if metric.installed and n not in NOT_SO])
def test_from_python_every_metric_takes_a_coarse_release_without_one_of_the_columns(name):
    rng = np.random.default_rng(3)
    real = pd.DataFrame({"age": rng.integers(20, 70, 60), "city": rng.choice(["Ulm", "Aalen"], 60)})
    real["illness"], real["job"] = rng.choice(["none", "flu"], 60), rng.choice(["cook", "nurse"], 60)
    decades = (real["age"] // 10 * 10).map(lambda low: f"{low}-{low + 9}")
    release = real.assign(age=decades).drop(columns="job")
    with pytest.raises(InputError, match=r"fit_release\(release, real\)"):
        METRICS["coverage"](real, release)
    metric = METRICS[name]
    roles = {role: SETTINGS[role] for role in metric.needs if role in SETTINGS}
    options = {"control": real} if "control" in metric.needs else {}
    options |= {"folds": 2} if name in ("detection_mlp", "membership_inference_risk") else {}
    score = metric(real, fit_release(release, real), **roles, **options)
    assert score.value is not None


def test_lists_of_a_release_are_values_of_their_own_where_the_real_column_holds_such_lists():
    real = pd.Series(["tv", "phone", "watch", "tv,phone", "phone,watch"])
    assert coarse_cells(pd.Series(["tv,watch", "watch,tv,phone", "tv"]), real) is None
    for text, sets in (("tv|watch", 1), ("{tv, watch}", 1), ("tv,watch", 0)):
        found = coarse_cells(pd.Series([text, "tv"]), real)
        assert (0 if found is None else len(found.sets)) == sets
    assert coarse_cells(pd.Series(["tv,watch"]), real.head(4)).words == "1 set of texts", (
        "one list alone is none of many"
    )
