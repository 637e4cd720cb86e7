"""The side of the job process: offers the Data Catalog to its JVM only.

Py4J's callback server asks for no token, continues after unknown lines, such as a
head of HTTP, and calls any method of an object that is offered. The server of PySpark's
accumulators serves one connection after the other, and prints a traceback for a wrong token.
"""

import hmac
import io
import logging
import secrets
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any

from tidemark.glue_job.iceberg.settings import local_settings, put_all
from tidemark.glue_job.metastore.catalog_settings import SETTING, settings_of_script
from tidemark.glue_job.process.after_import import (
    ACCUMULATOR_SERVERS,
    ACCUMULATORS,
    LAUNCHER,
    after_import,
)
from tidemark.local_state.home import Home
from tidemark.local_state.machine.peers import stranger

if TYPE_CHECKING:
    from tidemark.glue_job.metastore.answers import Answers

REACHABLE = frozenset({"Java", "__class__", "ask"})  # Py4J looks at the class


def offer(gateway: Any, ask: Callable[[str], str]) -> None:
    """Let the JVM of a gateway ask, and nobody else; its callback server is running."""
    server = gateway._callback_server
    jvm = int(gateway.jvm.java.lang.ProcessHandle.current().pid())
    create = type(server)._create_connection.__get__(server)  # a test calls this repeatedly

    def create_connection(connection: socket.socket, stream: IO[bytes]) -> Any:
        if stranger(connection, jvm) is not None:
            connection.close()
            return create(connection, io.BytesIO())  # ends at once
        return create(connection, stream)

    server._create_connection = create_connection
    # PySpark's server of accumulators answers that process alone, too.
    module = sys.modules[ACCUMULATORS]
    verify = staticmethod(lambda connection, _: stranger(connection, jvm) is None)
    for name in ACCUMULATOR_SERVERS & vars(module).keys():
        vars(module)[name].verify_request = verify
    secret = secrets.token_hex(32)
    # Only the JVM of this run knows the secret.
    gateway.jvm.dev.tidemark.catalog.Connected.connect(offered(secret, ask), secret)


def offered(secret: str, ask: Callable[[str], str]) -> Any:
    """Return an object with one method, which Py4J can call only with the secret."""

    class Java:
        """The name under which Py4J offers this object to the JVM."""

        implements = ("dev.tidemark.catalog.Metastore",)

    def answer(_: Any, given: str, request: str) -> str:
        if not hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode()):
            raise PermissionError("only the JVM of this run may ask")
        return ask(request)

    def reach(self: Any, name: str) -> Any:
        if name not in REACHABLE:
            raise AttributeError(name)
        return object.__getattribute__(self, name)

    return type("Metastore", (), {"Java": Java, "ask": answer, "__getattribute__": reach})()


OWN_CATALOG = "catalog.sqlite"  # of a run that does not use the Data Catalog


def serve_catalog(home: Home, *, is_asked: bool) -> None:
    """Answer the questions of Spark about its catalog once the script starts Spark."""

    def change(module: ModuleType) -> None:
        launch = module.launch_gateway

        def launch_gateway(conf: Any = None, popen_kwargs: Any = None) -> Any:
            settings = dict(conf.getAll()) if conf is not None else {}
            changed = settings_of_script(home, settings)
            for name, value in changed.items():
                conf.set(name, value)
            gateway = launch(conf, popen_kwargs)
            _connect(module, gateway, home, is_asked or SETTING in changed)
            return gateway

        module.launch_gateway = launch_gateway  # type: ignore[attr-defined]

    after_import(LAUNCHER, change)
    after_import("pyspark.sql.session", _change_options)
    after_import("pyspark.sql.conf", _change_settings)


def _change_options(module: ModuleType) -> None:
    """Redirect options of a session that mean services of AWS to this machine."""
    builder = module.SparkSession.Builder
    get = builder.getOrCreate

    def get_or_create(self: Any) -> Any:
        self._options.update(local_settings(self._options))
        return get(self)

    builder.getOrCreate = get_or_create


def _change_settings(module: ModuleType) -> None:
    config = module.RuntimeConfig
    put = config.set

    # A script may set a catalog of AWS after its session has started.
    def put_setting(self: Any, key: str, value: Any) -> None:
        put_all(put, self, key, value)

    config.set = put_setting


class Metastore:
    """Answers the JVM; imports the code for answers at the first question."""

    def __init__(self, home: Home, database: Path) -> None:
        """Keep the arguments of `Answers`; opens nothing yet."""
        self._given = (home, database)
        self._answers: Answers | None = None

    def ask(self, request: str) -> str:
        """Return the answer to a request of `LocalCatalog.java`, both JSON."""
        if self._answers is None:
            from tidemark.glue_job.metastore.answers import Answers

            self._answers = Answers(*self._given)
        return self._answers.ask(request)


def _connect(module: ModuleType, gateway: Any, home: Home, is_asked: bool) -> None:
    database = home.database if is_asked else Path(OWN_CATALOG).absolute()
    # On AWS a script that logs everything from Python's loggers sees nothing of this.
    logging.getLogger("py4j").setLevel(logging.WARNING)
    module.ensure_callback_server_started(gateway)
    offer(gateway, Metastore(home, database).ask)
