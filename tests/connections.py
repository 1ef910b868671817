"""Where the processes of a command connect to, and where they listen, as strace sees it."""

import re
from pathlib import Path

_INET = re.compile(r'\b(connect|bind|sendto|sendmsg)\(.*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")')
TRACED = "connect,bind,sendto,sendmsg,execve"
"""The calls to trace; ``execve`` shows that all processes are followed."""


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
