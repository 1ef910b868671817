"""Secrets in addresses are seen in every form, and nothing else is taken for one."""

import pytest

from synthrisk.conf.secrets import has_secret, without_secrets

WRITTEN = [
    "http://me:s3cret@host:5000",
    "postgresql+psycopg://me:s3/cret@host/db",
    "postgresql+psycopg://host/db?user=me&password=s3cret",
    "postgresql://host/db?sslpassword=s3cret",
    "https://account.blob.core/people.csv?sv=2024&sig=s3cret",
    "https://s3cret@host/people.csv",
    "https://bucket/people.csv?X-Amz-Signature=s3cret&X-Amz-Security-Token=s3cret",
    "simplecache::https://host/people.csv?access_token=s3cret",
    "https://host/people.csv?api_key=s3cret#top",
]
NAMED = [
    "http://me:${PASSWORD}@host:5000",
    "postgresql+psycopg://me@host/db",
    "postgresql+psycopg://host/db?password=${PASSWORD}",
    "https://host/people.csv?sig=${SIG}",
    "https://${TOKEN}@host/people.csv",
    "https://host/people.csv?signed=no&design=2",
    "data/people.csv",
    "data/token=1.csv",
    "sqlite:////a/mlflow.db",
    "select * from people where link = 'see ?token=abc'",
    "",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_a_secret_is_seen(text):
    assert has_secret(text)


@pytest.mark.parametrize("text", NAMED)
def test_a_name_of_a_secret_or_none_passes(text):
    assert not has_secret(text)


@pytest.mark.parametrize("text", WRITTEN)
def test_what_is_shown_holds_no_secret(text):
    shown = without_secrets(text)
    assert "s3" not in shown
    assert "cret" not in shown
    assert "me:" not in shown
    assert not has_secret(without_secrets(shown).replace("...", "${X}"))


def test_an_address_without_secrets_is_shown_as_it_is():
    for text in ("sqlite:////a/mlflow.db", "http://host:5000/x?page=2"):
        assert without_secrets(text) == text
