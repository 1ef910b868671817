"""Where the processes of a command connect to, and where they listen, as strace sees it; and a port that is free."""

import re
import socket
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
