"""Servers of tests, and where the processes of a command connect to and listen, as strace sees it."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_INET = re.compile(r'\b(connect|bind|sendto|sendmsg)\(.*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")')
TRACED = "connect,bind,sendto,sendmsg,execve"  # the last one shows that all processes are followed


def addresses(trace: Path) -> dict[str, set[str]]:
    """Return the addresses of other machines, and of this one, by the call that named them."""
    found: dict[str, set[str]] = {}
    for line in trace.read_text("utf-8", "replace").splitlines():
        if seen := _INET.search(line):
            found.setdefault(seen[1], set()).add(seen[2] or seen[3])
    return found


def is_loopback(address: str) -> bool:
    """Tell whether an address is of this machine alone."""
    return address.startswith("127.") or address in ("::1", "::ffff:127.0.0.1")


def free_port() -> int:
    """Return a port at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def is_taken(port: int) -> bool:
    """Tell whether somebody listens at a port of this machine."""
    with socket.socket() as other:
        return other.connect_ex(("127.0.0.1", port)) == 0


class Answering(BaseHTTPRequestHandler):
    """Answers in one go, and prints nothing."""

    def answer(self, code: int, body: bytes = b"") -> None:
        """Send all of an answer."""
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(handler: type[Answering]) -> Iterator[int]:
    """Serve at a port of this machine for the time of the block; give the port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()
