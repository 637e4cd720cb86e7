"""The embedded DynamoDB engine: started for as long as a command needs it, behind a front.

Only the command that starts it reaches the engine; jobs and others use the front (`engine.front`).

`AWS_ENDPOINT_URL_DYNAMODB` in the environment replaces it by any other DynamoDB. The engine stores
into one SQLite file that several engine processes share safely, so each command starts its own.
"""

import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tidemark.assembly.definitions import TableDefinition
from tidemark.errors import DiskFullError, EntityNotFoundError, TidemarkError, UsageError
from tidemark.local_glue.access_key import key_of_environment
from tidemark.local_glue.engine.closed_port import ClosedPort, ForeignConnectionError
from tidemark.local_glue.engine.executable import find_engine
from tidemark.local_glue.engine.front import front_of
from tidemark.local_glue.home import TABLES_FILE, Home
from tidemark.local_glue.machine import child
from tidemark.local_glue.machine.disk import full_disk_text, has_room
from tidemark.local_glue.machine.local_requests import LOOPBACK, LOOPBACK_NAMES
from tidemark.local_glue.machine.processes import is_running
from tidemark.local_glue.store.store_errors import check_database

if TYPE_CHECKING:
    import boto3
    from mypy_boto3_dynamodb import DynamoDBClient

NOWHERE = "http://127.0.0.1:9"  # where nothing listens: the port of discard
ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL_DYNAMODB"
START_ATTEMPTS = 3
START_TIMEOUT_S = 10.0
READY = b"listening on"
CONNECT_TIMEOUT_S = 5
POLL_S = 0.005
OPEN_PORT = (
    "warning: this machine does not let Tidemark close the port of the embedded DynamoDB engine: "
    "programs of this machine{and_pages} that find it can change watermarks; see SECURITY.md"
)


@contextmanager
def dynamodb_endpoint(home: Home) -> Iterator[str]:
    """Yield the URL of a DynamoDB that holds this home's tables; stop the engine afterwards.

    Raises:
        DamagedDatabaseError: the file with the tables is damaged.
        DiskFullError: the engine does not start, and the disk of the home is full.
        TidemarkError: the engine does not start, or ends while it is needed; its output is in the
            message.
    """
    configured = os.environ.get(ENDPOINT_VARIABLE)
    if configured:
        yield configured
        return
    _stop_left_over_engines(home.dynamodb)
    check_database(home.dynamodb_tables)  # the engine would say that a table does not exist
    process, engine = _start(find_engine(ENDPOINT_VARIABLE), home.dynamodb)
    pid_file = home.dynamodb / f"{os.getpid()}-{process.pid}.pid"
    try:
        pid_file.write_text("", encoding="utf-8")
        with front_of(engine) as url:
            yield url
    except TidemarkError as error:
        if process.poll() is not None:
            raise _ended_error(process.returncode, home.dynamodb) from error
        raise
    finally:
        engine.close()
        process.terminate()
        process.wait()
        pid_file.unlink(missing_ok=True)


def _ended_error(code: int, folder: Path) -> TidemarkError:
    log = folder / "engine.log"
    text = log.read_text(encoding="utf-8", errors="replace").strip()
    return TidemarkError(
        f"the embedded DynamoDB engine ended with {code} while it was needed: "
        f"{text or 'no output'}; what was committed is kept: run again; see {log}"
    )


def _start(engine: Path, folder: Path) -> tuple[subprocess.Popen[bytes], ClosedPort]:
    log = folder / "engine.log"
    for _ in range(START_ATTEMPTS):
        host, port = _free_place()
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 (our own engine)
                [
                    *(sys.executable, "-S", "-E", child.__file__, str(os.getpid()), str(engine)),
                    *("serve", "--host", host, "--port", str(port)),
                    *("--db-path", str(folder / TABLES_FILE)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C ends the jobs first, then the engine
            )
        if _is_ready(process, log):
            with suppress(ConnectionRefusedError):  # it ended meanwhile: another one is started
                return process, _closed_port(process, host, port)
        process.kill()
        process.wait()
    text = log.read_text(encoding="utf-8", errors="replace").strip()
    if not has_room(folder):
        raise DiskFullError(
            f"{full_disk_text(folder)}, so the embedded DynamoDB engine does not start; nothing "
            "was changed: make room, then run again"
        )
    raise TidemarkError(
        f"the embedded DynamoDB engine did not start in {START_ATTEMPTS} attempts, last on port "
        f"{port}: {text or 'no output'}; see {log}; `npm install` installs the engine again, and "
        f"{ENDPOINT_VARIABLE} may name any other DynamoDB"
    )


def _closed_port(process: subprocess.Popen[bytes], host: str, port: int) -> ClosedPort:
    try:
        engine = ClosedPort(process.pid, host, port)
        if not engine.is_closed:
            pages = "" if sys.platform == "linux" else ", and web pages,"
            sys.stderr.write(OPEN_PORT.format(and_pages=pages) + "\n")
        return engine
    except ForeignConnectionError as error:
        process.kill()
        process.wait()
        raise TidemarkError(
            f"another program connected to the embedded DynamoDB engine at {host}:{port} while it "
            "started, and may have changed the tables; the engine was ended: look at the "
            "watermarks (`tidemark watermark show`), then run again"
        ) from error


def _free_place() -> tuple[str, int]:
    """Return an address of this machine only, and a free port of it.

    Linux has 16 million such addresses: where the port cannot be closed, nobody finds it by trying.
    """
    host = LOOPBACK
    if sys.platform == "linux":
        host = ".".join(["127", *(str(1 + secrets.randbelow(254)) for _ in range(3))])
    with socket.socket() as probe:
        probe.bind((host, 0))
        return host, int(probe.getsockname()[1])


def _is_ready(process: subprocess.Popen[bytes], log: Path) -> bool:
    """Wait for the engine's own word; a listener on the port might be somebody else's."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline:
        if READY in log.read_bytes():
            return True
        time.sleep(POLL_S)
    return False


def _stop_left_over_engines(folder: Path) -> None:
    """End engines whose command was killed, where the kernel did not do it already."""
    for pid_file in folder.glob("*.pid"):
        owner, engine = (int(part) for part in pid_file.stem.split("-"))
        if not is_running(owner):
            # Process ids come again: another engine may have this one by now.
            if is_running(engine) and str(folder / TABLES_FILE) in _command_of(engine):
                os.kill(engine, signal.SIGKILL)
            pid_file.unlink(missing_ok=True)


def _command_of(pid: int) -> str:
    answer = subprocess.run(  # noqa: S603
        ["ps", "-ww", "-o", "command=", "-p", str(pid)],  # noqa: S607 (POSIX tool)
        capture_output=True,
        text=True,
    )
    return answer.stdout


def show_endpoint(endpoint: str) -> str:
    """Return an endpoint as messages have it: without its path, which may be a secret."""
    place = urlsplit(endpoint)
    return f"{place.scheme}://{place.netloc}"


_local = threading.local()  # what makes clients is not for several threads at once


def _clients() -> "boto3.Session":
    """Return what makes clients, and keeps what it has read of the service's model."""
    import boto3
    import botocore.session

    if not hasattr(_local, "session"):
        # Neither a profile of the caller, which may not exist, nor a proxy has a say here.
        own = botocore.session.Session({"profile": (None, None, None, None)})
        _local.session = boto3.Session(botocore_session=own)
    found: boto3.Session = _local.session
    return found


@contextmanager
def dynamodb_client(endpoint: str, region: str) -> Iterator["DynamoDBClient"]:
    """Yield a boto3 client for the endpoint, with no credentials but those of a port.

    Raises:
        UsageError: the endpoint is no URL.
        TidemarkError: it does not answer, or refuses a request made in the block.
    """
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    key = key_of_environment()
    try:
        is_here = urlsplit(endpoint).hostname in LOOPBACK_NAMES
        client = _clients().client(
            "dynamodb",
            endpoint_url=endpoint,
            region_name=region,
            aws_access_key_id=key.key_id,
            aws_secret_access_key=key.secret,
            config=Config(
                connect_timeout=CONNECT_TIMEOUT_S,
                retries={"total_max_attempts": 3},
                proxies={} if is_here else None,
            ),
        )
    except ValueError as error:
        raise UsageError(
            f"{ENDPOINT_VARIABLE} is {endpoint!r}; allowed: a URL such as http://127.0.0.1:8000; "
            "correct it, or unset it to use the embedded engine"
        ) from error
    try:
        yield client
    except (BotoCoreError, ClientError) as error:
        if endpoint == NOWHERE:
            raise TidemarkError(
                "the run has no DynamoDB, and its script asks for one: in a test, add the fixture "
                "`watermarks`"
            ) from error
        raise TidemarkError(
            f"the DynamoDB at {show_endpoint(endpoint)} does not do what the run needs: "
            f"{str(error).replace(endpoint, show_endpoint(endpoint))}; unset "
            f"{ENDPOINT_VARIABLE} to use the embedded engine, or point it at one that works"
        ) from error
    finally:
        client.close()


@contextmanager
def naming_the_table(client: "DynamoDBClient", table: str) -> Iterator[None]:
    """Say of a table that is not there that it is not.

    Raises:
        EntityNotFoundError: DynamoDB has no such table.
    """
    try:
        yield
    except client.exceptions.ResourceNotFoundException as error:
        raise EntityNotFoundError(
            f"there is no table {table} in the DynamoDB at "
            f"{show_endpoint(client.meta.endpoint_url)}; declare it in the app, or create it with "
            f"boto3 at the {ENDPOINT_VARIABLE} of the job"
        ) from error


def create_tables(dynamodb: "DynamoDBClient", tables: Iterable[TableDefinition]) -> None:
    """Create the tables that do not exist yet, with their TTL attribute.

    Point-in-time recovery, encryption and deletion protection have no meaning locally.

    Raises:
        TidemarkError: a table exists with other keys than the template defines.
    """
    for table in tables:
        try:
            found = dynamodb.describe_table(TableName=table.name)["Table"]
        except dynamodb.exceptions.ResourceNotFoundException:
            _create_table(dynamodb, table)
        else:
            _check_keys(found, table)


def _create_table(dynamodb: "DynamoDBClient", table: TableDefinition) -> None:
    request: Any = dict(table.create_request)
    dynamodb.create_table(**request)
    dynamodb.get_waiter("table_exists").wait(TableName=table.name)
    if table.ttl_attribute:
        dynamodb.update_time_to_live(
            TableName=table.name,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": table.ttl_attribute},
        )


def _check_keys(found: Mapping[str, Any], table: TableDefinition) -> None:
    stored, defined = found["KeySchema"], table.create_request["KeySchema"]
    if stored != defined:
        raise TidemarkError(
            f"the local table {table.name} has the keys {stored}, the template defines {defined}; "
            "give the table of the template another name, or, if its watermarks are no longer "
            "wanted, `tidemark local backup FILE` and then `tidemark local reset`"
        )
