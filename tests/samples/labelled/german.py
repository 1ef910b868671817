"""Tables from Germany, Austria and the Netherlands."""

from samples.labelled.table import ANSWER, AWAY, DROPPED, EITHER, LEVELS, OPEN, QUASI, SCALE, SENSITIVE, table

t = table("German hospital", 700, 1, ";", "latin-1")
born, admitted = t.days("1928-01-01", "2005-01-01"), t.days("2021-01-01", "2023-12-31")
age, weight, stay = t.ages(), t.rng.normal(76, 14, t.rows).round(1), t.rng.geometric(0.2, t.rows)
t.add("Fallnr", [f"F{i}" for i in t.distinct(200000, 299999)], "code text", AWAY)
t.add("Alter", age, "number", QUASI, age, {"-9": 0.04})
t.add("Geschlecht", t.pick("männlich|weiblich|divers", [49, 50, 1]), LEVELS, QUASI)
t.add("Geburtsdatum", born.strftime("%d.%m.%Y"), "date", QUASI, born)
t.add("PLZ", t.pick(["01003", "01067", "04109", "10115", "80331", "99084", "20095"]), LEVELS, QUASI)
t.add("Aufnahmedatum", admitted.strftime("%d.%m.%Y"), "date", EITHER, admitted)
t.add("Hauptdiagnose", t.pick("E11.9|I10.0|J45.0|F32.1|C50.9|K35.8", [20, 30, 10, 15, 5, 8]), LEVELS, SENSITIVE)
t.add("Gewicht", t.number(weight, 1, ","), "number", OPEN, weight, {"": 0.06})
t.add("Verweildauer", stay, "number", EITHER, stay)
t.add("Entlassgrund", t.pick("regulär|verlegt|verstorben|gegen ärztlichen Rat", [80, 10, 6, 4]), LEVELS, OPEN)
t.add("Bemerkung", t.sentences("der Patient klagt über Schmerzen und Fieber seit drei Tagen Übelkeit"), "text", DROPPED)  # fmt: skip
t.add("Mandant", ["KH01"] * t.rows, "constant", DROPPED)

t = table("German survey", 900, 2, ";", "utf-8")
children = t.pick([0, 1, 2, 3, 4], [40, 25, 25, 8, 2])
year = 2020 - t.ages()
t.add("lfdnr", range(1, t.rows + 1), "number code", AWAY)
t.add("Geburtsjahr", year, "number date category", QUASI, year)
t.add("Bundesland", t.pick("Bayern|Hessen|Sachsen|Thüringen|Nordrhein-Westfalen|Berlin"), LEVELS, QUASI)
t.add("Schulabschluss", t.pick("ohne|Hauptschule|Realschule|Abitur"), LEVELS, QUASI)
t.add("Familienstand", t.pick("ledig|verheiratet|geschieden|verwitwet"), LEVELS, QUASI)
t.add("Kinder", children, SCALE, EITHER, children)
t.add("Zufriedenheit", t.pick(range(1, 6)), SCALE, "sensitive other", None, {"99": 0.05})
t.add("Vertrauen_Polizei", t.pick(range(1, 6)), SCALE, "sensitive other", None, {"99": 0.07})
t.add("Raucher", t.pick("Ja|Nein", [3, 7]), ANSWER, OPEN, None, {"NA": 0.08})
t.add("Konfession", t.pick("katholisch|evangelisch|muslimisch|keine", [30, 30, 8, 32]), LEVELS, SENSITIVE, kept=["keine"])  # fmt: skip
t.add("Parteipräferenz", t.pick("CDU|SPD|Grüne|FDP|AfD|Linke"), LEVELS, SENSITIVE, None, {"k.A.": 0.1})

t = table("Austrian wages", 1200, 3, ";", "cp1252")
gross, net, hours = t.amounts(3000), t.amounts(2100), t.rng.normal(37, 4, t.rows).round(1)
entry = t.days("1995-01-01", "2023-12-01")
t.add("SVNR", [f"{a} {b}" for a, b in zip(t.distinct(1000, 9999), t.days("1955-01-01", "2003-01-01").strftime("%d%m%y"), strict=True)], "code text", AWAY)  # fmt: skip
t.add("Geschlecht", t.pick("m|w"), "category code boolean", QUASI)
t.add("Staatsangehörigkeit", t.pick("Österreich|Deutschland|Türkei|Serbien|Ungarn", [70, 12, 6, 6, 6]), LEVELS, QUASI)  # fmt: skip
t.add("Beruf", t.pick("Bürokraft|Koch|Lehrer|Monteur|Pflegerin|Verkäufer"), LEVELS, QUASI)
t.add("Eintritt", entry.strftime("%d.%m.%y"), "date", EITHER, entry)
t.add("Bruttolohn", [f"€ {x}" for x in t.number(gross, 2, ",", ".")], "number", SENSITIVE, gross)
t.add("Nettolohn", t.number(net, 2, ",", "."), "number", SENSITIVE, net)
t.add("Wochenstunden", t.number(hours, 1, ","), "number", EITHER, hours)
sector = t.pick(["01.11", "10.71", "41.20", "47.11", "86.10", "85.31"])
t.add("NACE", sector, LEVELS, EITHER, map(float, sector))  # 1.11 is not how it is written, yet none is lost
t.add("Bezirk", t.pick("Graz|Linz-Land|Wien 1.|Wien 22.|Sankt Pölten|Lienz"), LEVELS, QUASI)

t = table("Dutch housing", 800, 4, ";", "utf-8")
born, rent, income = t.days("1930-01-01", "2000-01-01"), t.amounts(800, 0.3), t.amounts(28000, 0.5, 0)
t.add("BSN", t.distinct(100000000, 999999999), "number code", AWAY)
t.add("geboortedatum", born.strftime("%d-%m-%Y"), "date", QUASI, born)
t.add("geslacht", t.pick("man|vrouw"), "category boolean code", QUASI)
t.add("postcode", [f"{a} {b}" for a, b in zip(t.pick([1011, 2511, 3511, 9711]), t.pick("AB|CD|XZ"), strict=True)], LEVELS, QUASI)  # fmt: skip
t.add("gemeente", t.pick("Amsterdam|'s-Gravenhage|Utrecht|Groningen"), LEVELS, QUASI)
t.add("burgerlijke_staat", t.pick("ongehuwd|gehuwd|gescheiden|weduwe"), LEVELS, QUASI)
t.add("opleiding", t.pick("vmbo|havo|vwo|mbo|hbo|wo"), LEVELS, QUASI)
t.add("inkomen", t.number(income, 0, ",", "."), "number", SENSITIVE, income, {"onbekend": 0.05})
t.add("huur", [f"€ {x}" for x in t.number(rent, 2, ",", ".")], "number", "sensitive other", rent)
t.add("uitkering", t.pick("ja|nee", [1, 4]), ANSWER, "sensitive other")
t.add("opmerkingen", t.sentences("huurder heeft gebeld over de verwarming en wil graag een afspraak maken"), "text", DROPPED)  # fmt: skip
