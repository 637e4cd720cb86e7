"""One rule says who is at the other end of a connection: the owner of its socket."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from tests.other_user import HOLD, NOBODY, as_root, card_address, held, on_linux
from tidemark.local_state.machine import peers
from tidemark.local_state.machine.peers import GONE, OTHER, shows_owners, stranger

pytestmark = on_linux
V4, V6 = socket.AF_INET, socket.AF_INET6
CARD = "card"
# Where a port listens, where a client connects to, and from where.
ROUTES = [
    ("127.0.0.1", "127.0.0.1", ""),
    ("127.0.0.1", "127.0.0.1", "127.0.0.9"),
    ("127.0.0.1", "127.0.0.1", CARD),
    ("::1", "::1", ""),
    ("::1", "::1", CARD),
    ("::", "127.0.0.1", ""),
    ("::", "127.0.0.1", CARD),
    ("::", "::ffff:127.0.0.1", ""),
    ("::", "::1", CARD),
    ("0.0.0.0", CARD, ""),  # noqa: S104 (of no one but this test)
    ("0.0.0.0", CARD, "127.0.0.1"),  # noqa: S104
    ("0.0.0.0", "127.0.0.1", CARD),  # noqa: S104
]


def real(address: str, other: str) -> str:
    """Return an address; that of a card is in the family of the other one."""
    family = V6 if ":" in other and not other.startswith("::ffff:") else V4
    return card_address(family) if address == CARD else address


def listener(host: str) -> socket.socket:
    if host == "::":
        return socket.create_server((host, 0), family=V6, dualstack_ipv6=True)
    return socket.create_server((host, 0), family=V6 if ":" in host else V4)


@contextmanager
def pair(host: str = "127.0.0.1", to: str = "", source: str = "") -> Iterator[list[socket.socket]]:
    """Yield the client's end of a connection, and the accepted one."""
    source = real(source, to or host)
    to = real(to or host, host)
    with (
        listener(host) as server,
        socket.create_connection(
            (to, server.getsockname()[1]), 60, (source, 0) if source else None
        ) as client,
    ):
        accepted, _ = server.accept()
        with accepted:
            yield [client, accepted]


@pytest.mark.parametrize(("host", "to", "source"), ROUTES)
def test_an_own_program_is_no_stranger_from_any_address(host: str, to: str, source: str) -> None:
    with pair(host, to, source) as (_, accepted):
        assert stranger(accepted) is None
        assert stranger(accepted, os.getpid()) is None
        assert stranger(accepted, os.getppid()) == OTHER


@as_root
@pytest.mark.parametrize(("host", "to", "source"), ROUTES)
def test_another_user_is_a_stranger_from_any_address(host: str, to: str, source: str) -> None:
    source = real(source, to)
    with listener(host) as server:
        port = server.getsockname()[1]
        with held(real(to, host), port, user=NOBODY, source=source):
            accepted, _ = server.accept()
            with accepted:
                assert stranger(accepted) == f"the user {NOBODY}"
                assert stranger(accepted, os.getpid()) == f"the user {NOBODY}"


@as_root
@pytest.mark.parametrize("device", ["lo", "the card's"])
def test_a_socket_that_is_bound_to_an_interface_is_told_too(device: str) -> None:
    to = "127.0.0.1" if device == "lo" else card_address()
    name = device if device == "lo" else interface_of(to)
    with listener("0.0.0.0") as server, socket.socket() as client:  # noqa: S104
        client.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, name.encode())
        client.settimeout(60)
        client.connect((to, server.getsockname()[1]))
        accepted, _ = server.accept()
        with accepted:
            assert stranger(accepted) is None
            os.fchown(client.fileno(), NOBODY, NOBODY)
            assert stranger(accepted) == f"the user {NOBODY}"


def interface_of(address: str) -> str:
    import fcntl

    with socket.socket() as probe:
        for _, name in socket.if_nameindex():
            asked = struct.pack("16s24x", name.encode())
            try:
                answer = fcntl.ioctl(probe, 0x8915, asked)  # SIOCGIFADDR
            except OSError:
                continue
            if socket.inet_ntoa(answer[20:24]) == address:
                return name
    pytest.skip("no interface has the address of the card")


def leave(client: socket.socket) -> None:
    client.sendall(b"do it")
    client.close()


def reset(client: socket.socket) -> None:
    client.sendall(b"do it")
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


@pytest.mark.parametrize("go", [leave, reset])
@pytest.mark.parametrize("host", ["127.0.0.1", "::1", CARD])
def test_who_has_closed_the_connection_is_a_stranger(go, host: str) -> None:
    host = real(host, "127.0.0.1")
    with pair(host) as (client, accepted):
        go(client)

        assert stranger(accepted) == GONE
        assert stranger(accepted, os.getpid()) == GONE


def test_who_has_sent_all_and_waits_for_the_answer_is_no_stranger() -> None:
    with pair() as (client, accepted):
        client.sendall(b"request")
        client.shutdown(socket.SHUT_WR)

        assert stranger(accepted, os.getpid()) is None


def test_the_place_of_a_connection_that_was_reset_may_be_anothers_by_now() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        # An address of its own: other tests take free ports of 127.0.0.1 between the two.
        own = ("127.0.0.53", 0)
        first = socket.create_connection(server.getsockname(), source_address=own)
        name = first.getsockname()
        reset(first)
        with socket.create_connection(server.getsockname(), source_address=name):
            old, _ = server.accept()
            with old:
                assert stranger(old) == GONE
                assert old.recv(5) == b"do it"  # which a door must not read
            new, _ = server.accept()
            with new:
                assert stranger(new) is None


def test_only_the_process_that_holds_the_other_end_is_meant() -> None:
    sleeper = [sys.executable, "-c", "input()"]
    with (
        pair() as (client, accepted),
        subprocess.Popen(sleeper, stdin=subprocess.PIPE, pass_fds=[client.fileno()]) as heir,
        subprocess.Popen(sleeper, stdin=subprocess.PIPE) as other,
    ):
        assert stranger(accepted, heir.pid) is None
        assert stranger(accepted, other.pid) == OTHER
        other.communicate()
        assert stranger(accepted, other.pid) == GONE
        heir.communicate()


def test_neighbours_at_the_same_port_are_no_peers() -> None:
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as server:
        place = server.getsockname()
        with (
            socket.create_server(place, reuse_port=True) as neighbour,
            socket.create_connection(place) as client,
        ):
            server.setblocking(False)
            try:
                accepted, _ = server.accept()
            except BlockingIOError:
                accepted, _ = neighbour.accept()
            with accepted:
                client.close()
                assert stranger(accepted) == GONE


@pytest.mark.nightly
@as_root
def test_another_machine_reaches_a_port_that_was_opened_to_it(
    namespace: tuple[str, list[str]],
) -> None:
    host, run = namespace
    with listener("0.0.0.0") as server:  # noqa: S104
        port = str(server.getsockname()[1])
        words = [*run, sys.executable, "-c", HOLD, host, port, "", "1"]
        with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
            accepted, _ = server.accept()
            with accepted:
                assert stranger(accepted) is None
                assert stranger(accepted, os.getpid()) == GONE
            process.communicate()


@pytest.fixture
def namespace() -> Iterator[tuple[str, list[str]]]:
    """A network of its own, as a container has it: this end's address, and what runs in it."""
    name = f"tm{os.getpid()}"
    commands = [
        f"ip netns add {name}",
        f"ip link add {name}a type veth peer name {name}b netns {name}",
        f"ip addr add 198.18.77.1/30 dev {name}a",
        f"ip link set {name}a up",
        f"ip netns exec {name} ip addr add 198.18.77.2/30 dev {name}b",
        f"ip netns exec {name} ip link set {name}b up",
    ]
    try:
        for command in commands:
            done = subprocess.run(command.split(), capture_output=True, text=True)
            if done.returncode:
                pytest.skip(f"no network of its own can be made here: {done.stderr}")
        yield "198.18.77.1", ["ip", "netns", "exec", name]
    except FileNotFoundError:
        pytest.skip("iproute2 is not installed")
    finally:
        subprocess.run(["ip", "link", "del", f"{name}a"], capture_output=True)
        subprocess.run(["ip", "netns", "del", name], capture_output=True)


@as_root
def test_a_unix_socket_knows_the_process_that_has_connected(tmp_path) -> None:
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(tmp_path / "socket"))
        server.listen()
        client.connect(str(tmp_path / "socket"))
        accepted, _ = server.accept()
        with accepted:
            assert stranger(accepted, os.getpid()) is None
            assert stranger(accepted, os.getppid()) == OTHER


def test_a_machine_that_shows_no_sockets_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def hidden(*_: object) -> None:
        raise PermissionError("the sandbox forbids it")

    shows_owners.cache_clear()
    monkeypatch.setattr(peers, "holder_of", hidden)
    try:
        with pair() as (_, accepted):
            assert not shows_owners()
            assert stranger(accepted, 1) is None  # the door's own secret has to do
    finally:
        shows_owners.cache_clear()


def test_without_room_for_a_socket_nobody_is_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(24, "Too many open files")

    shows_owners.cache_clear()
    with pair() as (_, accepted), closing(socket.socket()):
        monkeypatch.setattr(peers, "holder_of", full)
        assert stranger(accepted) == GONE
        monkeypatch.undo()
        assert stranger(accepted) is None  # and that is not remembered
