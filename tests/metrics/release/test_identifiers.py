"""Whose values are in the columns of a release that no attack looks at."""

import json

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.release.identifiers import as_plain, folded, from_plain, in_all, released_values

N = 3000
MEMBER = np.arange(2 * N) < N


def people(n=2 * N, start=0):
    names = [f"person{start + i}" for i in range(n)]
    return pd.DataFrame(
        {"mail": [f"{name}@example.org" for name in names], "number": [f"M{start + i:06d}" for i in range(n)]}
    )


PEOPLE = people()


def look(real, release, member=MEMBER, **options):
    found = released_values(real, member, release, **options)
    return {each.column: each for each in found}


def test_members_mail_addresses_in_fresh_rows_are_a_risk_that_counts_the_people():
    found = look(PEOPLE, PEOPLE[:N].sample(frac=1, random_state=0))
    assert found["mail"].severity == found["number"].severity == "risk"
    assert found["mail"].words == (
        "mail: values of 3,000 of 3,000 people in the data are in the release, of 0 of 3,000 other people"
    )


def test_chance_is_told_where_no_other_people_stand_beside():
    rng = np.random.default_rng(0)
    real = pd.DataFrame({"number": rng.choice(10_000, 4_000, replace=False)})
    release = pd.concat([real[:1_000], pd.DataFrame({"number": rng.choice(10_000, 1_000, replace=False)})])
    with_others = look(real, release, np.arange(4_000) < 2_000)["number"]
    alone = look(real[:2_000], release, np.ones(2_000, dtype=bool))["number"]
    assert with_others.severity == alone.severity == "risk"
    assert with_others.words.endswith(f"of {with_others.controls:,} of 2,000 other people")
    assert "; chance explains " in alone.words


def test_invented_identifiers_are_worth_no_word():
    found = look(PEOPLE, people(N, start=90_000))
    assert [(each.severity, each.words, each.members) for each in found.values()] == [("", "", 0)] * 2


def test_one_in_a_thousand_of_many_people_is_seen_and_fewer_are_not():
    n = 20_000
    real, member = people(2 * n), np.arange(2 * n) < n
    invented = people(n, start=900_000)
    for count, severity in ((20, "risk"), (19, "")):
        found = look(real, pd.concat([real[:count], invented[count:]]), member)["mail"]
        assert (found.members, found.severity) == (count, severity)


@pytest.mark.parametrize(("released", "controls"), [(9, 1000), (26, 300), (70, 100), (295, 20), (12, 0)])
def test_few_addresses_or_few_control_records_hide_nothing(released, controls):
    """Fisher's test beside so few others alone would say nothing, or speak of a list that both share."""
    real, member = people(1000 + controls), np.arange(1000 + controls) < 1000
    release = pd.concat([real[:released], people(1000 - released, start=90_000)])
    assert look(real, release, member)["mail"].severity == "risk"


def test_numbers_that_meet_by_chance_are_no_risk_beside_few_control_records():
    """A thousand of ten thousand numbers, none twice: one in ten meets, of 20 control records often none."""
    risks = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        real = pd.DataFrame({"number": rng.choice(10_000, 1020, replace=False)})
        release = pd.DataFrame({"number": rng.choice(10_000, 1000, replace=False)})
        risks += look(real, release, np.arange(1020) < 1000)["number"].severity == "risk"
    assert risks == 0


@pytest.mark.parametrize(
    "disguise",
    [
        str.upper,
        lambda text: f"  {text} ",
        lambda text: text.replace("@", " @ ").replace("person", "Pérson"),
        lambda text: text.replace(".", "-"),
    ],
)
def test_case_spaces_accents_and_separators_hide_nothing(disguise):
    release = PEOPLE[["mail"]][:N].assign(mail=lambda frame: frame["mail"].map(disguise))
    found = look(PEOPLE[["mail"]], release)["mail"]
    assert (found.severity, found.way, found.members) == ("risk", "folded", N)
    assert "without case, spaces, accents and separators" in found.words


def test_numbers_are_found_whatever_type_they_were_read_as():
    real = pd.DataFrame({"phone": [f"0664{i:07d}" for i in range(2 * N)]})
    for released in (
        real["phone"][:N].astype(int),
        real["phone"][:N].astype(float),
        real["phone"][:N].astype("category"),
    ):
        assert look(real, released.to_frame())["phone"].severity == "risk"


def test_a_list_that_strangers_stand_on_as_often_is_a_note():
    codes = np.array([f"street {i}" for i in range(4 * N)])
    rng = np.random.default_rng(1)
    real = pd.DataFrame({"street": rng.choice(codes, 2 * N, replace=False)})
    found = look(real, pd.DataFrame({"street": codes}))["street"]
    assert (found.severity, found.members, found.controls) == ("note", N, N)
    assert "a list that both share" in found.words


@pytest.mark.parametrize("levels", [4, 300, 4000])
@pytest.mark.parametrize("with_control", [True, False])
def test_values_that_people_share_are_explained_by_chance(levels, with_control):
    risks = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        real = pd.DataFrame({"town": [f"town {i}" for i in rng.zipf(1.3, 2 * N) % levels]})
        release = pd.DataFrame({"town": [f"town {i}" for i in rng.zipf(1.3, N) % levels]})
        own = slice(None) if with_control else slice(N)
        found = look(real[own], release, MEMBER[own])["town"]
        risks += found.severity == "risk"
        assert found.expected == pytest.approx(found.members / N, abs=0.06)
    assert risks == 0


def test_without_control_records_members_are_beside_chance_alone():
    assert look(PEOPLE[:N], PEOPLE[:N], MEMBER[:N])["mail"].severity == "risk"
    numbers = pd.DataFrame({"id": np.random.default_rng(1).choice(10_000, N, replace=False)})
    others = pd.DataFrame({"id": np.random.default_rng(2).choice(10_000, N, replace=False)})
    assert look(numbers, others, MEMBER[:N])["id"].severity == ""
    far = pd.DataFrame({"id": numbers["id"] * 1_000_003})
    assert look(far, far, MEMBER[:N])["id"].severity == "risk"


def test_a_column_that_numbers_the_rows_is_no_identifier():
    real = pd.DataFrame({"id": np.arange(1, 2 * N + 1)})
    release = pd.DataFrame({"id": np.arange(1, N + 1)})
    assert look(real, release)["id"].severity == "note"
    assert look(real, release.sample(frac=1, random_state=0))["id"].severity == "risk"


def test_people_are_counted_not_their_records():
    real = pd.concat([PEOPLE] * 3, ignore_index=True)
    found = look(real, PEOPLE[:100], np.tile(MEMBER, 3), entities=np.tile(np.arange(2 * N), 3))["mail"]
    assert (found.members, found.of_members, found.of_controls) == (100, N, N)
    assert found.expected == 0


def test_records_that_the_release_was_drawn_from_are_neither_members_nor_others():
    member = pd.array(MEMBER, dtype="boolean")
    member[N : N + 1000] = pd.NA
    found = look(PEOPLE, PEOPLE[N : N + 1000], member)["mail"]
    assert (found.members, found.controls, found.of_controls, found.severity) == (0, 0, 2000, "")


def test_sentences_out_of_free_texts_are_found_and_standing_phrases_are_not():
    rng = np.random.default_rng(3)
    words = np.array([f"word{i}" for i in range(500)])
    phrase = "no further action is needed at this point in time"

    def texts(n):
        return [" ".join([*rng.choice(words, 30), phrase]) for _ in range(n)]

    real = pd.DataFrame({"note": texts(400)})
    member = np.arange(400) < 200
    fresh = pd.DataFrame({"note": texts(200)})
    found = look(real, fresh, member)["note"]
    assert (found.members, found.controls, found.severity) == (0, 0, "")
    own_words = [" ".join([*text.upper().split()[5:17], "and", "more"]) for text in real["note"][:50]]
    found = look(real.assign(note=real["note"].str.removesuffix(phrase)), fresh.assign(note=own_words * 4), member)[
        "note"
    ]
    assert (found.severity, found.way, found.members, found.controls) == ("risk", "sequence", 50, 0)
    assert found.words.startswith("note: sequences of 8 words or more of 50 of 200 people")


def test_a_renamed_identifier_is_found_in_a_column_that_the_real_table_does_not_have():
    real = PEOPLE.assign(age=np.arange(2 * N) % 70)
    release = pd.DataFrame({"contact": PEOPLE["mail"][:N], "score": np.linspace(0, 1, N)})
    found = look(real, release)
    assert found["contact"].severity == "risk"
    assert found["contact"].real == "mail"
    assert "under this name" in found["contact"].words
    assert found["score"].severity == "note"
    assert "the real table does not have" in found["score"].words


WRAPPED = {
    "a scheme": lambda mail: f"mailto:{mail}",
    "brackets": lambda mail: f"<{mail.upper()}>",
    "a sentence": lambda mail: f"Call back tomorrow, or write to {mail}.",
}


@pytest.fixture(scope="module")
def employed():
    """Give people with remarks and jobs, and a release of strangers in which nothing is found."""
    rng = np.random.default_rng(0)
    real = PEOPLE.assign(remark="nothing to tell", job=rng.choice(["cook", "nurse"], 2 * N))
    strangers = people(N, start=90_000).assign(remark="nothing to tell", job="cook")
    for attacked in ((), ("job",)):
        assert not any(each.severity for each in look(real, strangers, attacked=attacked).values())
    return real, strangers


@pytest.mark.parametrize(
    ("where", "wrapped", "attacked"),
    [  # each column in some way, each way in some column
        *(("mail", wrapped, ()) for wrapped in WRAPPED),
        ("remark", "a sentence", ()),
        ("job", "brackets", ()),
        ("new", "a scheme", ()),
        ("job", "a sentence", ("job",)),
        ("new", "a sentence", ("job",)),
    ],
)
def test_an_address_inside_a_longer_text_is_found_in_every_column(employed, where, wrapped, attacked):
    (real, strangers), wrapped = employed, WRAPPED[wrapped]
    invented = strangers.assign(**{where: strangers["mail"].map(wrapped)})
    assert not any(each.severity == "risk" for each in look(real, invented, attacked=attacked).values())
    found = look(real, strangers.assign(**{where: real["mail"][:N].map(wrapped)}), attacked=attacked)[where]
    assert (found.severity, found.members, found.controls, found.real) == ("risk", N, 0, "mail")
    if found.way == "inside":
        told = f"{where}: values of column 'mail' are inside its texts, of 3,000 of 3,000 people in the data"
        assert found.words.startswith(told)


def test_a_name_of_several_words_is_found_inside_a_text():
    rng = np.random.default_rng(1)
    parts = rng.integers(0, 2000, (2 * N, 2))
    real = pd.DataFrame({"name": [f"Given{a} Sur-name{b}" for a, b in parts], "remark": "none"})
    fresh = pd.DataFrame({"name": [f"New{i} Sur-name" for i in range(N)], "remark": "none"})
    told = real["name"][:N].map("Visited by {}, who stayed.".format)
    found = look(real, fresh.assign(remark=told))["remark"]
    assert (found.severity, found.real, found.controls) == ("risk", "name", found.controls)
    assert found.members > 0.99 * N


def test_short_codes_and_shared_words_inside_texts_are_no_identifiers():
    real = PEOPLE.assign(code=[f"{i % 5000}" for i in range(2 * N)], word=np.resize(["winter", "summer"], 2 * N))
    fresh = people(N, start=90_000).assign(code="x", word="x", remark=[f"In winter 1 of {i}" for i in range(N)])
    assert look(real, fresh)["remark"].severity == "note"  # a column that the real table does not have


def test_the_name_of_an_extra_column_is_not_told_where_it_holds_a_value():
    real = pd.DataFrame({"town": ["Ulm", "Bonn"] * 30})
    found = released_values(real, np.ones(60, dtype=bool), pd.DataFrame({"town_Ulm": [0, 1], "town_of": [1, 0]}))
    assert [each.column for each in found] == ["column 1 beside those attacked", "town_of"]
    assert "Ulm" not in json.dumps(as_plain(found))


def test_of_attacked_columns_only_what_names_persons_is_told_and_never_as_a_risk():
    real = PEOPLE.assign(town=np.where(np.arange(2 * N) % 2, "Ulm", "Bonn"), age=np.arange(2 * N))
    found = look(real, real[:N], attacked=["mail", "number", "town", "age"])
    assert {name: each.severity for name, each in found.items()} == {"mail": "note", "number": "note", "town": ""}


def test_no_value_is_in_what_is_handed_on():
    found = released_values(PEOPLE, MEMBER, PEOPLE[:N])
    text = json.dumps(as_plain(found))
    assert "@" not in text
    assert "M0000" not in text
    assert from_plain(json.loads(text)) == found


def test_order_of_rows_and_columns_changes_nothing():
    turned = PEOPLE.iloc[::-1, ::-1]
    release = PEOPLE[:N].iloc[::-1, ::-1]
    assert look(turned, release, MEMBER[::-1]) == look(PEOPLE, PEOPLE[:N])


def test_releases_of_a_synthesizer_are_told_together():
    risky = released_values(PEOPLE, MEMBER, PEOPLE[:N])
    clean = released_values(PEOPLE, MEMBER, people(N, start=90_000))
    both = in_all([risky, clean, risky])
    assert both.risk.startswith("2 of 3 releases: mail: values of 3,000 of 3,000")
    assert both.share == 1
    assert in_all([clean]).risk == ""


@pytest.mark.parametrize("value", [None, "", "--"])
def test_cells_that_say_nothing_are_no_values(value):
    real = pd.DataFrame({"note": [value] * 100})
    found = look(real, real[:50], np.arange(100) < 50)["note"]
    assert found.severity == ""


def test_folding_keeps_letters_of_every_script():
    assert folded("Ἀθῆναι-42") == folded("αθηναι 42")
    assert folded("Müller") == folded("MULLER")
    assert folded("東京 1") != folded("京都 1")
