"""Secrets in addresses are seen in every form, nothing else is taken for one, and what was filled in is never told."""

import html
import json
import logging
import traceback
from urllib.parse import quote, quote_plus

import pytest

from synthrisk.conf.secrets import has_secret, mask, masked, masking, resolve, without_secrets
from synthrisk.metrics.errors import InputError

WRITTEN = [
    *("http://me:s3cret@host:5000", "postgresql+psycopg://me:s3/cret@host/db", "https://s3cret@host/people.csv"),
    *("postgresql+psycopg://host/db?user=me&password=s3cret", "postgresql://host/db?sslpassword=s3cret"),
    *("https://account.blob.core/people.csv?sv=2024&sig=s3cret", "https://host/people.csv?api_key=s3cret#top"),
    "https://bucket/people.csv?X-Amz-Signature=s3cret&X-Amz-Security-Token=s3cret",
    "simplecache::https://host/people.csv?access_token=s3cret",
]
NAMED = [
    *("http://me:${PASSWORD}@host:5000", "postgresql+psycopg://me@host/db", "https://host/people.csv?sig=${SIG}"),
    *("postgresql+psycopg://host/db?password=${PASSWORD}", "https://${TOKEN}@host/people.csv", "data/token=1.csv"),
    *("https://host/people.csv?signed=no&design=2", "data/people.csv", "sqlite:////a/mlflow.db", ""),
    "select * from people where link = 'see ?token=abc'",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_a_secret_is_seen_and_what_is_shown_holds_none(text):
    assert has_secret(text)
    shown = without_secrets(text)
    assert [part for part in ("s3", "cret", "me:") if part in shown] == []
    assert not has_secret(without_secrets(shown).replace("...", "${X}"))


@pytest.mark.parametrize("text", NAMED)
def test_a_name_of_a_secret_or_none_passes(text):
    assert not has_secret(text)


def test_an_address_without_secrets_is_shown_as_it_is():
    for text in ("sqlite:////a/mlflow.db", "http://host:5000/x?page=2"):
        assert without_secrets(text) == text


VALUE = 'Kohl-meise/Tz4 "é&'
"""Holds letters that a URL, JSON, HTML and Python each write in another way."""


@pytest.fixture
def allow(monkeypatch):
    """Give a function that gives the variable KEY a value, and allows some variables."""

    def allow(value=VALUE, names="KEY"):
        monkeypatch.setenv("SYNTHRISK_VARIABLES", names)
        monkeypatch.setenv("KEY", value)

    return allow


@pytest.fixture
def allowed(allow):
    allow(names=" OTHER, KEY ")


@pytest.mark.parametrize(("value", "names", "told"), [
    *((VALUE, names, f"variable KEY must be named in SYNTHRISK_VARIABLES before an address can take it, got {got}")
      for names, got in (("", "none"), ("OTHER", "OTHER"), ("KEYS, key", "KEYS, key"))),
    (VALUE, "*", r"SYNTHRISK_VARIABLES must be names of .* separated by commas, got '\*'"),
    ("abc", "KEY", "KEY must have at least 4 letters, for its value is masked in every text"),
])  # fmt: skip
def test_no_variable_is_taken_that_is_not_allowed_or_too_short_to_be_masked(allow, value, names, told):
    allow(value, names)
    with pytest.raises(InputError, match=told) as refused:
        resolve("http://host/${KEY}/people.csv")
    assert value not in str(refused.value)
    if names == "KEY":
        assert mask("abc of the ABC") == "abc of the ABC"


@pytest.mark.parametrize("written", [
    VALUE, VALUE.upper(), quote(VALUE), quote(VALUE, safe=""), quote_plus(VALUE),
    quote(quote(VALUE, safe=""), safe="").lower(), json.dumps(VALUE)[1:-1], html.escape(VALUE),
    repr([VALUE, "'"])[2:-7], f"http://host/{quote(VALUE)}/people.csv",
])  # fmt: skip
def test_a_value_is_masked_however_it_is_written(allowed, written):
    assert "meise" not in mask(f"x{written}y").lower()
    assert mask(f"x{written}y").count("${KEY}") == 1


def test_a_short_value_is_masked_as_a_word_and_in_the_words_that_it_has_become_a_part_of(allow):
    allow("5432")
    assert (mask("port 5432, run a54321b"), mask("a%2F5432%2Fb")) == ("port ${KEY}, run a54321b", "a%2F${KEY}%2Fb")
    assert resolve("s3://bucket/pre${KEY}post.csv") == "s3://bucket/pre5432post.csv"
    assert mask("no file pre5432post.csv") == "no file ${KEY}.csv"


def test_of_a_value_that_is_an_address_the_parts_are_masked_too(allow):
    allow("http://me:s%C3%A9cret@warehouse.host/Kohlmeise/people.csv?sig=abcd")
    for text in ("sécret", "s%c3%a9cret", "warehouse.host:80", "/Kohlmeise/x", "sig=abcd"):
        assert "${KEY}" in mask(f"cannot be read: {text}")
    assert mask("http is a protocol") == "http is a protocol"


def test_plain_values_are_masked_to_their_depth(allowed):
    told = masked({"a": [VALUE, 1, None], VALUE: (f"{VALUE}!",)})
    assert told == {"a": ["${KEY}", 1, None], "${KEY}": ("${KEY}!",)}


class _OddError(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)
        self.two = two

    def __str__(self):
        return f"odd {self.two}"


@pytest.mark.parametrize(("error", "kind", "text"), [
    (InputError(f"cannot read {VALUE}"), InputError, "cannot read ${KEY}"),
    (_OddError(1, quote(VALUE)), RuntimeError, "_OddError: odd ${KEY}"),
    (FileNotFoundError(2, "none there", VALUE), RuntimeError, "FileNotFoundError: [Errno 2] none there: '${KEY}'"),
])  # fmt: skip
def test_an_error_that_leaves_tells_no_value(allowed, error, kind, text):
    error.__cause__ = ValueError(f"before {VALUE}")
    with pytest.raises(kind) as told, masking():
        raise error
    assert str(told.value) == text
    assert "meise" not in "".join(traceback.format_exception(told.value))


def test_an_error_without_a_value_passes_as_it_is(allowed):
    cause, error = ValueError("why"), KeyError("x")
    with pytest.raises(KeyError) as told, masking():
        raise error from cause
    assert told.value is error
    assert error.__cause__ is cause


def test_what_other_libraries_log_is_masked_once_a_value_was_taken(allowed, caplog):
    resolve("http://host/${KEY}")
    with caplog.at_level("DEBUG"):
        logging.getLogger("vendor").debug("GET %s", f"/{quote(VALUE)}/x")
        try:
            raise ValueError(VALUE)
        except ValueError:
            logging.getLogger("vendor").exception("it broke")
        logging.getLogger("vendor").info("a line %d", 1)
    assert "meise" not in caplog.text
    for told in ("GET /${KEY}/x", "ValueError: ${KEY}", "a line 1"):
        assert told in caplog.text
