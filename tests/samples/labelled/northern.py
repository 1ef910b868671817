"""Tables from Sweden, Denmark, Poland, the Czech Republic, Turkey and Russia."""

from samples.labelled.table import ANSWER, AWAY, DROPPED, EITHER, LEVELS, OPEN, QUASI, SENSITIVE, Table


def swedish() -> Table:
    t = Table("Swedish register", 800, 21, "\t", "utf-8")
    born, income = t.days("1935-01-01", "2003-01-01"), t.amounts(320000, 0.4, 0)
    height = t.rng.normal(173, 9, t.rows).round(0)
    tail = t.distinct(1000, 9999)
    t.add("personnummer", [f"{d}-{i}" for d, i in zip(born.strftime("%Y%m%d"), tail, strict=True)], "code text", AWAY)
    t.add("kön", t.pick("man|kvinna"), "category boolean code", QUASI)
    t.add("födelsedatum", born.strftime("%Y-%m-%d"), "date", QUASI, born)
    t.add("kommun", t.pick(["0180", "0114", "1480", "1280", "2480"]), LEVELS, QUASI)
    t.add("utbildning", t.pick("grundskola|gymnasium|högskola"), LEVELS, QUASI)
    t.add("civilstånd", t.pick("ogift|gift|skild|änka/änkling"), LEVELS, QUASI)
    t.add("yrke", t.pick("lärare|läkare|snickare|säljare"), LEVELS, QUASI)
    t.add("inkomst", t.number(income, 0, ",", " "), "number", SENSITIVE, income, {"": 0.03})
    t.add("längd_cm", t.number(height, 0), "number", OPEN, height)
    t.add("diagnos", t.pick("E11|I10|J45|F32"), LEVELS, SENSITIVE)
    t.add("sjukskriven", t.pick("ja|nej", [1, 6]), ANSWER, "sensitive other")
    return t


def danish() -> Table:
    t = Table("Danish visits", 500, 22, ";", "latin-1")
    visit, cost, age = t.days("2022-01-01", "2023-12-31"), t.amounts(1800), t.ages()
    t.add("cpr", [f"{d}-{i}" for d, i in zip(t.days("1935-01-01", "1999-12-31").strftime("%d%m%y"), t.distinct(1000, 9999), strict=True)], "code text", AWAY)  # fmt: skip
    t.add("køn", t.pick("M|K"), "category boolean code", QUASI)
    t.add("alder", age, "number", QUASI, age)
    t.add("region", t.pick("Hovedstaden|Sjælland|Syddanmark|Midtjylland"), LEVELS, QUASI)
    t.add("uddannelse", t.pick("folkeskole|gymnasium|faglært|universitet"), LEVELS, QUASI, None, {"uoplyst": 0.06}, unsure=["uoplyst"])  # fmt: skip
    t.add("besøgsdato", visit.strftime("%d-%m-%Y"), "date", EITHER, visit)
    t.add("diagnose", t.pick("DE119|DI109|DJ459|DF329", [3, 4, 2, 1]), LEVELS, SENSITIVE)
    t.add("udgift_kr", t.number(cost, 2, ",", "."), "number", "sensitive other", cost)
    t.add("ryger", t.pick("ja|nej"), ANSWER, OPEN)
    t.add("bemærkninger", t.sentences("patienten ringer igen om få dage hvis det ikke går bedre"), "text", DROPPED)
    return t


def polish() -> Table:
    t = Table("Polish survey", 700, 23, ";", "cp1250")
    born, wage = t.days("1940-01-01", "2003-01-01"), t.amounts(5200)
    t.add("PESEL", [f"{i:011d}" for i in t.distinct(10**9, 10**10)], "code text", AWAY)
    t.add("płeć", t.pick("kobieta|mężczyzna"), "category boolean code", QUASI)
    t.add("data urodzenia", born.strftime("%d.%m.%Y"), "date", QUASI, born)
    t.add("województwo", t.pick("mazowieckie|śląskie|łódzkie|małopolskie"), LEVELS, QUASI)
    t.add("kod pocztowy", t.pick(["00-950", "31-002", "90-001", "40-014"]), LEVELS, QUASI)
    t.add("wykształcenie", t.pick("podstawowe|średnie|wyższe"), LEVELS, QUASI)
    t.add("stan cywilny", t.pick("wolny|żonaty/zamężna|rozwiedziony|wdowiec/wdowa"), LEVELS, QUASI)
    t.add("wynagrodzenie", [f"{x} zł" for x in t.number(wage, 2, ",", " ")], "number", SENSITIVE, wage, {"brak danych": 0.06})  # fmt: skip
    t.add("wyznanie", t.pick("katolickie|prawosławne|inne|bezwyznaniowy", [85, 3, 4, 8]), LEVELS, SENSITIVE)
    t.add("niepełnosprawność", t.pick("tak|nie", [1, 9]), ANSWER, SENSITIVE)
    return t


def czech() -> Table:
    t = Table("Czech register", 600, 24, ";", "cp1250")
    born, rent, age = t.days("1940-01-01", "2003-01-01"), t.amounts(14000, 0.4, 0), t.ages()
    t.add("rodné číslo", [f"{d}/{i}" for d, i in zip(born.strftime("%y%m%d"), t.distinct(1000, 9999), strict=True)], "code text", AWAY)  # fmt: skip
    t.add("pohlaví", t.pick("muž|žena"), "category boolean code", QUASI)
    t.add("věk", age, "number", QUASI, age, {"999": 0.03})
    t.add("obec", t.pick("Praha|Brno|Plzeň|Ústí nad Labem"), LEVELS, QUASI)
    t.add("PSČ", t.pick("110 00|602 00|301 00|400 01"), LEVELS, QUASI)
    t.add("vzdělání", t.pick("základní|střední|vysokoškolské"), LEVELS, QUASI)
    t.add("povolání", t.pick("učitel|řidič|lékař|dělník"), LEVELS, QUASI)
    t.add("důchod", t.number(rent, 0, ",", " "), "number", SENSITIVE, rent)
    t.add("datum návštěvy", [f"{d.day}. {d.month}. {d.year}" for d in born], "date", EITHER, born)
    t.add("kuřák", t.pick("ano|ne"), ANSWER, OPEN)
    return t


def turkish() -> Table:
    t = Table("Turkish hospital", 500, 25, ";", "cp1254")
    born, fee, age = t.days("1940-01-01", "2010-01-01"), t.amounts(1500), t.ages()
    t.add("TC Kimlik No", t.distinct(10**10, 10**11 - 1), "number code", AWAY)
    t.add("Adı Soyadı", t.people("Ayşe Mehmet Şule Çağla Emre Gül", "Yılmaz Öztürk Şahin Kaya Çelik Doğan"), "text category code", AWAY)  # fmt: skip
    t.add("Cinsiyet", t.pick("Kadın|Erkek"), "category boolean code", QUASI)
    t.add("Yaş", age, "number", QUASI, age)
    t.add("Doğum Tarihi", born.strftime("%d.%m.%Y"), "date", QUASI, born)
    t.add("İl", t.pick("İstanbul|Ankara|Muğla|Diyarbakır"), LEVELS, QUASI)
    t.add("Meslek", t.pick("öğretmen|işçi|çiftçi|emekli"), LEVELS, QUASI)
    t.add("Medeni Hali", t.pick("bekar|evli|boşanmış"), LEVELS, QUASI)
    t.add("Tanı", t.pick("diyabet|hipertansiyon|astım|kanser", [3, 4, 2, 1]), LEVELS, SENSITIVE)
    t.add("Ücret", [f"{x} TL" for x in t.number(fee, 2, ",", ".")], "number", "sensitive other", fee)
    t.add("Sigara", t.pick("evet|hayır"), ANSWER, OPEN)
    return t


def russian() -> Table:
    t = Table("Russian wages", 900, 26, ";", "cp1251")
    born, wage, age = t.days("1945-01-01", "2003-01-01"), t.amounts(45000), t.ages(18, 75)
    t.add("ФИО", t.people("Иванов Петров Сидоров Кузнецов Попов", "Анна Олег Ирина Павел Юрий Вера"), "text category code", AWAY)  # fmt: skip
    t.add("СНИЛС", [f"{i:09d}-{i % 97:02d}" for i in t.distinct(10**8, 10**9)], "code text", AWAY)
    t.add("пол", t.pick("муж|жен"), "category boolean code", QUASI)
    t.add("возраст", age, "number", QUASI, age)
    t.add("дата рождения", born.strftime("%d.%m.%Y"), "date", QUASI, born)
    t.add("регион", t.pick("Москва|Тверская область|Якутия|Пермский край"), LEVELS, QUASI)
    t.add("образование", t.pick("среднее|среднее специальное|высшее"), LEVELS, QUASI)
    t.add("национальность", t.pick("русский|татарин|якут|чуваш", [80, 8, 6, 6]), LEVELS, "quasi-identifier sensitive")
    t.add("зарплата", t.number(wage, 2, ",", " "), "number", SENSITIVE, wage, {"нет данных": 0.05})
    t.add("судимость", t.pick("да|нет", [1, 15]), ANSWER, SENSITIVE)
    return t


TABLES = (swedish, danish, polish, czech, turkish, russian)
