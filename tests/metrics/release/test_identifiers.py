"""Whose values are in the columns of a release that no attack looks at."""

import json

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.release.identifiers import as_plain, folded, from_plain, in_all, released_values

N = 1000
MEMBER = np.arange(2 * N) < N


def people(n=2 * N, start=0):
    names = [f"person{start + i}" for i in range(n)]
    return pd.DataFrame(
        {"mail": [f"{name}@example.org" for name in names], "number": [f"M{start + i:06d}" for i in range(n)]}
    )


PEOPLE, STRANGERS = people(), people(N, start=90_000)


def look(real, release, member=MEMBER, **options):
    found = released_values(real, member, release, **options)
    return {each.column: each for each in found}


def test_chance_is_told_where_no_other_people_stand_beside():
    rng = np.random.default_rng(0)
    real = pd.DataFrame({"number": rng.choice(10_000, 4_000, replace=False)})
    release = pd.concat([real[:1_000], pd.DataFrame({"number": rng.choice(10_000, 1_000, replace=False)})])
    with_others = look(real, release, np.arange(4_000) < 2_000)["number"]
    alone = look(real[:2_000], release, np.ones(2_000, dtype=bool))["number"]
    assert with_others.severity == alone.severity == "risk"
    assert with_others.words.endswith(f"of {with_others.controls:,} of 2,000 other people")
    assert "; chance explains " in alone.words
    assert look(PEOPLE[:N], PEOPLE[:N], MEMBER[:N])["mail"].severity == "risk"
    numbers, others = (pd.DataFrame({"id": np.random.default_rng(s).choice(10_000, N, replace=False)}) for s in (1, 2))
    assert look(numbers, others, MEMBER[:N])["id"].severity == ""
    assert look(numbers * 1_000_003, numbers * 1_000_003, MEMBER[:N])["id"].severity == "risk"


def test_invented_identifiers_are_worth_no_word():
    found = look(PEOPLE, STRANGERS)
    assert [(each.severity, each.words, each.members) for each in found.values()] == [("", "", 0)] * 2


def test_one_in_a_thousand_of_many_people_is_seen_and_fewer_are_not():
    n = 12_000
    real, member = people(2 * n)[["mail"]], np.arange(2 * n) < n
    invented = people(n, start=900_000)[["mail"]]
    for count, severity in ((12, "risk"), (11, "")):
        found = look(real, pd.concat([real[:count], invented[count:]]), member)["mail"]
        assert (found.members, found.severity) == (count, severity)


@pytest.mark.parametrize(("released", "controls"), [(9, 1000), (26, 300), (70, 100), (295, 20), (12, 0)])
def test_few_addresses_or_few_control_records_hide_nothing(released, controls):
    real, member = people(1000 + controls), np.arange(1000 + controls) < 1000
    release = pd.concat([real[:released], STRANGERS[: 1000 - released]])
    assert look(real, release, member)["mail"].severity == "risk"


def test_numbers_that_meet_by_chance_are_no_risk_beside_few_control_records():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        real, release = (pd.DataFrame({"number": rng.choice(10_000, n, replace=False)}) for n in (1020, 1000))
        assert look(real, release, np.arange(1020) < 1000)["number"].severity != "risk"


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
    for kind in (int, float, "category"):
        assert look(real, real[:N].astype(kind))["phone"].severity == "risk"


def test_a_list_that_strangers_stand_on_as_often_is_a_note():
    codes, rng = np.array([f"street {i}" for i in range(4 * N)]), np.random.default_rng(1)
    real = pd.DataFrame({"street": rng.choice(codes, 2 * N, replace=False)})
    found = look(real, pd.DataFrame({"street": codes}))["street"]
    assert (found.severity, found.members, found.controls) == ("note", N, N)
    assert "a list that both share" in found.words


@pytest.mark.parametrize("levels", [4, 300, 4000])
@pytest.mark.parametrize("with_control", [True, False])
def test_values_that_people_share_are_explained_by_chance(levels, with_control):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        real, release = (pd.DataFrame({"town": [f"town {i}" for i in rng.zipf(1.3, n) % levels]}) for n in (2 * N, N))
        own = slice(None) if with_control else slice(N)
        found = look(real[own], release, MEMBER[own])["town"]
        assert found.severity != "risk"
        assert found.expected == pytest.approx(found.members / N, abs=0.06)


def test_a_column_that_numbers_the_rows_is_no_identifier():
    real, release = (pd.DataFrame({"id": np.arange(1, n + 1)}) for n in (2 * N, N))
    assert look(real, release)["id"].severity == "note"
    assert look(real, release.sample(frac=1, random_state=0))["id"].severity == "risk"


def test_people_are_counted_not_their_records():
    real = pd.concat([PEOPLE] * 3, ignore_index=True)
    found = look(real, PEOPLE[:100], np.tile(MEMBER, 3), entities=np.tile(np.arange(2 * N), 3))["mail"]
    assert (found.members, found.of_members, found.of_controls) == (100, N, N)
    assert found.expected == 0


def test_records_that_the_release_was_drawn_from_are_neither_members_nor_others():
    member = pd.array(MEMBER, dtype="boolean")
    member[N : N + 300] = pd.NA
    found = look(PEOPLE, PEOPLE[N : N + 300], member)["mail"]
    assert (found.members, found.controls, found.of_controls, found.severity) == (0, 0, 700, "")


def test_sentences_out_of_free_texts_are_found_and_standing_phrases_are_not():
    rng, words = np.random.default_rng(3), np.array([f"word{i}" for i in range(500)])
    phrase = "no further action is needed at this point in time"

    def texts(n):
        return pd.DataFrame({"note": [" ".join([*rng.choice(words, 30), phrase]) for _ in range(n)]})

    real, fresh, member = texts(400), texts(200), np.arange(400) < 200
    found = look(real, fresh, member)["note"]
    assert (found.members, found.controls, found.severity) == (0, 0, "")
    own_words = [" ".join([*text.upper().split()[5:17], "and", "more"]) for text in real["note"][:50]]
    bare = real.assign(note=real["note"].str.removesuffix(phrase))
    found = look(bare, fresh.assign(note=own_words * 4), member)["note"]
    assert (found.severity, found.way, found.members, found.controls) == ("risk", "sequence", 50, 0)
    assert found.words.startswith("note: sequences of 8 words or more of 50 of 200 people")


def test_a_renamed_identifier_is_found_in_a_column_that_the_real_table_does_not_have():
    real = PEOPLE.assign(age=np.arange(2 * N) % 70)
    release = pd.DataFrame({"contact": PEOPLE["mail"][:N], "score": np.linspace(0, 1, N)})
    found = look(real, release)
    assert (found["contact"].severity, found["contact"].real) == ("risk", "mail")
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
    strangers = STRANGERS.assign(remark="nothing to tell", job="cook")
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
        told = f"{where}: values of column 'mail' are inside its texts, of 1,000 of 1,000 people in the data"
        assert found.words.startswith(told)


def test_a_name_of_several_words_is_found_inside_a_text():
    rng = np.random.default_rng(1)
    parts = rng.integers(0, 2000, (2 * N, 2))
    real = pd.DataFrame({"name": [f"Given{a} Sur-name{b}" for a, b in parts], "remark": "none"})
    fresh = pd.DataFrame({"name": [f"New{i} Sur-name" for i in range(N)], "remark": "none"})
    told = real["name"][:N].map("Visited by {}, who stayed.".format)
    found = look(real, fresh.assign(remark=told))["remark"]
    assert (found.severity, found.real) == ("risk", "name")
    assert found.members > 0.99 * N


def test_short_codes_and_shared_words_inside_texts_are_no_identifiers():
    real = PEOPLE.assign(code=[f"{i % 1700}" for i in range(2 * N)], word=np.resize(["winter", "summer"], 2 * N))
    fresh = STRANGERS.assign(code="x", word="x", remark=[f"In winter 1 of {i}" for i in range(N)])
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


@pytest.mark.parametrize(("shared", "severity"), [(9, "note"), (11, "")])
def test_values_name_persons_where_nine_in_ten_have_one_of_their_own(shared, severity):
    real = pd.DataFrame({"code": [f"c{i}" if i % 100 >= shared else "everybody's" for i in range(2 * N)]})
    assert look(real, real[:N], attacked=["code"])["code"].severity == severity


@pytest.mark.parametrize(("controls", "told"), [(20, "of 0 of 20 other people"), (19, "in the release")])
def test_twenty_control_records_are_the_fewest_to_compare_with(controls, told):
    real, member = people(N + controls), np.arange(N + controls) < N
    assert look(real, real[:N], member)["mail"].words.endswith(told)


def test_no_value_is_in_what_is_handed_on():
    found = released_values(PEOPLE, MEMBER, PEOPLE[:N])
    text = json.dumps(as_plain(found))
    assert not [value for value in ("@", "M0000") if value in text]
    assert from_plain(json.loads(text)) == found


def test_order_of_rows_and_columns_changes_nothing():
    turned = PEOPLE.iloc[::-1, ::-1]
    assert look(turned, PEOPLE[:N].iloc[::-1, ::-1], MEMBER[::-1]) == look(PEOPLE, PEOPLE[:N])


def test_releases_of_a_synthesizer_are_told_together():
    risky, clean = (released_values(PEOPLE, MEMBER, release) for release in (PEOPLE[:N], STRANGERS))
    both = in_all([risky, clean, risky])
    assert both.risk.startswith("2 of 3 releases: mail: values of 1,000 of 1,000")
    assert (both.share, in_all([clean]).risk) == (1, "")


@pytest.mark.parametrize("value", [None, "", "--"])
def test_cells_that_say_nothing_are_no_values(value):
    real = pd.DataFrame({"note": [value] * 100})
    assert look(real, real[:50], np.arange(100) < 50)["note"].severity == ""


def test_folding_keeps_letters_of_every_script():
    assert (folded("Ἀθῆναι-42"), folded("Müller")) == (folded("αθηναι 42"), folded("MULLER"))
    assert folded("東京 1") != folded("京都 1")
