"""Tables from France, Spain, Brazil, Portugal and Italy."""

from samples.labelled.table import ANSWER, AWAY, DROPPED, EITHER, LEVELS, OPEN, QUASI, SCALE, SENSITIVE, table

t = table("French survey", 800, 11, ";", "utf-8-sig")
born, income, age = t.days("1935-01-01", "2003-01-01"), t.amounts(24000, 0.5, 0), t.ages()
t.add("identifiant", [f"R{i:06d}" for i in t.distinct(1, 900000)], "code text", AWAY)
t.add("sexe", t.pick("Homme|Femme"), "category boolean code", QUASI)
t.add("âge", age, "number", QUASI, age, {"NSP": 0.03})
t.add("date de naissance", born.strftime("%d/%m/%Y"), "date", QUASI, born)
t.add("code postal", t.pick(["01000", "06000", "13001", "75011", "69003", "2A004"]), LEVELS, QUASI)
t.add("profession", t.pick("cadre|ouvrier|employé|agriculteur|retraité"), LEVELS, QUASI)
t.add("diplôme", t.pick("aucun|brevet|bac|licence|master"), LEVELS, QUASI, kept=["aucun"])
t.add("revenus", t.number(income, 0, ",", "\u00a0"), "number", SENSITIVE, income)
t.add("fumeur", t.pick("oui|non", [3, 7]), ANSWER, OPEN, None, {"": 0.05})
t.add("santé", t.pick("très bonne|bonne|moyenne|mauvaise"), LEVELS, SENSITIVE)
t.add("pays de naissance", t.pick("FR|DZ|MA|PT|NA", [80, 6, 6, 5, 3]), LEVELS, QUASI, kept=["NA"])
t.add("commentaires", t.sentences("je ne suis pas satisfait du service mais la réponse était rapide et claire"), "text", DROPPED)  # fmt: skip

t = table("Spanish clinic", 600, 12, ";", "latin-1")
born, visit = t.days("1930-01-01", "2010-01-01"), t.days("2022-01-01", "2023-06-30")
sugar = t.rng.normal(5.6, 1.1, t.rows).round(2)
t.add("DNI", [f"{i}{c}" for i, c in zip(t.distinct(10000000, 99999999), t.pick("A|B|C|K|Z"), strict=True)], "code text", AWAY)  # fmt: skip
t.add("Nombre", t.people("María Juan Lucía Pedro Ana José", "García López Ruiz Núñez Peña Gil Sanz"), "text category code", AWAY)  # fmt: skip
t.add("Fecha de nacimiento", born.strftime("%d/%m/%Y"), "date", QUASI, born)
t.add("Sexo", t.pick("H|M"), "category boolean code", QUASI)
t.add("Provincia", t.pick("Álava|León|Madrid|Málaga|Sevilla"), LEVELS, QUASI)
t.add("Estado civil", t.pick("soltero|casado|divorciado|viudo"), LEVELS, QUASI)
t.add("Diagnóstico", t.pick("diabetes|hipertensión|asma|depresión|cáncer", [20, 40, 20, 15, 5]), LEVELS, SENSITIVE)
t.add("Glucosa", t.number(sugar, 2, ","), "number", "sensitive other", sugar, {"-99": 0.05})
t.add("Fecha visita", visit.strftime("%d/%m/%Y"), "date", EITHER, visit)
t.add("Alergias", t.pick("Sí|No", [2, 8]), ANSWER, "sensitive other", None, {"N/A": 0.05})

t = table("Brazilian register", 1000, 13, ",", "utf-8")
born, salary = t.days("1945-01-01", "2004-01-01"), t.amounts(2500)
digits = [f"{i:011d}" for i in t.distinct(10**9, 10**10)]
t.add("CPF", [f"{d[:3]}.{d[3:6]}.{d[6:9]}-{d[9:]}" for d in digits], "code text", AWAY)
t.add("nome", t.people("João Maria José Antônia Luís Márcia", "Silva Souza Conceição Araújo Lima Gonçalves"), "text category code", AWAY)  # fmt: skip
t.add("data_nascimento", born.strftime("%d/%m/%Y"), "date", QUASI, born)
t.add("sexo", t.pick("masculino|feminino"), "category boolean code", QUASI)
t.add("raça_cor", t.pick("branca|parda|preta|amarela|indígena", [44, 45, 8, 2, 1]), LEVELS, "quasi-identifier sensitive")  # fmt: skip
t.add("município", t.pick("São Paulo|Belém|Recife|Curitiba"), LEVELS, QUASI)
t.add("UF", t.pick("SP|PA|PE|PR|RJ"), LEVELS, QUASI)
t.add("CEP", t.pick(["01310-100", "66010-000", "50030-230", "80020-300"]), LEVELS, QUASI)
t.add("escolaridade", t.pick("fundamental|médio|superior"), LEVELS, QUASI)
t.add("renda", [f"R$ {x}" for x in t.number(salary, 2, ",", ".")], "number", SENSITIVE, salary, {"": 0.04})
t.add("bolsa_familia", t.pick("sim|não", [1, 3]), ANSWER, "sensitive other")

t = table("Italian employees", 500, 14, ";", "cp1252")
hired, pay, age = t.days("1990-01-01", "2023-01-01"), t.amounts(30000, 0.3), t.ages(20, 66)
t.add("matricola", t.distinct(10000, 99999), "number code", AWAY)
t.add("codice_fiscale", [f"RSSMRA{i}H501Z" for i in t.distinct(1000, 9999)], "code text", AWAY)
t.add("età", age, "number", QUASI, age)
t.add("sesso", t.pick("M|F"), "category boolean code", QUASI)
t.add("titolo_di_studio", t.pick("licenza media|diploma|laurea|dottorato"), LEVELS, QUASI)
t.add("stato_civile", t.pick("celibe/nubile|coniugato|separato|vedovo"), LEVELS, QUASI)
t.add("comune", t.pick("Forlì|Roma|Torino|L'Aquila"), LEVELS, QUASI)
t.add("data_assunzione", hired.strftime("%d-%m-%Y"), "date", EITHER, hired)
t.add("retribuzione", t.number(pay, 2, ",", "."), "number", SENSITIVE, pay)
t.add("sindacato", t.pick("CGIL|CISL|UIL|nessuno"), LEVELS, SENSITIVE, kept=["nessuno"])
t.add("disabilità", t.pick("sì|no", [1, 12]), ANSWER, SENSITIVE)
t.add("livello", t.pick(range(1, 8)), SCALE, OPEN)
