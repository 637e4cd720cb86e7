"""A PostgreSQL server of its own for the session, from the machine's packages, and a clock."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.servers import free_port
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.watermark_tables import watermark_table
from watermarks import Watermarks

PACKAGES = "on Debian and Ubuntu the packages are postgresql and libpostgresql-jdbc-java"
SERVERS = Path("/usr/lib/postgresql")  # Debian's place, one folder per version
USER = "tidemark"
READY = "ready to accept connections"
WATERMARKS = watermark_table("glue-watermarks")


@dataclass(frozen=True)
class Server:
    """A running PostgreSQL."""

    port: int
    password: str

    def connect(self) -> psycopg.Connection[Any]:
        """Return a connection that commits when it is told to."""
        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user=USER,
            password=self.password,
            dbname="postgres",
        )

    @property
    def options(self) -> dict[str, str]:
        """Options of Spark's JDBC source."""
        return {
            "url": f"jdbc:postgresql://127.0.0.1:{self.port}/postgres",
            "driver": "org.postgresql.Driver",
            "user": USER,
            "password": self.password,
        }


class Orders:
    """A table of orders, written by many connections at once."""

    def __init__(self, server: Server, table: str) -> None:
        self.server = server
        self.table = table
        self._connections: dict[str, psycopg.Connection[Any]] = {}

    def insert(self, transaction: str, order: int, at: datetime) -> None:
        """Insert an order in a transaction, which begins with its first one."""
        if transaction not in self._connections:
            self._connections[transaction] = self.server.connect()
        statement = f"INSERT INTO {self.table} VALUES (%s, %s)"  # noqa: S608 (our own name)
        self._connections[transaction].execute(statement, [order, at])

    def commit(self, transaction: str) -> None:
        self._connections[transaction].commit()

    def rollback(self, transaction: str) -> None:
        self._connections[transaction].rollback()

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()


class Clock:
    """The time of a test, which only the test moves."""

    def __init__(self) -> None:
        self.time = datetime(2013, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def watermarks(dynamodb: Any, clock: Clock) -> Watermarks:
    return Watermarks(WATERMARKS.name, dynamodb, now=clock)


@pytest.fixture(scope="session")
def dynamodb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return a client of an embedded DynamoDB that has the table of the watermarks."""
    home = Home.open(tmp_path_factory.mktemp("dynamodb") / "home")
    with dynamodb_endpoint(home) as endpoint, dynamodb_client(endpoint, "eu-west-2") as client:
        create_tables(client, [WATERMARKS])
        yield client


@pytest.fixture(scope="session")
def server(jdbc_jar: Path | None) -> Iterator[Server]:
    """Start PostgreSQL, as the user postgres if we are root, which it refuses to be."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip(f"there is no PostgreSQL server: {PACKAGES}")
    if jdbc_jar is None:
        pytest.skip(f"there is no JDBC driver of PostgreSQL: {PACKAGES}")
    # Not below pytest's folder, which no one else may enter.
    with tempfile.TemporaryDirectory(prefix="tidemark-postgresql-") as name:
        folder = Path(name)
        password = secrets.token_hex(16)
        (folder / "password").write_text(password, encoding="ascii")
        if os.geteuid() == 0:
            for path in (folder, folder / "password"):
                shutil.chown(path, "postgres", "postgres")
        _initialise(binaries, folder)
        with _running(binaries, folder) as port:
            yield Server(port, password)


def _binaries() -> Path | None:
    """Return the folder of the newest PostgreSQL server of this machine."""
    folders = [path.parent for path in SERVERS.glob("*/bin/postgres")]
    if folders:
        return max(folders, key=lambda path: int(re.sub(r"\D", "", path.parent.name) or 0))
    on_path = shutil.which("postgres")
    return Path(on_path).resolve().parent if on_path else None


def _initialise(binaries: Path, folder: Path) -> None:
    command = [
        str(binaries / "initdb"),
        f"--pgdata={folder / 'data'}",
        f"--username={USER}",
        "--auth=scram-sha-256",
        f"--pwfile={folder / 'password'}",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync",
    ]
    done = subprocess.run(
        [*_as_its_user(), *command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def _running(binaries: Path, folder: Path) -> Iterator[int]:
    """Run the server on a free port until the block ends."""
    said: list[str] = []
    for _ in range(5):  # another process may take the free port first
        port = free_port()
        settings = {
            "port": str(port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(folder),
            "fsync": "off",
            "timezone": "Asia/Kathmandu",  # nothing may depend on it
            "log_checkpoints": "off",
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        with subprocess.Popen(
            [*_as_its_user(), str(binaries / "postgres"), "-D", str(folder / "data"), *options],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                said.clear()
                for line in process.stderr or ():
                    said.append(line)
                    if READY in line:
                        yield port
                        return
            finally:
                process.send_signal(signal.SIGINT)  # its fast shutdown
                process.communicate()
    pytest.fail("PostgreSQL did not start: " + "".join(said))


def _as_its_user() -> list[str]:
    """Return the words before a command of PostgreSQL: its user, and that it dies with us."""
    if sys.platform != "linux":
        return []
    user = ["--reuid=postgres", "--regid=postgres", "--clear-groups"] if not os.geteuid() else []
    return ["setpriv", *user, "--pdeathsig=QUIT"]


@pytest.fixture
def orders(server: Server) -> Iterator[Orders]:
    """Return a table that no other test uses."""
    table = f"orders_{uuid.uuid4().hex}"
    with server.connect() as connection:
        connection.execute(
            f"CREATE TABLE {table} (id BIGINT PRIMARY KEY, updated_at TIMESTAMPTZ NOT NULL)"
        )
    orders = Orders(server, table)
    yield orders
    orders.close()
