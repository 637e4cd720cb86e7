"""Holds the listen of a child back until its socket hears nobody but this process.

Other users of the machine read the address of the engine in the list of processes, and would be
served before its port is closed.
"""

import fcntl
import socket
import struct
from collections.abc import Callable, Sequence

from tidemark.local_state.machine.child import IF_EQUAL, LOAD, LOAD_HALF, RETURN, packed, program

RECEIVE, SEND, ASKED, ANSWER, GO_ON = 0xC0502100, 0xC0182101, "QIIiIQ6Q", "QqiI", 1
SO_ATTACH_FILTER, EVERYTHING = 26, 0xFFFFFFFF
SOURCE_PORT, SOURCE_ADDRESS = 0, 0xFFF00000 + 12  # in the headers of TCP and of IP


def hear_only(listener: socket.socket, clients: Sequence[socket.socket]) -> None:
    """Let a listening socket drop what is not from one of these sockets, which are bound."""
    steps: tuple[tuple[int, int, int, int], ...] = ((RETURN, 0, 0, 0),)
    for host, port in (client.getsockname() for client in clients):
        steps = (
            (LOAD_HALF, 0, 0, SOURCE_PORT),
            (IF_EQUAL, 0, 3, port),
            (LOAD, 0, 0, SOURCE_ADDRESS),
            (IF_EQUAL, 0, 1, int.from_bytes(socket.inet_aton(host), "big")),
            (RETURN, 0, 0, EVERYTHING),
            *steps,
        )
    code = program(steps)  # kept while its address is used
    listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, packed(code))


def let_listen(notifier: int, socket_of: Callable[[int], socket.socket]) -> None:
    """Let the child that asks listen, with a socket that hears nobody."""
    asked = bytearray(struct.calcsize(ASKED))
    fcntl.ioctl(notifier, RECEIVE, asked, True)
    key, *_, number = struct.unpack(ASKED, asked)[:7]
    with socket_of(number) as listener:
        hear_only(listener, ())
    fcntl.ioctl(notifier, SEND, bytearray(struct.pack(ANSWER, key, 0, 0, GO_ON)), True)
