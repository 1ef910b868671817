"""Tables in many languages, written in each encoding that is usual for them, are read as they were."""

import time

import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.files.csv import read_csv
from synthrisk.tasks.workspace.files.encodings import beside_utf8, encoding_of

WEST, CENTRAL = "cp1252 latin_1 iso8859_15 cp850 mac_roman", "cp1250 iso8859_2 cp852"
TABLES = {
    "German": (
        WEST,
        "geschlecht,alter,beruf,ort\nmännlich,41,Bäcker,Köln\nweiblich,37,Ärztin,Düsseldorf\nmännlich,29,Schlosser,Ulm\n"
        "weiblich,58,Verkäuferin,Gießen\ndivers,22,Büroangestellte,Zürich\n",
    ),
    "French": (
        WEST,
        "sexe,âge,état civil,ville\nfemme,34,mariée,Orléans\nhomme,51,célibataire,Besançon\nfemme,45,séparée,Nîmes\n"
        "homme,63,veuf,Angoulême\nfemme,29,pacsée,Saint-Étienne\n",
    ),
    "Spanish": (
        WEST,
        "sexo,edad,ocupación,ciudad\nmujer,34,médica,Málaga\nvarón,51,albañil,La Coruña\nmujer,45,enseñanza,Cádiz\n"
        "varón,63,jubilación,León\n",
    ),
    "Portuguese": (
        WEST,
        "sexo,idade,profissão,cidade\nfeminino,34,médica,São Paulo\nmasculino,51,eletricista,Brasília\n"
        "feminino,45,cabeleireira,Goiânia\nmasculino,63,pensionista,Maceió\nfeminino,31,secretária,Bragança\n",
    ),
    "Italian": (
        WEST,
        "sesso,età,città,attività\nF,34,Forlì,libertà\nM,51,Roma,perché\nF,45,Cantù,sanità\nM,63,Torino,università\n",
    ),
    "Swedish": (
        WEST,
        "kön,ålder,yrke,ort\nman,34,lärare,Malmö\nkvinna,51,sjuksköterska,Göteborg\nman,45,snickare,Västerås\n"
        "kvinna,63,försäljare,Örebro\n",
    ),
    "Danish": (
        "cp1252 latin_1 iso8859_15 cp850 mac_roman",
        "køn,alder,stilling,by\nmand,34,lærer,København\nkvinde,51,sygeplejerske,Aalborg\nmand,45,tømrer,Tårnby\n"
        "kvinde,63,pædagog,Næstved\n",
    ),
    "Norwegian": (
        "cp1252 latin_1 iso8859_15 mac_roman",
        "kjønn,alder,yrke,sted\nmann,34,lærer,Tromsø\nkvinne,51,sykepleier,Ålesund\nmann,45,rørlegger,Bodø\n"
        "kvinne,63,frisør,Lillestrøm\n",
    ),
    "Polish": (
        CENTRAL,
        "płeć,wiek,zawód,miasto\nkobieta,34,pielęgniarka,Łódź\nmężczyzna,51,kierowca,Gdańsk\nkobieta,45,księgowa,Kraków\n"
        "mężczyzna,63,emeryt,Częstochowa\n",
    ),
    "Czech": (
        CENTRAL,
        "pohlaví,věk,povolání,město\nžena,34,lékařka,Plzeň\nmuž,51,řidič,Třebíč\nžena,45,účetní,Liberec\n"
        "muž,63,důchodce,České Budějovice\n",
    ),
    "Hungarian": (
        CENTRAL,
        "nem,életkor,foglalkozás,város\nnő,34,ápolónő,Győr\nférfi,51,gépkocsivezető,Szeged\nnő,45,könyvelő,Pécs\n"
        "férfi,63,nyugdíjas,Székesfehérvár\n",
    ),
    "Turkish": (
        "cp1254 iso8859_9",
        "cinsiyet,yaş,meslek,şehir\nkadın,34,öğretmen,İstanbul\nerkek,51,şoför,Diyarbakır\nkadın,45,hemşire,Muğla\n"
        "erkek,63,emekli,Eskişehir\n",
    ),
    "Greek": (
        "cp1253 iso8859_7",
        "φύλο,ηλικία,επάγγελμα,πόλη\nγυναίκα,34,νοσοκόμα,Αθήνα\nάνδρας,51,οδηγός,Θεσσαλονίκη\nγυναίκα,45,λογίστρια,Πάτρα\n",
    ),
    "Russian": (
        "cp1251 koi8_r iso8859_5 cp866",
        "пол,возраст,профессия,город\nжен,34,медсестра,Москва\nмуж,51,водитель,Казань\nжен,45,бухгалтер,Тверь\n",
    ),
    "Ukrainian": (
        "cp1251 koi8_u",
        "стать,вік,професія,місто\nжінка,34,медсестра,Київ\nчоловік,51,водій,Львів\nжінка,45,бухгалтер,Чернівці\n",
    ),
    "Japanese": (
        "cp932 euc_jp",
        "性別,年齢,職業,市\n女性,34,看護師,大阪\n男性,51,運転手,名古屋\n女性,45,会社員,さいたま\n男性,63,無職,東京\n",
    ),
    "Chinese": (
        "gb18030 gbk gb2312",
        "性别,年龄,职业,城市\n女,34,护士,北京\n男,51,司机,上海\n女,45,会计,广州\n男,63,退休,重庆\n",
    ),
    "Traditional Chinese": (
        "big5 cp950",
        "性別,年齡,職業,城市\n女,34,護士,臺北\n男,51,司機,高雄\n女,45,會計,臺中\n男,63,退休,新竹\n",
    ),
    "Korean": (
        "euc_kr cp949",
        "성별,나이,직업,도시\n여,34,간호사,서울\n남,51,운전사,부산\n여,45,회계사,대구\n남,63,은퇴,인천\n",
    ),
}
FEW = {  # two or three cells beyond ASCII
    "German": ("cp1252", "Müller Köln"),
    "Swiss": ("cp1252", "Zürich Genève Graubünden"),
    "French": ("cp1252", "Orléans marié"),
    "French capitals": ("cp1252", "SAINT-ÉTIENNE MARIÉE"),
    "Spanish": ("cp1252", "Málaga Coruña"),
    "Portuguese": ("cp1252", "São Brasília"),
    "Italian": ("cp1252", "Forlì città"),
    "Swedish": ("cp1252", "Malmö Västerås"),
    "Danish": ("cp1252", "København Tårnby"),
    "Norwegian": ("cp1252", "Tromsø Bodø Ålesund"),
    "Finnish": ("cp1252", "Jyväskylä Hämeenlinna"),
    "Polish": ("cp1250", "Gdańsk Łódź"),
    "Polish names": ("cp1250", "Kowalczyk Wójcik Zieliński"),
    "Polish of old": ("iso8859_2", "Łódź Gdańsk Częstochowa"),
    "Czech": ("cp1250", "Plzeň Dvořák"),
    "Hungarian": ("cp1250", "Győr Pécs"),
    "Croatian": ("cp1250", "Petrović Šibenik"),
    "Romanian": ("cp1250", "Iaşi Timişoara Bucureşti"),
    "Turkish": ("cp1254", "İstanbul Muğla kadın"),
    "Greek": ("cp1253", "Αθήνα Πάτρα"),
    "Russian": ("cp1251", "Москва Казань"),
    "Russian of old": ("koi8_r", "Москва Казань"),
    "Japanese": ("cp932", "東京 さいたま"),
    "Chinese": ("gb18030", "北京 上海 广州"),
    "Traditional Chinese": ("big5", "臺北 高雄"),
    "money": ("cp1252", "£500 £75"),
    "euros": ("cp1252", "€500 €75"),
    "degrees": ("cp1252", "20° 21°"),
    "dashes": ("cp1252", "20–29 30–39 80–"),
    "apostrophe": ("cp1252", "O’Brien don’t"),
    "microgram": ("cp1252", "µg m² m³"),
}


@pytest.mark.parametrize("language", TABLES)
def test_each_language_in_each_encoding(language):
    encodings, text = TABLES[language]
    for encoding in (*encodings.split(), "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        raw = text.encode(encoding)
        found, guessed = encoding_of(raw)
        assert raw.decode(found) == text, (encoding, found)
        assert guessed == (not encoding.startswith("utf"))
        assert read_csv(raw, "a.csv").equals(read_csv(text.encode(), "a.csv"))


@pytest.mark.parametrize("language", FEW)
def test_two_or_three_cells_beyond_ascii_tell_it(language):
    encoding, words = FEW[language]
    rows = [f"{i},{'male' if i % 2 else 'female'},Berlin" for i in range(500)]
    for i, word in enumerate(words.split(" ")):
        rows[100 * i + 57] = f"{i},male,{word}"
    text = "id,sex,city\n" + "\n".join(rows) + "\n"
    found, guessed = encoding_of(text.encode(encoding))
    assert guessed
    assert text.encode(encoding).decode(found) == text, found


def test_western_names_are_given_where_several_encodings_read_the_same():
    assert encoding_of("a\nKöln\nMüller\n".encode("latin-1")) == ("cp1252", True)


def test_a_guess_is_told():
    frame = read_csv("ort\nKöln\nMünchen\n".encode("cp1252"), "'a.csv'")
    assert frame.attrs["notes"] == [
        "'a.csv' is not in UTF-8: it was read as cp1252 (Western European), a guess by its letters; if some look "
        "wrong, save it as UTF-8"
    ]
    assert read_csv("ort\nKöln\n".encode("cp1252"), "a.csv", as_texts=True).attrs["notes"]
    assert "notes" not in read_csv("ort\nKöln\n".encode(), "a.csv").attrs


def test_the_whole_file_decodes_not_the_sample_alone():
    text = "ort\n" + "Köln\nMünchen\n" * 50_000
    raw = text.encode("cp1252") + b"\x81\n"  # no character of cp1252
    found, _ = encoding_of(raw)
    assert raw.decode(found)[: len(text)] == text


def test_late_letters_are_seen():
    raw = b"id,city\n" + b"1,Berlin\n" * 100_000 + "2,Łódź\n3,Gdańsk\n".encode("cp1250")
    assert encoding_of(raw) == ("cp1250", True)


@pytest.mark.parametrize(
    "raw",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0",
        bytes(range(256)) * 40,
        b"\x00\x01\x02" * 99,
        b"a,b\n1,\0002\n",
        "a,b\n1,2\n".encode("utf-16")[:-1],
        b"\xef\xbb\xbfa\n\xff\n",
        b"%PDF-1.7\n\x1b\x04\x02\xe2\xe3\xcf\xd3\n",
        b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0",
    ],
)
def test_what_is_no_text_is_refused(raw):
    assert encoding_of(raw) is None
    with pytest.raises(
        InputError, match=r"must be text, (in UTF-8 or another encoding that can be told; got neither|got NUL bytes)"
    ):
        read_csv(raw, "a.csv")


@pytest.mark.parametrize("language", ["German", "Polish", "Russian", "Chinese"])
def test_utf_8_with_a_few_other_bytes_is_refused_not_guessed(language):
    rows = TABLES[language][1].encode()
    for raw in (rows + b"caf\xe9,1,2,3\n", (rows + "ż".encode())[:-1]):
        with pytest.raises(InputError, match="must be text in one encoding, got UTF-8 but for 1 bytes that are not"):
            read_csv(raw, "a.csv")


@pytest.mark.parametrize("language", TABLES)
def test_no_other_encoding_is_taken_for_damaged_utf_8(language):
    encodings, text = TABLES[language]
    assert [beside_utf8(text.encode(encoding)) for encoding in encodings.split()] == [0] * len(encodings.split())


def test_a_large_file_is_told_quickly_and_always_as_the_same():
    raw = "имя;город\n".encode("cp1251") + "".join(f"Иванов {i};Москва\n" for i in range(200_000)).encode("cp1251")
    start = time.perf_counter()
    assert encoding_of(raw) == encoding_of(raw) == ("cp1251", True)
    assert time.perf_counter() - start < 10
