"""The sockets of processes, as Linux lists them."""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

# By the state in each table: what takes connections, or datagrams of everybody.
LISTENING = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}
ACCEPTS = 0x10000  # the flag of a socket of Unix


class Socket(NamedTuple):
    """The own end of a socket; that of Unix has a path for an address, and no port."""

    address: str
    port: int
    is_listening: bool


def sockets_of(pids: Iterable[int]) -> Iterator[Socket]:
    """Yield the TCP and UDP sockets of some processes; those that end meanwhile have none."""
    inodes = _inodes(pids)
    for table, state in LISTENING.items():
        for line in Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]:
            words = line.split()
            if words[9] in inodes:
                written, _, port = words[1].partition(":")
                yield Socket(_address(written), int(port, 16), words[3] == state)


def unix_sockets_of(pids: Iterable[int]) -> Iterator[Socket]:
    """Yield the sockets of Unix with a name."""
    inodes = _inodes(pids)
    for line in Path("/proc/net/unix").read_text(encoding="utf-8").splitlines()[1:]:
        words = line.split(maxsplit=7)
        if words[6] in inodes and len(words) == 8:
            yield Socket(words[7], 0, bool(int(words[3], 16) & ACCEPTS))


def descendants(pid: int) -> set[int]:
    """Return a process and all that it has started, directly or not."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    ours = {pid}
    while more := {child for child, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return ours


def _inodes(pids: Iterable[int]) -> set[str]:
    inodes = set()
    for pid in pids:
        try:
            links = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]
        except OSError:
            continue
        inodes |= {link[8:-1] for link in links if link.startswith("socket:[")}
    return inodes


def _address(written: str) -> str:
    words = (written[at : at + 8] for at in range(0, len(written), 8))
    packed = b"".join(int(word, 16).to_bytes(4, sys.byteorder) for word in words)
    return str(ipaddress.ip_address(packed))
