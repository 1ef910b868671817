"""What the names of columns say, in many languages, and what they do not."""

import pytest

from synthrisk.tasks.propose.names import says, topic


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
])  # fmt: skip
def test_a_name_speaks_of(name, list_of, expected):
    assert topic(name, list_of) == expected
    assert says("NPA", "codes")
    assert says("Land (acres)", "counted")
