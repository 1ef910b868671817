"""Releases in other clothes: one table of people, and the ways in which tools write it."""

import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

N = 60


def people(n: int, seed: int) -> pd.DataFrame:
    """Return people with a column of each kind."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "age": rng.integers(18, 90, n), "wage": np.round(rng.lognormal(7.5, 0.6, n), 2),
        "pay": rng.integers(1_000, 9_000, n) * 10, "share": np.round(rng.uniform(0, 1, n), 3),
        "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), unit="D"),
        "seen": pd.Timestamp("2021-03-01 06:00") + pd.to_timedelta(rng.integers(0, 500_000, n), unit="min"),
        "paid": rng.random(n) < 0.5, "flag": rng.integers(0, 2, n), "Größe_cm": np.round(rng.normal(170, 10, n), 1),
        "stay": pd.to_timedelta(rng.integers(10, 600, n), unit="min"),
        "smokes": pd.Categorical(rng.choice(["yes", "no"], n)),
        "city": pd.Categorical(rng.choice(["Graz", "Linz", "Wien"], n)),
    })  # fmt: skip


PEOPLE = people(N, 7)
"""The members; a copy of them wears each dress."""

Worn = pd.DataFrame | tuple[bytes | str, str]
"""A release as a frame, or as the content of a file and how its name ends."""


@dataclass(frozen=True)
class Dress:
    """One way in which a release may be written."""

    name: str  # as the test is called
    wear: Callable[[pd.DataFrame], Worn]  # dresses a copy of ``PEOPLE``
    told: str = ""  # the telling part of the line that says what was done; empty where nothing needs a word
    lost: tuple[str, ...] = ()  # columns of which cells come back missing, or that come back empty


def written(column: str, write: Callable[[Any], Any], name: str, told: str = "", **more: Any) -> Dress:
    """Return a dress of one column, each cell written otherwise."""
    own = lambda p: p.assign(**{column: [write(cell) for cell in p[column]]})  # noqa: E731
    return Dress(f"{column}: {name}", own, told, **more)


def some(column: str, token: Any, name: str, told: str = "taken as missing") -> Dress:
    """Return a dress of which every seventh cell of a column is a token."""

    def wear(people: pd.DataFrame) -> pd.DataFrame:
        cells = people[column].astype(object)
        cells.iloc[::7] = token
        return people.assign(**{column: cells})

    return Dress(f"{column}: some {name}", wear, told, lost=(column,))


def _answered(true: Any, false: Any, no: Any) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return what writes answers in two words or numbers, every seventh as a third."""

    def wear(people: pd.DataFrame) -> pd.DataFrame:
        return people.assign(paid=[no if k % 7 == 0 else true if x else false for k, x in enumerate(people["paid"])])

    return wear


def in_turns(column: str, writes: list[Callable[[Any], Any]], name: str, told: str = "") -> Dress:
    """Return a dress of one column whose cells are written in one way after the other."""
    own = lambda p: p.assign(**{column: [writes[k % len(writes)](cell) for k, cell in enumerate(p[column])]})  # noqa: E731
    return Dress(f"{column}: {name}", own, told)


def called(name: str, **names: str) -> Dress:
    """Return a dress of other column names."""
    return Dress(f"names: {name}", lambda p: p.rename(columns=names), "from the name that each is taken for")


def as_file(name: str, ending: str, write: Callable[[pd.DataFrame], bytes | str], told: str = "") -> Dress:
    """Return a dress that is a file."""
    return Dress(f"file: {name}", lambda p: (write(p), ending), told)


def _german(number: float) -> str:
    return f"{number:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")


def _grouped(mark: str, decimal: str = ".") -> Callable[[float], str]:
    return lambda x: f"{x:,.2f}".replace(".", "#").replace(",", mark).replace("#", decimal)


def _csv(people: pd.DataFrame, **how: Any) -> str:
    return str(people.to_csv(index=False, **how))


def _plain(people: pd.DataFrame) -> pd.DataFrame:
    """Return the table with texts for what JSON does not know."""
    return people.assign(**{c: people[c].astype(str) for c in ("born", "seen", "stay", "smokes", "city")})


def _feather(people: pd.DataFrame) -> bytes:
    kept = io.BytesIO()
    people.to_feather(kept)
    return kept.getvalue()


def _packed(people: pd.DataFrame, how: str) -> bytes:
    kept = io.BytesIO()
    people.to_csv(kept, index=False, compression=how)  # type: ignore[call-overload]
    return kept.getvalue()


_TOKENS = ("_RARE_", "<other>", "*", "suppressed", "n/a", "-", "?", "#N/A", "unknown", "<5")

_NUMBERS = (
    *(some("age", token, f"{token} among numbers") for token in _TOKENS),
    *(some("wage", token, f"{token} among amounts") for token in _TOKENS[:5]),
    some("age", np.inf, "infinite", "infinite and taken as missing"),
    *(
        in_turns("wage", [lambda x: f"${x:,.2f}", lambda x, f=form: f(x)], f"dollars beside {form(1234.5)}", told)
        for form, told in ((lambda x: f"${x / 1000:.5f}K", "k is taken for thousands"), (lambda x: f"US$ {x:.2f}", "a currency"))
    ),
    written("wage", lambda x: f'"{x}"', "in quotes"), written("age", lambda x: f"'{x}'", "in single quotes"),
    written("age", lambda x: f"{x}.-", "without cents, as the Swiss write"),
    written("share", lambda x: f"{x} kg/m2", "kg/m2", "a unit"),
    in_turns("age", [lambda x: f"{x} yrs", lambda x: f"{x} years old", lambda x: f"{x} y.o."], "yrs and years old", "a unit"),
    some("wage", np.inf, "infinite", "infinite and taken as missing"),
    some("wage", -np.inf, "infinite below", "infinite and taken as missing"),
    some("age", "1e999", "a number that no float holds"),
    some("age", "inf", "inf as a text", "infinite and taken as missing"), some("age", None, "missing", ""),
    some("pay", "NaN", "NaN as a text", ""), written("age", float, "with .0"),
    written("age", lambda x: f"{x}.0", "with .0 as texts"), written("age", str, "texts"),
    written("age", lambda x: f" {x} ", "texts with blanks"), written("age", lambda x: f"'{x}", "kept from a spreadsheet"),
    written("age", lambda x: f"{x:03d}", "texts with leading zeros"),
    written("age", lambda x: f"{x} years", "with a unit", "a unit"),
    written("wage", lambda x: f"{x:,.2f}", "1,234.50", "',' between thousands"),
    written("wage", _german, "1.234,50", "a decimal ',' and '.' between thousands"),
    written("wage", lambda x: f"{x:.2f}".replace(".", ","), "1234,50", "a decimal ','"),
    written("wage", _grouped(" "), "1 234.50", "a blank between thousands"),
    written("wage", _grouped("\u00a0", ","), "1 234,50, its blank unbreakable", "a blank between thousands"),
    written("wage", _grouped("'"), "1'234.50", "between thousands"),
    written("wage", lambda x: f"${x:,.2f}", "$1,234.50", "a currency"),
    written("wage", lambda x: f"{_german(x)} €", "1.234,50 €", "a currency"),
    written("wage", lambda x: f"€ {x:.2f}", "€ 1234.50", "a currency"),
    written("wage", lambda x: f"USD {x:,.2f}", "USD 1,234.50", "a currency"),
    written("wage", lambda x: f"{x:.2f} EUR", "1234.50 EUR", "a currency"),
    written("wage", lambda x: f"£{x:,.2f}", "£1,234.50", "a currency"),
    written("wage", lambda x: f"{x:.6e}", "scientific"),
    written("pay", lambda x: f"{x:,}", "12,340 is twelve thousand", "',' between thousands"),
    written("pay", lambda x: f"{x:,}".replace(",", "."), "12.340 is twelve thousand", "'.' between thousands"),
    written("pay", lambda x: f"{x:,} kr", "12,340 kr", "a currency"), written("pay", lambda x: f"+{x}", "with a plus"),
    written("share", lambda x: f"{x:.1%}", "12.3%", "as shares of 1"),
    written("share", lambda x: f"{100 * x:.1f} %", "12.3 %", "as shares of 1"),
    written("share", lambda x: f"{100 * x:.1f} %".replace(".", ","), "12,3 %", "as shares of 1"),
    written("age", lambda x: f"{x}%", "percent of percents", "a percent sign"),
    written("Größe_cm", lambda x: f"{x} cm", "with cm", "a unit"),
    in_turns("wage", [lambda x: f"{x:.2f}", lambda x: f"{x:.2f}".replace(".", ",")], "1234.50 and 1234,50", "a decimal ','"),
    in_turns("wage", [lambda x: f"{x:,.2f}", _german], "1,234.50 and 1.234,50", "a decimal ',' and '.' between thousands"),
    in_turns("wage", [lambda x: f"€{x:.2f}", lambda x: f"{x:.2f} EUR"], "€1234.50 and 1234.50 EUR", "a currency"),
    written("Größe_cm", lambda x: f"{x}".replace(".", ","), "170,5", "a decimal ','"),
    in_turns("wage", [lambda x: f"{x / 1000:.5f}k", lambda x: f"{x:.2f}"], "1.23450k and 1234.50", "k is taken for thousands"),
)  # fmt: skip

_DATES = (
    *(some("born", token, f"{token} among dates") for token in _TOKENS[:6]),
    some("seen", "suppressed", "suppressed among times"),
    some("born", "1e999", "a number that no float holds among dates"),
    some("born", "", "empty among dates", ""),
    *(
        written("born", lambda d, f=form: d.strftime(f), form, "dates are written as")
        for form in ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%d. %m. %Y", "%d–%m–%Y", "%d %b %Y", "%b %d, %Y",
                     "%d-%b-%Y", "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M %p")
    ),
    *(
        written("born", lambda d, f=form: d.strftime(f), form, "dates are written as")
        for form in ("%d%b%Y", "%Y. %m. %d.", "%A, %d %B %Y", "%a %b %d %Y", "%d de %b de %Y")
    ),
    *(
        written("seen", lambda d, f=form: d.strftime(f), form, "dates are written as")
        for form in ("%d%b%Y:%H:%M:%S", "%Y%m%d%H%M%S", "%a, %d %b %Y %H:%M:%S +0000", "%d.%m.%Y %H:%M Uhr", "%d/%m/%Y %H:%M:%S GMT")
    ),
    *(
        written("born", lambda d, m=months: f"{d.day}. {m.split()[d.month - 1]} {d.year}", f"months of {language}", "dates are written as")
        for language, months in {
            "Czech": "ledna února března dubna května června července srpna září října listopadu prosince",
            "Russian": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
            "Turkish": "Oca Şub Mar Nis May Haz Tem Ağu Eyl Eki Kas Ara",
        }.items()
    ),
    written("seen", lambda d: (d + pd.Timedelta(hours=2)).strftime("%d.%m.%Y %H:%M +0200"), "31.12.2024 19:05 +0200", "DD.MM.YYYY hh:mm"),
    written("seen", lambda d: (d - pd.Timedelta(hours=5)).strftime("%a %Y-%m-%d %H:%M -05:00"), "Tue 2024-12-31 12:05 -05:00"),
    written("seen", lambda d: d.strftime("%Y-%m-%d %H:%M:%S UTC"), "2024-12-31 17:05:00 UTC"),
    written("born", lambda d: d.strftime("%Y%m%d"), "20241231 as texts", "YYYYMMDD"),
    written("born", lambda d: int(d.strftime("%Y%j")), "2024366 as numbers", "YYYYDDD"),
    written("born", lambda d: d.strftime("%G-W%V-%u"), "2025-W01-2", "YYYY-Www-d"),
    written("born", lambda d: f"{d.day}th of {d.strftime('%B %Y')}", "31th of December 2024", "DD month YYYY"),
    written("seen", lambda d: d.strftime("%d/%m/%Y %I:%M ") + "ap"[d.hour >= 12] + ".m.", "31/12/2024 5:05 p.m.", "AM/PM"),
    written("seen", lambda d: d.strftime("%d.%m.%y %H.%M Uhr"), "31.12.24 17.05 Uhr", "DD.MM.YY hh.mm"),
    written("seen", lambda d: d.strftime("%d/%m/%Y %Hh%M"), "31/12/2024 17h05", "DD/MM/YYYY"),
    written("seen", lambda d: f"/Date({d.value // 10**6})/", "/Date(1735664700000)/", "milliseconds since 1970"),
    in_turns("born", [lambda d: d.strftime("%Y%m%d"), lambda d: str((d - pd.Timestamp("1899-12-30")).days)], "20241231 and 45657", "YYYYMMDD; dates are written as day numbers"),
    written("born", lambda d: int(d.strftime("%Y%m%d")), "20241231 as numbers", "YYYYMMDD"),
    written("born", lambda d: d.strftime("%Y/%m/%d"), "2024/12/31"),
    written("born", lambda d: d.strftime("%Y.%m.%d"), "2024.12.31"),
    written("born", lambda d: d.isoformat(), "2024-12-31T00:00:00"),
    written("born", lambda d: d.isoformat() + "Z", "2024-12-31T00:00:00Z"),
    written("born", lambda d: d.isoformat(" ") + "+00:00", "2024-12-31 00:00:00+00:00"),
    written("born", lambda d: d.date(), "date objects"),
    written("born", lambda d: d.tz_localize("UTC"), "with a zone"),
    written("born", lambda d: (d - pd.Timestamp("1899-12-30")).days, "a spreadsheet's numbers", "numbers of a spreadsheet"),
    written("born", lambda d: str((d - pd.Timestamp("1899-12-30")).days), "a spreadsheet's numbers as texts", "spreadsheet"),
    written("born", lambda d: (d - pd.Timestamp("1904-01-01")).days, "a spreadsheet's numbers from 1904", "from 1904"),
    written("born", lambda d: (d - pd.Timestamp("1960-01-01")).days, "days of SAS", "days since 1960"),
    written("seen", lambda d: (d - pd.Timestamp("1960-01-01")).total_seconds(), "seconds of SAS", "seconds since 1960"),
    written("born", lambda d: (d - pd.Timestamp("1970-01-01")).days + 719_529, "Matlab's days", "days since the year 0"),
    written("born", lambda d: d.toordinal(), "Python's days", "days since the year 1"),
    written("seen", lambda d: d.value // 10**9 + 12_219_379_200, "seconds of SPSS", "seconds since 1582"),
    written("born", lambda d: int(d.strftime("%d%m%Y")), "31122024 as numbers", "DDMMYYYY"),
    written("born", lambda d: int(d.strftime("%y%m%d")), "241231 as numbers", "YYMMDD"),
    written("born", lambda d: d.value // 10**9, "seconds", "seconds since 1970"),
    written("born", lambda d: d.value / 10**9, "seconds with decimals", "seconds since 1970"),
    written("born", lambda d: d.value // 10**6, "milliseconds", "milliseconds since 1970"),
    written("born", lambda d: d.value, "nanoseconds", "nanoseconds since 1970"),
    written("seen", lambda d: d.strftime("%d.%m.%Y %H:%M"), "31.12.2024 17:05", "DD.MM.YYYY hh:mm"),
    written("seen", lambda d: d.strftime("%m/%d/%Y %I:%M:%S %p"), "12/31/2024 05:05:00 PM", "MM/DD/YYYY"),
    written("seen", lambda d: d.strftime("%d/%m/%y %H:%M"), "31/12/24 17:05", "DD/MM/YY"),
    written("seen", lambda d: str(d.value // 10**9), "seconds as texts", "seconds since 1970"),
    written("seen", lambda d: d.isoformat() + "+00:00", "2024-12-31T17:05+00:00"),
    written("seen", lambda d: (d - pd.Timestamp("1899-12-30")) / pd.Timedelta("1D"), "a spreadsheet's numbers with hours", "numbers of a spreadsheet"),
    written("stay", lambda d: f"{d.seconds // 3600:02d}:{d.seconds // 60 % 60:02d}", "08:30"),
    written("stay", str, "0 days 08:30:00"),
    written("stay", lambda d: f"{d.seconds // 3600}h{d.seconds // 60 % 60:02d}", "8h30"),
    written("stay", lambda d: f"{d.seconds // 3600:02d}:{d.seconds // 60 % 60:02d} Uhr", "08:30 Uhr"),
    written("stay", lambda d: f"{pd.Timestamp('1899-12-30') + d:%I:%M %p}", "08:30 AM", "AM and PM"),
    written("stay", lambda d: str(pd.Timestamp("1899-12-30") + d), "1899-12-30 08:30:00"),
    written("stay", lambda d: pd.Timestamp("1900-01-01") + d, "a time on a day"),
    *(
        written("stay", lambda d, u=unit: d / pd.Timedelta(1, u), f"numbers of {told}", f"durations are written in {told}")
        for unit, told in (("s", "seconds"), ("min", "minutes"), ("h", "hours"), ("D", "days"), ("ms", "milliseconds"))
    ),
    written("stay", lambda d: str(d / pd.Timedelta(1, "D")), "fractions of a day as texts", "durations are written in days"),
    written("stay", lambda d: str(d.seconds / 3600).replace(".", ","), "hours with a comma", "durations are written in hours"),
    written("stay", lambda d: f"{d.seconds // 3600}h {d.seconds // 60 % 60}m", "8h 30m"),
    written("stay", lambda d: f"{d.seconds // 60} min 0 sec", "510 min 0 sec"),
    written("stay", lambda d: d.isoformat(), "P0DT8H30M0S"),
    *(
        written("seen", lambda d, f=form: d.strftime(f), f"seen as {form}", "dates are written as")
        for form in ("%d.%m.%Y, %H:%M", "%m/%d/%Y, %I:%M:%S %p", "%Y-%m-%d %I:%M %p", "%d-%b-%y %I.%M.%S.000000 %p",
                     "%b %d %Y %I:%M%p", "%d%b%Y:%H:%M:%S.000", "%a %b %d %H:%M:%S UTC %Y", "%a %b %d %H:%M:%S %Y",
                     "%Y-%m-%d-%H.%M.%S.000000", "%d.%m.%Y %H:%M:%S,000")
    ),
    *(
        written("born", lambda d, f=form: d.strftime(f), f"born as {form}", "dates are written as")
        for form in ("%Y-%b-%d", "%d/%b/%Y", "%d.%b.%Y", "%d %b, %Y", "%d.%m.%Y.", "%Y. %m. %d")
    ),
    some("stay", "suppressed", "suppressed among durations"),
)  # fmt: skip

_ANSWERS = (
    *(
        written("paid", lambda x, w=words: w[0] if x else w[1], f"{words[0]}/{words[1]}", "yes and no are taken")
        for words in (("yes", "no"), ("Yes", "No"), ("YES", "NO"), ("Y", "N"), ("ja", "nein"), ("oui", "non"),
                      ("t", "f"), ("sí", "no"), ("wahr", "falsch"), ("✓", "✗"), (".TRUE.", ".FALSE."))
    ),
    *(
        written("paid", lambda x, w=words: w[0] if x else w[1], f"{words[0]!r}/{words[1]!r}")
        for words in ((1, 0), (1.0, 0.0), ("1", "0"), ("1.0", "0.0"), ("TRUE", "FALSE"), ("true", "false"), (" True", "False "))
    ),
    in_turns("paid", [lambda x: "yes" if x else "no", lambda x: "Y" if x else "N"], "yes, Y, no and N", "yes and no are taken"),
    in_turns("paid", [lambda x: "TRUE" if x else "no", lambda x: "1" if x else "0"], "TRUE, 1, no and 0", "yes and no are taken"),
    *(
        written("paid", lambda x, w=words: w[0] if x else w[1], f"{words[0]} and {words[1]}", "yes and no are taken")
        for words in ((-1, 0), (1, -1), (1, 2))
    ),
    in_turns("flag", [lambda x: "yes" if x else "no", lambda x: "Y" if x else "0"], "yes, Y, no and 0", "taken as 1 and 0"),
    in_turns("paid", [lambda x: x + 0.25, lambda x: x - 0.3, float], "numbers near 1 and 0", "nearer one"),
    in_turns("paid", [lambda x: f"{x - 0.031:.3f}", lambda x: str(int(x))], "texts near 1 and 0", "nearer one"),
    in_turns("paid", [lambda x: f"{x - 0.2:.1f}".replace(".", ","), lambda x: "ja" if x else "nein"],
             "numbers near 1 and 0 with a comma, and words", "nearer one"),
    *(
        Dress(f"paid: {'/'.join(map(repr, two))} and some {no}", _answered(*two, no), "yes and no are taken", ("paid",))
        for two, no in (((1, 2), None), ((1, 2), 9), ((-1, 0), None), ((1.0, 2.0), -9), (("1.0", "2.0"), None),
                        (("-1.0", "0.0"), None), (("1", "2"), "."), ((1.03, 1.97), None), (("1", "2"), "-9"))
    ),
    in_turns("paid", [lambda x: "1" if x else "2", lambda x: "yes" if x else "no"], "1, 2, yes and no", "yes and no are taken"),
    some("paid", "_RARE_", "_RARE_ among answers"),
    some("paid", None, "missing among answers", ""),
    *(
        some(column, token, f"{token!r} among texts", "a sign for no value")
        for column in ("city", "smokes") for token in (" ", "#N/A", ".", "nan ", "(blank)", "-")
    ),
    *(
        written("flag", lambda x, w=words: w[0] if x else w[1], f"{words[0]!r}/{words[1]!r} for 1/0", told)
        for words, told in ((("yes", "no"), "taken as 1 and 0"), (("ja", "nein"), "taken as 1 and 0"), ((True, False), ""),
                            (("True", "False"), "taken as 1 and 0"), ((1.0, 0.0), ""), (("1.0", "0.0"), ""))
    ),
    *(
        written("smokes", lambda x, w=words: w[0] if x == "yes" else w[1], f"{words[0]!r}/{words[1]!r} for yes/no",
                "the real column's two texts")
        for words in ((True, False), ("True", "False"), ("Y", "N"), ("ja", "nein"), (1, 0), (1.0, 0.0), ("1", "0"))
    ),
)  # fmt: skip

_NAMES = (
    called("capitals", age="AGE", city="CITY"),
    called("a capital letter", city="City"),
    called("outer blanks", age=" age ", wage="wage "),
    called("without accents", Größe_cm="Grosse_cm"),
    called("without underscores", Größe_cm="größe cm"),
    called("with underscores", age="_age_", city="city_"),
    called("with points", Größe_cm="größe.cm"),
    called("with units", age="age (years)", wage="Wage [EUR]"),
    Dress("names: in another order", lambda p: p[sorted(p)[::-1]]),
    Dress("index: of pandas", lambda p: p.reset_index(names="Unnamed: 0"), "numbers its rows"),
    Dress("index: called index", lambda p: p.reset_index(), "numbers its rows"),
    Dress("index: from 1", lambda p: p.assign(**{"Unnamed: 0": range(1, len(p) + 1)}), "numbers its rows"),
    Dress("index: written to a file", lambda p: (str(p.to_csv()), "csv"), "numbers its rows"),
    Dress("index: other rows' numbers", lambda p: p.set_axis(range(500, 500 + len(p)))),
    Dress("absent: a column that has no role", lambda p: p.drop(columns="stay"), "'stay' is absent", lost=("stay",)),
    Dress("absent: two", lambda p: p.drop(columns=["seen", "flag"]), "'flag' is absent", lost=("seen", "flag")),
    *(
        Dress(f"empty: {column}", lambda p, c=column: p.assign(**{c: None}), lost=(column,))
        for column in ("age", "wage", "born", "paid", "stay", "city")
    ),
    *(
        Dress(f"empty: {column}, as a marker", lambda p, c=column: p.assign(**{c: "NA"}), lost=(column,))
        for column in ("age", "born")
    ),
    Dress("extra: a column more", lambda p: p.assign(score=1.5)),
)

_FILES = (
    as_file("CSV", "csv", _csv),
    as_file("CSV with blanks behind commas", "csv", lambda p: _csv(p).replace(",", ", ")),
    as_file("CSV with semicolons", "csv", lambda p: _csv(p, sep=";")),
    as_file("CSV with semicolons and decimal commas", "csv", lambda p: _csv(p, sep=";", decimal=",")),
    as_file("CSV with semicolons and German amounts", "csv", lambda p: _csv(p.assign(wage=p["wage"].map(_german)), sep=";"), "'.' between thousands"),
    as_file("CSV with a mark at its beginning", "csv", lambda p: "\ufeff" + _csv(p)),
    as_file("CSV in UTF-16", "csv", lambda p: _csv(p).encode("utf-16")),
    as_file("CSV in Windows' letters", "csv", lambda p: _csv(p).encode("cp1252")),
    as_file("CSV of all cells in quotes", "csv", lambda p: _csv(p, quoting=1)),
    as_file("CSV with names in capitals", "csv", lambda p: _csv(p.rename(columns=str.upper)), "from the name that each is taken for"),
    as_file("CSV with a line for Excel", "csv", lambda p: "sep=;\n" + _csv(p, sep=";")),
    as_file("CSV below a title", "csv", lambda p: "People of 2024\n\n" + _csv(p), "2 lines that are no rows"),
    as_file("CSV below a title in its first cell", "csv", lambda p: f"People, all{',' * (p.shape[1] - 1)}\n".replace(", ", " ") + _csv(p), "1 line that is no row"),
    as_file("CSV below comments", "csv", lambda p: "# made by a tool, version 2\n# on a day\n" + _csv(p), "2 lines that are no rows"),
    as_file("CSV in single quotes", "csv", lambda p: _csv(p, quoting=1, quotechar="'")),
    as_file("CSV of numbers kept from Excel", "csv", lambda p: _csv(p.assign(age=p["age"].map('="{}"'.format)), quoting=3)),
    as_file("zip that tells no kind", "zip", lambda p: _packed(p, "zip")),
    as_file("gz that tells no kind", "gz", lambda p: _packed(p, "gzip")),
    as_file("CSV with empty rows at the end", "csv", lambda p: _csv(p) + f"{',' * (p.shape[1] - 1)}\r\n" * 3, "ends in 3 empty rows"),
    as_file("CSV above the number of its rows", "csv", lambda p: f"{_csv(p)}\n({len(p)} rows affected)\n", "how many rows"),
    as_file("CSV above the number of its rows in Spanish", "csv", lambda p: f"{_csv(p)}{len(p)} filas", "how many rows"),
    as_file("CSV with a separator behind each row", "csv", lambda p: _csv(p, lineterminator=",\n").replace(",\n", "\n", 1)),
    as_file("CSV with a separator behind the header alone", "csv", lambda p: _csv(p).replace("\n", ",\n", 1)),
    as_file("CSV of R with the numbers of rows", "csv", lambda p: p.set_axis(range(1, len(p) + 1)).to_csv()[1:], "numbers its rows"),
    as_file("tsv", "tsv", lambda p: _csv(p, sep="\t")),
    as_file("txt with tabs", "txt", lambda p: _csv(p, sep="\t")),
    as_file("txt with bars", "txt", lambda p: _csv(p, sep="|")),
    as_file("CSV.GZ in capitals", "CSV.GZ", lambda p: gzip.compress(_csv(p).encode())),
    *(as_file(f"csv.{how}", f"csv.{how}", lambda p, h=way: _packed(p, h)) for how, way in (("bz2", "bz2"), ("xz", "xz"), ("gz", "gzip"))),
    as_file("tsv.gz", "tsv.gz", lambda p: gzip.compress(_csv(p, sep="\t").encode())),
    as_file("json of records", "json", lambda p: str(_plain(p).to_json(orient="records"))),
    as_file("json of lines", "json", lambda p: str(_plain(p).to_json(orient="records", lines=True))),
    as_file("jsonl", "jsonl", lambda p: str(_plain(p).to_json(orient="records", lines=True))),
    as_file("json of records by their numbers", "json", lambda p: str(_plain(p).to_json(orient="index"))),
    as_file("json of records inside", "json", lambda p: f'{{"meta": {{"rows": 1}}, "data": {_plain(p).to_json(orient="records")}}}'),
    as_file("json of columns", "json", lambda p: str(_plain(p).to_json(orient="columns"))),
    as_file("json with dates in milliseconds", "json", lambda p: str(p.assign(stay=p["stay"].astype(str)).to_json(orient="records")), "milliseconds since 1970"),
    as_file("csv.zst", "csv.zst", lambda p: pa.compress(_csv(p).encode(), codec="zstd", asbytes=True)),
    as_file("feather", "feather", _feather),
    as_file("texts in Parquet", "parquet", lambda p: p.astype(str).to_parquet()),
)  # fmt: skip

DRESSES: tuple[Dress, ...] = (*_NUMBERS, *_DATES, *_ANSWERS, *_NAMES, *_FILES)


def worn_by(*names: str) -> dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]]:
    """Return how some dresses of frames are put on, by name, each with what is told of it."""
    own = {dress.name: (dress.wear, dress.told) for dress in DRESSES}
    return {name: own[name] for name in names}  # type: ignore[misc]
