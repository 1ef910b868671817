"""Real tables with which no study can be made."""

import io

import numpy as np
import pandas as pd

from bad_inputs.case import Case, study, table


def _parquet(people: pd.DataFrame) -> bytes:
    kept = io.BytesIO()
    people.to_parquet(kept)
    return kept.getvalue()


def _csv(people: pd.DataFrame) -> str:
    return people.to_csv(index=False)


def _with(column: str, cells: object) -> object:
    return lambda people: people.assign(**{column: cells})


def _some(column: str, cells: list) -> object:
    """Put cells where the first ones stood."""
    return lambda people: people.assign(**{column: [*cells, *people[column].astype(object)[len(cells) :]]})


_FILES = (
    study("no such file", "there is no file 'absent.csv'", data__source="absent.csv"),
    study("a file called nearly so", "there is no file 'poeple.csv' (did you mean 'people.csv'?)", data__source="poeple.csv"),
    study("no such folder", "there is no file 'nowhere/people.csv'", data__source="nowhere/people.csv"),
    study("a folder", "source must be one file, or a folder of parts (Parquet, CSV, JSON), got 'all.csv'",
          {"all.csv/people.csv": "age\n1\n", "all.csv/people.pdf": b"%PDF"}, data__source="all.csv"),
    study("a folder of several tables", "'all' must hold parts of one table, got other first lines",
          {"all/people.csv": "age\n1\n", "all/visits.csv": "day\n1\n"}, data__source="all"),
    study("no path and no name", "source must be a built-in table, a file (CSV, JSON, Parquet, Feather, Excel", data__source="people"),
    study("a form that is not read", "source must end in .csv", {"people.pdf": b"%PDF"}, data__source="people.pdf"),
    study("an address that is none", "no file system is called htp://", data__source="htp://host/people.csv"),
    study("a server that is not there", "'http://127.0.0.1:9/people.csv' must lead to a file, found none there, or no server that answers",
          data__source="http://127.0.0.1:9/people.csv"),
    study("a number of OpenML that is none", "source must be openml:<number>, as in openml:1590, got 'openml:adult'", data__source="openml:adult"),
    study("a database that is none", "source.url must be a SQLAlchemy URL", data__source={"url": "people.db", "query": "select 1"}),
    study("a query that is none", "source.query must be readable, but the database refused", data__source={"url": "sqlite://", "query": "selct 1"}),
    study("a query of no table", "source.query must be readable, but the database refused", data__source={"url": "sqlite://", "query": "select * from people"}),
    study("a query of no rows", "source.query must return rows, got none", data__source={"url": "sqlite://", "query": "select 1 as age where 1 = 0"}),
    study("a driver that is not named", "source.url must name the driver: postgresql+psycopg://", data__source={"url": "postgresql://host/db", "query": "select 1"}),
    study("a password in the source", "a URL must take its password from the environment (${NAME}), got one in the text",
          data__source="s3://key:Zebrafink-Qx7@bucket/people.csv"),
    study("a variable that the machine does not allow", "NOWHERE_SET must be named in SYNTHRISK_VARIABLES",
          data__source={"url": "postgresql+psycopg://u:${NOWHERE_SET}@h/d", "query": "select 1"}),
    table("an empty file", "", "'own.csv' must hold a header line and rows, got an empty file"),
    table("a header alone", "age,city,income\n", "'own.csv' must hold rows, got a header line alone"),
    table("one row", lambda p: p.head(1), "split.folds must be at most the number of rows, got 2 folds for 1 rows"),
    table("fewer rows than folds", lambda p: p.head(4), "5 folds for 4 rows", split__folds=5),
    study("fewer rows taken than folds", "5 folds for 4 rows", split__folds=5, data__rows=4),
    study("more rows asked for than there are", "data.rows must be at most the 60 rows of the table, got 1000", data__rows=1000),
    table("a Parquet file called csv", _parquet, "'own.csv' must be text"),
    table("a CSV file called parquet", _csv, "'own.parquet' must be a Parquet file", to="own.parquet"),
    table("a Parquet file cut short", lambda p: _parquet(p)[:-40], "'own.parquet' must be a Parquet file", to="own.parquet"),
    table("a Parquet file without rows", lambda p: _parquet(p.head(0)), "'own.parquet' must hold rows, got none", to="own.parquet"),
    table("a compressed file that is none", _csv, "'own.csv.gz' cannot be read", to="own.csv.gz"),
    table("a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 9, "'own.csv' must be text"),
    table("a damaged workbook", b"PK", "'own.xlsx' must be an Excel or OpenDocument workbook", to="own.xlsx"),
    table("a damaged SPSS file", b"$FL2", "'own.sav' must be a file of SPSS, but cannot be read as one", to="own.sav"),
    table("UTF-8 with a few other bytes", lambda p: _csv(p).replace("Graz", "Kärnten").encode() + b"\xe4\n",
          "'own.csv' must be text in one encoding, got UTF-8 but for 1 byte that is not"),
    table("NUL bytes", lambda p: _csv(p).replace("Graz", "Gr\0az").encode(), "'own.csv' must be text, got NUL bytes"),
    table("NUL bytes at the end", lambda p: (_csv(p) + "\0" * 512).encode(), "'own.csv' must be text, got NUL bytes"),
    table("HTML instead of a table", "<!DOCTYPE html>\n<html><body>Sign in</body></html>\n", "'age'"),
    table("another separator", lambda p: p.to_csv(index=False, sep="/"), "'age'"),
    table("a row too long", lambda p: _csv(p) + "40,Graz,38,low,9\n", "'own.csv' must be a CSV file, but cannot be parsed at line 62"),
    table("all rows too long", lambda p: "\n".join(f"{line},1" for line in _csv(p).splitlines()).replace("income,1", "income"),
          "'own.csv' must have as many cells in each row as names in its header, got more"),
    table("a last row cut short", lambda p: _csv(p) + "40,Gr", "'own.csv' must have as many cells in its last row as names in its header, got 2 of 4"),
    table("a quote that is not closed in the header", lambda p: '"' + _csv(p), "'own.csv' must be a CSV file"),
    table("a last row cut short, in the lines of old Macs", lambda p: (_csv(p) + "40,Gr").replace("\n", "\r"),
          "'own.csv' must have as many cells in its last row as names in its header, got 2 of 4"),
    table("a header without end", "a" * 200000 + "\n1\n", "its header line cannot be parsed"),
    table("a quote that is not closed", lambda p: _csv(p) + '40,"Graz,38,low\n', "'own.csv' must be a CSV file"),
)  # fmt: skip

_NAMES = (
    table("a name twice", lambda p: _csv(p).replace("age,city,hours", "age,city,age"), "'own.csv' must have distinct column names, got one twice (columns 1 and 3)"),
    table("a name twice in Parquet", lambda p: _parquet(p.set_axis(["age", "city", "hours", "3"], axis=1)), "'income'", to="own.parquet"),
    table("an empty name", lambda p: _csv(p).replace("hours", ""), "columns must have names, got an empty header"),
    table("a column without a name", lambda p: p.assign(**{"": p.age}).to_csv(index=False), "columns must have names, got an empty header"),
    table("no header", lambda p: p.to_csv(index=False, header=False), "'age'"),
    table("names in capitals", lambda p: p.rename(columns=str.upper), "'age' (did you mean 'AGE'?)"),
    study("an absent sensitive column", "data.sensitive must name a column of the table, got 'incom' (did you mean 'income'?)", data__sensitive=["incom"]),
    study("an absent quasi-identifier", "data.quasi_identifiers must name a column of the table, got 'town'\n", data__quasi_identifiers=["age", "town"]),
    study("an absent identifier", "data.identifier must name a column of the table, got 'person'", data__identifier="person"),
    study("an absent stratum", "split.stratify must name a column of the table, got 'incme' (did you mean 'income'?)", split__stratify="incme"),
    study("an absent code list", "data.categorical must name a column of the table, got 'cty' (did you mean 'city'?)", data__categorical=["cty"]),
    study("an absent column to drop", "data.drop must name columns of the table, got 'hour' (did you mean 'hours'?)", data__drop=["hour"]),
    study("a sensitive column that is dropped", "got 'income', which data.drop drops", data__drop=["income"]),
    study("a sensitive column that is the identifier", "data.identifier must be no column of data.sensitive, got 'income'", data__identifier="income"),
    study("an identifier that attackers know", "data.identifier must be no column of data.quasi_identifiers, got 'age'", data__identifier="age"),
    study("all columns dropped but one", "data.quasi_identifiers must hold a column other than the sensitive 'income'",
          data__quasi_identifiers="*", data__drop=["age", "city", "hours"]),
    study("all wrong names at once", "4 problems with the data: ", data__identifier="person", data__drop=["hour"], data__categorical=["cty"], split__stratify="incme"),
    table("one column alone", lambda p: p[["income"]], "other than the sensitive 'income'", data__quasi_identifiers="*"),
    table("HTML as a name", lambda p: p.rename(columns={"age": "<script>alert(1)</script>"}), "got 'age'"),
)  # fmt: skip

_CELLS = (
    table("one class", _with("income", "low"), "data.sensitive column 'income' must hold at least two different values, got one"),
    table("one class and missing cells", _some("income", [None, None]), "data.sensitive column 'income' must hold at least two different values, got one", data__missing=["high"]),
    table("a column all missing", _with("city", None), "column 'city' must hold values, got missing cells only"),
    table("a column of blanks", _with("city", "  "), "column 'city' must hold values, got blanks only"),
    table("a sensitive column all missing", _with("income", None), "column 'income' must hold values, got missing cells only"),
    table("a column of what is missing", _with("city", "NA"), "column 'city' must hold values, got missing cells only", data__missing=["NA"]),
    table("infinity", _some("hours", ["inf"]), "column 'hours' must hold finite numbers, got infinity"),
    table("infinity in Parquet", lambda p: _parquet(p.assign(hours=np.inf)), "column 'hours' must hold finite numbers, got infinity", to="own.parquet"),
    table("numbers that are too large for a float", _some("hours", ["1e400"]), "column 'hours' holds numbers that 64 bits cannot hold"),
    table("integers beyond 64 bits", lambda p: p.assign(hours=[str(2**63 + i) for i in range(len(p))]), "column 'hours' holds numbers that 64 bits cannot hold"),
    table("integers beyond 128 bits", lambda p: p.assign(hours=[str(10**40 + i) for i in range(len(p))]), "column 'hours' holds numbers that 64 bits cannot hold"),
    table("unsigned integers in Parquet", lambda p: _parquet(p.assign(hours=np.arange(len(p), dtype="uint64") + 2**63)),
          "column 'hours' holds numbers that 64 bits cannot hold", to="own.parquet"),
    table("a marker among numbers", _some("age", ["NA"]), "column 'age' holds numbers and the text 'NA': list 'NA' in data.missing"),
    table("a date before 1677", lambda p: p.assign(hours=["1500-01-01", *["2020-01-01"] * (len(p) - 1)]), "column 'hours' must hold dates from 1677 to 2262"),
    table("a date that means never", lambda p: p.assign(hours=["9999-12-31", *["2020-01-01"] * (len(p) - 1)]), "list what stands for 'no date' in data.missing"),
    table("lists in cells", lambda p: _parquet(p.assign(hours=[[1, 2]] * len(p))), "column 'hours' must hold single values", to="own.parquet"),
    table("a table without a sensible class", lambda p: p.assign(income=np.arange(len(p))), "attacker must be able to guess a numeric attribute, got 'logistic'", metrics=[
          {"name": "rapid", "attackers": ["logistic"]}]),
    table("one person", _with("person", 1), "2 folds for 1 groups of records that stay together", data__identifier="person"),
    table("fewer people than folds", lambda p: p.assign(person=np.arange(len(p)) % 3), "5 folds for 3 groups of records that stay together", data__identifier="person",
          split__folds=5),
)  # fmt: skip

TABLES: tuple[Case, ...] = (*_FILES, *_NAMES, *_CELLS)
