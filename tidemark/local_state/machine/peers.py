"""Who is at the other end of a connection: the one rule of every door of this machine.

Loopback is open to every user of a machine, who can reach it from any address of the machine. So a
connection is judged by its own end: where that is on loopback, the other end is a socket of this
machine, and Linux says who holds it. It is judged when it is accepted, before a byte is read. Who
cannot be told is a stranger.
"""

import errno
import os
import socket
import struct
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

GONE, OTHER = "a process that is gone", "another program"
LOOPBACK_V6 = bytes(15) + b"\x01"
WITHIN_V6 = bytes(10) + b"\xff\xff"  # what begins an address of IPv4 in the form of IPv6
CREDENTIALS = struct.Struct("3i")  # of the process at the other end: id, user, group
# Linux tells by it who holds a socket, in microseconds and for any address.
# Source: https://man7.org/linux/man-pages/man7/sock_diag.7.html
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


def stranger(connection: socket.socket, pid: int | None = None) -> str | None:
    """Return who is at the other end of an accepted connection; None if it may be answered.

    This user may, or with ``pid`` that process alone. Another machine may without ``pid``: it
    reaches no port but one that was opened to it. Everybody may on a machine that does not show
    whose its sockets are (`shows_owners`): what a door asks for then has to do.
    """
    try:
        if not shows_owners():
            return None
        if connection.family == socket.AF_UNIX:
            peer, user = peer_of(connection)
            return _other_user(user) or (None if pid in (None, peer) else OTHER)
        here = _end(connection.getsockname())
        holder = holder_of(_end(connection.getpeername()), here)
        # This fails if it was reset: its place could be that of another connection by now.
        name = connection.getpeername()
        if holder is None:
            return None if pid is None and _is_remote(connection.family, here, name) else GONE
        if (other := _other_user(holder.user)) or pid is None:
            return other
        return None if _holds(pid, holder.inode) else OTHER
    except OSError:
        return GONE


@cache
def shows_owners() -> bool:
    """Return whether this machine shows which user is at the other end of a connection.

    Raises:
        OSError: this process has no room for a socket, so it cannot be told.
    """
    if sys.platform != "linux":
        return False
    with (
        socket.create_server(("127.0.0.1", 0)) as probe,
        socket.create_connection(probe.getsockname()) as client,
    ):
        own = Holder(os.geteuid(), os.fstat(client.fileno()).st_ino)
        try:
            return holder_of(_end(client.getsockname()), _end(probe.getsockname())) == own
        except OSError as error:  # a sandbox has no such service
            if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS):
                raise
            return False


def peer_of(connection: socket.socket) -> tuple[int, int]:
    """Return the process and the user at the other end of a Unix socket; Linux only."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    pid, user, _ = CREDENTIALS.unpack(credentials)
    return int(pid), int(user)


def _other_user(user: int) -> str | None:
    return None if user == os.geteuid() else f"the user {user}"


def _holds(pid: int, inode: int) -> bool:
    files = Path(f"/proc/{pid}/fd")
    return any(_target(file) == f"socket:[{inode}]" for file in files.iterdir())


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:  # closed meanwhile
        return ""


def _end(name: tuple[str | int, ...]) -> End:
    host, port = str(name[0]).partition("%")[0], int(name[1])
    if ":" not in host:
        return End(socket.inet_pton(socket.AF_INET, host), port)
    address = socket.inet_pton(socket.AF_INET6, host)
    # IPv4 within IPv6 is the same end as IPv4.
    return End(address.removeprefix(WITHIN_V6), port)


def _is_remote(family: int, here: End, name: tuple[str | int, ...]) -> bool:
    """Return whether the other end, with this name, is on another machine."""
    if here.address == LOOPBACK_V6 or (len(here.address) == 4 and here.address[0] == 127):
        return False
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        if family == socket.AF_INET6:
            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        try:
            # Only an address of this machine can be bound.
            probe.bind((name[0], 0, *name[2:]))
        except OSError as error:
            return error.errno == errno.EADDRNOTAVAIL
    return False
