import functools
import http.server
import threading

import pytest

from browser import browser, chromium

pytestmark = [pytest.mark.services, pytest.mark.skipif(chromium() is None, reason="needs Chromium")]
WIDTH, HEIGHT = 390, 844


class Quiet(http.server.SimpleHTTPRequestHandler):
    log_message = lambda *_: None  # noqa: E731


@pytest.fixture(scope="module")
def address(site):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_no_page_is_wider_than_a_phone_and_no_line_is_cut_off(site, address):
    pages = sorted(str(path.relative_to(site)) for path in site.rglob("*.html"))
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


def test_the_search_finds_what_is_typed(address):
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
