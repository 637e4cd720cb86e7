"""The TCP sockets of processes, as Linux lists them."""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

LISTENING = "0A"


class Socket(NamedTuple):
    """The own end of a socket."""

    address: str
    port: int
    is_listening: bool


def sockets_of(pids: Iterable[int]) -> Iterator[Socket]:
    """Yield the sockets of some processes; those that end meanwhile have none."""
    inodes = set()
    for pid in pids:
        try:
            links = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]
        except OSError:
            continue
        inodes |= {link[8:-1] for link in links if link.startswith("socket:[")}
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]:
            words = line.split()
            if words[9] in inodes:
                written, _, port = words[1].partition(":")
                yield Socket(_address(written), int(port, 16), words[3] == LISTENING)


def _address(written: str) -> str:
    words = (written[at : at + 8] for at in range(0, len(written), 8))
    packed = b"".join(int(word, 16).to_bytes(4, sys.byteorder) for word in words)
    return str(ipaddress.ip_address(packed))
