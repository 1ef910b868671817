"""A table from Japan, and tables of other shapes: panels, logs, code lists, names that say nothing."""

import numpy as np

from samples.labelled.table import ANSWER, AWAY, DROPPED, EITHER, LEVELS, OPEN, QUASI, SCALE, SENSITIVE, Table


def japanese() -> Table:
    t = Table("Japanese survey", 500, 41, "\t", "utf-16")
    income, age = t.amounts(4200000, 0.4, 0), t.ages()
    born = t.days("1940-01-01", "2003-01-01")
    t.add("患者番号", [f"{i:08d}" for i in t.distinct(1, 9000000)], "code text", AWAY)
    t.add("性別", t.pick("男|女"), "category boolean code", QUASI)
    t.add("年齢", age, "number", QUASI, age)
    t.add("生年月日", [f"{d.year}年{d.month}月{d.day}日" for d in born], "date", QUASI, born)
    t.add("郵便番号", t.pick(["100-0001", "060-0042", "530-0001"]), LEVELS, QUASI)
    t.add("都道府県", t.pick("東京都|北海道|大阪府|沖縄県"), LEVELS, QUASI)
    t.add("職業", t.pick("会社員|公務員|自営業|学生"), LEVELS, QUASI)
    t.add("年収", [f"{x}円" for x in t.number(income, 0, ".", ",")], "number", SENSITIVE, income, {"不明": 0.05})
    t.add("病名", t.pick("糖尿病|高血圧|喘息|うつ病"), LEVELS, SENSITIVE)
    t.add("喫煙", t.pick("はい|いいえ"), ANSWER, OPEN)
    return t


def shift_jis() -> Table:
    t = Table("Japanese purchases", 400, 42, ",", "shift_jis")
    day, price = t.days("2021-01-01", "2023-12-31"), t.amounts(3000, 0.6, 0)
    t.add("氏名", t.people("佐藤 鈴木 高橋 田中 伊藤 渡辺", "太郎 花子 健 美咲 翔"), "text category code", AWAY)
    t.add("年代", t.pick("20代|30代|40代|50代|60代以上"), LEVELS, QUASI)
    t.add("性別", t.pick("男性|女性"), "category boolean code", QUASI)
    t.add("購入日", day.strftime("%Y/%m/%d"), "date", EITHER, day)
    t.add("金額", t.number(price, 0, ".", ","), "number", "sensitive other", price)
    t.add("商品", t.pick("書籍|食品|衣類|家電"), LEVELS, OPEN)
    return t


def panel() -> Table:
    t = Table("panel of visits", 600, 43, ",", "utf-8")
    person = np.arange(t.rows) // 4
    born, visit = t.days("1940-01-01", "1990-01-01")[person], t.days("2018-01-01", "2023-12-31")
    sex, pressure, age = np.array(t.pick("f|m"))[person], t.rng.normal(130, 15, t.rows).round(0), t.ages(30, 80)[person]
    t.add("patient_id", [f"PT-{i:04d}" for i in person], "code category text", AWAY)
    t.add("visit_no", np.arange(t.rows) % 4 + 1, SCALE, "other quasi-identifier dropped")
    t.add("visit_date", visit.strftime("%Y-%m-%d"), "date", "other dropped quasi-identifier", visit)
    t.add("birth_date", born.strftime("%Y-%m-%d"), "date", QUASI, born)
    t.add("age", age, "number", QUASI, age)
    t.add("sex", sex, "category boolean code", QUASI)
    t.add("systolic_bp", t.number(pressure, 0), "number", "sensitive other", pressure, {"-1": 0.03})
    t.add("diagnosis", t.pick("hypertension|diabetes|none", [3, 2, 5]), LEVELS, SENSITIVE, kept=["none"])
    t.add("medication", t.pick("metformin|lisinopril|placebo"), LEVELS, "sensitive other")
    return t


def events() -> Table:
    t = Table("event log", 1000, 44, ",", "utf-8")
    when, wait = t.instants("2024-03-01 08:00", 90), t.amounts(40, 0.7, 3)
    t.add("event_id", [f"{i:032x}" for i in t.rng.permutation(10**6)[: t.rows] * 7919], "code text", AWAY)
    t.add("timestamp", when.strftime("%Y-%m-%dT%H:%M:%SZ"), "date", DROPPED, when)
    t.add("user_id", t.rng.integers(1, 120, t.rows), "number code category", AWAY)
    t.add("event_type", t.pick("login|view|buy|logout"), LEVELS, OPEN)
    t.add("ip_address", [f"10.0.{a}.{b}" for a, b in t.rng.integers(0, 255, (t.rows, 2))], "code text category", AWAY)
    t.add("device", t.pick("mobile|desktop|tablet"), LEVELS, EITHER)
    t.add("country", t.pick("DE|FR|NA|US", [5, 3, 1, 6]), LEVELS, QUASI, kept=["NA"])
    t.add("response_ms", t.number(wait, 3), "number duration", "other sensitive", wait)
    t.add("success", t.pick(["true", "false"], [9, 1]), "boolean", "sensitive other")
    return t


def last_is_a_time() -> Table:
    t = Table("unique id and unique time", 800, 45, ",", "utf-8")
    when, age, pay = t.instants("2022-05-01"), t.ages(), t.amounts(2400, 0.4)
    t.add("id", range(1, t.rows + 1), "number code", AWAY)
    t.add("age", age, "number", QUASI, age)
    t.add("region", t.pick("north|south|east|west"), LEVELS, QUASI)
    t.add("occupation", t.pick("teacher|nurse|clerk|driver"), LEVELS, QUASI)
    t.add("religion", t.pick("none|christian|muslim|jewish", [4, 4, 1, 1]), LEVELS, SENSITIVE, kept=["none"])
    t.add("monthly_income", t.number(pay, 2), "number", SENSITIVE, pay)
    t.add("created_at", when.strftime("%Y-%m-%d %H:%M:%S"), "date", DROPPED, when)
    return t


def codes() -> Table:
    t = Table("code lists", 700, 46, ",", "utf-8")
    sick, birth = t.rng.integers(0, 60, t.rows), 2023 - t.ages()
    t.add("record", t.distinct(1, 99999), "number code", AWAY)
    t.add("nace", t.pick(["0111", "1071", "4120", "4711", "8610", "8531"]), LEVELS, EITHER)
    t.add("isco08", t.pick([2221, 2341, 4110, 5223, 7115, 9112]), LEVELS, QUASI)
    t.add("nuts3", t.pick("DE111|DE212|AT130|FR101"), LEVELS, QUASI)
    t.add("icd10", t.pick("E11|I10|J45|F32|C50|M54"), LEVELS, SENSITIVE)
    t.add("birth_year", birth, "number date category", QUASI, birth)
    t.add("isced", t.pick(range(9)), SCALE, QUASI)
    t.add("sick_days", sick, "number", "sensitive other", sick)
    t.add("contract", t.pick([1, 2, 3]), SCALE, OPEN, None, {"9": 0.2}, unsure=["9"])
    return t


def nameless() -> Table:
    t = Table("names that say nothing", 600, 47, ",", "utf-8")
    c2, c4, c6 = t.ages(), t.rng.normal(0, 1, t.rows).round(4), t.days("1950-01-01", "2000-01-01")
    t.add("c1", [f"X{i}" for i in t.distinct(100000, 999999)], "code text", AWAY)
    t.add("c2", c2, "number", OPEN, c2)
    t.add("c3", t.pick("a|b|c"), LEVELS, OPEN)
    t.add("c4", t.number(c4, 4), "number", OPEN, c4)
    t.add("c5", t.pick(["0012", "0440", "7001", "0991"]), LEVELS, OPEN)
    t.add("c6", c6.strftime("%Y%m%d"), "date", EITHER, c6)
    t.add("c7", t.sentences("it was late when the man came in and asked for the key"), "text", DROPPED)
    t.add("c8", t.pick("Y|N"), ANSWER, OPEN, None, {".": 0.05})
    t.add("c9", ["7"] * t.rows, "constant", DROPPED)
    t.add("c10", [""] * t.rows, "empty", DROPPED)
    return t


def capitals() -> Table:
    t = Table("capital short names", 1200, 48, ",", "utf-8")
    age, wage, weight = t.ages(), t.amounts(38000, 0.6, 0).astype(int), t.amounts(1500, 0.3)
    t.add("SERIAL", range(1, t.rows + 1), "number code", AWAY)
    t.add("YEAR", t.pick([2019, 2020, 2021]), "number date category code", "other quasi-identifier")
    t.add("AGE", age, "number", QUASI, age)
    t.add("SEX", t.pick([1, 2]), "category code boolean", QUASI)
    t.add("EDUC", t.pick([0, 1, 2, 3, 6, 7, 10, 11]), SCALE, QUASI)
    t.add("MARST", t.pick(range(1, 7)), LEVELS + " number", QUASI)
    t.add("STATEFIP", t.pick(["01", "06", "36", "48"]), LEVELS, QUASI)
    t.add("OCC", t.pick(["0010", "2310", "4700", "9130"]), LEVELS, QUASI)
    t.add("INCWAGE", wage, "number", SENSITIVE, wage, {"999999": 0.15})
    t.add("PERWT", t.number(weight, 2), "number", "other dropped", weight)
    t.add("DIFFCARE", t.pick([1, 2], [95, 5]), "category code boolean number", "sensitive other")
    return t


TABLES = (japanese, shift_jis, panel, events, last_is_a_time, codes, nameless, capitals)
