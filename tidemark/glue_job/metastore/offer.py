"""Offers the answers of this process to its JVM, and to nobody else who finds the port.

Py4J's callback server asks for no token, reads on behind lines that it does not know, such as a
head of HTTP, and calls any method of what it offers.
"""

import hmac
import io
import ipaddress
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from tidemark.local_state.machine.socket_diag import holder_of_socket

REACHABLE = frozenset({"Java", "__class__", "ask"})  # Py4J looks at the class


def offer(gateway: Any, ask: Callable[[str], str]) -> None:
    """Let the JVM of a gateway ask, whose callback server was started."""
    server = gateway._callback_server
    jvm = int(gateway.jvm.java.lang.ProcessHandle.current().pid())
    create = type(server)._create_connection.__get__(server)  # a test offers again and again

    def create_connection(connection: socket.socket, stream: IO[bytes]) -> Any:
        if not is_of_process(connection, jvm):
            connection.close()
            return create(connection, io.BytesIO())  # ends at once
        return create(connection, stream)

    server._create_connection = create_connection
    secret = secrets.token_hex(32)
    connected = gateway.jvm.dev.tidemark.catalog.Connected
    connected.connect(offered(secret, ask), secret)


def offered(secret: str, ask: Callable[[str], str]) -> Any:
    """Return an object with one method that Py4J can call, and only with the secret."""

    class Java:
        """How Py4J offers this object to the JVM."""

        implements = ("dev.tidemark.catalog.Metastore",)

    def answer(_: Any, given: str, request: str) -> str:
        if not hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode()):
            raise PermissionError("only the JVM of this run may ask")
        return ask(request)

    def reach(self: Any, name: str) -> Any:
        if name not in REACHABLE:
            raise AttributeError(name)
        return object.__getattribute__(self, name)

    members = {"Java": Java, "ask": answer, "__getattribute__": reach}
    return type("Metastore", (), members)()


def is_of_process(connection: socket.socket, pid: int) -> bool:
    """Return whether a process holds the other end of a connection; True if no one tells."""
    try:
        (peer, peer_port), (here, port) = connection.getpeername()[:2], connection.getsockname()[:2]
        ends = ipaddress.ip_address(peer), peer_port, ipaddress.ip_address(here), port
        files = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return True
    holder = holder_of_socket(*ends)
    return holder is None or any(_target(file) == f"socket:[{holder.inode}]" for file in files)


def _target(link: Path) -> str:
    with suppress(OSError):  # closed meanwhile
        return str(link.readlink())
    return ""
