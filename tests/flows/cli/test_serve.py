"""``synthrisk serve`` refuses what cannot be served before anything is made; the rest is in tests/deployments."""

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings


@pytest.mark.parametrize(("arguments", "words"), [
    (["--cron", "every monday"], "--cron must be five fields such as '0 3 * * 1', got 'every monday'"),
    (["--cron", ""], "--cron must be five fields such as '0 3 * * 1', got ''"),
    (["--cron", "0 3 * * 1", "--timezone", "Mars"], "--timezone must be a name such as Europe/Vienna, got 'Mars'"),
    (["--interval", "-1"], "--interval must be a number of seconds above 0, got -1"),
    (["--interval", "nan"], "--interval must be a number of seconds above 0, got nan"),
    (["--interval", "60", "--cron", "0 3 * * 1"], "must not stand together, got '0 3 * * 1' and 60"),
    (["--name", "a/b"], "--name must hold none of / % & < >, and a letter, got 'a/b'"),
])  # fmt: skip
def test_a_schedule_or_name_that_is_none_is_refused(say, place, arguments, words):
    said = say("serve", "study.yaml", *arguments)
    assert (said.code, said.out) == (2, "")
    assert words in said.err
    assert said.err.count("\n") == 1


def test_without_a_server_one_sentence_says_how_to_start_one(say, place):
    with temporary_settings({PREFECT_API_URL: None}):
        said = say("serve", "study.yaml", "--cron", "0 3 * * 1")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "got no PREFECT_API_URL; start one with `prefect server start` and set PREFECT_API_URL=http" in said.err


@pytest.mark.proof  # a Prefect server is asked for first
@pytest.mark.parametrize(("override", "words"), [("data.sensitive=[incom]", "'incom'"), ("seed=-1", "seed")])
def test_a_study_that_cannot_run_is_not_served(say, place, prefect_database, override, words):
    said = say("serve", "study.yaml", "--cron", "0 3 * * 1", "--set", override)
    assert (said.code, said.out) == (2, "")
    assert words in said.err
