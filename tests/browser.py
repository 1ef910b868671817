"""Chromium without a window, driven over its DevTools protocol: open a page, wait for it, ask it, take its picture.

For tests of pages that scripts draw (MLflow, Prefect), and for the pictures in the docs. Chromium has to be installed
(``apt-get install chromium``); nothing else is needed.
"""

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
START = 60  # seconds, on a slow machine


def chromium() -> str | None:
    """Return the path of Chromium, or None where it is not installed."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Page:
    """One page of a browser."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._number = 0
        self.requests: list[str] = []  # addresses that the page has asked for

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the DevTools protocol; return its result."""
        self._number += 1
        self._connection.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._connection.recv(timeout=120))
            if message.get("method") == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]

    def open(self, address: str) -> None:
        """Go to an address. Where it differs in the fragment alone, the page is loaded anew all the same."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)

    def ask(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; promises are waited for."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            details = told["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return told["result"].get("value")

    def wait_for(self, expression: str, seconds: float = 60) -> Any:
        """Return the value of an expression as soon as it is true."""
        until = time.monotonic() + seconds
        while True:
            if found := self.ask(expression):
                return found
            if time.monotonic() > until:
                raise TimeoutError(f"not true in {seconds:g} s: {expression}; the page says {self.text()[:2000]!r}")
            time.sleep(0.25)

    def wait_for_text(self, text: str, seconds: float = 60) -> None:
        """Wait until the page shows a text."""
        self.wait_for(f"document.body && document.body.innerText.includes({json.dumps(text)})", seconds)

    def wait_until_still(self, quiet: float = 1.0, seconds: float = 60) -> None:
        """Wait until nothing in the page has changed for a while."""
        until, seen, since = time.monotonic() + seconds, "", time.monotonic()
        while time.monotonic() < until and time.monotonic() - since < quiet:
            now = self.ask("document.body ? document.body.innerHTML.length + document.body.innerText : ''")
            if now != seen:
                seen, since = now, time.monotonic()
            time.sleep(0.2)

    def text(self) -> str:
        """Return the text that the page shows."""
        return str(self.ask("document.body ? document.body.innerText : ''"))

    def resize(self, width: int, height: int, *, mobile: bool = False, scale: float = 1) -> None:
        """Set the size of the window in CSS pixels; ``mobile`` as a telephone shows pages."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile
        )

    def look(self, *, dark: bool = False, media: str = "") -> None:
        """Show the page in a dark or light scheme, on ``screen`` or as on paper (``print``)."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def picture(self, path: Path, *, whole: bool = False) -> Path:
        """Write what the window shows, or the ``whole`` length of the page, as PNG."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **self._clip(whole))
        path.write_bytes(base64.b64decode(shot["data"]))
        return path

    def print(self, path: Path) -> Path:
        """Write the page as PDF, as a printer would have it."""
        told = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(told["data"]))
        return path

    def _clip(self, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}


@contextmanager
def browser(width: int = 1400, height: int = 900) -> Iterator[Page]:
    """Run Chromium for the time of the block, with a profile of its own that is removed; give its page."""
    program = chromium()
    if program is None:
        raise FileNotFoundError(f"none of {', '.join(NAMES)} is installed")
    profile = Path(tempfile.mkdtemp(prefix="synthrisk-browser-"))
    quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *quiet]
    command += ["--remote-debugging-port=0", f"--user-data-dir={profile}", "--hide-scrollbars", "about:blank"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with connect(_page_address(profile, process), max_size=None, open_timeout=START, proxy=None) as connection:
            page = Page(connection)
            for domain in ("Page", "Network", "Runtime"):
                page.call(f"{domain}.enable")
            page.resize(width, height)
            yield page
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(profile, ignore_errors=True)


def _page_address(profile: Path, process: "subprocess.Popen[bytes]") -> str:
    """Return the address of the first page's protocol, once Chromium has written its port."""
    until, told = time.monotonic() + START, profile / "DevToolsActivePort"
    while time.monotonic() < until and process.poll() is None:
        if told.exists() and told.read_text().strip():
            port = told.read_text().split()[0]
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(f"http://127.0.0.1:{port}/json/list", timeout=START) as answer:
                pages = [each for each in json.load(answer) if each["type"] == "page"]
            if pages:
                return str(pages[0]["webSocketDebuggerUrl"])
        time.sleep(0.1)
    raise TimeoutError(f"Chromium ended or was not ready in {START} s")
