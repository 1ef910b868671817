"""Tables from the United States and the United Kingdom."""

from samples.labelled.table import ANSWER, AWAY, CLOSE, DROPPED, EITHER, LEVELS, OPEN, QUASI, SCALE, SENSITIVE, table

t = table("US claims", 900, 31, ",", "utf-8")
born, service, paid = t.days("1935-01-01", "2010-01-01"), t.days("2022-01-01", "2023-06-30"), t.amounts(900, 0.9)
ssn = [f"{i:09d}" for i in t.distinct(10**8, 7 * 10**8)]
t.add("SSN", [f"{s[:3]}-{s[3:5]}-{s[5:]}" for s in ssn], "code text", AWAY)
t.add("DOB", born.strftime("%m/%d/%Y"), "date", QUASI, born)
t.add("Gender", t.pick("F|M|U", [50, 49, 1]), LEVELS, QUASI)
t.add("ZIP", t.pick(["01003", "02139", "10001", "60601", "94110"]), LEVELS, QUASI)
t.add("State", t.pick("MA|NY|IL|CA"), LEVELS, QUASI)
t.add("Race/Ethnicity", t.pick("White|Black|Asian|Hispanic|Other"), LEVELS, CLOSE)
t.add("Date of Service", service.strftime("%m/%d/%Y"), "date", EITHER, service)
t.add("Dx Code", t.pick("E11.9|I10|J45.909|F32.9|Z00.00"), LEVELS, SENSITIVE)
t.add("Paid Amount", [f"${x}" for x in t.number(paid, 2, ".", ",")], "number", "sensitive other", paid, {"": 0.03})
t.add("Insurance", t.pick("Medicare|Medicaid|Private|None"), LEVELS, OPEN, kept=["None"])
t.add("Notes", t.sentences("patient called back about the bill and asked for a copy of the letter"), "text", DROPPED)  # fmt: skip

t = table("UK hospital", 700, 32, ",", "cp1252")
born, admitted, stay = t.days("1935-01-01", "1999-12-31"), t.instants("2023-01-01"), t.rng.geometric(0.3, t.rows)
number_ = [f"{i}" for i in t.distinct(4 * 10**9, 7 * 10**9)]
t.add("NHS Number", [f"{s[:3]} {s[3:6]} {s[6:]}" for s in number_], "code text number", AWAY)
t.add("Date of Birth", born.strftime("%d-%b-%y"), "date", QUASI, born)
t.add("Sex", t.pick([1, 2]), LEVELS, QUASI, None, {"9": 0.01}, unsure=["9"])
t.add("Postcode", t.pick(["SW1A 1AA", "M1 1AE", "B33 8TH", "CR2 6XH", "DN55 1PT", "LS1 4AP"]), LEVELS, QUASI)
t.add("Ethnic Group", t.pick("White British|Asian|Black|Mixed|Not stated"), LEVELS, CLOSE)
t.add("Admitted At", admitted.strftime("%Y-%m-%d %H:%M:%S"), "date", DROPPED, admitted)
t.add("Length of Stay", stay, "number", EITHER, stay)
t.add("Primary Diagnosis", t.pick("I21.9|J18.9|S72.0|F20.0|E10.1"), LEVELS, SENSITIVE)
t.add("Smoker", t.pick("Y|N", [2, 8]), ANSWER, OPEN, None, {"Unknown": 0.08})
t.add("HIV Status", t.pick("Negative|Positive", [97, 3]), "category boolean code", "sensitive other")

t = table("bank marketing", 1500, 33, ";", "utf-8")
age, balance = t.ages(18, 90), t.rng.normal(1300, 2500, t.rows).round(0).astype(int)
length, contacts = t.rng.integers(5, 1500, t.rows), t.rng.geometric(0.4, t.rows)
t.add("age", age, "number", QUASI, age)
t.add("job", t.pick("admin.|blue-collar|management|retired|services|student"), LEVELS, QUASI, None, {"unknown": 0.02}, unsure=["unknown"])  # fmt: skip
t.add("marital", t.pick("married|single|divorced", [60, 28, 12]), LEVELS, QUASI)
t.add("education", t.pick("primary|secondary|tertiary"), LEVELS, QUASI, None, {"unknown": 0.04}, unsure=["unknown"])
t.add("default", t.pick("yes|no", [1, 30]), ANSWER, "sensitive other")
t.add("balance", balance, "number", "sensitive other", balance)
t.add("housing", t.pick("yes|no"), ANSWER, OPEN)
t.add("loan", t.pick("yes|no", [1, 5]), ANSWER, "sensitive other")
t.add("month", t.pick("jan|feb|mar|apr|may|jun|jul|aug"), LEVELS, EITHER)
t.add("duration", length, "number duration", "other", length)
t.add("campaign", contacts, "number", "other quasi-identifier", contacts)
t.add("poutcome", t.pick("failure|other|success"), LEVELS, "sensitive other", None, {"unknown": 0.6}, ["other"], ["unknown"])  # fmt: skip
t.add("y", t.pick("yes|no", [1, 8]), ANSWER, "sensitive other")

t = table("census", 1500, 34, ",", "utf-8")
age, weight, gain, hours = (
    t.ages(17, 90), t.rng.integers(20000, 700000, t.rows), t.rng.integers(1, 9000, t.rows), t.ages(5, 80),
)  # fmt: skip
gain = gain * (t.rng.random(t.rows) < 0.1)
t.add("age", age, "number", QUASI, age)
t.add("workclass", t.pick("Private|Self-emp|Local-gov|State-gov"), LEVELS, QUASI, None, {"?": 0.06})
t.add("fnlwgt", weight, "number", "other dropped", weight)
t.add("education", t.pick("HS-grad|Bachelors|Masters|11th|Doctorate"), LEVELS, QUASI)
t.add("education-num", t.pick(range(1, 17)), SCALE, QUASI)
t.add("marital-status", t.pick("Married|Never-married|Divorced|Widowed"), LEVELS, QUASI)
t.add("occupation", t.pick("Sales|Craft-repair|Tech-support|Exec-managerial"), LEVELS, QUASI, None, {"?": 0.06})
t.add("relationship", t.pick("Husband|Wife|Own-child|Not-in-family"), LEVELS, EITHER)
t.add("race", t.pick("White|Black|Asian-Pac-Islander|Other"), LEVELS, CLOSE)
t.add("sex", t.pick("Male|Female"), "category boolean code", QUASI)
t.add("capital-gain", gain, "number", "sensitive other", gain)
t.add("hours-per-week", hours, "number", EITHER, hours)
t.add("native-country", t.pick("United-States|Mexico|Germany|India", [90, 5, 2, 3]), LEVELS, QUASI, None, {"?": 0.02})  # fmt: skip
t.add("income", t.pick("<=50K|>50K", [3, 1]), "category boolean code", SENSITIVE)

t = table("employees", 400, 35, ",", "utf-8")
names = t.people(
    "Ann Bob Cy Dee Eve Flo Gus Hal Ida Jim Kim Lou May Ned",
    "Able Baker Cole Drew Ellis Ford Gray Hill Irons Judd King",
)
hired, salary, left = (
    t.days("2005-01-01", "2023-12-31"), t.amounts(62000, 0.3, 0), t.days("2020-01-01", "2023-12-31"),
)  # fmt: skip
t.add("employee_id", [f"E{i:04d}" for i in range(t.rows)], "code text", AWAY)
t.add("full_name", names, "text category code", AWAY)
t.add("email", [f"{n.lower().replace(' ', '.')}{i}@example.com" for i, n in enumerate(names)], "text code", AWAY)
t.add("phone", [f"+1 555-{i}" for i in t.distinct(1000000, 9999999)], "text code", AWAY)
t.add("department", t.pick("Sales|IT|HR|Finance|Legal"), LEVELS, QUASI)
t.add("job_title", t.pick("Analyst|Manager|Director|Clerk"), LEVELS, QUASI)
t.add("hire_date", hired.strftime("%b %d, %Y"), "date", EITHER, hired)
t.add("termination_date", left.strftime("%Y-%m-%d"), "date", EITHER, left, {"": 0.8})
t.add("salary", t.number(salary, 0, ".", ","), "number", SENSITIVE, salary)
t.add("performance_rating", t.pick(range(1, 6)), SCALE, "sensitive other")
t.add("remote", t.pick(["TRUE", "FALSE"]), "boolean", EITHER)
t.add("company", ["Acme Ltd"] * t.rows, "constant", DROPPED)
