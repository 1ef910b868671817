"""A copy is a copy whatever type its values wear: the whole register on an exact copy in every dress."""

import datetime as dt
from decimal import Decimal
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.value_types import in_unit_of

OPTIONS = {"linkability": {"columns_a": ["pay", "visits", "day"], "columns_b": ["waited", "smokes", "ward"]}}
OPTIONS |= {"train_synthetic_test_real": {"model": "logistic"}, "membership": {"attacker": "distance_difference"}}
OPTIONS |= {"rapid": {"attacker": "cart"}, "inference": {"attacker": "key_class"}}
OPTIONS |= {key: {"folds": 2} for key in ("detection_mlp", "membership_inference_risk")}


def draw(seed, n=36):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"pay": rng.lognormal(7, 1, n).round(2), "visits": rng.integers(0, 100, n)})
    table["day"] = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D")
    table["waited"] = pd.to_timedelta(rng.integers(0, 86_400, n), unit="s")
    table["smokes"], table["ward"] = rng.random(n) < 0.4, rng.choice([*"ABCD"], n)
    table["ill"] = rng.choice(["none", "mild", "severe"], n)
    table = table.astype({"day": "datetime64[ns]", "waited": "timedelta64[ns]"})
    table.loc[rng.random(n) < 0.1, ["pay", "day", "ward"]] = np.nan
    return table


REAL, CONTROL = draw(1), draw(2)


def arrow(kind):
    return lambda column: column.astype(object).where(column.notna(), None).astype(pd.ArrowDtype(kind))


def objects(make):
    return lambda column: pd.Series([None if pd.isna(v) else make(v) for v in column], column.index, object)


def cast(dtype):
    return lambda column: column.astype(dtype)


def casts(*dtypes):
    return {dtype: cast(dtype) for dtype in dtypes}


def levels(dress):
    return lambda column: dress(column).astype("category")


def decimal(value):
    return Decimal(f"{value:.2f}")


def whole(value):
    return Decimal(int(value))


def time_of_day(value):
    return (dt.datetime(2000, 1, 1) + value.to_pytimedelta()).time()


def day(value):
    return value.date()


def by_bytes(value):
    return value.encode()


def zoned(zone):
    return lambda column: column.dt.tz_localize("UTC").dt.tz_convert(zone)


STAMP = pd.ArrowDtype(pa.timestamp("us", "Europe/Berlin"))
STRING = pd.ArrowDtype(pa.string())
DRESSES = {
    "pay": {
        **casts("float32", "Float32", "Float64", "longdouble", "float[pyarrow]", "double[pyarrow]"),
        "decimal128": lambda column: arrow(pa.decimal128(12, 2))(objects(decimal)(column)),
        "decimal256": lambda column: arrow(pa.decimal256(40, 2))(objects(decimal)(column)),
        "Decimal": objects(decimal),
        "objects of float": objects(float),
        "objects of numpy.float64": objects(np.float64),
        "objects of numpy.float32": objects(np.float32),
        "Sparse": cast(pd.SparseDtype(float)),
        "category": levels(cast("float64")),
        "category of float32": levels(cast("float32")),
        "category of Decimal": levels(objects(decimal)),
    },
    "visits": {
        **casts("int8", "uint8", "uint64", "float64", "float32", "float16", "Int64", "UInt16"),
        **casts("int8[pyarrow]", "uint64[pyarrow]"),
        "Decimal": objects(whole),
        "objects of int": objects(int),
        "objects of numpy.int16": objects(np.int16),
        "Sparse": cast(pd.SparseDtype(int)),
        "category": levels(cast("int64")),
        "category of int8[pyarrow]": levels(cast("int8[pyarrow]")),
    },
    "day": {
        **casts("datetime64[s]", "datetime64[ms]", "datetime64[us]", "timestamp[s][pyarrow]"),
        "date": objects(day),
        "datetime": objects(lambda value: value.to_pydatetime()),
        "objects of Timestamp": objects(pd.Timestamp),
        "objects of numpy.datetime64": objects(lambda value: value.to_datetime64()),
        "Period": lambda column: column.dt.to_period("D"),
        "objects of Period": objects(lambda value: value.to_period("D")),
        "UTC": zoned("UTC"),
        "another zone": zoned("Asia/Tokyo"),
        "on the clock of a zone": lambda column: column.dt.tz_localize("Europe/Berlin"),
        "date32[pyarrow]": lambda column: arrow(pa.date32())(objects(day)(column)),
        "date64[pyarrow]": lambda column: arrow(pa.date64())(objects(day)(column)),
        "timestamp[us, tz][pyarrow]": lambda column: column.dt.tz_localize("UTC").astype(STAMP),
        "category": levels(cast("datetime64[ns]")),
        "category of date": levels(objects(day)),
        "category of Period": levels(lambda column: column.dt.to_period("D")),
    },
    "waited": {
        **casts("timedelta64[s]", "timedelta64[us]", "duration[ms][pyarrow]"),
        "objects of timedelta": objects(lambda value: value.to_pytimedelta()),
        "objects of numpy.timedelta64": objects(lambda value: value.to_timedelta64()),
        "time": objects(time_of_day),
        "time64[pyarrow]": lambda column: arrow(pa.time64("us"))(objects(time_of_day)(column)),
        "category": levels(cast("timedelta64[ns]")),
    },
    "smokes": {
        **casts("boolean", "bool[pyarrow]", "float32"),
        "objects of bool": objects(bool),
        "objects of numpy.bool": objects(np.bool_),
        "whole numbers": cast("int8"),
        "category": levels(cast("bool")),
    },
    "ward": {
        "string": cast("string"),
        "string[pyarrow]": cast(STRING),
        "large_string[pyarrow]": cast(pd.ArrowDtype(pa.large_string())),
        "dictionary[pyarrow]": arrow(pa.dictionary(pa.int32(), pa.string())),
        "binary[pyarrow]": lambda column: arrow(pa.binary())(objects(by_bytes)(column)),
        "bytes": objects(by_bytes),
        "category": levels(cast("object")),
        "category of string[pyarrow]": levels(cast(STRING)),
        "ordered category": cast(pd.CategoricalDtype([*"DCBA"], ordered=True)),
    },
}


EVERY = [(column, name) for column, own in DRESSES.items() for name in own]
OUTFITS = range(max(map(len, DRESSES.values())))
SLOW = {"detection_mlp", "membership_inference_risk", "linkability", "quality"}  # one outfit each
ROLES = {"quasi_identifiers": ["pay", "visits", "day", "waited", "smokes", "ward"], "sensitive": "ill"}
MEASURES = {name: metric for name, metric in METRICS.items() if metric.installed}


def dressed(table, column, name):
    return table.assign(**{column: DRESSES[column][name](table[column])})


def outfit(table, number, names=DRESSES):
    """Return the table with all columns dressed, the columns by their dresses in turn."""
    for column in DRESSES:
        some = list(names[column])
        table = dressed(table, column, some[number % len(some)])
    return table


def is_exact(name):
    """Tell whether a dress keeps all digits: which of two rows is nearer may hang on the last."""
    return not any(each in name for each in ("float16", "float32", "Float32", "float[pyarrow]"))


def says_what_it_is(column, name):
    """Tell whether a dress of the real table keeps the kind of its column: a category of numbers is a code list."""
    is_code = name.startswith("category") and column not in ("smokes", "ward")
    return not is_code and name != "whole numbers"


BERLIN = ("on the clock of a zone", "timestamp[us, tz][pyarrow]")
"""Days that begin at midnight in Berlin, and in UTC: other times, where both tables say that they are Berlin's."""


EXACT = {column: [name for name in own if is_exact(name)] for column, own in DRESSES.items()}
REALS = {c: [n for n in own if says_what_it_is(c, n) and n not in BERLIN] for c, own in EXACT.items()}


def value(metric, real, release, control=None):
    given = {name: own for name, own in ROLES.items() if name in metric.needs}
    given |= {"links": np.arange(len(release))} if "links" in metric.options else {}
    given |= {"control": control} if "control" in metric.needs else {}
    return metric(real, release, **given, **OPTIONS.get(metric.name, {}), seed=0).value


@pytest.mark.parametrize(("column", "name"), EVERY, ids=[f"{c} as {n}" for c, n in EVERY])
def test_each_dress_of_each_column_is_taken_off(column, name):
    tables = Tables(REAL, dressed(REAL, column, name), dressed(CONTROL, column, name))
    codes, plain = tables.codes([column]), Tables(REAL, REAL)
    np.testing.assert_array_equal(*codes.tables)
    assert (codes.size, tables.kind(column)) == (plain.codes([column]).size, plain.kind(column))
    beside_control = Tables(tables.real, tables.control).codes([column]).tables[1]
    np.testing.assert_array_equal(beside_control, Tables(REAL, CONTROL).codes([column]).tables[1])
    if tables.kind(column) == "numeric":
        np.testing.assert_array_equal(*tables.floats(column))
    other = Tables(dressed(REAL, column, name), REAL)
    np.testing.assert_array_equal(*other.codes([column]).tables)
    if column != "smokes":
        assert (other.kind(column) == tables.kind(column)) == says_what_it_is(column, name)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("place", "metric"), [*enumerate(MEASURES.values())], ids=MEASURES.keys())
@pytest.mark.parametrize("outfits", ["some", pytest.param("every", marks=pytest.mark.proof)])
def test_a_copy_scores_as_a_copy_in_outfits(metric, place, outfits):
    first, step = (place % 9, 9) if outfits == "some" else (0, 1)
    plain = value(metric, REAL, REAL.copy(), CONTROL)
    for number in OUTFITS[first :: step * (9 if metric.name in SLOW else 1)]:
        found = value(metric, REAL, outfit(REAL, number), outfit(CONTROL, number))
        assert found == pytest.approx(plain, abs=1e-6, nan_ok=True), number


RELEASE = pd.concat([REAL.iloc[:20], draw(3, 16)], ignore_index=True)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("place", "metric"), [*enumerate(MEASURES.values())], ids=MEASURES.keys())
def test_tables_in_different_outfits_score_as_plain_ones(metric, place):
    release, control = outfit(RELEASE, place + 3, EXACT), outfit(CONTROL, place + 5, EXACT)
    found = value(metric, outfit(REAL, place, REALS), release, control)
    assert found == pytest.approx(value(metric, REAL, RELEASE, CONTROL), abs=1e-5, nan_ok=True)


@pytest.mark.parametrize("column", DRESSES)
def test_an_ordinary_table_is_not_touched(column):
    codes = REAL.assign(**{column: REAL[column].astype("category")})
    for table in (REAL, codes):
        tables = Tables(table, table, table)
        assert tables.real is tables.synthetic is table


def common(real, release):
    """Return the share of the real cells that the release holds, both in a column x."""
    tables = [t if isinstance(t, pd.DataFrame) else pd.DataFrame({"x": t}) for t in (real, release)]
    return METRICS["common_rows_proportion"](*tables).value


def test_whole_numbers_beyond_singles_are_compared_as_singles_and_two_doubles_are_not():
    real = pd.DataFrame({"x": [123_456_789, 987_654_321, 2**53 + 1]})
    assert common(real, real.astype("float32")) == 1.0 > common(real, real + 1)
    assert common(pd.Series([1.0, 2.0, 3.0]), pd.Series([1.0, 2.0, 3.0]) + 1e-12) == 0.0
    beyond = Tables(pd.DataFrame({"x": [1.1e200, 12.34, 0.0]}), pd.DataFrame({"x": np.float32([12.34, 12.34, 0])}))
    assert np.isfinite(beyond.floats("x")[0]).all()


@pytest.mark.parametrize(
    "dress", [objects(whole), objects(int), cast("int64[pyarrow]"), cast("UInt64"), objects(np.uint64)]
)
@pytest.mark.parametrize("missing", [False, True])
def test_large_whole_numbers_are_compared_to_the_last_digit(dress, missing):
    cells = pd.Series([2**60 + 1, 2**60 + 3, *([pd.NA] if missing else [])], dtype="Int64" if missing else "int64")
    assert common(cells, dress(cells)) == 1.0
    assert common(cells, dress(cells + 1)) == pytest.approx(missing / len(cells))


NAMES = [f"00000000-0000-0000-0000-00000000000{k}" for k in range(5)]


@pytest.mark.parametrize(
    ("cells", "dress"),
    [
        *((NAMES, objects(UUID)), ([*"abcd"], objects(lambda text: memoryview(text.encode())))),
        ([*"abcd"], objects(lambda text: text.encode() if text in "ac" else text)),
        *(([*"abcd"], objects(pa.scalar)), ([*"abcd"], cast(pd.ArrowDtype(pa.string_view())))),
    ],
    ids=["uuids", "memoryview", "bytes and texts", "scalars of pyarrow", "string_view[pyarrow]"],
)
def test_what_drivers_of_databases_hand_out_for_texts_are_texts(cells, dress):
    assert common(cells, dress(pd.Series(cells))) == 1.0


def test_intervals_of_months_days_and_nanoseconds_are_compared():
    cells = pa.array([None, (1, 2, 3), (1, 2, 4)], pa.month_day_nano_interval())
    real = pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(cells)})
    assert (common(real, real.copy()), common(real, real[:2])) == (1.0, pytest.approx(2 / 3))


NUMBERS, DAYS = [1.5, 2.0], pd.to_datetime(["2020-01-01", "2020-01-02"])
COMPLEX, BEYOND = "hold real numbers, got complex ones", r"hold dates from 1677 to 2262 .* got one outside$"


@pytest.mark.parametrize(
    ("real", "cells", "says"),
    [
        *((NUMBERS, ["1.5", "2.0"], "hold numbers in both tables"), (NUMBERS, [1 + 2j, 2j], COMPLEX)),
        (NUMBERS, pd.Series([1j, 2j], dtype=object), COMPLEX),
        (NUMBERS, pd.Series([1, 2j], dtype=object), COMPLEX),
        (DAYS, [dt.date(9999, 12, 31), dt.date(2020, 1, 1)], BEYOND),
        (DAYS, np.array(["1066-10-14", "2020-01-01"], "datetime64[s]"), BEYOND),
        (DAYS, DAYS - DAYS[0], "hold durations in both tables or in none"),
    ],
)
def test_what_cannot_be_compared_is_refused_without_a_cell(real, cells, says):
    with pytest.raises(InputError, match=f"^column 'x' must {says}"):
        common(real, cells)


def test_codes_and_identifiers_are_the_same_beside_control_records_of_another_type():
    real = pd.DataFrame({"x": pd.Categorical([1, 2, 3, 1]), "y": [*"abcd"]})
    control = pd.DataFrame({"x": pd.Categorical([4, 1]), "y": [*"ab"]})
    tables = Tables(real, real, control)
    assert tables.with_control().kind("x") == tables.kind("x") == "categorical"
    real = pd.DataFrame({"id": [1, 1, 2], "x": [1, 2, 3]})
    control = pd.DataFrame({"id": objects(whole)(pd.Series([3, 2])), "x": [4, 5]})
    tables = Tables.identified(real, real[["x"]], control, "id")
    assert tables.control_entities[1] == tables.entities[2]


PAID = pd.Series(np.random.default_rng(5).lognormal(7, 0.5, 300).round(2))
UNITS = {  # how a release is written, by how many times it is larger, and what is not a number in it
    "cents": (lambda p: (100 * p).round().astype(int), 100.0, 0),
    "cents, with gaps": (lambda p: (100 * p).round().mask(p.index % 9 == 1), 100.0, 34),
    "cents, one without end": (lambda p: (100 * p).round().mask(p.index == 0, np.inf), 100.0, 1),
    "thousands, nullable": (lambda p: (p / 1000).round(5).astype("Float64").mask(p.index % 9 == 1), 0.001, 34),
    "months": (lambda p: 12 * p, 12.0, 0),
    "in another order": (lambda p: 100 * p.iloc[::-1], 100.0, 0),
    "other amounts": (lambda p: 30 * p + 1e5, 1.0, 0),
    "a little more": (lambda p: 1.3 * p, 1.0, 0),
    "all alike": (lambda p: 0 * p + 1e7, 1.0, 0),
    "few": (lambda p: 100 * p.head(99), 1.0, 0),
    "few different ones": (lambda p: 100 * p.round(-3), 1.0, 0),
    "beyond what a float holds": (lambda p: 10**15 * p.round().astype("int64"), 1.0, 0),
    "thousands, one too large": (lambda p: (p / 1000).round(5).mask(p.index == 0, 1e307), 1.0, 0),
    "none": (lambda p: p.mask(p > 0), 1.0, 300),
}  # fmt: skip


@pytest.mark.parametrize("what", UNITS)
def test_numbers_in_another_unit_are_read_in_the_real_one_and_others_stay(what):
    write, times, gaps = UNITS[what]
    released = write(PAID)
    cells, told = in_unit_of(released, PAID)
    assert (told, int(cells.isna().sum())) == (times, gaps)
    due = released if times == 1 else PAID.reindex(released.index).mask(released.isna())
    assert cells.index.equals(released.index)
    assert ((cells == due) | cells.isna()).all()


def test_the_order_of_a_long_table_tells_no_unit():
    real = pd.Series(np.arange(100_000))
    assert in_unit_of(real.sample(frac=1, random_state=1), real)[1] == 1.0
