"""The Prefect server of a command: it answers while the block runs, and ends with it whatever happens."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.error import URLError
from urllib.request import urlopen

import prefect.context
import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from synthrisk.flows.orchestration.server import OwnServer, prefect_api


def answers(url: str) -> bool:
    try:
        with urlopen(f"{url}/health", timeout=5) as answer:
            return bool(answer.read() == b"true")
    except URLError:
        return False


def seen_by_a_thread() -> str | None:
    with ThreadPoolExecutor(1) as pool:  # a thread does not inherit settings of a block
        return pool.submit(PREFECT_API_URL.value).result()


@pytest.fixture
def settings_of_others() -> Iterator[None]:
    before = prefect.context.GLOBAL_SETTINGS_CONTEXT
    yield
    prefect.context.GLOBAL_SETTINGS_CONTEXT = before


@pytest.mark.proof
@pytest.mark.usefixtures("settings_of_others")
def test_a_server_of_its_own_answers_in_the_block_also_to_threads_and_ends_with_it_though_it_raises():
    seen: list[object] = []

    def fail() -> None:
        with prefect_api(meanwhile="synthrisk.flows.benchmark") as url:
            seen.extend([url, answers(url), os.environ["PREFECT_API_URL"], PREFECT_API_URL.value()])
            seen.append(seen_by_a_thread())
            raise ZeroDivisionError

    with temporary_settings({PREFECT_API_URL: None}), pytest.raises(ZeroDivisionError):
        fail()
    url = str(seen[0])
    assert seen == [url, True, url, url, url]
    assert not answers(url)
    assert "PREFECT_API_URL" not in os.environ
    assert seen_by_a_thread() != url


def test_a_server_that_ends_at_once_is_told(monkeypatch):
    monkeypatch.setattr("synthrisk.flows.orchestration.server.sys.executable", "/bin/false")
    server = OwnServer()
    with pytest.raises(RuntimeError, match="ended with exit code 1"):
        server.wait()
    server.stop()
