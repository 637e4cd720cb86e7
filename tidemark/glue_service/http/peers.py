"""Finds the user of this machine at the other end of a loopback connection.

Loopback is open to every user of a machine. Linux lists the sockets of all users, so a port can
refuse other users without asking its own clients for anything.

Source: https://man7.org/linux/man-pages/man5/proc_pid_net.5.html
"""

import ipaddress
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

from tidemark.local_state.machine.local_requests import LOOPBACK
from tidemark.local_state.machine.socket_diag import Address, holder_of_socket

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LISTENING = "0A"
WORD = 8  # hexadecimal digits of 32 bits, in the byte order of this machine
NO_INODE = "0"  # of a socket that its process has closed: its user is unknown


def foreign_user(peer: str, peer_port: int, port: int, here: str | None = None) -> str | None:
    """Return why a connection is not from this user; None if it is, or is not over loopback."""
    if sys.platform != "linux" or not _is_loopback(peer):
        return None
    user = user_of(peer, peer_port, port, here)
    if user == os.getuid() or (user is None and not _is_listed(port)):  # a sandbox hides sockets
        return None
    whose = "a process that is gone" if user is None else f"the user {user}"
    return (
        f"the request is from {whose}, and this port answers user {os.getuid()} only; to answer "
        "every user of this machine, who can then run code as that user: "
        "`tidemark local up --port NUMBER --any-user`"
    )


def can_tell_users() -> bool:
    """Return whether this machine shows which user is at the other end of a connection."""
    if sys.platform != "linux":
        return False
    with socket.create_server((LOOPBACK, 0)) as probe:
        return _is_listed(probe.getsockname()[1])


def user_of(peer: str, peer_port: int, port: int, here: str | None = None) -> int | None:
    """Return the user whose process holds the client's end of a connection; None if unknown."""
    ends = _address(peer), peer_port, _address(here or peer), port
    holder = holder_of_socket(*ends)
    if holder is not None:
        return holder.user
    wanted = f"{peer_port:04X}", f"{port:04X}"
    addresses = _written(peer)
    for words in _sockets():
        (local, local_port), (_, remote_port) = (word.split(":") for word in words[1:3])
        if (local_port, remote_port) == wanted and local in addresses:
            return None if words[9] == NO_INODE else int(words[7])
    return None


def _is_listed(port: int) -> bool:
    wanted = f"{port:04X}"
    return any(
        words[3] == LISTENING and words[1].rpartition(":")[2] == wanted for words in _sockets()
    )


def _sockets() -> Iterator[list[str]]:
    for table in TABLES:
        if table.exists():
            for line in table.read_text(encoding="ascii").splitlines()[1:]:
                yield line.split()


def _is_loopback(peer: str) -> bool:
    return _address(peer).is_loopback


def _address(text: str) -> Address:
    """Return an address; IPv4 within IPv6 becomes IPv4."""
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped: Address | None = getattr(address, "ipv4_mapped", None)
    return mapped or address


def _written(peer: str) -> set[str]:
    """Return an address in the form of the kernel's tables, also as IPv4 within IPv6."""
    address = _address(peer)
    forms = [address.packed]
    if address.version == 4:
        forms.append(ipaddress.ip_address(f"::ffff:{address}").packed)
    each = ([form[at : at + 4] for at in range(0, len(form), 4)] for form in forms)
    return {
        "".join(f"{int.from_bytes(word, sys.byteorder):0{WORD}X}" for word in words)
        for words in each
    }
