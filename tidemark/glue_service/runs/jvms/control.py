"""Tells a JVM to prepare for a run, and to become as new after it."""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.glue_job.process.after_import import log_without_setup
from tidemark.glue_job.process.spark import as_properties

ANSWER_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Gateway:
    """Where a process connects to a JVM."""

    port: int
    secret: str


@dataclass(frozen=True)
class Settings:
    """The settings of a run as Java reads properties from a file; of two the later one counts.

    Attributes:
        properties: its system properties.
        file: the file that spark-submit would be given.
        conf: what spark-submit would be given with ``--conf``.
    """

    properties: str
    file: str
    conf: str


class Control:
    """The pool's own connection to a JVM; no script knows its secret.

    Every method raises an error of Py4J or of the network if the JVM is gone or does not answer.
    """

    def __init__(self, gateway: Gateway) -> None:
        """Connect, and let the JVM remember what it is like before any run."""
        from py4j.java_gateway import GatewayParameters, JavaGateway

        # Who calls sees the error itself; Py4J would also print it, by the root logger too.
        log_without_setup()
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        logging.getLogger().addFilter(_is_not_py4j)
        self._gateway = JavaGateway(
            gateway_parameters=GatewayParameters(
                port=gateway.port, auth_token=gateway.secret, read_timeout=ANSWER_TIMEOUT_S
            )
        )
        self._jvm: Any = self._gateway.jvm.dev.tidemark.jvm.WarmJvm
        self._jvm.remember()

    def begin(self, settings: Settings, environment: Mapping[str, str]) -> Gateway:
        """Prepare for a run."""
        # Variables are bytes, whatever encoding the JVM believes in: one character each.
        as_bytes = {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}
        in_latin = {name.decode("latin-1"): as_bytes[name].decode("latin-1") for name in as_bytes}
        answer = self._jvm.begin(
            settings.properties, settings.file, settings.conf, as_properties(in_latin)
        )
        port, secret = str(answer).split(" ")
        return Gateway(int(port), secret)

    def end(self, mark: str) -> bool:
        """End the run, print ``mark`` to both streams; return whether Spark was still running."""
        return bool(self._jvm.end(mark))

    def clean(self) -> str:
        """Make the JVM as new; return why that cannot be done, or an empty text."""
        return str(self._jvm.clean())

    def close(self) -> None:
        """Close the connection."""
        self._gateway.close()


def _is_not_py4j(record: logging.LogRecord) -> bool:
    return not record.pathname.endswith("py4j/java_gateway.py")
