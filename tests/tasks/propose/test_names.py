"""What the names of columns say, in many languages, and what they do not."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.tasks.propose.names import says, topic
from synthrisk.tasks.propose.proposal import Given, look


@pytest.mark.parametrize(("name", "list_of", "expected"), [
    ("나이", "known", "age"), ("성별", "known", "sex"), ("월소득", "sensitive", "money"), ("العمر", "known", "age"),
    ("الدخل الشهري", "sensitive", "money"), ("גיל", "known", "age"), ("הכנסה", "sensitive", "money"),
    ("курить", "sensitive", "health"), ("курс", "sensitive", None), ("venit", "sensitive", "money"),
    ("이름", "direct", "name"), ("c7", "known", None), ("Eintrittsdatum", "known", "visit"),
    ("Spitalaustritt", "known", "visit"), ("date d'entrée", "known", "visit"), ("date de sortie", "known", "visit"),
    ("Sterbedatum", "known", "death"), ("Todestag", "known", "death"), ("Todesursache", "sensitive", "health"),
    ("date de décès", "known", "death"), ("né(e) le", "known", "birth"), ("née le", "known", "birth"),
    ("NPA", "known", "place"), ("geboren am", "known", "birth"), ("F. Nac.", "known", "birth"),
    ("female", "known", "sex"),
    ("gndr", "known", "sex"), ("agea", "known", "age"), ("cntry", "known", "place"), ("lat", "known", "place"),
    ("lon", "known", "place"), ("lon", "sensitive", None), ("Løn", "sensitive", "money"), ("Lön", "sensitive", "money"),
    ("air_conditioning", "sensitive", None), ("Medical Condition", "sensitive", "health"),
    ("environmental_zone", "sensitive", None), ("experimental_group", "sensitive", None),
    ("mental_score", "sensitive", "health"), ("Mentalstatus", "sensitive", "health"), ("cap-shape", "known", None),
    ("home_state", "known", "place"), ("prostate_volume", "known", None), ("market_cap", "known", None),
    ("CAP", "known", "place"),
    ("post_score", "known", None), ("Postleitzahl", "known", "place"), ("post_code", "known", "place"),
    ("birth_weight", "known", None), ("birth_year", "known", "birth"), ("disposition", "known", None),
    ("composition", "known", None), ("Position", "known", "work"), ("c_charge_degree", "known", None),
    ("c_charge_degree", "sensitive", "law"), ("degree", "known", "education"), ("Brutto", "sensitive", "money"),
    ("Bruttogewicht", "sensitive", None), ("Chief Complaint", "sensitive", "health"), ("is_recid", "sensitive", "law"),
    ("diag_1", "sensitive", "health"), ("diagonal", "sensitive", None), ("Fehltage", "sensitive", "health"),
    ("Befund", "sensitive", "health"), ("Pflegegrad", "sensitive", "health"), ("hypertension", "sensitive", "health"),
    ("htn", "sensitive", "health"), ("asthma", "sensitive", "health"), ("stroke", "sensitive", "health"),
    ("epilepsy", "sensitive", "health"), ("hepatitis", "sensitive", "health"), ("tobacco", "sensitive", "health"),
    ("suicide_attempt", "sensitive", "health"), ("overdose", "sensitive", "health"),
    ("net_worth", "sensitive", "money"),
    ("prescription", "sensitive", "health"), ("mortgage", "sensitive", "money"), ("felony", "sensitive", "law"),
    *((name, "known", None) for name in (
        "Universidade", "Quantidade", "Mensalidade", "Fahrzeughalter", "Verwalter", "parametro", "diametro",
        "race_time", "Antigüedad",
    )),
    *((name, "known", "age") for name in ("Idade", "Faixa idade", "Eintrittsalter", "Tuổi", "आयु")),
    *((name, "known", "sex") for name in ("Geschl.", "m/w", "M/V", "M/F", "Anrede", "Giới tính", "लिंग")),
    *((name, "known", "birth") for name in ("dt_nasc", "DDN", "Data ur.", "dateofbirth", "Jahrgang", "जन्म तिथि")),
    *((name, "known", "place") for name in ("Postinumero", "Dépt", "Prov.", "pc4", "metro", "Estado", "ज़िला")),
    *((name, "sensitive", "belief") for name in ("Ideología", "Voto 2023", "Syndiqué", "Vakbond", "धर्म")),
    *((name, "sensitive", "health") for name in ("PHQ-9", "Impfstatus", "Traitement", "GdB", "side effects", "रोग")),
    *((name, "sensitive", None) for name in ("painter", "campaign", "Gadget", "Importe", "Kerkstraat")),
    *((name, "sensitive", None) for name in (
        "Số lượng", "Trọng lượng", "chat_luong", "Bệnh viện", "Ma benh nhan", "Voto medio", "voto_laurea",
    )),
    *((name, "sensitive", "money") for name in ("Lương", "tien_luong", "Mức lương")), ("Bệnh", "sensitive", "health"),
    ("Suspensions", "sensitive", None), ("Alterspension", "sensitive", "money"), ("Eth.", "known", "ethnicity"),
    ("Tessera sindacale", "sensitive", "belief"), ("Vital status", "sensitive", "health"), ("Ethik", "known", None),
    ("Médico", "sensitive", None), ("Historial médico", "sensitive", "health"), ("Alergias", "sensitive", "health"),
    ("Nac.", "known", "birth"), ("Synt.vuosi", "known", "birth"), ("Localidad", "known", "place"),
    ("Raison sociale", "direct", "name"), ("Geschwister", "known", "family"),
    ("Nacionalidade", "known", "nationality"), ("Herkomst", "known", "nationality"), ("Dept", "known", "work"),
    ("Estado civil", "known", "family"), ("HispanicLatino", "known", "ethnicity"), ("Uitkering", "sensitive", "money"),
    *((name, "sensitive", None) for name in ("Ferien-Saldo (Tg)", "Balance hours", "work_life_balance")),
    ("Saldo", "sensitive", "money"), ("Gezondheid", "sensitive", "health"), ("Nb occupants", "known", "family"),
    ("adm_time", "known", "visit"), ("Floor area (sq ft)", "known", None), ("area", "known", "place"),
    ("SeniorCitizen", "known", "age"), ("citizen", "known", "nationality"),
    *((name, "known", "place") for name in ("C.P.", "Easting", "Northing", "Hochwert", "Gemeindeschl.", "AGS")),
    ("आय", "sensitive", "money"), ("नाम", "direct", "name"), ("Họ tên", "direct", "person"),
    *((name, "sensitive", "health") for name in (
        "Necesidades especiales", "Förderschwerpunkt", "Foerderbedarf", "special_needs", "SEN status",
        "Besoins éducatifs", "Bisogni educativi speciali", "ondersteuningsbehoefte", "Necessidades especiais",
        "Specjalne potrzeby",
        "Särskilt stöd", "særlige behov", "特別支援学級", "介護度", "要介護認定", "care_level", "zorgzwaartepakket",
        "GIR", "Grado de dependencia", "Plejebehov", "Vårdbehov", "Suivi psy", "Salud mental", "psicoterapia",
        "psykisk ohälsa", "Jeugdzorg", "精神科", "alcoolémie", "papierosy", "飲酒", "既往歴", "アレルギー", "ghm",
    )),
    *((name, "sensitive", "money") for name in (
        "quotient_familial", "allocation_logement", "isee", "生活保護", "就学援助", "児童扶養手当", "Wohngeld", "BAföG",
        "universal_credit", "free school meals", "bijstand", "Zorgtoeslag", "Bolsa família", "Zasiłek",
        "Försörjningsstöd", "Dagpenge", "ekonomiskt bistånd", "subsidio_desempleo", "montant_rsa", "Assegno unico",
        "Arbeitslosengeld",
    )),
    *((name, "sensitive", None) for name in (
        "allocation", "rechtsbijstand", "rsa", "dbc", "ggz", "dp", "sen", "but", "huisdier", "product_id", "psi", "psu",
    )),
    *((name, "sensitive", "health") for name in (
        "Wohnungslos", "sans abri", "sin hogar", "FrailtyScore", "MH_Act", "Absence_Days", "欠席日数", "Mutterschutz",
        "patologia cronica", "spesa_farmaceutica", "invalidita_civile", "死因", "告知事項", "Suchtberatung",
        "Jeugdhulp",
    )),
    *((name, "known", None) for name in ("capacidade", "velocidade", "grau_incapacidade")),
    ("Cidade", "known", "place"),
    *((name, "sensitive", "health") for name in ("Misbrug", "tabagismo", "Missbruk", "incapacidad", "code_ald")),
    *((name, "direct", "whole") for name in ("Sagsbehandler", "medico_familia", "pracownik socjalny", "läkare")),
    *((name, "sensitive", "law") for name in (
        "infraction", "peine", "Sentence", "detención", "Abmahnung", "Disciplinary", "condanna", "verdict", "Grievance",
    )),
    *((name, "sensitive", "money") for name in ("Mahnstufe", "SchufaScore", "days_past_due", "sofferenza", "KdU")),
    *((name, "sensitive", "intimate") for name in ("violencia_genero", "violenza di genere")),
    *((name, "sensitive", "belief") for name in ("TUMember", "Régime alimentaire")),
    *((name, "sensitive", None) for name in (
        "medico_base", "Médico de cabecera", "discipline", "Disziplin",
        "sentence_count", "verblijfsduur", "ops", "allocations", "protest",
        "Suchtext", "solde_conges", "overdue_books", "farmacia",
    )),
    ("partie_civile", "known", None), ("violencia_genero", "known", None), ("invalidita_civile", "known", None),
    ("verblijfsduur", "known", None), ("DoB", "known", "birth"), ("D.O.B.", "known", "birth"),
    *((name, "direct", "whole") for name in (
        "Nom_responsable", "nombre_madre", "Coach", "Guardian", "GP", "medico_base", "avocat", "klantmanager",
    )),
    *((name, "direct", "person") for name in ("契約者名カナ", "受診者名")), ("商品名カナ", "direct", None),
    *((name, "known", "birth") for name in ("gebjaar", "geb_jaar", "生年", "an_nais")),
    *((name, "known", "place") for name in ("code_insee", "cod_istat", "Gemeindekennziffer", "quartiere", "wijk")),
    *((name, "direct", "person") for name in ("フリガナ", "ふりがな", "氏名カナ", "name_kana", "セイ")),
    *((name, "direct", "number") for name in (
        "immatriculation", "license_plate", "Kfz-Kennzeichen", "Matrícula", "targa", "kenteken", "regnr", "車両番号",
        "VIN", "nr rejestracyjny", "nummerplade", "placa",
    )),
    *((name, "direct", "whole") for name in (
        "Chef", "Führungskraft", "line manager", "Responsable hiérarchique", "Jefe directo", "Responsabile",
        "leidinggevende", "Gestor", "przełożony", "närmaste chef", "nærmeste leder", "上司",
    )),
    *((name, "direct", None) for name in (
        "code_insee", "商品フリガナ", "カナダ", "plate_count", "is_manager", "manager_level", "chef_de_projet",
        "template",
        "responsable_pct",
    )),
])  # fmt: skip
def test_a_name_speaks_of(name, list_of, expected):
    assert topic(name, list_of) == expected
    assert says("NPA", "codes")
    assert says("Land (acres)", "counted")


RNG = np.random.default_rng(2)
PEOPLE = {"age": RNG.integers(18, 90, 400), "sex": RNG.choice(["m", "f"], 400)}
ILL = ["I500", "J189", "E119", "N390", "K359", "S720", "F329", "C509"]
POINTS = [code[:3] + "." + code[3:] for code in ILL]
SIGNS = [code[:3] for code in ILL]
SEATS = [f"{row}{i}" for row in "ABCDEFGH" for i in range(10, 40)]
ROOMS = [f"{house}{floor}{i:02d}" for house in "ABCD" for floor in range(1, 5) for i in range(1, 20)]
SHELVES = [f"{a}{i}.{j}" for a in "ABCDEF" for i in range(10, 60, 3) for j in range(1, 9)]
PRODUCTS = [f"P-{i}" for i in range(10, 22)]
NAMES = [a + b for a in ("Bau", "Hof", "Wag", "Leh", "Sto", "Kra") for b in ("er", "mann", "ner", "inger", "l")]
CODES = RNG.integers(1001, 95999, 400)


@pytest.mark.parametrize(("name", "cells", "expected"), [
    *((name, cells, "sensitive") for name in ("dp", "das", "x", "code") for cells in (ILL, POINTS, SIGNS)),
    ("dp", POINTS[3:6], "sensitive"), ("dp", ["C34.1", "C50.9", "C18.7", "C61"], "sensitive"),
    ("x", [f"{a};{b}" for a, b in zip(POINTS, POINTS[::-1], strict=True)], "sensitive"),
    ("x", ["E10", "E11", "N10", "N17", "N18", "W10", "W11", "W12", "S10", "S11"], "no"), ("eco", SIGNS, "no"),
    ("x", ["E46", "E90", "F10", "F20", "F30", "G20", "G30"], "no"), ("outcode", SIGNS, "quasi-identifier"),
    *((name, cells, "no") for name in ("dp", "code", "where") for cells in (SEATS, ROOMS, SHELVES, PRODUCTS)),
    *((name, cells, "no") for name in ("seat", "room", "shelf", "product_code", "postcode") for cells in (ILL, SIGNS)),
    ("dp", ["N18", "E10", "S10", "E14", "N9", "W12"], "no"), ("dp", ["E10", "E11", "E12", "E13"], "no"),
    ("dp", RNG.normal(9, 2, 400).round(1), "no"), ("dp", [0, 1], "no"),
    ("dbc", ["070.123", "301.999", "303.201"], "sensitive"), ("dbc", [990004007, 990004009], "sensitive"),
    ("dbc", PRODUCTS, "no"), ("dbc", RNG.normal(60, 9, 400).round(1), "no"), ("dbc", range(40), "no"),
    ("ggz", ["ja", "nee"], "sensitive"), ("ggz", [0, 1], "sensitive"), ("ggz", ["basis", "none", "x"], "sensitive"),
    ("ggz", PRODUCTS, "no"), ("ggz", RNG.integers(0, 500, 400), "no"), ("ggz", ["x", ""], "sensitive"),
    ("rsa", ["O", "N"], "sensitive"), ("rsa", PRODUCTS, "no"), ("rsa", RNG.normal(9, 2, 400).round(2), "no"),
    ("BuT", ["x", ""], "sensitive"), ("alg_version", ["new", "old"], "no"),
    ("but", range(9), "no"), ("SEN", ["EHCP", "Support", "none"], "sensitive"),
    ("FSM", ["Y", "N"], "sensitive"), ("deces", [0, 1], "sensitive"), ("judgement", ["A", "B", "C"], "no"),
    ("判定", ["異常なし", "要精検", "要観察"], "sensitive"),
    *((name, NAMES, "dropped") for name in ("Chef", "line manager", "Responsable hiérarchique", "上司", "Jefe")),
    ("manager", ["yes", "no"], "no"), ("position", ["manager", "cook", "chef"], "quasi-identifier"),
    ("chef", ["head", "second", "none"], "no"), ("manager", ["store", "regional", "area", "none"], "no"),
    ("responsable", ["oui", "non"], "no"), ("manager_count", range(30), "no"),
    ("immatriculation", [f"AB-{i}-CD" for i in range(100, 400)], "dropped"), ("plate", ["hot", "cold", "none"], "no"),
    ("registration", ["online", "paper", "desk"], "no"), ("フリガナ", NAMES, "dropped"),
    ("license_plate_state", ["NY", "CA", "NJ"], "no"),
    *((name, [f"{code:05d}" for code in CODES], "quasi-identifier") for name in ("code_insee", "cp", "cod_istat")),
    ("insee", [f"2{10**12 + 7919 * code}" for code in CODES], "dropped"),
    *((name, ["calm", "tired", "late", ""], "other") for name in ("Observaciones", "Bemerkungen", "Comments?")),
    ("Observations", ["calm", "tired", "late"], "dropped"), ("comments", range(5), "no"), ("comments", [0, 1], "no"),
    ("OPS", ["5-820.0", "8-930", "1-632.0"], "sensitive"), ("ops", range(40), "no"),
    ("ops", ["net", "db", "web"], "no"),
    *((name, ["6e A", "5e B", "4e C"], "quasi-identifier") for name in ("Classe", "classe_2024")),
    ("郵便番号", [f"{100 + i}-{1000 + 7 * i}" for i in range(400)], "quasi-identifier"),
    ("SERD", ["S", "N"], "sensitive"),
    *((name, RNG.permutation(10**7)[:400], "identifier") for name in ("Empleado", "dipendente", "Medewerker")),
    *((name, range(2), "no") for name in ("Empleado", "salarié")), ("ALD", ["O", "N"], "sensitive"),
    ("cp_assure", [f"{code:05d}" for code in CODES], "quasi-identifier"),
    ("n_utente", RNG.permutation(10**6)[:400], "dropped"),
    ("plate", [f"AB {i} CD" for i in range(100, 130)], "dropped"),
    ("passport_country", ["AT", "DE", "CH"], "no"), ("account_code", range(30), "no"),
    ("ndg", RNG.permutation(10**7)[:400], "dropped"), ("Coach", NAMES, "dropped"), ("coach", ["yes", "no"], "no"),
    ("remark_code", ["calm", "tired", "late"], "no"),
])  # fmt: skip
def test_a_short_word_or_a_code_says_what_its_cells_say(tmp_path, name, cells, expected):
    column = cells if len(cells) == 400 else np.array(cells, object)[RNG.integers(0, len(cells), 400)]
    others = {"hobby": RNG.choice(["a", "b"], 400), name: column, "illness": RNG.choice(["flu", "none"], 400)}
    pd.DataFrame(PEOPLE | others).to_csv(tmp_path / "a.csv", index=False)
    found = look(str(tmp_path / "a.csv"), Given())
    meaning = next(role.meaning for role in found.roles if role.name == name)
    assert meaning == expected or (expected == "no" and meaning in ("other", "quasi-identifier"))
    told = next(each for each in found.columns if each.name == name)
    assert (told.kind, "all its cells" in told.why) != ("boolean", True)


@pytest.mark.parametrize("name", ["dp", "ggz", "rsa"])
def test_codes_and_short_words_say_nothing_where_no_column_is_of_people(tmp_path, name):
    cells = RNG.choice(SIGNS if name == "dp" else ["yes", "no"], 400)
    columns = {name: cells, "length": RNG.normal(9, 2, 400), "illness": RNG.choice(["rust", "rot"], 400)}
    pd.DataFrame(columns).to_csv(tmp_path / "a.csv", index=False)
    assert look(str(tmp_path / "a.csv"), Given()).data.sensitive == ["illness"]


def test_a_sign_or_an_empty_cell_is_told_as_a_fact_and_no_constant(tmp_path):
    signs = {"Gewerkschaft": np.where(np.arange(400) % 3, "", "ver.di"), "same": "x"}
    pd.DataFrame(PEOPLE | signs).to_csv(tmp_path / "a.csv", index=False)
    found = {each.name: each for each in look(str(tmp_path / "a.csv"), Given()).columns}
    assert (found["Gewerkschaft"].kind, found["Gewerkschaft"].why) == (
        "boolean", "one sign where it is so, and an empty cell where not",
    )  # fmt: skip
    assert (found["same"].kind, found["same"].why) == ("constant", "all its cells are the same")


def test_what_is_sensitive_by_name_is_not_taken_as_known_where_three_others_are_guessed(tmp_path):
    yes = {name: RNG.choice(["oui", "non"], 400) for name in ("diabete", "revenu", "religion", "MDPH", "ggz", "hobby")}
    pd.DataFrame({"sexe": PEOPLE["sex"]} | yes).to_csv(tmp_path / "a.csv", index=False)
    assert look(str(tmp_path / "a.csv"), Given()).data.quasi_identifiers == ["sexe", "hobby"]


def test_columns_that_most_people_have_are_guessed_before_one_of_another_topic_that_few_have(tmp_path):
    few = {"Abmahnung": np.where(np.arange(400) % 10, "", RNG.choice(["1", "2"], 400))}
    most = {"Krankheit": RNG.choice(["a", "b"], 400), "Religion": RNG.choice(["a", "b"], 400), "Gehalt": CODES}
    pd.DataFrame(PEOPLE | few | most).to_csv(tmp_path / "a.csv", index=False)
    assert look(str(tmp_path / "a.csv"), Given()).data.sensitive == [*most]
