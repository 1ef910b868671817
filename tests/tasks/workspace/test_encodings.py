import time

import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.files.csv import read_csv
from synthrisk.tasks.workspace.files.encodings import beside_utf8, encoding_of

WEST, CENTRAL = "cp1252 latin_1 iso8859_15 cp850 mac_roman", "cp1250 iso8859_2 cp852"
TABLES = {  # encodings, and rows apart by bars
    "German": (WEST, "geschlecht,alter,beruf,ort|männlich,41,Bäcker,Köln|weiblich,37,Ärztin,Düsseldorf|"
        "männlich,29,Schlosser,Ulm|weiblich,58,Verkäuferin,Gießen|divers,22,Büroangestellte,Zürich"),
    "French": (WEST, "sexe,âge,état civil,ville|femme,34,mariée,Orléans|homme,51,célibataire,Besançon|"
        "femme,45,séparée,Nîmes|homme,63,veuf,Angoulême|femme,29,pacsée,Saint-Étienne"),
    "Spanish": (WEST, "sexo,edad,ocupación,ciudad|mujer,34,médica,Málaga|varón,51,albañil,La Coruña|"
        "mujer,45,enseñanza,Cádiz|varón,63,jubilación,León"),
    "Portuguese": (WEST, "sexo,idade,profissão,cidade|feminino,34,médica,São Paulo|masculino,51,eletricista,Brasília|"
        "feminino,45,cabeleireira,Goiânia|masculino,63,pensionista,Maceió|feminino,31,secretária,Bragança"),
    "Italian": (WEST, "sesso,età,città,attività|F,34,Forlì,libertà|M,51,Roma,perché|F,45,Cantù,sanità|"
        "M,63,Torino,università"),
    "Swedish": (WEST, "kön,ålder,yrke,ort|man,34,lärare,Malmö|kvinna,51,sjuksköterska,Göteborg|"
        "man,45,snickare,Västerås|kvinna,63,försäljare,Örebro"),
    "Danish": (WEST, "køn,alder,stilling,by|mand,34,lærer,København|kvinde,51,sygeplejerske,Aalborg|"
        "mand,45,tømrer,Tårnby|kvinde,63,pædagog,Næstved"),
    "Norwegian": ("cp1252 latin_1 iso8859_15 mac_roman", "kjønn,alder,yrke,sted|mann,34,lærer,Tromsø|"
        "kvinne,51,sykepleier,Ålesund|mann,45,rørlegger,Bodø|kvinne,63,frisør,Lillestrøm"),
    "Polish": (CENTRAL, "płeć,wiek,zawód,miasto|kobieta,34,pielęgniarka,Łódź|mężczyzna,51,kierowca,Gdańsk|"
        "kobieta,45,księgowa,Kraków|mężczyzna,63,emeryt,Częstochowa"),
    "Czech": (CENTRAL, "pohlaví,věk,povolání,město|žena,34,lékařka,Plzeň|muž,51,řidič,Třebíč|žena,45,účetní,Liberec|"
        "muž,63,důchodce,České Budějovice"),
    "Hungarian": (CENTRAL, "nem,életkor,foglalkozás,város|nő,34,ápolónő,Győr|férfi,51,gépkocsivezető,Szeged|"
        "nő,45,könyvelő,Pécs|férfi,63,nyugdíjas,Székesfehérvár"),
    "Turkish": ("cp1254 iso8859_9", "cinsiyet,yaş,meslek,şehir|kadın,34,öğretmen,İstanbul|erkek,51,şoför,Diyarbakır|"
        "kadın,45,hemşire,Muğla|erkek,63,emekli,Eskişehir"),
    "Greek": ("cp1253 iso8859_7", "φύλο,ηλικία,επάγγελμα,πόλη|γυναίκα,34,νοσοκόμα,Αθήνα|άνδρας,51,οδηγός,Θεσσαλονίκη|"
        "γυναίκα,45,λογίστρια,Πάτρα"),
    "Russian": ("cp1251 koi8_r iso8859_5 cp866", "пол,возраст,профессия,город|жен,34,медсестра,Москва|"
        "муж,51,водитель,Казань|жен,45,бухгалтер,Тверь"),
    "Ukrainian": ("cp1251 koi8_u", "стать,вік,професія,місто|жінка,34,медсестра,Київ|чоловік,51,водій,Львів|"
        "жінка,45,бухгалтер,Чернівці"),
    "Arabic": ("cp1256", "الجنس,العمر,المهنة,المدينة|أنثى,34,ممرضة,القاهرة|ذكر,51,سائق,بغداد|أنثى,45,محاسبة,دمشق|"
        "ذكر,63,متقاعد,الرياض"),
    "Hebrew": ("cp1255 iso8859_8", "מין,גיל,מקצוע,עיר|נקבה,34,אחות,ירושלים|זכר,51,נהג,חיפה|נקבה,45,רואת חשבון,תל אביב|"
        "זכר,63,פנסיונר,באר שבע"),
    "Japanese": ("cp932 euc_jp", "性別,年齢,職業,市|女性,34,看護師,大阪|男性,51,運転手,名古屋|"
        "女性,45,会社員,さいたま|男性,63,無職,東京"),
    "Chinese": ("gb18030 gbk gb2312", "性别,年龄,职业,城市|女,34,护士,北京|男,51,司机,上海|女,45,会计,广州|"
        "男,63,退休,重庆"),
    "Traditional Chinese": ("big5 cp950", "性別,年齡,職業,城市|女,34,護士,臺北|男,51,司機,高雄|女,45,會計,臺中|"
        "男,63,退休,新竹"),
    "Korean": ("euc_kr cp949", "성별,나이,직업,도시|여,34,간호사,서울|남,51,운전사,부산|여,45,회계사,대구|"
        "남,63,은퇴,인천"),
}  # fmt: skip
FEW = {  # two or three cells beyond ASCII
    "cp1252": ["Müller Köln", "Zürich Genève Graubünden", "Orléans marié", "SAINT-ÉTIENNE MARIÉE", "Málaga Coruña",
        "São Brasília", "Forlì città", "Malmö Västerås", "København Tårnby", "Tromsø Bodø Ålesund",
        "Jyväskylä Hämeenlinna", "£500 £75", "€500 €75", "20° 21°", "20–29 30–39 80–", "O’Brien don’t", "µg m² m³"],
    "cp1250": ["Gdańsk Łódź", "Kowalczyk Wójcik Zieliński", "Plzeň Dvořák", "Győr Pécs", "Petrović Šibenik",
        "Iaşi Timişoara Bucureşti"],
    "iso8859_2": ["Łódź Gdańsk Częstochowa"],
    "cp1255": ["ירושלים חיפה", "זכר נקבה"],
    "cp1256": ["القاهرة بغداد", "ذكر أنثى"],
    "cp1254": ["İstanbul Muğla kadın"],
    "cp1253": ["Αθήνα Πάτρα"],
    "cp1251": ["Москва Казань", "город врач", "СНИЛС"],
    "koi8_r": ["Москва Казань"],
    "cp932": ["東京 さいたま"],
    "gb18030": ["北京 上海 广州"],
    "big5": ["臺北 高雄"],
}  # fmt: skip


def table_in(language):
    encodings, rows = TABLES[language]
    return encodings, rows.replace("|", "\n") + "\n"


@pytest.mark.parametrize("language", TABLES)
def test_each_language_in_each_encoding(language):
    encodings, text = table_in(language)
    for encoding in (*encodings.split(), "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        raw = text.encode(encoding)
        found, guessed = encoding_of(raw)
        assert raw.decode(found) == text, (encoding, found)
        assert guessed == (not encoding.startswith("utf"))
        assert read_csv(raw, "a.csv").equals(read_csv(text.encode(), "a.csv"))
    # and none of them is taken for damaged UTF-8
    assert [beside_utf8(text.encode(encoding)) for encoding in encodings.split()] == [0] * len(encodings.split())


@pytest.mark.parametrize(("encoding", "words"), [(encoding, words) for encoding in FEW for words in FEW[encoding]])
def test_two_or_three_cells_beyond_ascii_tell_it(encoding, words):
    rows = [f"{i},{'male' if i % 2 else 'female'},Berlin" for i in range(500)]
    for i, word in enumerate(words.split(" ")):
        rows[100 * i + 57] = f"{i},male,{word}"
    text = "id,sex,city\n" + "\n".join(rows) + "\n"
    found, guessed = encoding_of(text.encode(encoding))
    assert guessed
    assert text.encode(encoding).decode(found) == text, found


def test_a_guess_is_told_with_the_western_name_where_several_encodings_read_the_same():
    assert encoding_of("a\nKöln\nMüller\n".encode("latin-1")) == ("cp1252", True)
    frame = read_csv("ort\nKöln\nMünchen\n".encode("cp1252"), "'a.csv'")
    assert frame.attrs["notes"] == [
        "'a.csv' is not in UTF-8: it was read as cp1252 (Western European), a guess by its letters; if some look "
        "wrong, save it as UTF-8"
    ]
    assert read_csv("ort\nKöln\n".encode("cp1252"), "a.csv", as_texts=True).attrs["notes"]
    assert "notes" not in read_csv("ort\nKöln\n".encode(), "a.csv").attrs


def test_the_whole_file_decodes_not_the_sample_alone_and_late_letters_are_seen():
    text = "ort\n" + "Köln\nMünchen\n" * 50_000
    raw = text.encode("cp1252") + b"\x81\n"  # no character of cp1252
    assert raw.decode(encoding_of(raw)[0])[: len(text)] == text
    late = b"id,city\n" + b"1,Berlin\n" * 100_000 + "2,Łódź\n3,Gdańsk\n".encode("cp1250")
    assert encoding_of(late) == ("cp1250", True)


@pytest.mark.parametrize("raw", [
    *(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", bytes(range(256)) * 40, b"\x00\x01\x02" * 99, b"a,b\n1,\0002\n"),
    *("a,b\n1,2\n".encode("utf-16")[:-1], b"\xef\xbb\xbfa\n\xff\n", b"%PDF-1.7\n\x1b\x04\x02\xe2\xe3\xcf\xd3\n"),
    b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0",
])  # fmt: skip
def test_what_is_no_text_is_refused(raw):
    assert encoding_of(raw) is None
    told = r"must be text, (in UTF-8 or another encoding that can be told; got neither|got NUL bytes)"
    with pytest.raises(InputError, match=told):
        read_csv(raw, "a.csv")


@pytest.mark.parametrize("language", ["German", "Polish", "Russian", "Chinese"])
def test_utf_8_with_a_few_other_bytes_is_refused_not_guessed(language):
    rows = table_in(language)[1].encode()
    for raw in (rows + b"caf\xe9,1,2,3\n", (rows + "ż".encode())[:-1]):
        with pytest.raises(InputError, match="must be text in one encoding, got UTF-8 but for 1 byte that is not"):
            read_csv(raw, "a.csv")


def test_a_large_file_is_told_quickly_and_always_as_the_same():
    raw = "имя;город\n".encode("cp1251") + "".join(f"Иванов {i};Москва\n" for i in range(200_000)).encode("cp1251")
    start = time.perf_counter()
    assert encoding_of(raw) == encoding_of(raw) == ("cp1251", True)
    assert time.perf_counter() - start < 10
