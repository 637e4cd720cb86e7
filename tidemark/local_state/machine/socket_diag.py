"""Asks Linux who holds one end of a TCP connection: in microseconds, and for any address.

Source: https://man7.org/linux/man-pages/man7/sock_diag.7.html
"""

import errno
import os
import socket
import struct
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
REFUSED = struct.Struct("=i")  # the number of an error, negative
TIMEOUT_S = 1


class End(NamedTuple):
    """One end of a TCP connection: its address as bytes, of IPv4 or IPv6, and its port."""

    address: bytes
    port: int


class Holder(NamedTuple):
    """The owner of one end of a connection: a user, and the number of the socket in its process."""

    user: int
    inode: int


def holder_of(end: End, other: End) -> Holder | None:
    """Return the owner of one end; None if no process of this machine has it, or has it any more.

    Raises:
        OSError: the kernel does not say.
    """
    # A socket that is bound to an interface is listed for that one only.
    for interface, _ in socket.if_nameindex():
        if holder := _asked(end, other, interface):
            return holder
    return None


def _asked(end: End, other: End, interface: int) -> Holder | None:
    family = socket.AF_INET if len(end.address) == 4 else socket.AF_INET6
    asked = (
        ASKED.pack(family, socket.IPPROTO_TCP, 0, 0, ANY)
        + PLACE.pack(end.port, other.port, end.address, other.address)
        + INTERFACE.pack(interface, ANY, ANY)
    )
    message = HEAD.pack(HEAD.size + len(asked), SOCK_DIAG_BY_FAMILY, REQUEST, 0, 0) + asked
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(TIMEOUT_S)
        kernel.send(message)
        answer = kernel.recv(4096)
    if HEAD.unpack_from(answer)[1] != SOCK_DIAG_BY_FAMILY:
        code = -REFUSED.unpack_from(answer, HEAD.size)[0]
        if code == errno.ENOENT:
            return None
        raise OSError(code, os.strerror(code))
    _, state, *_, user, inode = FOUND.unpack_from(answer, HEAD.size)
    # A socket that its process has closed has no inode, and may have no user.
    return Holder(int(user), int(inode)) if state != LISTEN and inode else None
