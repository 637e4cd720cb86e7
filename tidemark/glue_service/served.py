"""Finds the port that serves a home: its engine writes its address into a file of the home.

Only its owner can read the file. It is valid while the process that wrote it holds the home, so
the file of a killed engine is ignored.
"""

import contextlib
import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tidemark.errors import TidemarkError, UsageError
from tidemark.local_state.home import PORT_FILE, Home
from tidemark.local_state.machine.own_files import read_own_file, write_own_file
from tidemark.local_state.machine.processes import is_running

TARGET = "Tidemark"  # prefix of operations for commands of the home
SECRET_HEADER = "X-Tidemark-Secret"  # noqa: S105 (a name)
CLIENT_ERRORS = range(400, 500)
NO_ANSWER = (
    "the local Glue of process {pid} at {url} does not answer: {error}; stop it, then try again"
)
HAS_ENDED = "process {pid}, which was the local Glue at {url}, has ended: {error}; try again"


@dataclass(frozen=True)
class ServedPort:
    """Address of a home's engine, its process, and the secret of the home.

    The port of `tidemark run` ends with its run (`is_of_command`): no other run can start there.
    """

    url: str
    pid: int
    secret: str
    is_of_command: bool = False
    region: str = "us-east-1"


@contextmanager
def announced(home: Home, port: ServedPort) -> Iterator[None]:
    """Publish a port to the commands of a home during the block; the caller holds the home."""
    file = home.root / PORT_FILE
    write_own_file(file, asdict(port))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # a leftover file is ignored
            file.unlink()


def find_port(home: Home) -> ServedPort | None:
    """Return the port that serves a home now; None without any."""
    try:
        content = read_own_file(home.root / PORT_FILE)
        port = ServedPort(**json.loads(content)) if content is not None else None
    except (TypeError, ValueError):
        # Not our file: the lock names the holder of the home.
        return None
    return port if port is not None and home.holder() == port.pid else None


def deploy(port: ServedPort, assembly_folder: Path) -> str:
    """Make a port define the content of an assembly, like `tidemark serve --app`."""
    return str(ask(port, "Deploy", {"Folder": str(assembly_folder.absolute())})["Text"])


def put_event(port: ServedPort, entry: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Put an event on a port's bus, even one of an AWS service."""
    answer = ask(port, "PutEvent", entry)
    return answer["EventId"], answer["Rules"]


def ask(port: ServedPort, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Call an operation that only commands of the home may use; return the answer."""
    url = urlsplit(port.url)
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=120)
    headers = {"X-Amz-Target": f"{TARGET}.{operation}", SECRET_HEADER: port.secret}
    try:
        connection.request("POST", "/", json.dumps(dict(request)), headers)
        answer = connection.getresponse()
        body = json.loads(answer.read())
    except (OSError, ValueError, http.client.HTTPException) as error:
        text = NO_ANSWER if is_running(port.pid) else HAS_ENDED
        raise TidemarkError(text.format(pid=port.pid, url=port.url, error=error)) from error
    finally:
        connection.close()
    if answer.status in CLIENT_ERRORS:
        raise UsageError(body["message"])
    if answer.status != http.client.OK:
        raise TidemarkError(body["message"])
    return dict(body)
