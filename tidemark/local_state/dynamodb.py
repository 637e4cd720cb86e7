"""The DynamoDB of a home, reached through a front (`engine.front`), and its clients.

It is the embedded engine, which a command starts for itself; or another DynamoDB, which
`AWS_ENDPOINT_URL_DYNAMODB` names. Only that command reaches the engine; jobs use the front.
"""

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tidemark.errors import (
    DamagedDatabaseError,
    DiskFullError,
    EntityNotFoundError,
    TidemarkError,
    UsageError,
)
from tidemark.local_state.access_key import key_of_environment
from tidemark.local_state.engine.embedded import runs_here
from tidemark.local_state.engine.front import Engine, front_of, is_front
from tidemark.local_state.engine.kept_by import check_kept_here, keep_in, kept_by
from tidemark.local_state.engine.on_demand import engine_on_demand
from tidemark.local_state.engine.other import ENDPOINT_VARIABLE, OtherEngine
from tidemark.local_state.home import Home
from tidemark.local_state.machine.loopback import LOOPBACK_NAMES, show_endpoint
from tidemark.local_state.store.database import Store
from tidemark.local_state.watermark_tables import expect, expected, forget, key_schemas
from tidemark.model.assembly.definitions import TableDefinition

if TYPE_CHECKING:
    from botocore.loaders import Loader
    from botocore.session import Session
    from mypy_boto3_dynamodb import DynamoDBClient

NOWHERE = "http://127.0.0.1:9"  # nothing listens on this port (discard)
OTHER_REMEDY = (
    f"unset {ENDPOINT_VARIABLE} to use the embedded engine, or point it at one that works"
)
EMBEDDED_REMEDY = "it is the one of this home, whose `dynamodb/engine.log` may say why; run again"
ANY_REGION = "us-east-1"  # a home has the same tables in all
NOT_STARTED = {  # what the front answers if the embedded engine cannot be started
    kind.__name__: kind for kind in (DamagedDatabaseError, DiskFullError, TidemarkError, UsageError)
}


@contextmanager
def dynamodb_endpoint(home: Home) -> Iterator[str]:
    """Yield the URL of a DynamoDB that holds this home's tables; stop the engine afterwards.

    The embedded engine starts with the first request: what sends none needs no engine.
    """
    configured = os.environ.get(ENDPOINT_VARIABLE)
    # A job has the settings of its command.
    if configured and is_front(configured):
        yield configured
    elif configured:
        engine = OtherEngine(configured)
        with front_of(engine) as url:
            with dynamodb_client(url, ANY_REGION) as client:
                keep_in(home, engine, client)
            yield url
    else:
        check_kept_here(home)
        prepare = partial(_make_expected, home)
        with engine_on_demand(home, prepare) as embedded, front_of(embedded) as url:
            yield url


def may_have_tables(home: Home) -> bool:
    """Return whether a DynamoDB was ever used in a home, or an app wants it; nothing is started."""
    if home.dynamodb_tables.is_file() or kept_by(home) is not None:
        return True
    return bool(_expected(home))


def have_tables(home: Home, endpoint: str, tables: Sequence[TableDefinition]) -> None:
    """Let the tables of an app exist for whoever asks: the embedded engine makes them when it runs.

    A table that has other keys there is refused at once.
    """
    if os.environ.get(ENDPOINT_VARIABLE):
        with dynamodb_client(endpoint, ANY_REGION) as client:
            create_tables(client, tables)
        return
    schemas = key_schemas(home.dynamodb_tables)
    for table in tables:
        if table.name in schemas:
            _check_keys(schemas[table.name], table)
    if missing := [table for table in tables if table.name not in schemas]:
        with Store(home.database) as store:
            expect(store, missing)
        # After the tables are recorded: the engine may start meanwhile, and would miss them.
        if runs_here(home):
            _make(home, endpoint, missing)


def _expected(home: Home) -> list[TableDefinition]:
    if not home.database.is_file():
        return []
    with Store(home.database) as store:
        return expected(store)


def _make_expected(home: Home, engine: Engine) -> None:
    if tables := _expected(home):
        with front_of(engine) as url:
            _make(home, url, tables)


def _make(home: Home, endpoint: str, tables: Iterable[TableDefinition]) -> None:
    with dynamodb_client(endpoint, ANY_REGION) as client:
        create_tables(client, tables)
    with Store(home.database) as store:
        forget(store, tables)


_local = threading.local()  # what makes clients is not for several threads at once


@cache
def _loader() -> "Loader":
    """Return what reads the models of services: each takes 0.1 s, and is kept for all threads."""
    loader: Loader = _session().get_component("data_loader")
    return loader


def _session() -> "Session":
    """Return a session in which neither a profile of the caller nor a proxy has a say."""
    import botocore.session

    # The profile may not exist.
    return botocore.session.Session({"profile": (None, None, None, None)})


def _clients() -> "Session":
    """Return this thread's factory of clients."""
    if not hasattr(_local, "session"):
        session = _session()
        session.register_component("data_loader", _loader())
        _local.session = session
    clients: Session = _local.session
    return clients


@contextmanager
def dynamodb_client(endpoint: str, region: str) -> Iterator["DynamoDBClient"]:
    """Yield a boto3 client for the endpoint, with no credentials but those of a port."""
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    key = key_of_environment()
    try:
        is_here = urlsplit(endpoint).hostname in LOOPBACK_NAMES
        client: Any = _clients().create_client(
            "dynamodb",
            endpoint_url=endpoint,
            region_name=region,
            aws_access_key_id=key.key_id,
            aws_secret_access_key=key.secret,
            config=Config(
                connect_timeout=5,
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
        answer = error.response["Error"] if isinstance(error, ClientError) else {}
        # The front answers so if the embedded engine was not started.
        if kind := NOT_STARTED.get(answer.get("Code", "")):
            raise kind(answer.get("Message", "")) from error
        if endpoint == NOWHERE:
            raise TidemarkError(
                "the run has no DynamoDB, and its script asks for one: in a test, add the fixture "
                "`watermarks`"
            ) from error
        is_other = not is_front(os.environ.get(ENDPOINT_VARIABLE) or endpoint)
        raise TidemarkError(
            f"the DynamoDB at {show_endpoint(endpoint)} does not do the work of the run: "
            f"{str(error).replace(endpoint, show_endpoint(endpoint))}; "
            f"{OTHER_REMEDY if is_other else EMBEDDED_REMEDY}"
        ) from error
    finally:
        client.close()


@contextmanager
def naming_the_table(client: "DynamoDBClient", table: str) -> Iterator[None]:
    """Report a missing table as such."""
    try:
        yield
    except client.exceptions.ResourceNotFoundException as error:
        raise EntityNotFoundError(
            f"there is no table {table} in the DynamoDB at "
            f"{show_endpoint(client.meta.endpoint_url)}; declare it in the app, or create it with "
            f"boto3 at the {ENDPOINT_VARIABLE} of the job"
        ) from error


def create_tables(dynamodb: "DynamoDBClient", tables: Iterable[TableDefinition]) -> list[str]:
    """Create the tables that do not exist yet, with their TTL attribute; return their names.

    Point-in-time recovery, encryption and deletion protection have no meaning locally.
    """
    created = []
    for table in tables:
        try:
            _check_keys(_keys_of(dynamodb, table.name), table)
        except dynamodb.exceptions.ResourceNotFoundException:
            try:
                _create_table(dynamodb, table)
                created.append(table.name)
            except dynamodb.exceptions.ResourceInUseException:  # another command was faster
                _check_keys(_keys_of(dynamodb, table.name), table)
    return created


def _keys_of(dynamodb: "DynamoDBClient", table: str) -> Any:
    return dynamodb.describe_table(TableName=table)["Table"]["KeySchema"]


def _create_table(dynamodb: "DynamoDBClient", table: TableDefinition) -> None:
    request: Any = dict(table.create_request)
    dynamodb.create_table(**request)
    dynamodb.get_waiter("table_exists").wait(TableName=table.name)
    if table.ttl_attribute:
        dynamodb.update_time_to_live(
            TableName=table.name,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": table.ttl_attribute},
        )


def _check_keys(stored: Any, table: TableDefinition) -> None:
    defined = table.create_request["KeySchema"]
    if stored != defined:
        raise TidemarkError(
            f"the local table {table.name} has the keys {stored}, the template defines {defined}; "
            "give the table of the template another name, or, if its watermarks are no longer "
            "wanted, `tidemark home backup FILE` and then `tidemark home reset`"
        )
