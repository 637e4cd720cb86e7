"""Asks Linux for the owner of one socket: in microseconds, where its list of all takes longer.

Source: https://man7.org/linux/man-pages/man7/sock_diag.7.html
"""

import ipaddress
import socket
import struct
from contextlib import suppress
from typing import NamedTuple

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
REQUEST = 1
ANY = 0xFFFFFFFF  # states, and cookies
LISTEN = 10
HEAD = struct.Struct("=IHHII")  # of a message: its length, type, flags, number, sender
ASKED = struct.Struct("=BBBBI")  # family, protocol, extensions, padding, states
PLACE = struct.Struct("!HH16s16s")  # ports and addresses of a socket
INTERFACE = struct.Struct("=III")  # interface and cookie
FOUND = struct.Struct("=BBBB48xIIIII")  # family, state, two of timers; expiry, queues, user, inode
TIMEOUT_S = 1

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Holder(NamedTuple):
    """The owner of one end of a connection: a user, and the number of the socket in its process."""

    user: int
    inode: int


def holder_of_socket(address: Address, port: int, other: Address, other_port: int) -> Holder | None:
    """Return the owner of one end of a connection."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    asked = (
        ASKED.pack(family, socket.IPPROTO_TCP, 0, 0, ANY)
        + PLACE.pack(port, other_port, address.packed, other.packed)
        + INTERFACE.pack(0, ANY, ANY)
    )
    message = HEAD.pack(HEAD.size + len(asked), SOCK_DIAG_BY_FAMILY, REQUEST, 0, 0) + asked
    with (
        suppress(OSError, AttributeError),
        socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_SOCK_DIAG) as kernel,
    ):
        kernel.settimeout(TIMEOUT_S)
        kernel.send(message)
        answer = kernel.recv(4096)
        kind = HEAD.unpack_from(answer)[1]
        if kind == SOCK_DIAG_BY_FAMILY and len(answer) >= HEAD.size + FOUND.size:
            _, state, *_, user, inode = FOUND.unpack_from(answer, HEAD.size)
            if state != LISTEN and inode != 0:
                return Holder(int(user), int(inode))
    return None
