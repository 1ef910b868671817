"""A second set of tables, labelled after the first had been mended: it says what the mends are worth elsewhere."""

from samples.labelled.table import ANSWER, AWAY, CLOSE, DROPPED, EITHER, LEVELS, OPEN, QUASI, SCALE, SENSITIVE, Table


def finnish() -> Table:
    t = Table("Finnish register", 600, 61, ";", "iso8859-15")
    born, pay = t.days("1940-01-01", "2003-01-01"), t.amounts(3100, 0.4)
    t.add("henkilötunnus", [f"{d}-{i}X" for d, i in zip(born.strftime("%d%m%y"), t.distinct(100, 999), strict=True)], "code text", AWAY)  # fmt: skip
    t.add("sukupuoli", t.pick("mies|nainen"), "category boolean code", QUASI)
    t.add("syntymäaika", [f"{d.day}.{d.month}.{d.year}" for d in born], "date", QUASI, born)
    t.add("kunta", t.pick("Helsinki|Jyväskylä|Oulu|Äänekoski"), LEVELS, QUASI)
    t.add("siviilisääty", t.pick("naimaton|naimisissa|eronnut|leski"), LEVELS, QUASI)
    t.add("koulutusaste", t.pick("perusaste|keskiaste|korkea-aste"), LEVELS, QUASI)
    t.add("kuukausipalkka", [f"{x} €" for x in t.number(pay, 2, ",", " ")], "number", SENSITIVE, pay, {"": 0.05})
    t.add("tupakoi", t.pick("kyllä|ei", [1, 4]), ANSWER, OPEN)
    return t


def hungarian() -> Table:
    t = Table("Hungarian survey", 700, 62, ";", "cp1250")
    born, income, age = t.days("1940-01-01", "2003-01-01"), t.amounts(310000, 0.4, 0), t.ages()
    t.add("sorszám", range(1, t.rows + 1), "number code", AWAY)
    t.add("nem", t.pick("férfi|nő"), "category boolean code", QUASI)
    t.add("életkor", age, "number", QUASI, age, {"-1": 0.03})
    t.add("születési dátum", born.strftime("%Y.%m.%d."), "date", QUASI, born)
    t.add("megye", t.pick("Pest|Győr-Moson-Sopron|Zala|Vas"), LEVELS, QUASI)
    t.add("foglalkozás", t.pick("tanár|orvos|eladó|nyugdíjas"), LEVELS, QUASI)
    t.add("családi állapot", t.pick("nős|hajadon|elvált|özvegy"), LEVELS, QUASI)
    t.add("jövedelem", [f"{x} Ft" for x in t.number(income, 0, ",", " ")], "number", SENSITIVE, income, {"nem válaszol": 0.08})  # fmt: skip
    t.add("vallás", t.pick("katolikus|református|nincs"), LEVELS, SENSITIVE, kept=["nincs"])
    t.add("dohányzik", t.pick("igen|nem"), ANSWER, OPEN)
    return t


def norwegian() -> Table:
    t = Table("Norwegian visits", 500, 63, ";", "utf-8")
    visit, year = t.days("2020-01-01", "2023-12-31"), 2022 - t.ages()
    t.add("pasientid", t.distinct(10000, 99999), "number code", AWAY)
    t.add("kjønn", t.pick("M|K"), "category boolean code", QUASI)
    t.add("fødselsår", year, "number date category", QUASI, year)
    t.add("fylke", t.pick("Oslo|Viken|Vestland|Trøndelag"), LEVELS, QUASI)
    t.add("kommunenr", t.pick(["0301", "1103", "4601", "5001"]), LEVELS, QUASI)
    t.add("sivilstand", t.pick("ugift|gift|skilt|enke"), LEVELS, QUASI)
    t.add("konsultasjonsdato", visit.strftime("%d.%m.%Y"), "date", EITHER, visit)
    t.add("hoveddiagnose", t.pick("E11|I10|J45|F32"), LEVELS, SENSITIVE)
    t.add("uføretrygd", t.pick("ja|nei", [1, 6]), ANSWER, "sensitive other")
    t.add("merknad", t.sentences("pasienten ønsker ny time neste uke og ringer selv tilbake"), "text", DROPPED)
    return t


def swiss() -> Table:
    t = Table("Swiss taxes", 600, 64, ";", "cp1252")
    tax, wealth = t.amounts(8200), t.amounts(150000, 0.9, 0)
    born = t.days("1935-01-01", "2003-01-01")
    t.add("AHV-Nr.", [f"756.{i:04d}.{j:04d}.{i % 90 + 10}" for i, j in zip(t.distinct(1, 9999), t.distinct(1, 9999), strict=True)], "code text", AWAY)  # fmt: skip
    t.add("Name, Vorname", [p.replace(" ", ", ") for p in t.people("Meier Müller Zürcher Rossi Favre", "Urs Reto Anna Lea")], "category code text", AWAY)  # fmt: skip
    t.add("Geb.-Datum", born.strftime("%d.%m.%Y"), "date", QUASI, born)
    t.add("Zivilstand", t.pick("ledig|verheiratet|geschieden|verwitwet"), LEVELS, QUASI)
    t.add("Wohnkanton", t.pick("ZH|BE|GE|TI|UR"), LEVELS, QUASI)
    t.add("Heimatland", t.pick("CH|IT|DE|NA|PT", [70, 10, 10, 2, 8]), LEVELS, QUASI, kept=["NA"])
    t.add("Steuerbetrag", [f"CHF {x}" for x in t.number(tax, 2, ".", "'")], "number", "sensitive other", tax)
    t.add("Reinvermögen", t.number(wealth, 0, ".", "'"), "number", SENSITIVE, wealth)
    t.add("Kirchensteuer", t.pick("ja|nein"), ANSWER, "sensitive other")
    return t


def mexican() -> Table:
    t = Table("Mexican clinic", 600, 65, ",", "utf-8")
    when, weight, age = t.instants("2022-01-03 07:00", 30000), t.rng.normal(72, 13, t.rows).round(1), t.ages()
    t.add("folio", t.distinct(10000, 99999), "number code", AWAY)
    t.add("CURP", [f"GOMC{i}HDFRRL09" for i in t.distinct(100000, 999999)], "code text", AWAY)
    t.add("edad_años", [f"{a} años" for a in age], "number", QUASI, age)
    t.add("género", t.pick("Masculino|Femenino|No binario", [49, 49, 2]), LEVELS, QUASI)
    t.add("entidad_federativa", t.pick("Jalisco|Oaxaca|Nuevo León|CDMX"), LEVELS, QUASI)
    t.add("ocupación", t.pick("campesino|maestra|comerciante|hogar"), LEVELS, QUASI)
    t.add("peso_kg", t.number(weight, 1), "number", OPEN, weight, {"s/d": 0.05})
    t.add("motivo_consulta", t.sentences("dolor de cabeza desde hace tres días con fiebre y tos", 0.1), "text", DROPPED)
    t.add("padecimiento", t.pick("diabetes|hipertensión|gripe|depresión"), LEVELS, SENSITIVE)
    t.add("embarazo", t.pick("Sí|No", [1, 8]), ANSWER, SENSITIVE, None, {"No aplica": 0.4})
    t.add("fecha_registro", when.strftime("%d/%m/%Y %H:%M:%S"), "date", DROPPED, when)
    return t


def greek() -> Table:
    t = Table("Greek survey", 500, 66, ";", "utf-8")
    age, pay = t.ages(), t.amounts(1100)
    t.add("ΑΦΜ", t.distinct(100000000, 999999999), "number code", AWAY)
    t.add("φύλο", t.pick("άνδρας|γυναίκα"), "category boolean code", QUASI)
    t.add("ηλικία", age, "number", QUASI, age)
    t.add("περιφέρεια", t.pick("Αττική|Κρήτη|Ήπειρος"), LEVELS, QUASI)
    t.add("εκπαίδευση", t.pick("πρωτοβάθμια|δευτεροβάθμια|τριτοβάθμια"), LEVELS, QUASI)
    t.add("εισόδημα", [f"{x} €" for x in t.number(pay, 2, ",", ".")], "number", SENSITIVE, pay)
    t.add("θρήσκευμα", t.pick("ορθόδοξος|καθολικός|κανένα", [8, 1, 1]), LEVELS, SENSITIVE)
    t.add("καπνιστής", t.pick("ναι|όχι"), ANSWER, OPEN)
    return t


def ukrainian() -> Table:
    t = Table("Ukrainian register", 500, 67, ";", "cp1251")
    born, pay = t.days("1945-01-01", "2003-01-01"), t.amounts(14000)
    t.add("ПІБ", t.people("Шевченко Коваленко Бондар Їжак", "Олена Іван Юлія Євген"), "category code text", AWAY)
    t.add("стать", t.pick("чоловік|жінка"), "category boolean code", QUASI)
    t.add("дата народження", born.strftime("%d.%m.%Y"), "date", QUASI, born)
    t.add("область", t.pick("Київська|Львівська|Одеська"), LEVELS, QUASI)
    t.add("освіта", t.pick("середня|вища|немає"), LEVELS, QUASI, kept=["немає"])
    t.add("заробітна плата", t.number(pay, 2, ",", " "), "number", SENSITIVE, pay)
    t.add("діагноз", t.pick("діабет|астма|гіпертонія"), LEVELS, SENSITIVE)
    t.add("інвалідність", t.pick("так|ні", [1, 9]), ANSWER, SENSITIVE)
    return t


def loans() -> Table:
    t = Table("US loans", 1000, 68, "|", "utf-8")
    amount, rate, score = (
        t.amounts(12000, 0.6, 0), t.rng.uniform(5, 28, t.rows).round(2), t.rng.integers(580, 850, t.rows),
    )  # fmt: skip
    opened, when = t.days("2012-01-01", "2019-12-31"), t.instants("2020-01-01")
    t.add("LoanNumber", t.distinct(10**6, 10**7), "number code", AWAY)
    t.add("BorrowerFirstName", t.pick(["Ann", "Bob", "Cy", "Dee", "Eve", "Flo", "Gus"]), LEVELS, AWAY)
    t.add("ApplicantAge", t.pick("<25|25-34|35-44|45-54|55+"), LEVELS, QUASI)
    t.add("zip3", t.pick(["010xx", "100xx", "606xx", "941xx"]), LEVELS, QUASI)
    t.add("HomeOwnership", t.pick("RENT|MORTGAGE|OWN"), LEVELS, OPEN)
    t.add("EmpTitle", t.pick("Teacher|Nurse|Driver|Manager|Owner"), LEVELS, QUASI, None, {"n/a": 0.07})
    t.add("AnnualIncome", [f"${x}" for x in t.number(amount * 4, 0, ".", ",")], "number", SENSITIVE, amount * 4)
    t.add("LoanAmount", t.number(amount, 2), "number", "sensitive other", amount)
    t.add("IntRate", [f"{x}%" for x in t.number(rate, 2)], "number", OPEN, rate)
    t.add("FICO", score, "number", "sensitive other", score)
    t.add("IssueDate", opened.strftime("%m/%d/%y"), "date", EITHER, opened)
    t.add("LoanStatus", t.pick("Fully Paid|Charged Off|Current", [6, 1, 3]), LEVELS, "sensitive other")
    t.add("LastUpdated", when.strftime("%m/%d/%Y %I:%M:%S %p"), "date", DROPPED, when)
    return t


def trial() -> Table:
    t = Table("SAS trial", 400, 69, ",", "utf-8")
    start, height, age = t.days("2021-01-01", "2022-12-31"), t.rng.normal(170, 9, t.rows).round(0), t.ages()
    t.add("STUDYID", ["ABC-101"] * t.rows, "constant", DROPPED)
    t.add("USUBJID", [f"ABC-101-{i:04d}" for i in range(t.rows)], "code text", AWAY)
    t.add("AGE", age, "number", QUASI, age)
    t.add("AGEU", ["YEARS"] * t.rows, "constant", DROPPED)
    t.add("SEX", t.pick("M|F"), "category boolean code", QUASI)
    t.add("RACE", t.pick("WHITE|BLACK|ASIAN"), LEVELS, CLOSE)
    t.add("COUNTRY", t.pick("USA|DEU|JPN"), LEVELS, QUASI)
    t.add("RFSTDTC", [d.strftime("%d%b%Y").upper() for d in start], "date", EITHER, start)
    t.add("HEIGHTBL", t.number(height, 0), "number", OPEN, height, {".": 0.04})
    t.add("ARMCD", t.pick("A|B|PBO"), LEVELS, OPEN)
    t.add("AESER", t.pick("Y|N", [1, 9]), ANSWER, "sensitive other")
    t.add("AEDECOD", t.pick("Headache|Nausea|Rash|Fatigue"), LEVELS, "sensitive other")
    return t


def students() -> Table:
    t = Table("students", 600, 70, ";", "utf-8")
    mark, absent, age = t.rng.integers(0, 21, t.rows), t.rng.geometric(0.15, t.rows), t.ages(15, 22)
    t.add("school", t.pick("GP|MS"), LEVELS + " boolean", EITHER)
    t.add("sex", t.pick("F|M"), "category boolean code", QUASI)
    t.add("age", age, "number", QUASI, age)
    t.add("address", t.pick("U|R"), LEVELS + " boolean", QUASI)
    t.add("famsize", t.pick("LE3|GT3"), LEVELS, EITHER)
    t.add("Medu", t.pick(range(5)), SCALE, QUASI)
    t.add("Mjob", t.pick("teacher|health|services|at_home|other"), LEVELS, QUASI, kept=["other"])
    t.add("studytime", t.pick([1, 2, 3, 4]), SCALE, OPEN)
    t.add("romantic", t.pick("yes|no"), ANSWER, "sensitive other")
    t.add("Dalc", t.pick(range(1, 6)), SCALE, "sensitive other")
    t.add("absences", absent, "number", OPEN, absent)
    t.add("G3", mark, "number", "sensitive other", mark)
    return t


TABLES = (finnish, hungarian, norwegian, swiss, mexican, greek, ukrainian, loans, trial, students)
