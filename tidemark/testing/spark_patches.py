"""What PySpark is to a script that shares the Spark of the tests, as long as it runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tidemark.glue_job.iceberg.settings import local_settings, put_all
from tidemark.testing.jvm_state import JvmState
from tidemark.testing.spark_settings import Taken, asked_of, taken_in_process

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

WORKER_SETTINGS = "spark.executorEnv."


@contextmanager
def kept_ctrl_c() -> Iterator[None]:
    """Keep the handler of Ctrl-C: that of PySpark calls the JVM, and fails within another call."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def expect_end(server: Any) -> None:
    """Let a server of accumulators print no traceback when the JVM leaves it."""
    server.handle_error = lambda *_: None


def patch_pyspark(
    patch: pytest.MonkeyPatch,
    shared: SparkContext,
    taken: Taken,
    state: JvmState,
    settings: Mapping[str, str],
) -> None:
    """Let a script start and stop a Spark that is the shared one below.

    Args:
        patch: takes all of it back.
        shared: the context of the tests.
        taken: decides about the settings that the script asks for.
        state: of the JVM; it takes them.
        settings: of the run.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession
    from pyspark.sql.conf import RuntimeConfig

    of_workers = {
        name.removeprefix(WORKER_SETTINGS): value
        for name, value in settings.items()
        if name.startswith(WORKER_SETTINGS)
    }

    def initialize(own: SparkContext, conf: Any) -> Any:
        own.environment = {**of_workers, **own.environment}
        state.put(taken_in_process(asked_of(conf, shared), taken, shared))
        return shared._jsc

    start, stop = SparkContext._do_init, SparkContext.stop

    def start_own(context: SparkContext, *arguments: Any, **named: Any) -> None:
        with kept_ctrl_c():
            start(context, *arguments, **named)

    def stop_own(context: SparkContext) -> None:
        if getattr(context, "_jsc", None) is not shared._jsc:
            stop(context)
            return
        context._jsc = None
        if (server := getattr(context, "_accumulatorServer", None)) is not None:
            expect_end(server)
            # Which waits for half a second at most, with nothing to do.
            threading.Thread(target=server.shutdown, daemon=True).start()
            context._accumulatorServer = None  # type: ignore[assignment]
        with SparkContext._lock:
            SparkContext._active_spark_context = None

    get, put = SparkSession.Builder.getOrCreate, RuntimeConfig.set

    def get_or_create(builder: Any) -> SparkSession:
        builder._options.update(local_settings(builder._options))
        return get(builder)

    patch.setattr(SparkContext, "_initialize_context", initialize)
    _patch_calls(patch)
    patch.setattr(SparkContext, "_do_init", start_own)
    patch.setattr(SparkContext, "stop", stop_own)
    patch.setattr(SparkSession.Builder, "getOrCreate", get_or_create)
    patch.setattr(RuntimeConfig, "set", lambda of, key, value: put_all(put, of, key, value))


def _patch_calls(patch: pytest.MonkeyPatch) -> None:
    # A connection to the JVM that is left within a call gives its answer to the next one.
    from py4j.clientserver import ClientServerConnection

    send = ClientServerConnection.send_command

    def send_or_close(connection: Any, command: str) -> Any:
        try:
            return send(connection, command)
        except Exception:
            raise
        except BaseException:  # Ctrl-C, or a time limit of the test
            connection.close()
            raise

    patch.setattr(ClientServerConnection, "send_command", send_or_close)
