"""The pages of the docs on a phone: none is wider than the screen, and the search finds what is typed."""

import functools
import http.server
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from browser import browser, chromium

pytestmark = [pytest.mark.services, pytest.mark.skipif(chromium() is None, reason="needs Chromium")]
ROOT = Path(__file__).parents[3]
WIDTH, HEIGHT = 390, 844


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *given):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, and its address."""
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(place)]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=True)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=place)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield place, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_no_page_is_wider_than_a_phone_and_no_line_is_cut_off(site):
    place, address = site
    pages = sorted(str(path.relative_to(place)) for path in place.rglob("*.html"))
    assert len(pages) > 25
    cut = "[...document.querySelectorAll('pre > code')].filter(c => c.scrollWidth > c.clientWidth + 1).length"
    found = {}
    with browser(WIDTH, HEIGHT) as page:
        page.resize(WIDTH, HEIGHT, mobile=True)
        for name in pages:
            page.open(f"{address}/{name}")
            page.wait_for("document.readyState === 'complete'")
            found[name] = page.ask("document.documentElement.scrollWidth"), page.ask(cut)
    assert {name: told for name, told in found.items() if told != (WIDTH, 0)} == {}


def test_the_search_finds_what_is_typed(site):
    _, address = site
    with browser(WIDTH, HEIGHT) as page:
        page.open(f"{address}/index.html")
        page.wait_for("document.readyState === 'complete'")
        page.ask("document.querySelector('label[for=__search]').click()")
        page.ask(
            "(() => { const field = document.querySelector('.md-search__input'); field.focus();"
            " field.value = 'memorization'; field.dispatchEvent(new Event('keyup', {bubbles: true}));"
            " field.dispatchEvent(new Event('input', {bubbles: true})); })()"
        )
        page.wait_for("document.querySelectorAll('.md-search-result__item').length > 2")
        page.wait_for("document.querySelector('.md-search-result__list').innerText.includes('Memorization')")
