"""Releases and control records with which nothing can be judged."""

import io

import pandas as pd

from bad_inputs.case import EVALUATE, Case, release


def _others(people: pd.DataFrame) -> pd.DataFrame:
    """Return people of another age."""
    return people.assign(age=people["age"] + 100)


def _parquet(people: pd.DataFrame) -> bytes:
    kept = io.BytesIO()
    people.to_parquet(kept)
    return kept.getvalue()


def _control(name: str, content: object, told: str, /, *more: str, **files: object) -> Case:
    return release(name, _others, told, "--control", "control.csv", *more, **{"control.csv": content, **files})


def _limit(name: str, limit: str, told: str) -> Case:
    return release(name, _others, told, "--threshold", limit)


_RELEASES = (
    Case("no such release", (*EVALUATE, "--synthetic", "absent.csv"), "there is no file 'absent.csv'"),
    release("tables for the maker", _others, "Usage error: --verbose and --for-vendor must not stand together, got both", "--for-vendor", "--verbose"),
    Case("an answer of a release that is refused", ("evaluate", "people.csv", "release.csv", "--quasi-identifiers", "age,city", "--sensitive", "incom", "--json", "out.json"), "'income'"),
    release("an empty release", "", "path 'own.csv' must lead to files with rows, got none in 'own.csv'"),
    release("a header alone as release", lambda p: p.head(0), "path 'own.csv' must lead to files of at least two rows, got none in 'own.csv'"),
    release("a release of one row", lambda p: p.head(1), "path 'own.csv' must lead to files of at least two rows, got one in 'own.csv'"),
    release("a release with most columns called otherwise", lambda p: p[["age"]].assign(a=1, b=2),
            "absent: ['city', 'hours', 'income'], extra: columns 2 and 3; rename it, or leave the column out with --drop city"),
    release("a release with a column called otherwise", lambda p: p.rename(columns={"hours": "hour"}), "absent: ['hours'], extra: column 3 (nearly 'hours')"),
    release("a release without header", lambda p: p.to_csv(index=False, header=False), "got none of them: has the file a header line?"),
    release("a release with a name twice", lambda p: p.to_csv(index=False).replace("hours", "age"),
            "'own.csv' must have distinct column names, got one twice (columns 1 and 3)"),
    release("a release of texts for numbers", lambda p: p.assign(age="old"),
            "got cells that are not; write them as numbers, or leave the column out with --drop age"),
    release("a release of dates for numbers", lambda p: p.assign(hours="2020-02-29"), "column 'hours' must hold numbers"),
    release("a Parquet release called csv", _parquet, "'own.csv' must be text"),
    release("a release in Parquet of several values in a cell", lambda p: p.assign(hours=[[1, 2]] * len(p)).to_parquet(), "own.parquet: column 'hours' must hold single values", to="own.parquet"),
    release("a CSV release called parquet", lambda p: p.to_csv(index=False), "path 'own.parquet' must be a Parquet file", to="own.parquet"),
    release("a release of another form", b"%PDF", "path must end in .csv, .tsv, .txt, .json", to="own.pdf"),
    release("a release in a damaged workbook", b"PK", "must be an Excel or OpenDocument workbook, got something else", to="own.xlsx"),
    release("a release with a row too long", lambda p: p.to_csv(index=False) + "40,Graz,1,low,5\n",
            "path 'own.csv' must lead to readable files, got one that is not: 'own.csv', line 62"),
    release("a release in broken JSON", "{", "path 'own.json' must hold JSON", to="own.json"),
    release("a release in JSON that is no table", "[1, 2]", "'own.json' must hold records of single values", to="own.json"),
    release("a release in JSON of several values in a cell", '[{"age": [1, 2]}, {"age": [3]}]', "own.json: column 'age' must hold single values, got several in a cell", to="own.json"),
    Case("a release in a file system that is none", (*EVALUATE, "--synthetic", "htp://host/release.csv"), "no file system is called htp:// (did you mean 'http'?)"),
    Case("a release that is a folder", (*EVALUATE, "--synthetic", "all.csv"), "path 'all.csv' must lead to a file", {"all.csv/own.pdf": b"%PDF"}),
    Case("a release at a server that is not there", (*EVALUATE, "--synthetic", "http://127.0.0.1:9/release.csv"),
         "path 'http://127.0.0.1:9/release.csv' must lead to a file, found none"),
    Case("a release with a password", (*EVALUATE, "--synthetic", "s3://key:Zebrafink-Qx7@bucket/release.csv"), "a URL must take its password from the environment"),
    Case("a real table that is not there", ("evaluate", "--real", "absent.csv", "--synthetic", "people.csv", *EVALUATE[3:]), "there is no file 'absent.csv'"),
)  # fmt: skip

_CONTROLS = (
    release("no such control file", _others, "there is no file 'absent.csv'", "--control", "absent.csv"),
    _control("an empty control file", "", "'control.csv' must hold a header line and rows, got an empty file"),
    _control("control records without a column", lambda p: p.drop(columns="hours"), "control must have the columns of real, got ['hours'] absent and 0 others"),
    _control("control records with a column more and one less", lambda p: p.assign(id=1).drop(columns="hours"), "got ['hours'] absent and 1 others"),
    _control("control records without header", lambda p: p.to_csv(index=False, header=False), "absent and 4 others"),
    _control("control records that are the real ones", lambda p: p,
             "control must hold records that the synthesizer never saw, got ones of which 60 of 60 control records equal a member"),
    _control("control records that are the release", _others, "60 of 60 control records equal a released row"),
    _control("control records of the same people", lambda p: _others(p).assign(age=p["age"] - 50, person=range(len(p))),
             "control must hold no person of real, as column 'person' tells them apart, got 60 records of such", "--identifier", "person",
             **{"people.csv": lambda p: p.assign(person=range(len(p)))}),
    _control("control records of other types", lambda p: p.assign(age="young"), "control: column 'age' must hold numbers as the real table does, got cells that are not"),
    _control("control records of texts for dates", lambda p: p.assign(hours="unknown"), "control: column 'hours' must hold dates",
             **{"people.csv": lambda p: p.assign(hours="2020-02-29"), "own.csv": lambda p: p.assign(hours="2020-02-29")}),
    _control("control records of one person", lambda p: p.assign(age=p["age"] + 50).head(1), "control must hold at least two records, got 1"),
    _control("control records with a column that is all missing", lambda p: p.assign(age=p["age"] + 50, hours=None),
             "control must hold values in column 'hours', as real does, got missing cells only"),
    _limit("a memorization limit without control", "memorization/zero_cap.income=0.1", "control must be given for the limit 'memorization/zero_cap.income'"),
    _limit("a gain limit without control", "control_gain/zero_cap.income=0.1", "control must be given for the limit"),
)  # fmt: skip

_ARGUMENTS = (
    _limit("a limit without number", "risk/zero_cap", "--limit-on must be <quantity>/<measure>=number, got 'risk/zero_cap'"),
    _limit("a limit of no measure", "risk/zero_cap.incom=0.1", "(did you mean 'zero_cap.income'?)"),
    _limit("a limit that is not computed", "risk/rapid.income=0.1", "limits must name a measure of the study"),
    release("a limit given twice", _others, "--limit-on must be given once for each quantity and measure, got 'risk/zero_cap.income' twice",
            "--threshold", "risk/zero_cap.income=0.1", "--threshold", "risk/zero_cap.income=0.9"),
    _limit("a limit of nan", "risk/zero_cap.income=nan", "got nan"),
    _limit("a limit of 7", "risk/zero_cap.income=7", "must be at most 1, got 7"),
    _limit("a limit with a comma", "risk/zero_cap.income=0,1", "--limit-on must be <quantity>/<measure>=number"),
    release("a metric that is none", _others, "no metric is called 'rapit' (did you mean 'rapid'?)", "--metric", "rapit"),
    release("a metric that needs options", _others, "linkability needs the options columns_a, columns_b", "--metric", "linkability"),
    release("an absent sensitive column", _others, "got 'incom' (did you mean 'income'?)", "--sensitive", "incom"),
    release("no sensitive column", _others, "columns must be named as a,b,c, got ','", "--sensitive", ","),
    release("who chose no limit", _others, "--limit-source must stand beside --limit or --limit-on, got neither", "--limit-source", "me"),
    release("a limit above 1", _others, "--limit must be a number between 0 and 1, got 1.5", "--limit", "1.5"),
    release("a limit that is no number", _others, "'--limit'", "--limit", "little"),
    release("a limit without control records", _others, "control must be given for --limit", "--limit", "0.1"),
    release("a study that is not there", _others, "the study must be a YAML file or one of adult, demo", "--study", "absent.yaml"),
    release("an absent column to drop", _others, "'hour'", "--drop", "hour"),
    release("the real table twice", _others, "real must be given once, as an argument or as --real, got 'a.csv' and 'people.csv'", "a.csv"),
    release("an absent quasi-identifier", _others, "got 'agee' (did you mean 'age'?)", "--quasi-identifiers", "agee"),
    release("one column in both roles", _others, "got 'age' in both", "--sensitive", "age"),
    release("an absent identifier", _others, "got 'hour' (did you mean 'hours'?)", "--identifier", "hour"),
    release("an absent code list", _others, "got 'cty' (did you mean 'city'?)", "--categorical", "cty"),
    release("parts of no column", _others, "(did you mean 'age'?)", "--coarsen", "aeg=5"),
    release("parts without number", _others, "--coarsen must be <column>=<number of parts, at least 2>, got 'age'", "--coarsen", "age"),
    release("one part", _others, "at least 2>, got 'age=1'", "--coarsen", "age=1"),
    release("parts without end", _others, "bins.age: must be at most 1000000, got 99999999999999999999", "--coarsen", "age=99999999999999999999"),
    release("without what is guessed", _others, "got 'income'", "--without", "income"),
    release("references that are none", _others, "references must be one of limited, all, none, got 'some'", "--references", "some"),
    release("an unreachable store", _others, "tracking.uri must lead to a server that answers", "--tracking-uri", "http://127.0.0.1:9"),
    release("a store with a password", _others, "a URL must take its password from the environment", "--tracking-uri", "http://me:Zebrafink-Qx7@host:5000"),
)  # fmt: skip

RELEASES: tuple[Case, ...] = (*_RELEASES, *_CONTROLS, *_ARGUMENTS)
